package merge

import (
	"bytes"
	"slices"
)

// Conflict is a place where both sides changed the same base lines, and
// neither change holds the other.
type Conflict struct {
	Base, Ours, Theirs []byte // whole lines
}

// Merge3 merges two descendants of base by lines. Where both changed the same
// lines the merged text holds the side whose lines sort last, so that
// swapping the sides changes nothing but the names in the conflicts.
//
// Lines added at one place by both are all kept, in the order of their bytes.
// Changes that only touch are both made. An overlap is no conflict when the
// sides agree, when one side's new lines are among the other's, or when one
// side only deletes. The text may hold any bytes; a missing last newline is
// merged as a property of its own, and so are line ends: a line that only went
// from LF to CRLF did not change.
func Merge3(base, ours, theirs []byte) (merged []byte, conflicts []Conflict) {
	return merge3(base, ours, theirs, func(c Conflict) bool {
		return bytes.Compare(c.Ours, c.Theirs) >= 0
	})
}

// merge3 is Merge3 with the winner of each overlap picked by keepOurs.
func merge3(base, ours, theirs []byte, keepOurs func(Conflict) bool) ([]byte, []Conflict) {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return ours, nil
	case bytes.Equal(base, ours):
		return theirs, nil
	}
	m := newMerger(base, ours, theirs)
	m.keepOurs = keepOurs
	m.run()
	return endLike(m.out, base, ours, theirs), m.conflicts
}

// side is one text in a three-way merge.
type side struct {
	text  [][]byte // lines
	ids   []int
	hunks []hunk // from base
}

type merger struct {
	base, a, b side
	keepOurs   func(Conflict) bool
	exclusive  bool // additions at one place overlap

	out       []byte
	conflicts []Conflict

	copied         int // base lines that are dealt with
	inA, inB       int // hunks that are dealt with
	shiftA, shiftB int // base line n is line n+shift of the side
}

func newMerger(base, ours, theirs []byte) *merger {
	in := interner{}
	load := func(text []byte) side {
		lines := splitLines(endLine(text))
		return side{text: lines, ids: in.lines(lines)}
	}
	m := &merger{base: load(base), a: load(ours), b: load(theirs)}
	m.a.hunks = diff(m.base.ids, m.a.ids)
	m.b.hunks = diff(m.base.ids, m.b.ids)
	return m
}

func (m *merger) run() {
	if m.finished() {
		return
	}
	for m.inA < len(m.a.hunks) || m.inB < len(m.b.hunks) {
		g := m.nextGroup()
		m.writeKept(m.copied, g.start, g.aLo-g.start, g.bLo-g.start)
		m.resolve(g)
		m.copied = g.end
	}
	m.writeKept(m.copied, len(m.base.text), m.shiftA, m.shiftB)
}

// edits is how many lines hunks delete and add.
func edits(hs []hunk) int {
	n := 0
	for _, h := range hs {
		n += h.a1 - h.a0 + h.b1 - h.b0
	}
	return n
}

// finished settles a merge in which one side has been merged with the other
// before: the way from base to it leads over the other, so that it has nothing
// to add. By lines alone the same addition could come twice, where it stands
// among lines that repeat.
func (m *merger) finished() bool {
	d := edits(diff(m.a.ids, m.b.ids))
	switch {
	case d == 0: // but for line ends
		return false
	case edits(m.a.hunks)+d == edits(m.b.hunks) && m.isNews(m.a, m.b):
		m.write(m.b.text)
	case edits(m.b.hunks)+d == edits(m.a.hunks) && m.isNews(m.b, m.a):
		m.write(m.a.text)
	default:
		return false
	}
	return true
}

// isNews reports whether inner added something, all that it added is found
// nowhere in base, and outer has it.
func (m *merger) isNews(inner, outer side) bool {
	added := inner.added(inner.hunks)
	old, there := lineSet(m.base.ids), lineSet(outer.ids)
	for _, id := range added {
		if old[id] || !there[id] {
			return false
		}
	}
	return len(added) > 0
}

// writeKept writes base lines [from,to), which both sides kept, with the line
// ends of the side that changed them.
func (m *merger) writeKept(from, to, shiftA, shiftB int) {
	for i := from; i < to; i++ {
		l := m.a.text[i+shiftA]
		if bytes.Equal(l, m.base.text[i]) {
			l = m.b.text[i+shiftB]
		}
		m.out = append(m.out, l...)
	}
}

func (m *merger) write(lines [][]byte) { m.out = appendLines(m.out, lines) }

func appendLines(out []byte, lines [][]byte) []byte {
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}

// group is a row of hunks of both sides over base lines [start,end), each
// touching or overlapping the ones before it.
type group struct {
	start, end int
	a, b       []hunk
	aLo, aHi   int // what [start,end) is on each side
	bLo, bHi   int
}

func (m *merger) nextGroup() group {
	restA, restB := m.a.hunks[m.inA:], m.b.hunks[m.inB:]
	g := group{start: first(restA, restB)}
	g.end = g.start
	for {
		switch {
		case len(restA) > len(g.a) && restA[len(g.a)].a0 <= g.end:
			g.end = max(g.end, restA[len(g.a)].a1)
			g.a = restA[:len(g.a)+1]
		case len(restB) > len(g.b) && restB[len(g.b)].a0 <= g.end:
			g.end = max(g.end, restB[len(g.b)].a1)
			g.b = restB[:len(g.b)+1]
		default:
			m.inA, m.inB = m.inA+len(g.a), m.inB+len(g.b)
			g.aLo, g.bLo = g.start+m.shiftA, g.start+m.shiftB
			m.shiftA, m.shiftB = m.shiftA+growth(g.a), m.shiftB+growth(g.b)
			g.aHi, g.bHi = g.end+m.shiftA, g.end+m.shiftB
			return g
		}
	}
}

func first(a, b []hunk) int {
	switch {
	case len(a) == 0:
		return b[0].a0
	case len(b) == 0:
		return a[0].a0
	}
	return min(a[0].a0, b[0].a0)
}

func growth(hs []hunk) int {
	n := 0
	for _, h := range hs {
		n += (h.b1 - h.b0) - (h.a1 - h.a0)
	}
	return n
}

func (m *merger) resolve(g group) {
	a, b := m.a.text[g.aLo:g.aHi], m.b.text[g.bLo:g.bHi]
	aIDs, bIDs := m.a.ids[g.aLo:g.aHi], m.b.ids[g.bLo:g.bHi]
	switch {
	case len(g.b) == 0:
		m.write(a)
	case len(g.a) == 0:
		m.write(b)
	case slices.Equal(aIDs, bIDs):
		if slices.CompareFunc(a, b, bytes.Compare) < 0 { // CRLF on one side only
			a = b
		}
		m.write(a)
	case !overlap(g.a, g.b):
		m.weave(g)
	default:
		m.overlapped(g)
	}
}

// overlap reports whether a hunk of a and one of b change the same base
// lines, or one adds inside what the other changes. Touching, and adding at
// one place, is not overlapping.
func overlap(a, b []hunk) bool {
	for len(a) > 0 && len(b) > 0 {
		switch h, o := a[0], b[0]; {
		case h.a0 < o.a1 && o.a0 < h.a1:
			return true
		case h.a1 < o.a1 || h.a1 == o.a1 && h.a0 < o.a0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}
