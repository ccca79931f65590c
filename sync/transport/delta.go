package transport

import "errors"

var errDelta = errors.New("a delta does not fit its base")

// applyDelta returns the content that delta makes of base (gitformat-pack,
// "Deltified representation").
func applyDelta(base, delta []byte) ([]byte, error) {
	baseSize, delta, ok := deltaSize(delta)
	if !ok || baseSize != len(base) {
		return nil, errDelta
	}
	size, delta, ok := deltaSize(delta)
	if !ok || size > maxObject {
		return nil, errDelta
	}
	// The size is only a claim, and copies can multiply: memory follows it in
	// steps.
	out := make([]byte, 0, min(size, 4*(len(base)+len(delta))))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		switch {
		case op&0x80 != 0:
			var from, n int
			if from, n, delta, ok = deltaCopy(op, delta); !ok || from > len(base) || n > len(base)-from {
				return nil, errDelta
			}
			piece = base[from : from+n]
		case op == 0 || int(op) > len(delta):
			return nil, errDelta
		default:
			piece, delta = delta[:op], delta[op:]
		}
		if len(piece) > size-len(out) {
			return nil, errDelta
		}
		out = append(out, piece...)
	}
	if len(out) != size {
		return nil, errDelta
	}
	return out, nil
}

func deltaSize(d []byte) (int, []byte, bool) {
	n := 0
	for i := 0; i < len(d) && i < 9; i++ {
		n |= int(d[i]&0x7f) << (7 * i)
		if d[i]&0x80 == 0 {
			return n, d[i+1:], n >= 0
		}
	}
	return 0, nil, false
}

// deltaCopy reads the offset and size of a copy instruction.
func deltaCopy(op byte, d []byte) (from, n int, rest []byte, ok bool) {
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(d) == 0 {
			return 0, 0, nil, false
		}
		if i < 4 {
			from |= int(d[0]) << (8 * i)
		} else {
			n |= int(d[0]) << (8 * (i - 4))
		}
		d = d[1:]
	}
	if n == 0 {
		n = 0x10000
	}
	return from, n, d, true
}
