package vault

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTombstone(t *testing.T) {
	d, _ := ParseDigest("000102030405060708090a0b0c0d0e0f")
	stone := Tombstone{
		ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Path: "memories/2026/11/a: b.md", When: time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC),
		By: Origin{User: "todd", Agent: "codex"}, Digest: d,
	}
	const want = `id: 01JDZ3M8Q4X0W3K2V7N5T9R6BC
path: "memories/2026/11/a: b.md"
when: 2026-11-30T16:01:00Z
by: {user: todd, agent: codex}
digest: 000102030405060708090a0b0c0d0e0f
`
	if diff := cmp.Diff(want, string(stone.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, raw := range []string{want, strings.ReplaceAll(want, "\n", "\r\n"), "\ufeff# x\n" + want + "future: {a: b}\n"} {
		got, err := ParseTombstone([]byte(raw))
		if diff := cmp.Diff(stone, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", raw, err, diff)
		}
	}
	for _, raw := range []string{"", "path: x\n", "id: x\n", "id: [\n", "- a\n"} {
		if _, err := ParseTombstone([]byte(raw)); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
	if got := TombstonePath(stone.ID); got != "forgotten/01JDZ3M8Q4X0W3K2V7N5T9R6BC.yaml" {
		t.Error(got)
	}
}

func TestTombstoneID(t *testing.T) {
	d, e := Digest{1}, Digest{2}
	m := Memory{Path: "a.md"}
	id := TombstoneID(m, d)
	if _, err := ParseID(string(id)); err != nil || id != TombstoneID(m, d) || id == TombstoneID(m, e) || id == TombstoneID(Memory{Path: "b.md"}, d) {
		t.Errorf("%s, %v", id, err)
	}
	m.ID = "01JDZ3M8Q4X0W3K2V7N5T9R6BC"
	if got := TombstoneID(m, d); got != m.ID {
		t.Errorf("got %s", got)
	}
}

func TestConfig(t *testing.T) {
	c, err := NewConfig("todd", time.Now(), nil)
	if err != nil || len(c.DigestKey) != 32 || c.VaultID == "" {
		t.Fatalf("%+v, %v", c, err)
	}
	got, err := ParseConfig(c.Bytes())
	if diff := cmp.Diff(c, got); err != nil || diff != "" {
		t.Errorf("%s%v\n%s", c.Bytes(), err, diff)
	}
	if again, err := ParseConfig(append(c.Bytes(), "later: 1\n"...)); err != nil || !cmp.Equal(c, again) {
		t.Errorf("with a key of a newer version: %v", err)
	}
	raw := string(c.Bytes())
	for _, bad := range []string{
		"", "x", strings.Replace(raw, "format: 1", "format: x", 1), strings.Replace(raw, "format: 1", "", 1), strings.Replace(raw, "identity: todd", "identity: ../x", 1),
		strings.Replace(raw, "digest_key: ", "digest_key: zz", 1), strings.Replace(raw, "vault_id: ", "vault_id: x", 1),
	} {
		if _, err := ParseConfig([]byte(bad)); err == nil || !strings.Contains(err.Error(), ConfigPath) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, err = ParseConfig([]byte("format: 2\nvault_id: [new, shape]\n"))
	if future, ok := errors.AsType[*FormatError](err); !ok || future.Found != 2 || !strings.Contains(err.Error(), "update") {
		t.Errorf("newer format: %v", err)
	}
}

func TestCheckIdentity(t *testing.T) {
	for _, name := range []string{"todd", "a", "0", "a.b_c-d", strings.Repeat("a", 63)} {
		if err := CheckIdentity(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "Todd", ".a", "-a", "_a", "a/b", "a b", "é", strings.Repeat("a", 64), "a\n"} {
		if err := CheckIdentity(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v, want ErrName", name, err)
		}
	}
}
