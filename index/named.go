package index

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"

	"vademecum/vault"
)

// maxNames is how many words of a question are looked at as possible names of notes.
const maxNames = 64

// name is a word of a question that may be an id, a path or a file name.
type name struct {
	text  string
	tail  string // of an id; "" when the word is none
	alone bool   // the question is this word
}

// names returns the words of text that could name a note.
func names(text string) []name {
	words := strings.Fields(text)
	if len(words) > maxNames {
		return nil
	}
	var list []name
	for _, w := range words {
		w = strings.Trim(w, "\"'`()[]{}<>,;!?")
		w = strings.TrimRight(w, ".:")
		n := name{text: strings.TrimPrefix(strings.ReplaceAll(w, `\`, "/"), "./"), alone: len(words) == 1}
		if len(w) >= tailLen && len(w) <= 26 && strings.IndexFunc(w, notInID) < 0 {
			n.tail = idTail(w)
		}
		if n.tail != "" || strings.ContainsAny(n.text, "./-_") || n.alone && n.text != "" {
			list = append(list, n)
		}
	}
	return list
}

// notInID reports whether r is outside Crockford's base 32, which ids are written in.
func notInID(r rune) bool {
	return !strings.ContainsRune("0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz", r)
}

// isPath reports whether n is path, or its last components, with or without ".md".
func (n name) isPath(path string) bool {
	return endsInPath(path, n.text) || endsInPath(path, n.text+".md")
}

func endsInPath(path, end string) bool {
	at := len(path) - len(end)
	if at < 0 || at > 0 && path[at-1] != '/' {
		return false
	}
	return strings.EqualFold(path[at:], end)
}

// isID reports whether n is one of m's ids, or the end of one.
func (n name) isID(m *vault.Memory) bool {
	if n.tail == "" {
		return false
	}
	ends := func(id vault.ID) bool {
		at := len(id) - len(n.text)
		return id != "" && at >= 0 && strings.EqualFold(string(id[at:]), n.text)
	}
	return ends(m.ID) || slices.ContainsFunc(m.MergedIDs, ends)
}

// named returns, by place in the source, how the question names notes.
func named(src Source, v *view, list []name) (map[int]string, error) {
	found := map[int]string{}
	findPaths(src, v.files, list, found)
	for _, n := range list {
		if n.tail == "" {
			continue
		}
		for _, p := range v.parts {
			l, err := p.postings.list(keyField, n.tail)
			if err != nil {
				return nil, err
			}
			var places []int
			if err := l.each(func(x posting) { places = append(places, int(p.source[p.noteOf(x.doc)])) }); err != nil {
				return nil, err
			}
			for _, i := range places {
				if m, err := src.Meta(i); err == nil && n.isID(m) {
					found[i] = "named by its id"
				}
			}
		}
	}
	return found, nil
}

// findPaths adds the notes whose path, or the end of it, is one of list.
func findPaths(src Source, files *fileNames, list []name, found map[int]string) {
	for _, n := range list {
		if n.tail != "" && !n.alone && !strings.ContainsAny(n.text, "./-_") {
			continue // a word, or an id
		}
		base := strings.ToLower(path.Base(n.text))
		for _, base := range []string{base, base + ".md"} {
			for i := range files.find(src, base) {
				if p, _ := src.Key(i); n.isPath(p) {
					found[i] = "named by its path"
				}
			}
		}
	}
}

// fileNames finds the notes of one source by the names of their files. It is
// made when it is first asked.
type fileNames struct {
	once sync.Once
	seed maphash.Seed
	last []int32 // by hash: place of a note, from 1
	next []int32 // by place: another note of the same hash, from 1
}

// find yields the places of src whose file may have the name base, in lower
// case; all that have it are among them.
func (f *fileNames) find(src Source, base string) iter.Seq[int] {
	f.once.Do(func() { f.fill(src) })
	return func(yield func(int) bool) {
		for i := f.last[f.slot(base)]; i != 0; i = f.next[i-1] {
			if !yield(int(i - 1)) {
				return
			}
		}
	}
}

func (f *fileNames) fill(src Source) {
	f.seed = maphash.MakeSeed()
	f.last, f.next = make([]int32, 1<<bits.Len(uint(src.Len()))), make([]int32, src.Len())
	for i := range f.next {
		p, _ := src.Key(i)
		slot := &f.last[f.slot(strings.ToLower(p[strings.LastIndexByte(p, '/')+1:]))]
		f.next[i], *slot = *slot, int32(i+1)
	}
}

func (f *fileNames) slot(base string) int {
	return int(maphash.String(f.seed, base) & uint64(len(f.last)-1))
}

// addNamed marks the entries that the question names, and adds those that
// share no word with it. found is by place in the source.
func addNamed(list []entry, parts []*scoredPart, found map[int]string) []entry {
	if len(found) == 0 {
		return list
	}
	shared := map[int]bool{} // notes with a word of the question
	for i := range list {
		e := &list[i]
		if _, ok := found[int(e.source)]; ok {
			e.named = true
			shared[int(e.source)] = true
		}
	}
	for _, p := range parts {
		for n, i := range p.source {
			if _, ok := found[int(i)]; ok && !shared[int(i)] {
				list = append(list, entry{part: p, note: int32(n), doc: int32(p.firstDoc(n)), source: i, named: true})
				shared[int(i)] = true
			}
		}
	}
	return list
}
