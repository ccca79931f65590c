package hooks

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// gap stands where the middle of a long text was left out.
const gap = "\n[…]\n"

// keeper keeps both ends of a string of any length.
type keeper struct {
	head, tail []byte
	cut        int
	private    bool // what is left out speaks of something private
}

// add takes the next bytes of the string.
func (k *keeper) add(more []byte) {
	n := min(len(more), headString-len(k.head))
	k.head = append(k.head, more[:n]...)
	if more = more[n:]; len(more) == 0 {
		return
	}
	// Where a private span begins must not be left out, and its end kept.
	last := k.tail[max(0, len(k.tail)-len("private")):]
	k.private = k.private || marksPrivate(more) || marksPrivate(append(bytes.Clone(last), more[:min(len(more), len("private"))]...))
	k.tail = append(k.tail, more...)
	if len(k.tail) > 3*tailString {
		drop := len(k.tail) - tailString
		k.tail = append(k.tail[:0], k.tail[drop:]...)
		k.cut += drop
	}
}

func marksPrivate(b []byte) bool {
	return bytes.Contains(b, []byte("rivate")) || bytes.Contains(b, []byte("RIVATE"))
}

// text is what is kept of the string, and how many bytes are not.
func (k *keeper) text() (string, int) {
	if drop := len(k.tail) - tailString; k.cut > 0 || drop > 0 {
		drop = max(drop, 0)
		if k.private {
			drop = len(k.tail)
		}
		tail := k.tail[drop:]
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail, drop = tail[1:], drop+1
		}
		return valid(k.head) + gap + valid(tail), k.cut + drop
	}
	return valid(append(k.head, k.tail...)), 0
}

// valid is b as a string of UTF-8, without the rune that its end cuts.
func valid(b []byte) string {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				b = b[:len(b)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
