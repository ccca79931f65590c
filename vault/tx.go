package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault/repo"
)

// Op says what a commit is for. It becomes the subject line and the trailers
// Vade-Op, Vade-Agent, Vade-Session and Vade-Host, from which history and undo
// work.
type Op struct {
	Name    string // one word: remember, edit, forget, undo, adopt, …
	Subject string // what it did it to, on one line
	Origin  Origin // who did it; the zero value means the vault's own
	Extra   []repo.Trailer
}

// Commit is what became of an update.
type Commit struct {
	Hash  plumbing.Hash // zero when nothing was committed
	Paths []string      // what changed, sorted; empty when nothing had to
	// Held is why the files are saved but not committed; "" when they are.
	// They are committed by the next write or sync that can.
	Held string
	// Unwritten are the files that main has and the disk could not take.
	Unwritten []Unwritten
}

// Tx collects the changes of one update. Reads see the changes made so far,
// then the work tree.
type Tx struct {
	v       *Vault
	head    plumbing.Hash
	tree    plumbing.Hash
	changes map[string]plumbing.Hash // blob by path; zero: removed
	// seen are the versions on disk that Read returned, which the update may
	// replace. What a human saved after that is not overwritten.
	seen map[string]plumbing.Hash
	// put are the paths that must be on disk when the update is acknowledged.
	put map[string]bool
}

// Update runs fn under the identity's lock and commits what it changed as one
// commit, durable when Update returns. Nothing is changed when fn fails. The
// vault is made if it does not exist. What a human saved and nobody committed
// yet is committed first where the update replaces or removes it.
//
// Where committing would get into a human's way (a rebase or merge in
// progress, another branch checked out, git's own lock held), the files are
// saved and Commit.Held says why they are not committed yet.
func (v *Vault) Update(ctx context.Context, op Op, fn func(*Tx) error) (Commit, error) {
	var done Commit
	err := v.Lock(ctx, func() error {
		if err := v.ready(ctx); err != nil {
			return err
		}
		tx, err := v.begin()
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		if err := tx.keep(ctx, op); err != nil {
			return err
		}
		done, err = tx.finish(ctx, op)
		return err
	})
	return done, err
}

// ready makes the vault or finishes what an earlier process was killed in.
func (v *Vault) ready(ctx context.Context) error {
	if v.git == nil {
		if err := v.attach(); err != nil && !errors.Is(err, ErrNoVault) {
			return err
		}
	}
	if v.git == nil {
		if err := v.create(); err != nil {
			return fmt.Errorf("make vault %s: %w", v.WorkDir(), err)
		}
	}
	err := v.recover(ctx)
	if locked, ok := errors.AsType[*repo.LockedError](err); ok {
		v.stuck = locked.Error()
		return nil // what is written now is saved and waits, as that write does
	}
	if v.stuck = indexDamage(err); v.stuck != "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finish an interrupted write: %w", err)
	}
	v.stuck = ""
	return v.commitHeld(ctx)
}

// begin starts an update of what main has now; the first one describes the vault.
func (v *Vault) begin() (*Tx, error) {
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	tree, err := v.tree(head)
	if err != nil {
		return nil, err
	}
	tx := &Tx{v: v, head: head, tree: tree, changes: map[string]plumbing.Hash{}, seen: map[string]plumbing.Hash{}, put: map[string]bool{}}
	switch {
	case head.IsZero():
		err = tx.describe()
	case v.lost:
		err = tx.redescribe()
	}
	return tx, err
}

// Head is the commit that the update builds on.
func (t *Tx) Head() plumbing.Hash { return t.head }

// Read returns the bytes of path as they are now, or ErrNotFound.
func (t *Tx) Read(path string) ([]byte, error) {
	if blob, ok := t.changes[path]; ok {
		if blob.IsZero() {
			return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
		}
		return repo.ReadBlob(t.v.git, blob)
	}
	data, err := t.v.git.WorkTree().ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	if err == nil {
		t.seen[path] = repo.BlobHash(data)
	}
	return data, err
}

// Exists reports whether there is anything at path.
func (t *Tx) Exists(path string) (bool, error) {
	_, err := t.Read(path)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Committed returns the blob of path in the commit that the update builds
// on; zero when it has none.
func (t *Tx) Committed(path string) (plumbing.Hash, error) {
	e, err := repo.LookupFile(t.v.git, t.tree, path)
	if errors.Is(err, repo.ErrPathNotFound) {
		return plumbing.ZeroHash, nil
	}
	return e.Hash, err
}

// ReadCommitted returns what the update's result has at path, or ErrNotFound;
// what is on disk does not matter.
func (t *Tx) ReadCommitted(path string) ([]byte, error) {
	blob, changed := t.changes[path]
	if !changed {
		var err error
		if blob, err = t.Committed(path); err != nil {
			return nil, err
		}
	}
	if blob.IsZero() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	return repo.ReadBlob(t.v.git, blob)
}

// Put writes data to path, which must be one that every file system takes unless
// a human made a file there already. It goes to the object store at once and to
// the work tree when the update is committed.
func (t *Tx) Put(path string, data []byte) error {
	if err := repo.CheckWritePath(path); err != nil {
		if there, readErr := t.Exists(path); readErr != nil || !there {
			return fmt.Errorf("%w: %w", ErrName, err)
		}
	}
	t.put[path] = true
	return t.Adopt(path, data)
}

// Adopt is Put for a file that a human named.
func (t *Tx) Adopt(path string, data []byte) error {
	if err := repo.CheckPath(path); err != nil {
		return fmt.Errorf("%w: %w", ErrName, err)
	}
	blob, err := repo.WriteBlob(t.v.git, data)
	if err != nil {
		return err
	}
	t.changes[path] = blob
	return nil
}

// PutTree makes the update's result exactly tree, whose objects are stored
// already. What differs on disk from main stays as it is unless tree changes it.
func (t *Tx) PutTree(tree plumbing.Hash) error {
	for c, err := range repo.Diff(t.v.git, t.tree, tree) {
		if err != nil {
			return err
		}
		if err := repo.CheckPath(c.Path); err != nil {
			return fmt.Errorf("%w: %w", ErrName, err)
		}
		t.changes[c.Path] = c.NewHash
	}
	return nil
}

// Restore brings the disk at path to what main has, or removes what main has not,
// as far as Read saw it.
func (t *Tx) Restore(path string) error {
	committed, err := t.Committed(path)
	if err == nil {
		t.changes[path] = committed
	}
	return err
}

// Clash returns what keeps path from being committed as a file: a file that the
// update's result has where path has a folder, or path itself when it has a folder
// there; "" when nothing does.
func (t *Tx) Clash(path string) (string, error) {
	for i, c := range path {
		if c != '/' {
			continue
		}
		blob, changed := t.changes[path[:i]]
		if !changed {
			var err error
			if blob, err = t.Committed(path[:i]); err != nil {
				return "", err
			}
		}
		if !blob.IsZero() {
			return path[:i], nil
		}
	}
	for f, err := range repo.Files(t.v.git, t.tree, path) {
		if err != nil {
			return "", err
		}
		if blob, changed := t.changes[f.Path]; f.Path != path && (!changed || !blob.IsZero()) {
			return path, nil
		}
	}
	return "", nil
}

// Remove deletes path.
func (t *Tx) Remove(path string) { t.changes[path] = plumbing.ZeroHash }

// finish commits and saves the collected changes, or saves them alone where
// committing is held up.
func (t *Tx) finish(ctx context.Context, op Op) (Commit, error) {
	done, err := t.commit(ctx, op)
	if err == nil && done.Held != "" {
		done.Unwritten, err = t.saveHeld(ctx, op, done.Paths)
	}
	return done, err
}

// commit commits and saves the collected changes; when Held is set, nothing
// was done.
func (t *Tx) commit(ctx context.Context, op Op) (Commit, error) {
	edits, err := t.edits()
	if err != nil || len(edits) == 0 {
		return Commit{}, err
	}
	if err := t.checkPlaces(); err != nil {
		return Commit{}, err
	}
	done := Commit{}
	for _, e := range edits {
		done.Paths = append(done.Paths, e.Path)
	}
	tree, err := repo.EditTree(t.v.git, t.tree, edits)
	if err != nil {
		return Commit{}, err
	}
	if tree == t.tree { // the disk was behind main: only the files change
		done.Unwritten, err = t.saveFiles(ctx)
		return done, err
	}
	if held, err := t.unmerged(slices.Sorted(maps.Keys(t.put))); err != nil || held != "" {
		done.Held = held
		return done, err
	}
	index, held, err := t.v.claim(ctx, t.head, done.Paths)
	if err != nil || held != "" {
		done.Held = held
		return done, err
	}
	defer index.Release()
	commit := t.v.newCommit(op, tree, t.head)
	if done.Hash, err = repo.WriteCommit(t.v.git, &commit); err != nil {
		return Commit{}, err
	}
	done.Unwritten, err = t.v.advance(ctx, index, t.head, done.Hash, op.subject(), t.seen)
	return done, err
}

// checkPlaces refuses the update while something else is where a file must go:
// what is acknowledged as saved is on disk.
func (t *Tx) checkPlaces() error {
	for _, path := range slices.Sorted(maps.Keys(t.put)) {
		if t.changes[path].IsZero() {
			continue
		}
		if err := t.v.git.WorkTree().CheckPlace(path); err != nil {
			return fmt.Errorf("write %s: %w; move it away", path, err)
		}
	}
	return nil
}

// saveFiles writes the changes to the work tree alone.
func (t *Tx) saveFiles(ctx context.Context) ([]Unwritten, error) {
	var changes []repo.Change
	for _, path := range slices.Sorted(maps.Keys(t.changes)) {
		was, err := t.Committed(path)
		if err != nil {
			return nil, err
		}
		changes = append(changes, repo.Change{Path: path, OldHash: was, NewHash: t.changes[path]})
	}
	m := mover{v: t.v, seen: t.seen, ahead: true}
	err := m.write(ctx, changes)
	return m.unwritten, err
}

// unmerged is why what is on disk at paths must not be committed as it is: main got
// another version from elsewhere while a human had the file changed. The next sync
// merges the two.
func (t *Tx) unmerged(paths []string) (string, error) {
	for _, path := range paths {
		base, noted := t.v.EditBase(path)
		if !noted {
			continue
		}
		committed, err := t.Committed(path)
		if err != nil {
			return "", err
		}
		if base != committed {
			return fmt.Sprintf("%s was changed here and elsewhere; \"vade sync\" merges the two", path), nil
		}
	}
	return "", nil
}

// edits turns the changes into tree edits by path, dropping what changes
// neither main nor the disk.
func (t *Tx) edits() ([]repo.Edit, error) {
	var edits []repo.Edit
	for _, path := range slices.Sorted(maps.Keys(t.changes)) {
		blob := t.changes[path]
		committed, err := t.Committed(path)
		if err != nil {
			return nil, err
		}
		onDisk, err := t.v.onDisk(path)
		if err != nil {
			return nil, err
		}
		if blob == committed && blob == onDisk {
			delete(t.changes, path)
			continue
		}
		edits = append(edits, repo.Edit{Path: path, Hash: blob, Mode: filemode.Regular})
	}
	return edits, nil
}

// newCommit is a commit of tree by op's origin on parent (zero: a root).
func (v *Vault) newCommit(op Op, tree, parent plumbing.Hash) repo.Commit {
	who := op.Origin
	if who == (Origin{}) {
		who = v.opts.Origin
	}
	sig := repo.Signature{Name: v.Identity(), Email: v.Identity() + "@" + emailHost(who.Host), When: v.opts.Now()}
	var parents []plumbing.Hash
	if !parent.IsZero() {
		parents = append(parents, parent)
	}
	return repo.Commit{Tree: tree, Parents: parents, Author: sig, Committer: sig, Message: op.message(who)}
}

func emailHost(host string) string {
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '<' || r == '>' || r == '@' {
			return '-'
		}
		return r
	}, host)
	if host == "" {
		return "localhost"
	}
	return host
}

// subject is the first line of the commit: "remember: Deploy rule".
func (op Op) subject() string {
	text := strings.Join(strings.Fields(op.Subject), " ")
	if r := []rune(text); len(r) > 72 {
		text = string(r[:71]) + "…"
	}
	if text == "" {
		return op.Name
	}
	return op.Name + ": " + text
}

func (op Op) message(who Origin) string {
	trailers := []repo.Trailer{{Key: "Vade-Op", Value: op.Name}}
	add := func(key, value string) {
		if value != "" {
			trailers = append(trailers, repo.Trailer{Key: key, Value: value})
		}
	}
	add("Vade-Agent", who.Agent)
	add("Vade-Session", who.Session)
	if who.Turn != 0 {
		add("Vade-Turn", strconv.Itoa(who.Turn))
	}
	add("Vade-Host", who.Host)
	trailers = append(trailers, op.Extra...)
	return repo.FormatMessage(op.subject(), "", trailers...)
}
