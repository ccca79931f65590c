package providers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// TestTwoHostsOfOneName: what the reflog does not know as made here is another
// one's, whatever its trailer says.
func TestTwoHostsOfOneName(t *testing.T) {
	hash := func(digit string) plumbing.Hash { return plumbing.NewHash(strings.Repeat(digit, 40)) }
	dir := t.TempDir()
	log := filepath.Join(dir, "logs", "refs", "heads", "main")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for digit, why := range map[string]string{"1": "clone", "2": "remember: a", "3": "sync: pull", "4": "commit: by hand", "5": "pull --rebase: x"} {
		lines.WriteString(strings.Repeat("0", 40) + " " + strings.Repeat(digit, 40) + " vade <vade@localhost> 1796106275 +0000\t" + why + "\n")
	}
	if err := os.WriteFile(log, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(vault.Options{
		Dir: filepath.Join(t.TempDir(), "me"), Identity: "me", Origin: vault.Origin{Host: "box"}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	o := &Outbox{Vault: v}
	ours := madeHere(dir)
	for _, test := range []struct {
		digit, host string
		want        author
	}{
		{"2", "box", byUs},
		{"3", "box", byOther},
		{"1", "box", byOther},
		{"5", "box", byOther},
		{"6", "box", byOther},
		{"4", "", byUs},
		{"6", "", byOther},
		{"2", "other", byOther},
	} {
		c := &repo.Commit{Hash: hash(test.digit), Message: "x\n"}
		if test.host != "" {
			c.Message += "\nVade-Host: " + test.host + "\n"
		}
		if got := o.authorOf(c, ours); got != test.want {
			t.Errorf("commit %s of %q: got %d, want %d", test.digit, test.host, got, test.want)
		}
	}
	if got := o.authorOf(&repo.Commit{Hash: hash("6"), Message: "x\n\nVade-Host: box\n"}, madeHere(t.TempDir())); got != byUs {
		t.Errorf("without a reflog: %d", got)
	}
}
