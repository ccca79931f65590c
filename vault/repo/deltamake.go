package repo

// deltaBlock is the granularity at which makeDelta finds moved text.
const deltaBlock = 16

// makeDelta encodes target as a delta against base. What the two have in common at
// both ends is found at once, which is all there is when one entry of a folder or
// one paragraph of a note changed; between that, blocks of base are looked for.
func makeDelta(base, target []byte) []byte {
	d := deltaWriter{base: base, target: target}
	d.out = appendDeltaSize(appendDeltaSize(make([]byte, 0, 64), len(base)), len(target))
	head := commonPrefix(base, target)
	tail := commonSuffix(base[head:], target[head:])
	d.copy(0, head)
	d.middle(head, len(target)-tail)
	d.copy(len(base)-tail, tail)
	return d.out
}

type deltaWriter struct {
	base, target []byte
	out          []byte
}

// middle encodes target[from:to].
func (d *deltaWriter) middle(from, to int) {
	if to-from < 2*deltaBlock {
		d.insert(d.target[from:to])
		return
	}
	blocks := make(map[[deltaBlock]byte]int, len(d.base)/deltaBlock)
	for i := 0; i+deltaBlock <= len(d.base); i += deltaBlock {
		key := [deltaBlock]byte(d.base[i:])
		if _, ok := blocks[key]; !ok {
			blocks[key] = i
		}
	}
	literal := from // start of what is not encoded yet
	for at := from; at+deltaBlock <= to; {
		i, ok := blocks[[deltaBlock]byte(d.target[at:])]
		if !ok {
			at++
			continue
		}
		n := deltaBlock + commonPrefix(d.base[i+deltaBlock:], d.target[at+deltaBlock:to])
		back := commonSuffix(d.base[:i], d.target[literal:at])
		d.insert(d.target[literal : at-back])
		d.copy(i-back, n+back)
		at += n
		literal = at
	}
	d.insert(d.target[literal:to])
}

// insert encodes bytes that base does not have, up to 127 in an instruction.
func (d *deltaWriter) insert(b []byte) {
	for len(b) > 0 {
		n := min(len(b), 0x7f)
		d.out = append(append(d.out, byte(n)), b[:n]...)
		b = b[n:]
	}
}

// copy encodes n bytes of base, up to 64 KiB in an instruction.
func (d *deltaWriter) copy(off, n int) {
	for n > 0 {
		k := min(n, 0x10000)
		op := len(d.out)
		d.out = append(d.out, 0x80)
		put := func(bit, b int) {
			if b &= 0xff; b != 0 {
				d.out[op] |= 1 << bit
				d.out = append(d.out, byte(b))
			}
		}
		for i := range 4 {
			put(i, off>>(8*i))
		}
		if k != 0x10000 { // which is what no size means
			put(4, k)
			put(5, k>>8)
		}
		off += k
		n -= k
	}
}

func appendDeltaSize(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
