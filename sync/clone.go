package sync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/transport"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// CloneOptions tune [Clone].
type CloneOptions struct {
	Transport transport.Options
	// Identity, when set, must be the one that the vault belongs to.
	Identity string
}

// Cloned is what [Clone] made.
type Cloned struct {
	Identity string `json:"identity"`
	Vault    string `json:"vault"`
	Head     string `json:"head"`
	Memories int    `json:"memories"`
}

// ErrExists: the identity has a vault on this host already.
var ErrExists = errors.New("exists already")

// Clone brings the vault at url to this host, into home/<identity>, where the
// identity is the one that the vault itself names. It appears there whole or
// not at all. Where that identity has a vault already it is refused: setting
// its remote and syncing joins the two.
func Clone(ctx context.Context, url, home string, o CloneOptions) (Cloned, error) {
	wire, err := transport.Open(url, o.Transport)
	if err != nil {
		return Cloned{}, err
	}
	defer wire.Close()
	refs, head, err := wire.Refs(ctx)
	if err != nil {
		return Cloned{}, err
	}
	tip := refs[remoteBranch(refs, head)]
	if tip.IsZero() {
		return Cloned{}, fmt.Errorf("remote %s is empty: \"vade remote set\" and \"vade sync\" fill it from this host", wire)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return Cloned{}, err
	}
	dir, remove, err := scratch(ctx, home)
	if err != nil {
		return Cloned{}, err
	}
	defer remove()
	c := cloner{url: url, home: home, dir: dir, wire: wire, tip: tip}
	return c.run(ctx, o)
}

// scratch makes a folder in home to clone into, and removes those that killed
// clones left: nobody holds their locks any more.
func scratch(ctx context.Context, home string) (dir string, remove func(), err error) {
	const prefix, suffix = ".clone-", ".lock"
	left, err := filepath.Glob(filepath.Join(home, prefix+"*"+suffix))
	if err != nil {
		return "", nil, err
	}
	for _, lock := range left {
		if unlock, err := vault.LockPath(ctx, lock, 0); err == nil {
			dropScratch(strings.TrimSuffix(lock, suffix), lock, unlock)
		}
	}
	f, err := os.CreateTemp(home, prefix+"*"+suffix)
	if err != nil {
		return "", nil, err
	}
	lock := f.Name()
	dir = strings.TrimSuffix(lock, suffix)
	unlock, err := vault.LockPath(ctx, lock, 0)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", nil, err
	}
	remove = func() { dropScratch(dir, lock, unlock) }
	if err := os.Mkdir(dir, 0o700); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

func dropScratch(dir, lock string, unlock func()) {
	_ = os.RemoveAll(dir)
	unlock()                      // first: Windows removes no open file
	_ = os.Remove(lock + ".next") // of vault.LockPath
	_ = os.Remove(lock)
}

// cloner is one run of Clone: it works in dir and moves it into place.
type cloner struct {
	url, home, dir string
	wire           *transport.Remote
	tip            plumbing.Hash
}

func (c *cloner) run(ctx context.Context, o CloneOptions) (Cloned, error) {
	git, err := repo.Init(filepath.Join(c.dir, "vault"))
	if err != nil {
		return Cloned{}, err
	}
	defer git.Close()
	if _, err := c.wire.Fetch(ctx, git, []plumbing.Hash{c.tip}, nil); err != nil {
		return Cloned{}, err
	}
	config, err := c.config(git)
	if err != nil {
		return Cloned{}, err
	}
	if o.Identity != "" && o.Identity != config.Identity {
		return Cloned{}, fmt.Errorf("remote %s is the vault of %q, not of %q", c.wire, config.Identity, o.Identity)
	}
	target := filepath.Join(c.home, config.Identity)
	if _, err := os.Stat(filepath.Join(target, "vault")); err == nil {
		return Cloned{}, fmt.Errorf("the vault of %q %w in %s: \"vade remote set\" and \"vade sync\" join the two", config.Identity, ErrExists, target)
	}
	if err := git.SetRemote("origin", c.url); err != nil {
		return Cloned{}, err
	}
	if err := c.checkOut(ctx, git, config); err != nil {
		return Cloned{}, err
	}
	if err := c.place(target); err != nil {
		return Cloned{}, err
	}
	return c.result(target, config)
}

func (c *cloner) config(git *repo.GitDir) (vault.Config, error) {
	config, _, err := vault.ConfigAt(git, c.tip)
	if errors.Is(err, vault.ErrNoVault) {
		return vault.Config{}, fmt.Errorf("remote %s is no vault (it has no %s): \"vade import markdown\" takes a folder of notes", c.wire, vault.ConfigPath)
	}
	return config, err
}

// checkOut moves the clone's main to the tip, which writes its files.
func (c *cloner) checkOut(ctx context.Context, git *repo.GitDir, config vault.Config) error {
	if err := git.CompareAndSet(trackingRef("origin"), plumbing.ZeroHash, c.tip, "clone"); err != nil {
		return err
	}
	return vault.CheckOut(ctx, c.dir, config, c.tip)
}

// place moves the finished clone to where it belongs.
func (c *cloner) place(target string) error {
	if err := os.Rename(c.dir, target); err == nil {
		return nil
	}
	// The identity's folder is there, without a vault: a journal, a lock.
	if err := os.MkdirAll(target, 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(c.dir, "vault"), filepath.Join(target, "vault"))
}

func (c *cloner) result(target string, config vault.Config) (Cloned, error) {
	v, err := vault.Open(vault.Options{Dir: target, Identity: config.Identity})
	if err != nil {
		return Cloned{}, err
	}
	defer v.Close()
	s, err := v.Snapshot(context.Background())
	if err != nil {
		return Cloned{}, err
	}
	if err := writeRecord(v, record{LastSync: v.Now(), LastAttempt: v.Now()}); err != nil {
		return Cloned{}, err
	}
	s.SaveCatalog()
	return Cloned{Identity: config.Identity, Vault: v.WorkDir(), Head: c.tip.String(), Memories: s.Len()}, nil
}

// SetRemote makes url the remote that v syncs with, after a look at whether
// it can be one. The vault is made if it does not exist. What was known of
// another remote is forgotten.
func SetRemote(ctx context.Context, v *vault.Vault, url string) (State, error) {
	wire, err := transport.Open(url, transport.Options{})
	if err != nil {
		return State{}, err
	}
	wire.Close()
	if err := checkSelf(v, url); err != nil {
		return State{}, err
	}
	if _, err := v.Update(ctx, vault.Op{Name: "init"}, func(*vault.Tx) error { return nil }); err != nil {
		return State{}, err
	}
	name := "origin"
	old, had, err := remoteOf(v)
	if err != nil {
		return State{}, err
	}
	if had {
		name = old.Name
	}
	if !had || old.URL != url {
		if err := forgetTracking(v, name); err != nil {
			return State{}, err
		}
	}
	if err := v.Git().SetRemote(name, url); err != nil {
		return State{}, err
	}
	return Status(v)
}

// UnsetRemote takes the remote away; nothing on it changes.
func UnsetRemote(_ context.Context, v *vault.Vault) error {
	remote, ok, err := remoteOf(v)
	if err != nil || !ok {
		return err
	}
	if err := forgetTracking(v, remote.Name); err != nil {
		return err
	}
	return v.Git().RemoveRemote(remote.Name)
}

// forgetTracking drops what was seen of a remote, and how the last rounds went.
func forgetTracking(v *vault.Vault, name string) error {
	last, err := tracking(v, name)
	if err != nil {
		return err
	}
	if !last.IsZero() {
		if err := v.Git().CompareAndSet(trackingRef(name), last, plumbing.ZeroHash, "remote changed"); err != nil {
			return err
		}
	}
	return writeRecord(v, record{})
}
