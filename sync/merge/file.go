package merge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"time"
	"unicode/utf8"

	"vademecum/vault"
)

// Side is what one side made of a file.
type Side struct {
	Data []byte

	// Changed tells when the side last changed the file; nil, or the zero time,
	// is unknown. It is asked only where the front matter does not tell.
	Changed func() time.Time
}

// FileResult is a merged file.
type FileResult struct {
	Data []byte

	// Winner is 0 when a's values stand where both sides changed the same
	// thing, 1 when b's do.
	Winner int

	// Lost names what of the other side is not in Data: "body", "file",
	// "comment", or front matter keys. When it is not empty the other side is to
	// be parked.
	Lost []string
}

// Files merges two versions of a memory. A nil base means that there is no
// common one. The result is the same with the sides swapped (but for Winner)
// and never holds a conflict marker that neither side holds.
//
// Front matter is merged by key: the side that changed a key wins; where both
// did, lists are merged as sets, created is the earlier, bookkeeping the later
// and any other key the winner's. Comments and raw lines are kept. The body is
// merged by lines. Where both sides have front matter that can be read, the
// result's can; where only one has, that one stays whole.
//
// The winner is the side with the later updated; where that is missing, did
// not move, or is equal, the one that changed later; else the one whose bytes
// hash higher.
func Files(base []byte, a, b Side) FileResult {
	if r, ok := unopposed(base, a, b); ok {
		return r
	}
	return newContest(base, a, b, true).settle()
}

// Texts is Files for a file without front matter. A file of bytes that are
// not text is not merged by lines: the winner's stays.
func Texts(base []byte, a, b Side) FileResult {
	if r, ok := unopposed(base, a, b); ok {
		return r
	}
	return newContest(base, a, b, false).settle()
}

// unopposed settles what only one side changed, or both alike.
func unopposed(base []byte, a, b Side) (FileResult, bool) {
	switch {
	case bytes.Equal(a.Data, b.Data), base != nil && bytes.Equal(base, b.Data):
		return FileResult{Data: a.Data}, true
	case base != nil && bytes.Equal(base, a.Data):
		return FileResult{Data: b.Data, Winner: 1}, true
	}
	return FileResult{}, false
}

// isBinary reports whether data cannot be merged by lines.
func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

func mergesByKey(data []byte) bool { return !isBinary(data) && utf8.Valid(data) }

// version is one state of a file in a contest.
type version struct {
	data    []byte
	doc     *vault.Document // of data without BOM; nil where a contest has no front matter
	changed func() time.Time
}

func (v version) text() []byte { return bytes.TrimPrefix(v.data, bom) }

func (v version) broken() bool { return v.doc != nil && v.doc.Broken() != nil }

func (v version) updated() time.Time {
	if v.doc == nil {
		return time.Time{}
	}
	return v.doc.Time("updated")
}

func (v version) changedAt() time.Time {
	if v.changed == nil {
		return time.Time{}
	}
	return v.changed()
}

// decidedAt is when v was made of base: what v says, if it says something newer
// than base does; known is false if not. A human's editor does not touch
// updated, and an undo sets it back.
func (v version) decidedAt(base version) (t time.Time, known bool) {
	t = v.updated()
	return t, t.After(base.updated())
}

// contest is a merge of two versions that differ from each other and from base.
type contest struct {
	base, a, b version
	baseless   bool // a and b have no common version; base is empty
	isMemory   bool // the file has front matter, if it can be read
}

// newContest prepares the merge of a and b; memory says whether they may
// front matter, which is left at that where they are not text at all.
func newContest(base []byte, a, b Side, memory bool) contest {
	c := contest{
		base: version{data: base}, baseless: base == nil, isMemory: memory,
		a: version{data: a.Data, changed: a.Changed},
		b: version{data: b.Data, changed: b.Changed},
	}
	if memory && mergesByKey(base) && mergesByKey(a.Data) && mergesByKey(b.Data) {
		for _, v := range []*version{&c.base, &c.a, &c.b} {
			v.doc = vault.ParseDocument(v.text())
		}
	}
	return c
}

// settle merges with the winner as a. When the files last changed is asked
// only where something is lost: it has to be looked up in history.
func (c contest) settle() FileResult {
	aWins, sure := c.winner()
	r := c.mergeFor(aWins)
	if sure || len(r.Lost) == 0 {
		return r
	}
	if later := c.laterChange(); later != 0 && aWins != (later > 0) {
		return c.mergeFor(!aWins)
	}
	return r
}

func (c contest) mergeFor(aWins bool) FileResult {
	if aWins {
		return c.merge()
	}
	c.a, c.b = c.b, c.a
	r := c.merge()
	r.Winner = 1
	return r
}

// merge merges; a is the winner.
func (c contest) merge() FileResult {
	if c.a.doc == nil {
		return c.text()
	}
	return c.memory()
}

// winner says who wins by what the files themselves say. It is not sure where
// it took the higher hash.
func (c contest) winner() (aWins, sure bool) {
	if c.a.broken() != c.b.broken() {
		return c.b.broken(), true
	}
	ta, knownA := c.a.decidedAt(c.base)
	tb, knownB := c.b.decidedAt(c.base)
	if knownA && knownB && !ta.Equal(tb) {
		return ta.After(tb), true
	}
	ha, hb := sha256.Sum256(c.a.data), sha256.Sum256(c.b.data)
	return bytes.Compare(ha[:], hb[:]) > 0, false
}

// laterChange compares when the sides changed: greater than 0 when a did last,
// 0 when nobody knows.
func (c contest) laterChange() int {
	ta, knownA := c.a.decidedAt(c.base)
	tb, knownB := c.b.decidedAt(c.base)
	changedA, changedB := c.a.changedAt(), c.b.changedAt()
	if !knownA && !changedA.IsZero() {
		ta = changedA
	}
	if !knownB && !changedB.IsZero() {
		tb = changedB
	}
	return cmp.Or(ta.Compare(tb), changedA.Compare(changedB))
}

// style is the style of the merge.
func (c contest) style() style {
	if c.baseless {
		return mergeStyle(nil, c.a.data, c.b.data)
	}
	return mergeStyle(c.base.data, c.a.data, c.b.data)
}

// lines merges a part of the files by lines; clean is false where a's lines
// stand for b's.
func (c contest) lines(base, a, b []byte) (merged []byte, clean bool) {
	if c.baseless {
		return merge2(a, b)
	}
	merged, conflicts := merge3(base, a, b, func(Conflict) bool { return true })
	return merged, len(conflicts) == 0
}

func (c contest) winnerOnly() FileResult {
	return FileResult{Data: c.a.data, Lost: []string{"file"}}
}

// text merges the whole files by lines.
func (c contest) text() FileResult {
	if isBinary(c.base.data) || isBinary(c.a.data) || isBinary(c.b.data) {
		return c.winnerOnly()
	}
	merged, clean := c.lines(c.base.text(), c.a.text(), c.b.text())
	if c.isMemory && isBroken(merged) && !isBroken(c.a.data) && !isBroken(c.b.data) {
		return c.winnerOnly()
	}
	r := FileResult{Data: c.style().apply(merged)}
	if !clean {
		r.Lost = []string{"body"}
	}
	return r
}

func isBroken(data []byte) bool { return vault.ParseDocument(data).Broken() != nil }

// memory merges front matter by key and bodies by lines.
func (c contest) memory() FileResult {
	switch {
	case c.a.broken() && c.b.broken():
		return c.text()
	case c.a.broken() || c.b.broken():
		return c.winnerOnly()
	}
	head, lost := c.header()
	c.baseless = c.baseless || c.base.broken() // where its body starts is anybody's guess
	body, clean := c.lines([]byte(c.base.doc.Body()), []byte(c.a.doc.Body()), []byte(c.b.doc.Body()))
	if !clean {
		lost = append(lost, "body")
	}
	merged := append(head, body...)
	if len(body) == 0 {
		merged = endLike(merged, c.base.data, c.a.data, c.b.data)
	}
	if isBroken(merged) {
		return c.winnerOnly()
	}
	return FileResult{Data: c.style().apply(merged), Lost: lost}
}
