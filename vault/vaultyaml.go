package vault

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ConfigPath is where a vault says what it is.
const ConfigPath = metaDir + "/vault.yaml"

// Format is the vault format that this program writes, and the newest that it reads.
const Format = 1

const (
	digestKeyLen    = 32
	minDigestKeyLen = 16
	maxIdentity     = 63
)

// Config is what .vade/vault.yaml says of a vault. It is written once.
type Config struct {
	Format    int
	VaultID   ID     // tells a foreign vault from another clone of this one
	Identity  string // whose vault it is
	DigestKey []byte // 32 bytes; keys [NewDigest]
}

// FormatError: the vault was written by a newer vade.
type FormatError struct {
	Found, Known int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: vault format %d is newer than this vade knows (%d); update vade (vade update)",
		ConfigPath, e.Found, e.Known)
}

// NewConfig returns the Config of a new vault. entropy nil means crypto/rand.
func NewConfig(identity string, now time.Time, entropy io.Reader) (Config, error) {
	if err := CheckIdentity(identity); err != nil {
		return Config{}, err
	}
	if entropy == nil {
		entropy = rand.Reader
	}
	c := Config{Format: Format, VaultID: NewID(now, entropy), Identity: identity, DigestKey: make([]byte, digestKeyLen)}
	if _, err := io.ReadFull(entropy, c.DigestKey); err != nil {
		return Config{}, fmt.Errorf("new digest key: %w", err)
	}
	return c, nil
}

// ParseConfig reads the file. A format from the future is a *FormatError;
// keys that it does not know are left for newer versions.
func ParseConfig(raw []byte) (Config, error) {
	h := parseHeader(strings.TrimPrefix(string(raw), bom))
	if h.broken != nil {
		return Config{}, fmt.Errorf("%s: line %d: %s; restore it from git history", ConfigPath, h.broken.Line-1, h.broken.Reason)
	}
	var c Config
	var err error
	for i := range h.entries {
		switch e, val := &h.entries[i], h.entries[i].val.scalar(); e.key {
		case "format":
			c.Format, err = strconv.Atoi(val)
		case "vault_id":
			c.VaultID, err = ParseID(val)
		case "identity":
			c.Identity, err = val, CheckIdentity(val)
		case "digest_key":
			c.DigestKey, err = hex.DecodeString(val)
		}
		if c.Format > Format {
			return Config{}, &FormatError{Found: c.Format, Known: Format}
		}
		if err != nil {
			return Config{}, fmt.Errorf("%s: %s: %w; restore it from git history", ConfigPath, h.entries[i].key, err)
		}
	}
	return c, c.check()
}

// check reports what is missing.
func (c *Config) check() error {
	missing := ""
	switch {
	case c.Format < 1:
		missing = "format"
	case c.VaultID == "":
		missing = "vault_id"
	case c.Identity == "":
		missing = "identity"
	case len(c.DigestKey) < minDigestKeyLen:
		missing = "digest_key"
	default:
		return nil
	}
	return fmt.Errorf("%s: %s is missing or too short; restore it from git history", ConfigPath, missing)
}

// Bytes returns the file of c.
func (c Config) Bytes() []byte {
	return []byte("# What this vault is. Written once by vade; see docs/file-format.md.\n" +
		renderFields([]field{
			{"format", c.Format},
			{"vault_id", c.VaultID},
			{"identity", c.Identity},
			{"digest_key", hex.EncodeToString(c.DigestKey)},
		}))
}

// CheckIdentity refuses, with ErrName, a name that does not match
// [a-z0-9][a-z0-9._-]{0,62}.
func CheckIdentity(name string) error {
	ok := name != "" && len(name) <= maxIdentity && strings.IndexByte("._-", name[0]) < 0
	for i := range len(name) {
		c := name[i]
		ok = ok && ('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("._-", c) >= 0)
	}
	if !ok {
		return fmt.Errorf("identity %s: 1 to %d of a-z, 0-9, dot, dash and underscore, a letter or digit first: %w",
			quoteName(name), maxIdentity, ErrName)
	}
	return nil
}
