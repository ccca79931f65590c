package sync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// AdoptOptions tune [Adopt].
type AdoptOptions struct {
	// Paths limits it to these; empty means everything in the vault.
	Paths []string
	// Still is how long a file must have been left alone; 0 means 2 s.
	Still time.Duration
	// Wait waits that long for files that were changed a moment ago, instead
	// of leaving them for the next time.
	Wait bool
	// Deletions adopts the removal of most memories at once.
	Deletions bool
}

// Adopted is what [Adopt] did.
type Adopted struct {
	Paths []string // committed, sorted
	Left  []Left
	// Restored are files that were deleted, that a vault cannot do without,
	// and that are back.
	Restored []string
	// Hot tells that files were left because somebody is still writing them.
	Hot bool
}

const defaultStill = 2 * time.Second

// Adopt commits what a human changed in the work tree by other means than
// vade: edited, added, moved, removed. It leaves alone, and names, what the
// human has staged, what is still being written, what cannot be read, and
// everything while a merge or rebase is in progress.
func Adopt(ctx context.Context, v *vault.Vault, o AdoptOptions) (Adopted, error) {
	done, _, err := adopt(ctx, v, o)
	return done, err
}

// adopt is Adopt; it returns what it saw on disk, unless it changed that.
func adopt(ctx context.Context, v *vault.Vault, o AdoptOptions) (Adopted, *vault.Snapshot, error) {
	none := Adopted{Paths: []string{}, Left: []Left{}}
	if !v.Exists() {
		return none, nil, nil
	}
	if o.Still == 0 {
		o.Still = defaultStill
	}
	if reason, err := v.Busy(); err != nil || reason != "" {
		if reason != "" {
			none.Left = append(none.Left, Left{Reason: reason})
		}
		return none, nil, err
	}
	ad := &adopter{v: v, o: o}
	found, err := ad.look(ctx)
	if err != nil {
		return none, nil, err
	}
	if o.Wait && len(found.hot) > 0 {
		if err := sleep(ctx, o.Still+50*time.Millisecond); err != nil {
			return none, nil, err
		}
		if found, err = ad.look(ctx); err != nil {
			return none, nil, err
		}
	}
	done, err := ad.commit(ctx, found)
	if err == nil && len(o.Paths) == 0 {
		err = v.DropMissed()
	}
	if err == nil {
		err = ad.catchUp(ctx, append(found.behind, ad.aside...), &done)
	}
	if len(done.Paths)+len(found.behind)+len(ad.aside) > 0 {
		return done, nil, err
	}
	return done, found.seen, err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

type adopter struct {
	v *vault.Vault
	o AdoptOptions
	// aside are paths whose files had to move aside: main's can be there now.
	aside []string
	// was holds what git's index has at the paths that changed: a file that is
	// one of these was moved there.
	was map[plumbing.Hash]bool
}

// edits are the differences between the work tree and main.
type edits struct {
	changed []repo.ScanFile  // edited or new
	gone    []repo.ScanEntry // removed
	behind  []string         // not a human's doing: main moved on and the disk could not follow
	needed  []string         // removed, and a vault is none without them
	hot     []string
	left    []Left
	seen    *vault.Snapshot
}

// look compares the work tree with git's index and sorts out what may be
// adopted.
func (ad *adopter) look(ctx context.Context) (edits, error) {
	var e edits
	s, err := ad.v.Snapshot(ctx)
	if err != nil {
		return e, err
	}
	e.seen = s
	if s.Damaged != "" {
		e.left = append(e.left, Left{Reason: s.Damaged})
		return e, nil
	}
	scan := s.Scan()
	for _, u := range scan.Unreadable {
		e.left = append(e.left, Left{Path: u.Path, Reason: fmt.Sprintf("cannot be read: %v", u.Err)})
	}
	for _, p := range scan.Conflicted {
		e.left = append(e.left, Left{Path: p, Reason: "has an unresolved git conflict"})
	}
	now := time.Now()
	for _, f := range scan.Files {
		if f.Hash == f.IndexHash || !ad.wanted(f.Path) || slices.Contains(scan.Conflicted, f.Path) {
			continue
		}
		if base, ok := ad.v.EditBase(f.Path); ok && base == f.Hash {
			e.behind = append(e.behind, f.Path)
			continue
		}
		if ad.hot(now, f.ModTime) {
			e.hot = append(e.hot, f.Path)
			continue
		}
		e.changed = append(e.changed, f)
	}
	for _, m := range scan.Missing {
		if !ad.wanted(m.Path) || repo.CheckHostPath(m.Path) != nil {
			continue // not asked about, or never was on this system's disk
		}
		if m.Path == vault.ConfigPath {
			e.needed = append(e.needed, m.Path)
			continue
		}
		if ad.v.Absent(m.Path) != nil {
			e.behind = append(e.behind, m.Path)
			continue
		}
		if ad.hot(now, ad.folderTime(m.Path)) {
			e.hot = append(e.hot, m.Path)
			continue
		}
		e.gone = append(e.gone, m)
	}
	if len(ad.o.Paths) > 0 {
		ad.addMoved(&e)
	}
	return e, ad.dropStaged(ctx, &e)
}

// addMoved adds the removals that are the other half of files that were asked
// for: of a memory that was moved, history follows one commit, not two.
func (ad *adopter) addMoved(e *edits) {
	for _, f := range e.changed {
		if !f.IndexHash.IsZero() || !vault.IsMemoryPath(f.Path) {
			continue
		}
		data, err := ad.v.Git().WorkTree().ReadFile(f.Path)
		if err != nil {
			continue
		}
		id := vault.ParseDocument(data).Memory().ID
		for _, m := range e.seen.Scan().Missing {
			if vault.IsMemoryPath(m.Path) && !ad.wanted(m.Path) && ad.moved(m, f, id) {
				e.gone = append(e.gone, m)
			}
		}
	}
}

// moved reports whether the missing m is what f was: the same bytes or id.
func (ad *adopter) moved(m repo.ScanEntry, f repo.ScanFile, id vault.ID) bool {
	if m.Hash == f.Hash {
		return true
	}
	was, err := repo.ReadBlob(ad.v.Git(), m.Hash)
	return err == nil && id != "" && vault.ParseDocument(was).Memory().ID == id
}

func (ad *adopter) wanted(path string) bool {
	return len(ad.o.Paths) == 0 || slices.Contains(ad.o.Paths, path)
}

func (ad *adopter) hot(now, changed time.Time) bool {
	age := now.Sub(changed)
	return age >= 0 && age < ad.o.Still
}

// folderTime is when the nearest folder of path that is still there was
// changed: an editor that saves by removing and creating is in between.
func (ad *adopter) folderTime(path string) time.Time {
	dir := filepath.Join(ad.v.WorkDir(), filepath.FromSlash(path))
	for len(dir) > len(ad.v.WorkDir()) {
		dir = filepath.Dir(dir)
		if info, err := os.Stat(dir); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// dropStaged takes out of e what a human has staged, that is where git's
// index is not main's, and reports it.
func (ad *adopter) dropStaged(ctx context.Context, e *edits) error {
	staged, err := ad.v.Staged(ctx)
	if err != nil || len(staged) == 0 {
		return err
	}
	for _, p := range staged {
		if ad.wanted(p) {
			e.left = append(e.left, Left{Path: p, Reason: "is staged by you"})
		}
	}
	e.changed = slices.DeleteFunc(e.changed, func(f repo.ScanFile) bool { return slices.Contains(staged, f.Path) })
	e.needed = slices.DeleteFunc(e.needed, func(p string) bool { return slices.Contains(staged, p) })
	e.gone = slices.DeleteFunc(e.gone, func(m repo.ScanEntry) bool { return slices.Contains(staged, m.Path) })
	e.behind = slices.DeleteFunc(e.behind, func(p string) bool { return slices.Contains(staged, p) })
	return nil
}

// Most memories at once means more than half, and more than a handful; or all,
// if they were more than a few: their folder was moved away.
const (
	handful = 10
	few     = 2
)

func (e *edits) accident() bool {
	gone := 0
	for _, m := range e.gone {
		if vault.IsMemoryPath(m.Path) {
			gone++
		}
	}
	for _, f := range e.changed {
		if f.IndexHash.IsZero() {
			gone-- // moved, most likely
		}
	}
	if gone <= few {
		return false
	}
	total := e.total()
	return gone > handful && gone*2 > total || gone == total
}

// total is how many memories git's index has.
func (e *edits) total() int {
	n := 0
	for _, f := range e.seen.Scan().Files {
		if !f.IndexHash.IsZero() && vault.IsMemoryPath(f.Path) {
			n++
		}
	}
	for _, m := range e.seen.Scan().Missing {
		if vault.IsMemoryPath(m.Path) {
			n++
		}
	}
	return n
}

func (e *edits) was() map[plumbing.Hash]bool {
	was := map[plumbing.Hash]bool{}
	for _, m := range e.gone {
		was[m.Hash] = true
	}
	for _, f := range e.changed {
		was[f.IndexHash] = true
	}
	return was
}

func (ad *adopter) commit(ctx context.Context, e edits) (Adopted, error) {
	done := Adopted{Paths: []string{}, Left: append([]Left{}, e.left...), Hot: len(e.hot) > 0}
	for _, p := range e.hot {
		done.Left = append(done.Left, Left{Path: p, Reason: "is still being written"})
	}
	if e.accident() && !ad.o.Deletions {
		done.Left = append(done.Left, Left{Reason: fmt.Sprintf(
			"%d of %d memories are gone from the work tree, which looks like an accident; "+
				"\"vade doctor --fix\" brings them back, \"vade sync --adopt-deletes\" deletes them", len(e.gone), e.total())})
		e.gone = nil
	}
	if len(e.needed) > 0 {
		if err := ad.v.BringBack(ctx, e.needed); err != nil {
			return done, err
		}
		done.Restored = e.needed
	}
	if len(e.changed)+len(e.gone) == 0 {
		return done, nil
	}
	op := vault.Op{Name: "adopt", Subject: subject(e), Origin: editorOf(ad.v)}
	ad.was = e.was()
	left := len(done.Left)
	commit, err := ad.v.Update(ctx, op, func(tx *vault.Tx) error {
		done.Left = done.Left[:left]
		for _, m := range e.gone {
			there, err := tx.Exists(m.Path)
			if err == nil && !there {
				tx.Remove(m.Path)
			} // else it is back: the next round looks again
		}
		for _, f := range e.changed {
			err := ad.adopt(tx, f, &done)
			if repo.IsPlaceError(err) || errors.Is(err, vault.ErrName) { // one odd file must not keep the others back
				done.Left = append(done.Left, Left{Path: f.Path, Reason: err.Error()})
			} else if err != nil {
				return fmt.Errorf("adopt %s: %w", f.Path, err)
			}
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	if commit.Held != "" {
		done.Left = append(done.Left, Left{Reason: commit.Held})
		return done, nil
	}
	done.Paths = append(done.Paths, commit.Paths...)
	done.Left = append(done.Left, leftUnwritten(commit.Unwritten)...)
	for _, p := range commit.Paths {
		ad.v.DropEditBase(p)
	}
	return done, nil
}

// editorOf is the origin of what a human did by other means.
func editorOf(v *vault.Vault) vault.Origin {
	return vault.Origin{User: v.Identity(), Agent: "editor", Host: v.Origin().Host}
}

func subject(e edits) string {
	var names []string
	for _, f := range e.changed {
		names = append(names, f.Path)
	}
	for _, m := range e.gone {
		names = append(names, m.Path)
	}
	if len(names) <= 2 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d files", len(names))
}

// adopt puts one file of the work tree into the update: as it is, or merged
// with what main became while its editor had it open.
func (ad *adopter) adopt(tx *vault.Tx, f repo.ScanFile, done *Adopted) error {
	data, err := tx.Read(f.Path)
	if errors.Is(err, vault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if repo.BlobHash(data) != f.Hash {
		done.Hot = true
		done.Left = append(done.Left, Left{Path: f.Path, Reason: "is still being written"})
		return nil
	}
	if len(data) > vault.MaxFile {
		done.Left = append(done.Left, Left{Path: f.Path, Reason: fmt.Sprintf("is larger than %d bytes", vault.MaxFile)})
		return nil
	}
	if f.Path == vault.ConfigPath {
		if _, err := vault.ParseConfig(data); err != nil {
			done.Left = append(done.Left, Left{Path: f.Path, Reason: "is damaged and not committed"})
			return nil
		}
	}
	path, err := ad.makeRoom(tx, f.Path, data)
	if err != nil {
		return err
	}
	aside := path != f.Path
	if (f.IndexHash.IsZero() || aside) && tx.Buried(data) {
		if ad.v.Missed(f.Hash) { // it was moved while its forgetting came
			return ad.v.Git().WorkTree().Remove(path)
		}
		done.Left = append(done.Left, Left{Path: path, Reason: "is a copy of a memory that was forgotten; \"vade restore\" brings it back, or delete the file"})
		return nil
	}
	if !aside {
		if data, err = ad.unstale(tx, f, data); err != nil {
			return err
		}
	}
	if err := tx.LiftTombstones(path, data); err != nil {
		return err
	}
	return tx.Adopt(path, data)
}
