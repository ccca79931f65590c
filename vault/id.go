package vault

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"
)

// suffixLen is how many characters of an id end a file name.
const suffixLen = 6

// NewID returns a fresh id with the time of now (in milliseconds, clamped to
// what a ULID can hold) and 80 bits from entropy; nil means crypto/rand.
func NewID(now time.Time, entropy io.Reader) ID {
	var random [10]byte
	if entropy == nil {
		entropy = rand.Reader
	}
	if _, err := io.ReadFull(entropy, random[:]); err != nil { // it ran dry
		_, _ = rand.Read(random[:]) // cannot fail
	}
	return ulid(now, random[:])
}

// DerivedID returns the id that belongs to t and seed: always the same one, on
// every host. It names what nobody gave an id.
func DerivedID(t time.Time, seed []byte) ID {
	sum := sha256.Sum256(seed)
	return ulid(t, sum[:10])
}

// A ULID is 48 bits of time in milliseconds and 80 random ones, in Crockford's
// base 32: 26 characters, of which the first holds 3 bits
// (https://github.com/ulid/spec).
const (
	ulidDigits  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	ulidLen     = 26
	ulidTimeLen = 10
	maxUlidTime = 1<<48 - 1
)

func ulid(t time.Time, random []byte) ID {
	ms := uint64(min(max(t.UnixMilli(), 0), maxUlidTime))
	var id [ulidLen]byte
	for i := ulidTimeLen - 1; i >= 0; i-- {
		id[i] = ulidDigits[ms&31]
		ms >>= 5
	}
	bits, n, at := uint(0), 0, ulidTimeLen
	for _, b := range random {
		bits, n = bits<<8|uint(b), n+8
		for ; n >= 5; at++ {
			n -= 5
			id[at] = ulidDigits[bits>>n&31]
		}
	}
	return ID(id[:])
}

// ParseID reads a ULID in either case. It returns ErrName, wrapped, for
// anything else.
func ParseID(s string) (ID, error) {
	id := strings.ToUpper(s)
	if _, ok := ulidTime(id); !ok {
		return "", fmt.Errorf("id %q is not a ULID (26 letters and digits): %w", s, ErrName)
	}
	return ID(id), nil
}

// Suffix returns the last 6 characters in lower case, as file names end in
// them; the whole id when it is shorter.
func (id ID) Suffix() string {
	return strings.ToLower(string(id[max(0, len(id)-suffixLen):]))
}

// Time returns when the id was made, in UTC; the zero time if id is not a ULID.
func (id ID) Time() time.Time {
	ms, ok := ulidTime(string(id))
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ulidTime returns the time that a ULID begins with; ok is false when id is none.
func ulidTime(id string) (ms int64, ok bool) {
	if len(id) != ulidLen || id[0] > '7' {
		return 0, false
	}
	for i := range len(id) {
		digit := strings.IndexByte(ulidDigits, id[i])
		if digit < 0 {
			return 0, false
		}
		if i < ulidTimeLen {
			ms = ms<<5 | int64(digit)
		}
	}
	return ms, true
}
