package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/transport"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// State is how far a vault is from its remote, without asking the remote.
type State struct {
	Remote    string    `json:"remote,omitempty"` // masked URL; "" when there is none
	Ahead     int       `json:"ahead"`            // commits that the remote is not known to have
	Behind    int       `json:"behind"`           // commits of the remote that main does not have yet
	LastSync  time.Time `json:"last_sync,omitzero"`
	LastError string    `json:"last_error,omitempty"` // of the last round; "" when it went well
}

// record is the file sync.json.
type record struct {
	LastSync    time.Time `json:"last_sync,omitzero"`
	LastAttempt time.Time `json:"last_attempt,omitzero"`
	LastError   string    `json:"last_error,omitempty"`
	LastLook    time.Time `json:"last_look,omitzero"`
}

// LastLook is when a round last looked at everything on disk and left nothing
// of it uncommitted; zero if none has.
func LastLook(v *vault.Vault) time.Time { return readRecord(v).LastLook }

func recordPath(v *vault.Vault) string { return filepath.Join(v.Git().Dir(), "vade", "sync.json") }

func readRecord(v *vault.Vault) record {
	var r record
	if raw, err := os.ReadFile(recordPath(v)); err == nil {
		_ = json.Unmarshal(raw, &r) // damaged: the next round writes it again
	}
	return r
}

func writeRecord(v *vault.Vault, r record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := recordPath(v)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Status reads the state of v from what the last rounds left.
func Status(v *vault.Vault) (State, error) {
	if !v.Exists() {
		return State{}, nil
	}
	r := readRecord(v)
	s := State{LastSync: r.LastSync, LastError: r.LastError}
	remote, ok, err := remoteOf(v)
	if err != nil || !ok {
		return s, err
	}
	s.Remote = transport.Mask(remote.URL)
	head, err := v.Head()
	if err != nil {
		return s, err
	}
	tracked, err := tracking(v, remote.Name)
	if err != nil {
		return s, err
	}
	if s.Ahead, err = repo.Count(v.Git(), tracked, head); err != nil {
		return s, err
	}
	s.Behind, err = repo.Count(v.Git(), head, tracked)
	return s, err
}

// remoteOf is the remote that v syncs with: origin, else the first one; false
// when it has none.
func remoteOf(v *vault.Vault) (repo.Remote, bool, error) {
	remotes, err := v.Git().Remotes()
	if err != nil || len(remotes) == 0 {
		return repo.Remote{}, false, err
	}
	r := remotes[0]
	if i := slices.IndexFunc(remotes, func(r repo.Remote) bool { return r.Name == "origin" }); i >= 0 {
		r = remotes[i]
	}
	r.URL = fromWorkDir(v, r.URL)
	return r, true, nil
}

// fromWorkDir makes a relative path absolute as git does, which runs at the top
// of the work tree, so that a remote is the same from every folder.
func fromWorkDir(v *vault.Vault, url string) string {
	path, ok := transport.LocalPath(url)
	if !ok || path != url || filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
		return url
	}
	return filepath.Join(v.WorkDir(), path)
}

// checkSelf refuses a remote that is the vault itself: being in step with
// that would say that there is a second copy.
func checkSelf(v *vault.Vault, url string) error {
	path, ok := transport.LocalPath(url)
	if !ok || !v.Exists() {
		return nil
	}
	at, err := os.Stat(path)
	if err != nil {
		return nil // whoever speaks to it says what is wrong
	}
	for _, own := range []string{v.WorkDir(), v.Git().Dir()} {
		if info, err := os.Stat(own); err == nil && os.SameFile(at, info) {
			return fmt.Errorf("remote %s is this vault itself, which is no second copy (git init --bare makes one elsewhere)", transport.Mask(url))
		}
	}
	return nil
}

func trackingRef(remote string) string { return "refs/remotes/" + remote + "/main" }

// tracking is the last commit that the remote's branch was seen at; zero when
// it never was.
func tracking(v *vault.Vault, remote string) (plumbing.Hash, error) {
	return refOrZero(v, trackingRef(remote))
}

// RemoteTip asks the remote where the vault's branch is; zero when it is empty.
func RemoteTip(ctx context.Context, v *vault.Vault, o transport.Options) (plumbing.Hash, error) {
	remote, ok, err := remoteOf(v)
	if err != nil || !ok {
		return plumbing.ZeroHash, err
	}
	wire, err := transport.Open(remote.URL, o)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer wire.Close()
	refs, head, err := wire.Refs(ctx)
	return refs[remoteBranch(refs, head)], err
}
