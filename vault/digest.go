package vault

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest tells whether a text is one that was seen before without saying what
// it was: the first 16 bytes of HMAC-SHA256 over the canonical text, keyed
// with the vault's digest key. Its text form is 32 lower-case hex digits.
type Digest [16]byte

// NewDigest returns the digest of what [Canonical] makes of title and body.
func NewDigest(key []byte, title, body string) Digest {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(Canonical(title, body)))
	var d Digest
	copy(d[:], mac.Sum(nil))
	return d
}

// ParseDigest reads the text form.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if err := d.UnmarshalText([]byte(s)); err != nil {
		return Digest{}, err
	}
	return d, nil
}

// IsZero reports whether d is the zero Digest, which belongs to no text.
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the text form.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the text form.
func (d *Digest) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return fmt.Errorf("digest %q is not %d hex digits", text, 2*len(d))
	}
	copy(d[:], raw)
	return nil
}
