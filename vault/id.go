package vault

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// suffixLen is how many characters of an id end a file name.
const suffixLen = 6

// NewID returns a fresh id with the time of now (in milliseconds, clamped to
// what a ULID can hold) and 80 bits from entropy; nil means crypto/rand.
func NewID(now time.Time, entropy io.Reader) ID {
	if entropy == nil {
		entropy = rand.Reader
	}
	u, err := ulid.New(ulidTime(now), entropy)
	if err != nil { // entropy ran dry; crypto/rand cannot fail
		u = ulid.MustNew(ulidTime(now), rand.Reader)
	}
	return ID(u.String())
}

// DerivedID returns the id that belongs to t and seed: always the same one, on
// every host. It names what nobody gave an id.
func DerivedID(t time.Time, seed []byte) ID {
	sum := sha256.Sum256(seed)
	return ID(ulid.MustNew(ulidTime(t), bytes.NewReader(sum[:])).String())
}

// ParseID reads a ULID in either case. It returns ErrName, wrapped, for
// anything else.
func ParseID(s string) (ID, error) {
	u, err := ulid.ParseStrict(strings.ToUpper(s))
	if err != nil {
		return "", fmt.Errorf("id %q is not a ULID (26 letters and digits): %w", s, ErrName)
	}
	return ID(u.String()), nil
}

// Suffix returns the last 6 characters in lower case, as file names end in
// them; the whole id when it is shorter.
func (id ID) Suffix() string {
	return strings.ToLower(string(id[max(0, len(id)-suffixLen):]))
}

// Time returns when the id was made, in UTC; the zero time if id is not a ULID.
func (id ID) Time() time.Time {
	u, err := ulid.ParseStrict(string(id))
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time()).UTC()
}

func ulidTime(t time.Time) uint64 {
	ms := t.UnixMilli()
	if ms < 0 {
		return 0
	}
	return min(uint64(ms), ulid.MaxTime())
}
