package repo

import (
	"errors"
)

var errDelta = errors.New("delta is malformed")

// applyDelta rebuilds an object from its base (gitformat-pack(5), "Deltified
// representation").
func applyDelta(base, delta []byte) ([]byte, error) {
	baseSize, delta, ok := deltaSize(delta)
	if !ok || baseSize != len(base) {
		return nil, errDelta
	}
	size, delta, ok := deltaSize(delta)
	if !ok || size > maxObject {
		return nil, errDelta
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		switch {
		case op&0x80 != 0:
			var off, n int
			off, n, delta, ok = copyOperands(op, delta)
			if !ok || off+n > len(base) || len(out)+n > size {
				return nil, errDelta
			}
			out = append(out, base[off:off+n]...)
		case op != 0:
			n := int(op)
			if n > len(delta) || len(out)+n > size {
				return nil, errDelta
			}
			out = append(out, delta[:n]...)
			delta = delta[n:]
		default:
			return nil, errDelta
		}
	}
	if len(out) != size {
		return nil, errDelta
	}
	return out, nil
}

func deltaSize(b []byte) (int, []byte, bool) {
	n := 0
	for i, c := range b {
		if i > 7 {
			break
		}
		n |= int(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

// copyOperands decodes the offset and length of a copy instruction.
func copyOperands(op byte, b []byte) (off, n int, rest []byte, ok bool) {
	var v [7]int
	for i := range v {
		if op>>i&1 == 0 {
			continue
		}
		if len(b) == 0 {
			return 0, 0, nil, false
		}
		v[i] = int(b[0])
		b = b[1:]
	}
	off = v[0] | v[1]<<8 | v[2]<<16 | v[3]<<24
	if n = v[4] | v[5]<<8 | v[6]<<16; n == 0 {
		n = 0x10000
	}
	return off, n, b, true
}
