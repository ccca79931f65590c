package eval

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/index"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// Source is a collection as a vault would hold it: the documents of one session
// are the passages of one note, in their order, and any other document is a
// note of its own. It is not changed once it is made.
type Source struct {
	notes    []note
	place    map[string]int // of a note, by its path
	Sessions bool           // some documents are passages of larger notes
	Singles  bool           // some are notes of their own
}

var _ index.Divided = (*Source)(nil)

// note is one file.
type note struct {
	path   string
	raw    []byte
	blob   plumbing.Hash
	memory vault.Memory
	docs   []string // ids of the documents in it
	starts []int    // where each one starts in raw
}

// Source lays c's documents out as notes.
func (c *Collection) Source() *Source {
	s := &Source{place: map[string]int{}}
	sessions := map[string][]Doc{}
	var groups [][]Doc
	for _, d := range c.Docs {
		if d.Metadata.Session == "" {
			groups = append(groups, []Doc{d})
			continue
		}
		if sessions[d.Metadata.Session] == nil {
			groups = append(groups, []Doc{d})
		}
		sessions[d.Metadata.Session] = append(sessions[d.Metadata.Session], d)
	}
	for i, docs := range groups {
		name := docs[0].Metadata.Session
		if name == "" {
			s.Singles = true
		} else {
			s.Sessions = true
			docs = sessions[name]
			slices.SortStableFunc(docs, func(a, b Doc) int { return cmp.Compare(a.Metadata.Seq, b.Metadata.Seq) })
		}
		// Sorted by path as they are numbered.
		n := newNote(fmt.Sprintf("memories/%07d.md", i), docs)
		s.place[n.path] = i
		s.notes = append(s.notes, n)
	}
	return s
}

// newNote makes the file of docs, which are in order.
func newNote(path string, docs []Doc) note {
	n := note{path: path}
	m := vault.Memory{Type: vault.TypeNote, Created: created(docs[0].Metadata.Created)}
	for _, d := range docs {
		m.Title = cmp.Or(m.Title, strings.TrimSpace(d.Title))
	}
	var b strings.Builder
	for _, d := range docs {
		n.docs = append(n.docs, d.ID)
		n.starts = append(n.starts, b.Len())
		if title := strings.TrimSpace(d.Title); title != "" && title != m.Title {
			b.WriteString(title + "\n")
		}
		b.WriteString(d.Text + "\n")
	}
	m.Body = b.String()
	n.raw = vault.NewDocument(m).Bytes()
	for i := range n.starts {
		n.starts[i] += len(n.raw) - len(m.Body)
	}
	n.blob = repo.BlobHash(n.raw)
	n.memory = vault.ParseDocument(n.raw).Memory()
	n.memory.Path, n.memory.Version, n.memory.Body = path, vault.Version(n.blob.String()), ""
	return n
}

// created reads the times that collections give their documents; zero when it
// is none of them.
func created(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02", "2006/01/02", "3:04 pm on 2 January, 2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Len is how many notes there are.
func (s *Source) Len() int { return len(s.notes) }

// Key implements [index.Source].
func (s *Source) Key(i int) (string, plumbing.Hash) { return s.notes[i].path, s.notes[i].blob }

// Meta implements [index.Source].
func (s *Source) Meta(i int) (*vault.Memory, error) { return &s.notes[i].memory, nil }

// Read implements [index.Source].
func (s *Source) Read(i int) ([]byte, error) { return s.notes[i].raw, nil }

// Passages implements [index.Divided]: a note of one document is divided by its markdown.
func (s *Source) Passages(i int) []int {
	if len(s.notes[i].docs) == 1 {
		return nil
	}
	return s.notes[i].starts
}

// Doc returns the id of the document that h shows.
func (s *Source) Doc(h vault.Hit) string {
	n := s.notes[s.place[h.Path]]
	i := sort.SearchInts(n.starts, h.Passage.Start+1) - 1
	return n.docs[max(i, 0)]
}
