package merge

import "bytes"

// maxCost bounds the number of edits that one diff box looks for from each
// end. A box that differs by more is one hunk: "the whole block changed".
// Without a bound two long, unlike texts would cost their lengths' product.
const maxCost = 1000

// hunk says that lines [a0,a1) of one text became lines [b0,b1) of another.
// Hunks of one diff are in order and never touch.
type hunk struct{ a0, a1, b0, b1 int }

// interner numbers lines, so that equal lines are equal ints. Lines that
// differ only in CRLF against LF are equal.
type interner map[string]int

func (in interner) lines(text [][]byte) []int {
	ids := make([]int, len(text))
	for i, l := range text {
		l = bytes.TrimSuffix(bytes.TrimSuffix(l, []byte{'\n'}), []byte{'\r'})
		id, ok := in[string(l)]
		if !ok {
			id = len(in)
			in[string(l)] = id
		}
		ids[i] = id
	}
	return ids
}

// splitLines cuts text after each newline. The last line may lack one.
func splitLines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		lines = append(lines, text[:n])
		text = text[n:]
	}
	return lines
}

// diff returns the hunks that turn a into b: Myers' O(ND) algorithm in linear
// space (Algorithmica 1986), bounded by maxCost, then each hunk slid to the
// last place where it says the same, which is where git puts it too.
func diff(a, b []int) []hunk {
	d := newDiffer(a, b)
	pre := commonPrefix(a, b)
	suf := commonSuffix(a[pre:], b[pre:])
	d.middle(pre, len(a)-suf, pre, len(b)-suf)
	compact(a, d.delA, d.addB)
	compact(b, d.addB, d.delA)
	return d.hunks()
}

func commonPrefix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

type differ struct {
	a, b       []int
	delA, addB []bool // lines of a that are gone, lines of b that are new
}

func newDiffer(a, b []int) *differ {
	return &differ{a: a, b: b, delA: make([]bool, len(a)), addB: make([]bool, len(b))}
}

// middle marks the changes between a[a0:a1] and b[b0:b1]. Lines that only one
// of them has are changes in any case; Myers looks at the rest.
func (d *differ) middle(a0, a1, b0, b1 int) {
	inA, inB := lineSet(d.a[a0:a1]), lineSet(d.b[b0:b1])
	ai, as := shared(d.a, a0, a1, inB, d.delA)
	bi, bs := shared(d.b, b0, b1, inA, d.addB)
	m := &myers{
		a: as, b: bs, fwd: make([]int, len(as)+len(bs)+3), bwd: make([]int, len(as)+len(bs)+3),
		del: func(i int) { d.delA[ai[i]] = true },
		add: func(i int) { d.addB[bi[i]] = true },
	}
	m.box(0, len(as), 0, len(bs))
}

func lineSet(ids []int) map[int]bool {
	set := make(map[int]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// shared returns the places and ids of the lines of s[lo:hi] that the other
// text has too, and marks all others as changed.
func shared(s []int, lo, hi int, other map[int]bool, changed []bool) (at, ids []int) {
	for i := lo; i < hi; i++ {
		if !other[s[i]] {
			changed[i] = true
			continue
		}
		at, ids = append(at, i), append(ids, s[i])
	}
	return at, ids
}

// hunks reads the marks.
func (d *differ) hunks() []hunk {
	var hs []hunk
	i, j := 0, 0
	for i < len(d.a) || j < len(d.b) {
		h := hunk{a0: i, b0: j}
		for i < len(d.a) && d.delA[i] {
			i++
		}
		for j < len(d.b) && d.addB[j] {
			j++
		}
		if i > h.a0 || j > h.b0 {
			h.a1, h.b1 = i, j
			hs = append(hs, h)
		}
		i, j = i+1, j+1
	}
	return hs
}

// myers finds the changes of a box by its middle snake, and recurs.
type myers struct {
	a, b     []int
	fwd, bwd []int // furthest reaching x by diagonal; bwd from the far corner
	del, add func(int)
}

func (m *myers) box(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 < a1 && b0 < b1 {
		if x, y, ok := m.split(a0, a1, b0, b1); ok {
			m.box(a0, x, b0, y)
			m.box(x, a1, y, b1)
			return
		}
	}
	for ; a0 < a1; a0++ {
		m.del(a0)
	}
	for ; b0 < b1; b0++ {
		m.add(b0)
	}
}

// split returns a point on a shortest path through the box: where the
// furthest reaching paths from both corners meet. ok is false when they do
// not meet within maxCost edits from each corner.
func (m *myers) split(a0, a1, b0, b1 int) (x, y int, ok bool) {
	n, k := a1-a0, b1-b0
	delta, odd := n-k, (n-k)%2 != 0
	fwd := reaches{v: m.fwd, n: n, k: k}
	bwd := reaches{v: m.bwd, n: n, k: k}
	for d := 0; d <= min(maxCost, (n+k+1)/2); d++ {
		lo, hi := fwd.diagonals(d)
		for diag := hi; diag >= lo; diag -= 2 {
			x := fwd.step(d, diag)
			for x >= 0 && x < n && x-diag < k && m.a[a0+x] == m.b[b0+x-diag] {
				x++
			}
			fwd.set(diag, x)
			if odd && bwd.meets(d-1, delta-diag, n-x) {
				return a0 + x, b0 + x - diag, true
			}
		}
		for diag := lo; diag <= hi; diag += 2 {
			x := bwd.step(d, diag)
			for x >= 0 && x < n && x-diag < k && m.a[a1-1-x] == m.b[b1-1-x+diag] {
				x++
			}
			bwd.set(diag, x)
			if !odd && fwd.meets(d, delta-diag, n-x) {
				return a1 - x, b1 - x + diag, true
			}
		}
	}
	return 0, 0, false
}

// reaches holds, for each diagonal x-y of an n by k box, the furthest x that a
// number of edits reaches from its corner; negative where none stays inside.
type reaches struct {
	v    []int
	n, k int
}

const unreached = -1 << 40

// diagonals returns the first and last diagonal that d edits end on inside
// the box; every second one between them counts.
func (p reaches) diagonals(d int) (lo, hi int) {
	lo, hi = -d, d
	if d > p.k {
		lo = -p.k + (d-p.k)%2
	}
	if d > p.n {
		hi = p.n - (d-p.n)%2
	}
	return lo, hi
}

func (p reaches) get(diag int) int    { return p.v[p.k+1+diag] }
func (p reaches) set(diag int, x int) { p.v[p.k+1+diag] = x }

// step is the furthest x on diag after the d-th edit, before its snake: one
// down from the diagonal above or one right from the diagonal below.
func (p reaches) step(d, diag int) int {
	if d == 0 {
		return 0
	}
	x := unreached
	if diag < d && diag < p.n {
		if down := p.get(diag + 1); down-diag <= p.k {
			x = down
		}
	}
	if diag > -d && diag > -p.k {
		if right := p.get(diag-1) + 1; right <= p.n {
			x = max(x, right)
		}
	}
	return x
}

// meets reports whether the path after d edits reaches x on diag.
func (p reaches) meets(d, diag, x int) bool {
	return diag >= -d && diag <= d && diag >= -p.k && diag <= p.n && x <= p.n && p.get(diag) >= x
}
