package merge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// note is a markdown text as people write them: paragraphs, lists, headings.
func note(rng *rand.Rand) []string {
	var lines []string
	for range 2 + rng.IntN(5) {
		switch rng.IntN(3) {
		case 0:
			lines = append(lines, "## "+sentence(rng, 3)+"\n")
		case 1:
			for range 1 + rng.IntN(5) {
				lines = append(lines, "- "+sentence(rng, 5)+"\n")
			}
		default:
			lines = append(lines, sentence(rng, 14)+"\n")
		}
		lines = append(lines, "\n")
	}
	return lines
}

func sentence(rng *rand.Rand, n int) string {
	words := make([]string, 1+rng.IntN(n))
	for i := range words {
		words[i] = fmt.Sprintf("w%d", rng.IntN(400))
	}
	return strings.Join(words, " ")
}

// editNote changes, adds or deletes some lines, and marks what it writes.
func editNote(rng *rand.Rand, lines []string, mark string) []string {
	lines = slices.Clone(lines)
	for n := range 1 + rng.IntN(3) {
		at := rng.IntN(len(lines))
		token := fmt.Sprintf("%s%d", mark, n)
		switch rng.IntN(4) {
		case 0:
			lines = slices.Insert(lines, at, sentence(rng, 10)+" "+token+"\n")
		case 1:
			if n > 0 {
				lines = slices.Delete(lines, at, at+1)
				continue
			}
			fallthrough
		default: // another word in a line
			words := strings.Split(strings.TrimSuffix(lines[at], "\n"), " ")
			words[rng.IntN(len(words))] = token
			lines[at] = strings.Join(words, " ") + "\n"
		}
	}
	return lines
}

func text(lines []string) []byte { return []byte(strings.Join(lines, "")) }

// An editor saves a buffer that is older than what the last sync wrote: the
// edit that the sync brought must survive. And a save that is not stale must
// not be taken for one.
func TestStaleBuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const cases = 4000
	var naive, detected, reverted, misjudged int
	for range cases {
		old := note(rng)
		synced := editNote(rng, old, "remote")
		versions := [][]byte{text(synced), text(old)}

		stale := text(editNote(rng, old, "local"))
		if missing(text(synced), stale, "remote") {
			naive++
		}
		base := NearestBase(stale, versions)
		if base == 1 {
			detected++
		}
		merged, conflicts := Merge3(versions[base], versions[0], stale)
		for _, c := range conflicts {
			merged = append(append(merged, c.Ours...), c.Theirs...) // parked
		}
		if missing(text(synced), merged, "remote") {
			reverted++
		}

		if NearestBase(text(editNote(rng, synced, "local")), versions) != 0 {
			misjudged++
		}
	}
	t.Logf("%d stale saves: %d recognised, %d reverted the remote edit (%d without the rule); %d of as many fresh saves misjudged",
		cases, detected, reverted, naive, misjudged)
	if detected < cases*98/100 || reverted > cases/100 || misjudged > cases/20 {
		t.Error("worse than measured before")
	}
}

// missing reports whether a marked word of from is not in text.
func missing(from, text []byte, mark string) bool {
	for word := range bytes.FieldsSeq(from) {
		if bytes.HasPrefix(word, []byte(mark)) && !bytes.Contains(text, word) {
			return true
		}
	}
	return false
}

func TestNearestBase(t *testing.T) {
	v := func(s ...string) (out [][]byte) {
		for _, x := range s {
			out = append(out, []byte(x))
		}
		return out
	}
	tests := []struct {
		name, disk string
		versions   [][]byte
		want       int
	}{
		{"no versions", "a\n", nil, -1},
		{"unchanged", "a\nb\n", v("a\nb\n", "a\n"), 0},
		{"an old one again", "a\n", v("a\nb\n", "a\n"), 1},
		{"one line, changed twice", "deploy on Fridays, gently\n", v("never deploy on a Friday\n", "deploy on Fridays\n"), 1},
		{"한 줄", "배포는 금요일에 천천히\n", v("금요일 배포는 금지다\n", "배포는 금요일에\n"), 1},
		{"nothing in common: the newest", "z\n", v("a\n", "b\n"), 0},
	}
	for _, tt := range tests {
		if got := NearestBase([]byte(tt.disk), tt.versions); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}
