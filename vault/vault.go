package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// Options say which vault to open and who acts.
type Options struct {
	Dir      string // the identity's folder, made on the first write
	Identity string // whose vault it is
	Origin   Origin // who acts in this process; User defaults to Identity

	// LockWait bounds how long a writer waits for the identity's lock;
	// 0 means 10 s.
	LockWait time.Duration
	// Now and Entropy are the seams for time and randomness.
	Now     func() time.Time
	Entropy io.Reader
	// Warn is told what happened beside the answer, such as a stale lock that
	// was removed. nil drops it.
	Warn func(string)
}

// Vault is one identity's vault on this host. It may be used by one goroutine
// at a time; any number of processes may have it open.
type Vault struct {
	opts   Options
	git    *repo.GitDir // nil until the vault exists
	config Config       // zero until the vault exists
	// lost tells that main has no vault.yaml any more and config is the last
	// one that it had; the next update commits it again.
	lost bool
	// stuck says why an interrupted write could not be finished yet; until it
	// is, nothing is committed.
	stuck string
}

// ErrNoVault: the identity has no vault on this host yet.
var ErrNoVault = fmt.Errorf("vault %w", ErrNotFound)

// Open opens the vault in opts.Dir. A vault that does not exist yet is no
// error: it reads as empty and the first write makes it.
func Open(opts Options) (*Vault, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Entropy == nil {
		opts.Entropy = rand.Reader
	}
	if opts.LockWait == 0 {
		opts.LockWait = 10 * time.Second
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	if opts.Origin.User == "" {
		opts.Origin.User = opts.Identity
	}
	v := &Vault{opts: opts}
	if err := v.attach(); err != nil && !errors.Is(err, ErrNoVault) {
		return nil, err
	}
	return v, nil
}

// attach opens the git directory if it is there; ErrNoVault if not.
func (v *Vault) attach() error {
	git, err := repo.Open(v.WorkDir())
	if errors.Is(err, repo.ErrNotRepository) {
		return ErrNoVault
	}
	if err != nil {
		return fmt.Errorf("open vault %s: %w", v.WorkDir(), err)
	}
	git.Warn = v.opts.Warn
	v.git = git
	if v.config, err = v.readConfig(); err != nil {
		v.git = nil
		return errors.Join(err, git.Close())
	}
	return nil
}

// Close releases the git directory's files.
func (v *Vault) Close() error {
	if v.git == nil {
		return nil
	}
	return v.git.Close()
}

// Exists reports whether the vault was made.
func (v *Vault) Exists() bool { return v.git != nil }

// WorkDir is the absolute path of the work tree.
func (v *Vault) WorkDir() string { return filepath.Join(v.opts.Dir, "vault") }

// IndexDir is where what is derived from the vault lives.
func (v *Vault) IndexDir() string { return filepath.Join(v.opts.Dir, "index") }

// Git is the vault's git directory; nil before the vault exists.
func (v *Vault) Git() *repo.GitDir { return v.git }

// Identity is whose vault this is: what the vault itself says, else Options.
func (v *Vault) Identity() string {
	if v.config.Identity != "" {
		return v.config.Identity
	}
	return v.opts.Identity
}

// Config is the vault's own description; zero before the vault exists.
func (v *Vault) Config() Config { return v.config }

// Origin is who acts in this process.
func (v *Vault) Origin() Origin { return v.opts.Origin }

// Now is the present time, as Options' clock tells it.
func (v *Vault) Now() time.Time { return v.opts.Now().UTC().Truncate(time.Second) }

// Head is the commit that main points at; zero before the first one.
func (v *Vault) Head() (plumbing.Hash, error) {
	if v.git == nil {
		return plumbing.ZeroHash, nil
	}
	h, err := v.git.Ref(repo.Main)
	if errors.Is(err, repo.ErrRefNotFound) {
		return plumbing.ZeroHash, nil
	}
	return h, err
}

// tree returns the root tree of commit; zero for the zero commit.
func (v *Vault) tree(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := repo.ReadCommit(v.git, commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Tree, nil
}

// readConfig reads .vade/vault.yaml from the work tree, else from main: a
// human may have a branch checked out that lacks it.
func (v *Vault) readConfig() (Config, error) {
	raw, err := v.git.WorkTree().ReadFile(ConfigPath)
	var damage error
	if err == nil {
		var config Config
		if config, damage = ParseConfig(raw); damage == nil {
			return config, nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return Config{}, fmt.Errorf("read %s: %w", ConfigPath, err)
	}
	head, err := v.Head()
	if err != nil {
		return Config{}, err
	}
	config, current, err := ConfigAt(v.git, head)
	v.lost = err == nil && !current
	if damage == nil {
		return config, err
	}
	if err != nil {
		return config, damage
	}
	v.opts.Warn(fmt.Sprintf("%v; going by the committed one (git -C %s checkout %s mends it)", damage, v.WorkDir(), ConfigPath))
	return config, nil
}

// ConfigAt is what the vault that s holds said of itself at commit. Where
// somebody deleted vault.yaml in an earlier commit it is the last one that
// there was, and current is false. ErrNoVault when there never was one.
func ConfigAt(s repo.Store, commit plumbing.Hash) (config Config, current bool, err error) {
	if commit.IsZero() {
		return config, false, ErrNoVault
	}
	c, err := repo.ReadCommit(s, commit)
	if err != nil {
		return config, false, err
	}
	config, err = configIn(s, c.Tree)
	if !errors.Is(err, repo.ErrPathNotFound) {
		return config, err == nil, err
	}
	for c, err := range repo.History(s, ConfigPath, commit) {
		if err != nil {
			return config, false, err
		}
		if config, err = configIn(s, c.Tree); !errors.Is(err, repo.ErrPathNotFound) {
			return config, false, err
		}
	}
	return config, false, ErrNoVault
}

func configIn(s repo.Store, tree plumbing.Hash) (Config, error) {
	entry, err := repo.Lookup(s, tree, ConfigPath)
	if err != nil {
		return Config{}, err
	}
	raw, err := repo.ReadBlob(s, entry.Hash)
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", ConfigPath, err)
	}
	return ParseConfig(raw)
}

// Redescribe commits vault.yaml again when somebody deleted it and committed
// that; what it held is in history. It reports whether it had to.
func (v *Vault) Redescribe(ctx context.Context) (bool, error) {
	if !v.lost {
		return false, nil
	}
	done, err := v.Update(ctx, Op{Name: "repair", Subject: ConfigPath}, func(*Tx) error { return nil })
	return err == nil && done.Held == "", err
}

// ReadAt returns the bytes of path in commit, or ErrNotFound.
func (v *Vault) ReadAt(commit plumbing.Hash, path string) ([]byte, error) {
	tree, err := v.tree(commit)
	if err != nil {
		return nil, err
	}
	entry, err := repo.LookupFile(v.git, tree, path)
	if errors.Is(err, repo.ErrPathNotFound) {
		return nil, fmt.Errorf("%s in commit %.10s: %w", path, commit, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return repo.ReadBlob(v.git, entry.Hash)
}

// Lock takes the identity's lock, waiting at most Options.LockWait, and calls
// fn under it. The error is an ErrLocked that names the holder when the wait
// was too long.
func (v *Vault) Lock(ctx context.Context, fn func() error) error {
	if err := os.MkdirAll(v.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("make the identity's folder: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(v.opts.Dir, "lock"), v.opts.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return fn()
}
