package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	oklog "github.com/oklog/ulid/v2"
)

func TestIDs(t *testing.T) {
	at := time.Date(2026, 11, 30, 16, 1, 0, 123e6, time.UTC)
	id := NewID(at, strings.NewReader("0123456789"))
	if id != NewID(at, strings.NewReader("0123456789")) || id == NewID(at, nil) {
		t.Errorf("%s does not follow its entropy", id)
	}
	if !id.Time().Equal(at) || len(id) != 26 {
		t.Errorf("%s is of %v, want %v", id, id.Time(), at)
	}
	if got := NewID(at, strings.NewReader("short")); !got.Time().Equal(at) {
		t.Errorf("without entropy: %q", got)
	}
	if got := NewID(time.Time{}, nil); got.Time().Unix() != 0 {
		t.Errorf("of the zero time: %s", got.Time())
	}
	if got := ID("01JDZ3M8Q4X0W3K2V7N5T9R6BC").Suffix(); got != "t9r6bc" {
		t.Errorf("suffix %q", got)
	}
	if ID("").Suffix() != "" || ID("AB").Suffix() != "ab" || !ID("x").Time().IsZero() {
		t.Error("short ids")
	}
	a, b := DerivedID(at, []byte("a")), DerivedID(at, []byte("b"))
	if a == b || a != DerivedID(at.In(time.FixedZone("", 3600)), []byte("a")) || !a.Time().Equal(at) {
		t.Errorf("derived %s and %s", a, b)
	}
}

// TestLikeOklog lets the library that others use judge ours.
func TestLikeOklog(t *testing.T) {
	for i := range 2000 {
		seed := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		ms := binary.BigEndian.Uint64(seed[16:]) >> (16 + i%30)
		at := time.UnixMilli(int64(ms))
		want := oklog.MustNew(ms, bytes.NewReader(seed[:])).String()
		if got := NewID(at, bytes.NewReader(seed[:])); string(got) != want {
			t.Fatalf("id at %d: %s, want %s", ms, got, want)
		}
		if id, err := ParseID(strings.ToLower(want)); err != nil || !id.Time().Equal(at) {
			t.Fatalf("%s is of %v (%v), want %v", want, id.Time(), err, at)
		}
	}
}

func TestParseID(t *testing.T) {
	if got, err := ParseID("01jdz3m8q4x0w3k2v7n5t9r6bc"); got != "01JDZ3M8Q4X0W3K2V7N5T9R6BC" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, s := range []string{"", "01JDZ3M8Q4X0W3K2V7N5T9R6B", "01JDZ3M8Q4X0W3K2V7N5T9R6BCC", "81JDZ3M8Q4X0W3K2V7N5T9R6BC", "01JDZ3M8Q4X0W3K2V7N5T9R6BU", "01JDZ3M8Q4X0W3K2V7N5T9R6-C", "ẞ1JDZ3M8Q4X0W3K2V7N5T9R6"} {
		if _, err := ParseID(s); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v, want ErrName", s, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for _, s := range []string{
		"2026-01-02T03:04:00Z", "2026-01-02T03:04:00.000Z", "2026-01-02T04:04:00+01:00", "2026-01-02T03:04:00", "2026-01-02 03:04:00",
		"2026-01-02 03:04", "2026-01-02T03:04", "2026-01-02T03:04Z", "2026-01-01 22:04:00 -0500", "2026-01-01 22:04:00-05:00", " 2026-01-02T03:04:00Z ",
	} {
		if got, ok := ParseTime(s); !ok || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"2026-01-02", "2026-1-2"} {
		if got, ok := ParseTime(s); !ok || !got.Equal(want.Truncate(24*time.Hour)) {
			t.Errorf("%q is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "yesterday", "2026", "2026-13-01", "2026-02-30", "12:30", "20260102"} {
		if got, ok := ParseTime(s); ok {
			t.Errorf("%q is %v", s, got)
		}
	}
	if got := FormatTime(want.In(time.FixedZone("", 3600))); got != "2026-01-02T03:04:00Z" {
		t.Errorf("written as %s", got)
	}
}
