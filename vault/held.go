package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// claim takes git's index lock for a change of paths on top of main at head.
// held says why they must not be committed now, and is "" when they may be: a
// human is in the middle of something, or has staged one of them.
func (v *Vault) claim(ctx context.Context, head plumbing.Hash, paths []string) (index *repo.IndexLock, held string, err error) {
	state, err := v.git.State()
	if err != nil {
		return nil, "", err
	}
	if held := firstReason(v.stuck, heldBy(state)); held != "" {
		return nil, held, nil
	}
	index, err = v.git.LockIndex(ctx)
	if locked, ok := errors.AsType[*repo.LockedError](err); ok {
		return nil, locked.Error(), nil
	}
	if damage := indexDamage(err); damage != "" {
		return nil, damage, nil
	}
	if err != nil {
		return nil, "", err
	}
	staged, err := v.staged(index, head, paths)
	if err == nil && len(staged) == 0 {
		return index, "", nil
	}
	index.Release()
	if err != nil {
		return nil, "", err
	}
	return nil, fmt.Sprintf("you have staged %s; commit or unstage it", strings.Join(staged, ", ")), nil
}

func firstReason(reasons ...string) string {
	for _, r := range reasons {
		if r != "" {
			return r
		}
	}
	return ""
}

// staged are those of paths whose entry in git's index is not main's.
func (v *Vault) staged(index *repo.IndexLock, head plumbing.Hash, paths []string) ([]string, error) {
	tree, err := v.tree(head)
	if err != nil {
		return nil, err
	}
	entries, err := index.Entries(paths)
	if err != nil {
		return nil, err
	}
	var staged []string
	for _, path := range paths {
		committed, err := repo.LookupFile(v.git, tree, path)
		if err != nil && !errors.Is(err, repo.ErrPathNotFound) {
			return nil, err
		}
		if entries[path] != committed.Hash {
			staged = append(staged, path)
		}
	}
	return staged, nil
}

func heldBy(s repo.State) string {
	switch {
	case s.Operation != repo.NoOperation:
		return fmt.Sprintf("a %s is in progress in the vault; finish or abort it", s.Operation)
	case s.Branch == "":
		return "the vault's HEAD is detached; run \"git checkout main\" in it"
	case s.Branch != repo.Main:
		return fmt.Sprintf("the vault is on branch %s; run \"git checkout main\" in it", strings.TrimPrefix(s.Branch, "refs/heads/"))
	}
	return ""
}

// heldChange is an update that was saved but not committed, with the origin
// that its commit must name.
type heldChange struct {
	Op      string   `json:"op"`
	Subject string   `json:"subject"`
	Origin  Origin   `json:"origin"`
	Paths   []string `json:"paths"`
}

func (v *Vault) heldPath() string { return filepath.Join(v.stateDir(), "held.json") }

// saveHeld writes the files of an update that cannot be committed now and
// notes it, the note first: a note without its files changes nothing.
func (t *Tx) saveHeld(ctx context.Context, op Op, paths []string) ([]Unwritten, error) {
	notes, err := t.v.readHeld()
	if err != nil {
		return nil, err
	}
	who := op.Origin
	if who == (Origin{}) {
		who = t.v.opts.Origin
	}
	note := heldChange{Op: op.Name, Subject: op.Subject, Origin: who, Paths: paths}
	if err := t.v.writeHeld(append(notes, note)); err != nil {
		return nil, err
	}
	return t.saveFiles(ctx)
}

func (v *Vault) readHeld() ([]heldChange, error) {
	raw, err := os.ReadFile(v.heldPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var notes []heldChange
	if err := json.Unmarshal(raw, &notes); err != nil {
		return nil, nil // the files are on disk and the next sync adopts them
	}
	return notes, nil
}

func (v *Vault) writeHeld(notes []heldChange) error {
	if len(notes) == 0 {
		err := os.Remove(v.heldPath())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := os.MkdirAll(v.stateDir(), 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	return writeDurable(v.heldPath(), raw)
}

// HeldPaths are the paths that were saved and wait to be committed, sorted.
func (v *Vault) HeldPaths() ([]string, error) {
	if v.git == nil {
		return nil, nil
	}
	notes, err := v.readHeld()
	var paths []string
	for _, n := range notes {
		paths = append(paths, n.Paths...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// commitHeld commits what earlier updates had to leave, in their order, as
// far as it is possible now. What cannot be committed stays noted.
func (v *Vault) commitHeld(ctx context.Context) error {
	notes, err := v.readHeld()
	if err != nil || len(notes) == 0 {
		return err
	}
	var kept []heldChange
	for _, n := range notes {
		done, err := v.commitPaths(ctx, n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // one bad file must not block every later write
			v.opts.Warn(fmt.Sprintf("cannot commit %s yet: %v", strings.Join(n.Paths, ", "), err))
		}
		if err != nil || !done {
			kept = append(kept, n)
		}
	}
	return v.writeHeld(kept)
}

// commitPaths commits the present content of a held change's paths.
func (v *Vault) commitPaths(ctx context.Context, n heldChange) (bool, error) {
	tx, err := v.begin()
	if err != nil {
		return false, err
	}
	for _, path := range n.Paths {
		data, err := tx.Read(path)
		switch {
		case errors.Is(err, ErrNotFound):
			tx.Remove(path)
		case err != nil:
			return false, err
		default:
			if err := tx.Adopt(path, data); err != nil {
				return false, err
			}
		}
	}
	if err := tx.adoptUnchanged(); err != nil {
		return false, err
	}
	if held, err := tx.unmerged(slices.Collect(maps.Keys(tx.changes))); err != nil || held != "" {
		return false, err
	}
	done, err := tx.commit(ctx, Op{Name: n.Op, Subject: n.Subject, Origin: n.Origin})
	return err == nil && done.Held == "", err
}

// adoptUnchanged drops changes whose content main already has: a human
// committed them meanwhile.
func (t *Tx) adoptUnchanged() error {
	for path, blob := range t.changes {
		committed, err := t.Committed(path)
		if err != nil {
			return err
		}
		if blob == committed {
			delete(t.changes, path)
		}
	}
	return nil
}

// editBasePath is where the version that an unadopted edit was based on is kept.
func (v *Vault) editBasePath(path string) string {
	return filepath.Join(v.stateDir(), "bases", repo.BlobHash([]byte(path)).String())
}

// keepEditBase notes that the file on disk at path derives from blob, not
// from what main is about to hold. The first note wins: it is what the editor
// had loaded.
func (v *Vault) keepEditBase(path string, blob plumbing.Hash) error {
	file := v.editBasePath(path)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return writeDurable(file, []byte(blob.String()+"\n"))
}

// EditBase is the blob that the uncommitted edit at path was based on when
// main moved on beneath it. The zero hash with ok means that main had no such
// file then; ok is false when nothing was noted.
func (v *Vault) EditBase(path string) (base plumbing.Hash, ok bool) {
	raw, err := os.ReadFile(v.editBasePath(path))
	if err != nil {
		return plumbing.ZeroHash, false
	}
	text := strings.TrimSpace(string(raw))
	return plumbing.NewHash(text), plumbing.IsHash(text)
}

// Absent is why main's file at path, which is not on disk, never was: this system
// cannot hold it, or could not when main took it. It is nil when somebody must
// have deleted it.
func (v *Vault) Absent(path string) error {
	if err := repo.CheckHostPath(path); err != nil {
		return err
	}
	if _, noted := v.EditBase(path); !noted {
		return nil
	}
	if err := v.git.WorkTree().CheckPlace(path); err != nil {
		return err
	}
	return errUnwritten
}

// errUnwritten: nothing is in the way any more.
var errUnwritten = errors.New("could not be written here; \"vade sync\" tries again")

// DropEditBase forgets the note that EditBase reads: the edit was adopted.
func (v *Vault) DropEditBase(path string) { _ = os.Remove(v.editBasePath(path)) }

// Interrupted reports whether a process was killed in the middle of a write
// that the next one will finish.
func (v *Vault) Interrupted() bool {
	if v.git == nil {
		return false
	}
	_, err := os.Stat(v.markerPath())
	return err == nil
}
