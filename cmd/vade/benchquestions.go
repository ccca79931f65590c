package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vademecum/index/analysis"
)

// questionClass is a kind of question that people and agents ask.
type questionClass struct {
	name  string
	asked []string
	note  []string // path of the note that must be found, "" when several may; as long as asked
}

// questionsOf makes n questions of each class from the notes below dir, the
// same ones each time. A class that the notes have no words for is left out.
func questionsOf(dir string, n int) ([]questionClass, error) {
	s := &sample{count: map[string]int{}, where: map[string]string{}}
	if err := s.read(dir); err != nil {
		return nil, err
	}
	classes := []questionClass{
		{name: "1 rare word"},
		{name: "1 common word", asked: s.common(n)},
		{name: "3 words"},
		{name: "English question"},
		{name: "Korean question", asked: s.phrases(n, unicode.Hangul, 14, "%s 어떻게 하지?")},
		{name: "Japanese question", asked: s.phrases(n, unicode.Hiragana, 12, "%sはどうすればいいですか?")},
		{name: "Chinese question", asked: s.phrases(n, unicode.Han, 10, "怎么%s?")},
	}
	classes[0].asked, classes[0].note = s.rare(n)
	for k := range n {
		w := s.wordsOf(k)
		if len(w) < 6 {
			continue
		}
		classes[2].asked = append(classes[2].asked, strings.Join(w[:3], " "))
		classes[3].asked = append(classes[3].asked, fmt.Sprintf(
			"what did we decide about the %s of the %s and how do we %s when there is no %s for the %s or %s?", w[0], w[1], w[2], w[3], w[4], w[5]))
	}
	return slices.DeleteFunc(classes, func(c questionClass) bool { return len(c.asked) == 0 }), nil
}

// sample is what questions are made from: some of the notes.
type sample struct {
	notes []sampleNote
	count map[string]int    // in how many notes a Latin word is
	where map[string]string // one of them
}

type sampleNote struct {
	path string
	text string
}

// sampleNotes and sampleBytes bound a sample.
const (
	sampleNotes = 4000
	sampleBytes = 4 << 10 // of a note
)

func (s *sample) read(dir string) error {
	var paths []string
	err := filepath.WalkDir(filepath.Join(dir, "memories"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	step := max(1, len(paths)/sampleNotes)
	for i := 0; i < len(paths); i += step {
		raw, err := os.ReadFile(paths[i])
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, paths[i])
		if err != nil {
			return err
		}
		s.add(filepath.ToSlash(name), string(raw))
	}
	return nil
}

func (s *sample) add(path, text string) {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok { // the front matter says little that people ask for
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = body
		}
	}
	if len(text) > sampleBytes {
		text = strings.ToValidUTF8(text[:sampleBytes], "")
	}
	s.notes = append(s.notes, sampleNote{path, text})
	seen := map[string]bool{}
	for _, w := range latinWords(text) {
		if !seen[w] {
			seen[w] = true
			s.count[w]++
			s.where[w] = path
		}
	}
}

// latinWords are the words of text that are plain letters, four or more.
func latinWords(text string) []string {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(text), split), func(w string) bool {
		return len(w) < 4 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' })
	})
}

// rare returns words of one note each, and the notes.
func (s *sample) rare(n int) (asked, notes []string) {
	step := max(1, len(s.notes)/n)
	for i := 0; i < len(s.notes) && len(asked) < n; i += step {
		for _, w := range latinWords(s.notes[i].text) {
			if s.count[w] == 1 && len(w) > 5 {
				asked, notes = append(asked, w), append(notes, s.notes[i].path)
				break
			}
		}
	}
	return asked, notes
}

// common returns the most frequent words that are not in nearly every note,
// and that say something: nobody looks for "that".
func (s *sample) common(n int) []string {
	terms := analysis.New()
	var list []string
	for w, c := range s.count {
		if c > 2 && c < len(s.notes)/2 && len(terms.Query(w)) > 0 {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(s.count[b]-s.count[a], strings.Compare(a, b)) })
	return list[:min(n, len(list))]
}

// wordsOf returns words of one note that a few others have too, the rarer first.
func (s *sample) wordsOf(k int) []string {
	i := (k*7919 + 13) % len(s.notes)
	for range s.notes {
		list := slices.Compact(slices.Sorted(slices.Values(latinWords(s.notes[i].text))))
		list = slices.DeleteFunc(list, func(w string) bool { return s.count[w] < 3 })
		if len(list) >= 6 {
			slices.SortStableFunc(list, func(a, b string) int { return s.count[a] - s.count[b] })
			return list
		}
		i = (i + 1) % len(s.notes)
	}
	return nil
}

// phrases makes questions of the first runes of lines that have script, put
// into format.
func (s *sample) phrases(n int, script *unicode.RangeTable, runes int, format string) []string {
	var asked []string
	step := max(1, len(s.notes)/(8*n))
	for i := 0; i < len(s.notes) && len(asked) < n; i += step {
		for line := range strings.Lines(s.notes[i].text) {
			line = strings.Trim(line, "-# .。\n")
			if !mostly(line, script, runes) {
				continue
			}
			cut := []rune(line)[:runes]
			asked = append(asked, fmt.Sprintf(format, strings.TrimSpace(string(cut))))
			break
		}
	}
	return asked
}

// mostly reports whether line is long enough and in the script's language:
// Han without kana is Chinese.
func mostly(line string, script *unicode.RangeTable, runes int) bool {
	total, in, kana := utf8.RuneCountInString(line), 0, 0
	for _, r := range line {
		if unicode.Is(script, r) {
			in++
		}
		if unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) {
			kana++
		}
	}
	return total >= runes && in*5 >= total && (script != unicode.Han || kana == 0)
}
