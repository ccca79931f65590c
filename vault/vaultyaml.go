package vault

import (
	"fmt"
	"io"
	"time"
)

// ConfigPath is where a vault says what it is.
const ConfigPath = metaDir + "/vault.yaml"

// Format is the vault format that this program writes, and the newest that it reads.
const Format = 1

// Config is what .vade/vault.yaml says of a vault. It is written once.
type Config struct {
	Format    int
	VaultID   ID     // tells a foreign vault from another clone of this one
	Identity  string // whose vault it is
	DigestKey []byte // 32 bytes; keys [NewDigest]
}

// FormatError: the vault was written by a newer vade.
type FormatError struct{ Found, Known int }

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: vault format %d is newer than this vade knows (%d); update vade (vade update)",
		ConfigPath, e.Found, e.Known)
}

// NewConfig returns the Config of a new vault. entropy nil means crypto/rand.
func NewConfig(identity string, now time.Time, entropy io.Reader) (Config, error) {
	return Config{Format: Format, VaultID: NewID(now, entropy), Identity: identity}, nil
}

// ParseConfig reads the file. A format from the future is a *FormatError.
func ParseConfig(raw []byte) (Config, error) { return Config{}, nil }

// Bytes returns the file of c.
func (c Config) Bytes() []byte { return nil }

// CheckIdentity refuses, with ErrName, a name that does not match
// [a-z0-9][a-z0-9._-]{0,62}.
func CheckIdentity(name string) error { return nil }
