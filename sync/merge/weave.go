package merge

import (
	"bytes"
	"cmp"
	"slices"
)

// part is a hunk and the side that it is of.
type part struct {
	hunk
	of *side
}

func (p part) added() []int { return p.of.ids[p.b0:p.b1] }
func (p part) insert() bool { return p.a0 == p.a1 }

// parts returns both sides' hunks of a group in the order of their places.
// An addition stands before the change that begins, and after the one that
// ends, where it adds.
func (m *merger) parts(g group) []part {
	var ps []part
	for _, h := range g.a {
		ps = append(ps, part{h, &m.a})
	}
	for _, h := range g.b {
		ps = append(ps, part{h, &m.b})
	}
	slices.SortStableFunc(ps, func(x, y part) int {
		return cmp.Or(cmp.Compare(x.a0, y.a0), cmp.Compare(x.a1, y.a1))
	})
	return ps
}

// weave makes the changes of both sides, which touch but do not overlap.
func (m *merger) weave(g group) {
	ps := m.parts(g)
	for i := 0; i < len(ps); i++ {
		p := ps[i]
		switch {
		case i+1 < len(ps) && p.insert() && ps[i+1].insert() && p.a0 == ps[i+1].a0:
			m.addBoth(p, ps[i+1])
			i++
		case p.insert() && repeats(p, ps, i):
		default:
			m.write(p.of.text[p.b0:p.b1])
		}
	}
}

// repeats reports whether a touching change of the other side brings the lines
// that the addition ps[i] brings, at the place where they touch.
func repeats(p part, ps []part, i int) bool {
	if i > 0 {
		if l := ps[i-1]; l.of != p.of && l.a1 == p.a0 && hasSuffix(l.added(), p.added()) {
			return true
		}
	}
	if i+1 < len(ps) {
		if r := ps[i+1]; r.of != p.of && r.a0 == p.a1 && hasPrefix(r.added(), p.added()) {
			return true
		}
	}
	return false
}

func hasPrefix(s, pre []int) bool {
	return len(s) >= len(pre) && slices.Equal(s[:len(pre)], pre)
}

func hasSuffix(s, suf []int) bool {
	return len(s) >= len(suf) && slices.Equal(s[len(s)-len(suf):], suf)
}

// addBoth writes what both sides added at one place, in the order of their
// bytes; once, where one addition holds the other.
func (m *merger) addBoth(p, q part) {
	switch {
	case contains(p.added(), q.added()):
		m.write(p.of.text[p.b0:p.b1])
	case contains(q.added(), p.added()):
		m.write(q.of.text[q.b0:q.b1])
	case m.exclusive:
		m.conflict(group{start: p.a0, end: p.a0}, p.of.text[p.b0:p.b1], q.of.text[q.b0:q.b1])
	default:
		x, y := p.of.text[p.b0:p.b1], q.of.text[q.b0:q.b1]
		if slices.CompareFunc(x, y, bytes.Compare) > 0 {
			x, y = y, x
		}
		m.write(x)
		m.write(y)
	}
}

// contains reports whether sub stands in s without a gap.
func contains(s, sub []int) bool {
	for ; len(s) >= len(sub); s = s[1:] {
		if hasPrefix(s, sub) {
			return true
		}
		if len(s) == 0 {
			break
		}
	}
	return false
}

// overlapped settles a group in which both sides changed the same lines.
func (m *merger) overlapped(g group) {
	a, b := m.a.text[g.aLo:g.aHi], m.b.text[g.bLo:g.bHi]
	newA, newB := m.a.added(g.a), m.b.added(g.b)
	aHolds := subsequence(newB, m.a.ids[g.aLo:g.aHi])
	bHolds := subsequence(newA, m.b.ids[g.bLo:g.bHi])
	switch {
	case len(newA) == 0 && len(newB) == 0:
		m.deleteBoth(g)
	case aHolds && bHolds:
		// The same lines were added, so the sides differ in what they deleted.
		if shorter := cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, bytes.Compare)); shorter > 0 {
			a = b
		}
		m.write(a)
	case aHolds:
		m.write(a)
	case bHolds:
		m.write(b)
	default:
		m.conflict(g, a, b)
	}
}

// added returns the lines that hunks bring.
func (s *side) added(hs []hunk) []int {
	var ids []int
	for _, h := range hs {
		ids = append(ids, s.ids[h.b0:h.b1]...)
	}
	return ids
}

func subsequence(sub, s []int) bool {
	for _, id := range s {
		if len(sub) > 0 && sub[0] == id {
			sub = sub[1:]
		}
	}
	return len(sub) == 0
}

// deleteBoth writes the base lines that neither side deleted.
func (m *merger) deleteBoth(g group) {
	at := g.start
	for _, p := range m.parts(g) {
		if p.a0 > at {
			m.write(m.base.text[at:p.a0])
		}
		at = max(at, p.a1)
	}
	m.write(m.base.text[at:g.end])
}

func (m *merger) conflict(g group, a, b [][]byte) {
	c := Conflict{
		Base:   bytes.Join(m.base.text[g.start:g.end], nil),
		Ours:   bytes.Join(a, nil),
		Theirs: bytes.Join(b, nil),
	}
	m.conflicts = append(m.conflicts, c)
	if m.keepOurs(c) {
		m.write(a)
	} else {
		m.write(b)
	}
}
