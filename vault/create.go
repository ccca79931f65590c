package vault

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// attributes pin text to its bytes: no end-of-line conversion, whatever the
// owner's git is set to.
const attributes = "* -text\n"

// ignored are what editors and systems leave beside the files they save.
const ignored = `# What editors and systems leave behind; not memories.
.vade-tmp-*
*~
*.swp
*.swo
.#*
\#*#
.DS_Store
Thumbs.db
.obsidian/workspace*
.trash/
`

// create makes the git repository. What a vault says of itself goes into the
// first commit, whatever that is for (see begin). It is called under the lock
// and may be called again after a kill at any point.
func (v *Vault) create() error {
	if err := os.MkdirAll(v.WorkDir(), 0o700); err != nil {
		return err
	}
	git, err := repo.Init(v.WorkDir())
	if err != nil {
		return err
	}
	git.Warn = v.opts.Warn
	v.git = git
	head, err := v.Head()
	if err != nil {
		return err
	}
	if !head.IsZero() {
		return fmt.Errorf("%s has commits but no %s: not a vault; move it away, or clone your vault with \"vade clone\"",
			v.WorkDir(), ConfigPath)
	}
	v.config, err = v.newConfig()
	return err
}

// describe puts what a vault says of itself into its first commit.
func (t *Tx) describe() error {
	for path, data := range map[string][]byte{
		ConfigPath: t.v.config.Bytes(), ".gitattributes": []byte(attributes), ".gitignore": []byte(ignored),
	} {
		if err := t.Put(path, data); err != nil {
			return err
		}
	}
	return nil
}

// redescribe puts a vault.yaml that somebody deleted into main again.
func (t *Tx) redescribe() error {
	there, err := t.Committed(ConfigPath)
	if err != nil || !there.IsZero() {
		return err
	}
	return t.Put(ConfigPath, t.v.config.Bytes())
}

// newConfig names a new vault; an existing vault.yaml that was never
// committed is kept.
func (v *Vault) newConfig() (Config, error) {
	raw, err := v.git.WorkTree().ReadFile(ConfigPath)
	if err == nil {
		return ParseConfig(raw)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return Config{}, err
	}
	return NewConfig(v.opts.Identity, v.Now(), v.opts.Entropy)
}

// CheckOut makes the git repository in dir, an identity's folder whose objects
// were fetched but which has no commits of its own yet, hold commit.
func CheckOut(ctx context.Context, dir string, config Config, commit plumbing.Hash) error {
	v, err := Open(Options{Dir: dir, Identity: config.Identity})
	if err != nil {
		return err
	}
	defer v.Close()
	return v.Lock(ctx, func() error {
		git, err := repo.Open(v.WorkDir())
		if err != nil {
			return err
		}
		v.git, v.config = git, config
		index, err := git.LockIndex(ctx)
		if err != nil {
			return err
		}
		defer index.Release()
		_, err = v.advance(ctx, index, plumbing.ZeroHash, commit, "clone", nil)
		return err
	})
}
