package vault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// LogEntry is one commit of a vault's history.
type LogEntry struct {
	Commit  string    `json:"commit"`
	When    time.Time `json:"when"`
	Subject string    `json:"subject"`
	Op      string    `json:"op,omitempty"` // "" when vade did not make it
	Author  string    `json:"author"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Host    string    `json:"host,omitempty"`
	Merge   bool      `json:"merge,omitempty"`
	// Path and Version are of the memory that was asked about, after the
	// commit; Version is "" where the commit removed it.
	Path    string  `json:"path,omitempty"`
	Version Version `json:"version,omitempty"`
	// Paths are what the commit changed, when the whole vault was asked about.
	Paths []string `json:"paths,omitempty"`
}

// EntryOf describes a commit, without its paths.
func EntryOf(c *repo.Commit) LogEntry {
	return LogEntry{
		Commit: c.Hash.String(), When: c.Committer.When.UTC(), Subject: c.Subject(),
		Op: c.Trailer("Vade-Op"), Author: c.Author.Name, Agent: c.Trailer("Vade-Agent"),
		Session: c.Trailer("Vade-Session"), Host: c.Trailer("Vade-Host"), Merge: len(c.Parents) > 1,
	}
}

// Log yields the vault's history, newest first, with what each commit changed.
func (v *Vault) Log(ctx context.Context) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		head, err := v.Head()
		if err != nil || head.IsZero() {
			if err != nil {
				yield(LogEntry{}, err)
			}
			return
		}
		for c, err := range repo.Log(v.git, head) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(LogEntry{}, err)
				return
			}
			e := EntryOf(c)
			if !e.Merge {
				e.Paths, err = v.changedPaths(parentOf(c), c.Hash)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// parentOf is c's first parent; zero for a root.
func parentOf(c *repo.Commit) plumbing.Hash {
	if len(c.Parents) == 0 {
		return plumbing.ZeroHash
	}
	return c.Parents[0]
}

// History returns the commits that changed the memory that ref names, newest
// first, through renames; ref may name one that is forgotten.
func (v *Vault) History(ctx context.Context, ref Ref) ([]LogEntry, error) {
	path, err := v.pastPath(ctx, ref)
	if err != nil {
		return nil, err
	}
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	var entries []LogEntry
	for path != "" {
		last, err := v.historyOf(ctx, path, head, &entries)
		if err != nil {
			return nil, err
		}
		if last == nil {
			break
		}
		if path, err = v.renamedFrom(last, path); err != nil {
			return nil, err
		}
		head = parentOf(last)
	}
	return entries, nil
}

// historyOf appends the commits that changed path and returns the oldest one
// when it is the one that added path; nil when there is nothing before it.
func (v *Vault) historyOf(ctx context.Context, path string, head plumbing.Hash, entries *[]LogEntry) (*repo.Commit, error) {
	var oldest *repo.Commit
	for c, err := range repo.History(v.git, path, head) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		e := EntryOf(c)
		e.Path = path
		if entry, err := repo.LookupFile(v.git, c.Tree, path); err == nil {
			e.Version = Version(entry.Hash.String())
			oldest = c
		}
		*entries = append(*entries, e)
	}
	if oldest == nil || len(oldest.Parents) != 1 {
		return nil, nil
	}
	return oldest, nil
}

// renamedFrom is the path that c removed and whose memory it added as path:
// the same id, or without one the same bytes; "" when it was no rename.
func (v *Vault) renamedFrom(c *repo.Commit, path string) (string, error) {
	entry, err := repo.LookupFile(v.git, c.Tree, path)
	if err != nil {
		return "", err
	}
	id, err := v.idOfBlob(entry.Hash)
	if err != nil {
		return "", err
	}
	for ch, err := range repo.DiffCommits(v.git, parentOf(c), c.Hash) {
		if err != nil {
			return "", err
		}
		if !ch.NewHash.IsZero() || !IsMemoryPath(ch.Path) {
			continue
		}
		if ch.OldHash == entry.Hash {
			return ch.Path, nil
		}
		if was, err := v.idOfBlob(ch.OldHash); err == nil && was != "" && was == id {
			return ch.Path, nil
		}
	}
	return "", nil
}

func (v *Vault) idOfBlob(blob plumbing.Hash) (ID, error) {
	data, err := repo.ReadBlob(v.git, blob)
	if err != nil {
		return "", err
	}
	return ParseDocument(data).Memory().ID, nil
}

// pastPath is where the memory that ref names is, or was when it was forgotten
// or removed.
func (v *Vault) pastPath(ctx context.Context, ref Ref) (string, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	i, err := s.Resolve(ref)
	if err == nil {
		path, _ := s.Key(i)
		return path, nil
	}
	if !errors.Is(err, ErrNotFound) || v.git == nil {
		return "", err
	}
	if path, ok, tombErr := v.forgottenPath(ref); tombErr != nil || ok {
		return path, tombErr
	}
	if CheckPath(string(ref)) != nil || s.head.IsZero() {
		return "", err
	}
	return v.movedFrom(ctx, string(ref), s.head, err)
}

// movedFrom is where the memory is now that was at path once, else path, if
// there ever was a file; notFound is the error when there was none.
func (v *Vault) movedFrom(ctx context.Context, path string, head plumbing.Hash, notFound error) (string, error) {
	for c, err := range repo.History(v.git, path, head) {
		if err != nil {
			return "", err
		}
		notFound = nil
		if entry, err := repo.Lookup(v.git, c.Tree, path); err == nil {
			data, err := repo.ReadBlob(v.git, entry.Hash)
			if err != nil {
				return "", err
			}
			return v.present(ctx, path, data), nil
		}
	}
	return path, notFound
}

// forgottenPath finds where the memory was that ref names by the id of its
// tombstone, or a prefix or suffix of it.
func (v *Vault) forgottenPath(ref Ref) (string, bool, error) {
	stones, err := v.Tombstones()
	if err != nil {
		return "", false, err
	}
	upper := strings.ToUpper(string(ref))
	var found []ID
	for _, t := range stones {
		if string(t.ID) == upper {
			found = []ID{t.ID}
			break
		}
		if partOfID(string(t.ID), upper) {
			found = append(found, t.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", false, nil
	case 1:
		path, err := v.buriedAt(found[0])
		return path, path != "", err
	}
	e := &AmbiguousError{Ref: ref}
	for _, id := range found {
		e.Candidates = append(e.Candidates, Candidate{ID: id, Title: "(forgotten)"})
	}
	return "", false, e
}

// buriedAt is the path that the commit which put up id's tombstone removed; ""
// when history does not tell.
func (v *Vault) buriedAt(id ID) (string, error) {
	head, err := v.Head()
	if err != nil {
		return "", err
	}
	for c, err := range repo.History(v.git, TombstonePath(id), head) {
		if err != nil {
			return "", err
		}
		for ch, err := range repo.DiffCommits(v.git, parentOf(c), c.Hash) {
			if err != nil {
				return "", err
			}
			if !ch.NewHash.IsZero() || !IsMemoryPath(ch.Path) {
				continue
			}
			if was, err := v.tombstoneIDOf(ch); err == nil && was == id {
				return ch.Path, nil
			}
		}
	}
	return "", nil
}

// tombstoneIDOf is the id under which the removed file of ch would be forgotten.
func (v *Vault) tombstoneIDOf(ch repo.Change) (ID, error) {
	data, err := repo.ReadBlob(v.git, ch.OldHash)
	if err != nil {
		return "", err
	}
	m := parseMemory(ch.Path, ch.OldHash, data)
	return TombstoneID(m, NewDigest(v.config.DigestKey, m.Title, m.Body)), nil
}

// Tombstones returns those of main, by id.
func (v *Vault) Tombstones() ([]Tombstone, error) {
	head, err := v.Head()
	if err != nil || head.IsZero() {
		return nil, err
	}
	tree, err := v.tree(head)
	if err != nil {
		return nil, err
	}
	var stones []Tombstone
	for f, err := range repo.Files(v.git, tree, forgottenDir) {
		if errors.Is(err, repo.ErrPathNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		raw, err := repo.ReadBlob(v.git, f.Hash)
		if err != nil {
			return nil, err
		}
		if t, err := ParseTombstone(raw); err == nil {
			stones = append(stones, t)
		}
	}
	return stones, nil
}

// ResolveCommit returns the commit that a hash or a prefix of one (4 digits at
// least) names among main's history.
func (v *Vault) ResolveCommit(ctx context.Context, name string) (plumbing.Hash, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	head, err := v.Head()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if name == "head" && !head.IsZero() {
		return head, nil
	}
	if len(name) < minPrefix || strings.Trim(name, "0123456789abcdef") != "" || head.IsZero() {
		return plumbing.ZeroHash, fmt.Errorf("commit %q: %w", name, ErrNotFound)
	}
	var found []*repo.Commit
	for c, err := range repo.Log(v.git, head) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if strings.HasPrefix(c.Hash.String(), name) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return plumbing.ZeroHash, fmt.Errorf("commit %q: %w", name, ErrNotFound)
	case 1:
		return found[0].Hash, nil
	}
	e := &AmbiguousError{Ref: Ref(name)}
	for _, c := range found {
		e.Candidates = append(e.Candidates, Candidate{ID: ID(c.Hash.String()), Title: c.Subject()})
	}
	return plumbing.ZeroHash, e
}

// Restore brings back the bytes that the memory had in commit, where it is
// now, else where it was. Tombstones of it go: asking for it is a new decision.
func (v *Vault) Restore(ctx context.Context, ref Ref, commit plumbing.Hash) (Receipt, error) {
	path, data, err := v.past(ctx, ref, commit)
	if err != nil {
		return Receipt{}, err
	}
	m := parseMemory(path, repo.BlobHash(data), data)
	r := Receipt{ID: m.ID, Title: m.Title, Path: path}
	done, err := v.Update(ctx, Op{Name: "restore", Subject: fmt.Sprintf("%s from %.10s", path, commit)}, func(tx *Tx) error {
		r.Warnings = nil
		lifted, err := tx.lift(m, NewDigest(v.config.DigestKey, m.Title, m.Body))
		if err != nil {
			return err
		}
		for _, stone := range lifted {
			r.Warnings = append(r.Warnings, "this was forgotten; restoring it lifts "+stone)
		}
		if _, err := tx.Read(path); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		return tx.Put(path, data)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("restore %s: %w", path, err)
	}
	v.settle(&r, done)
	return r, nil
}

// ReadVersion returns the memory that ref names, and its bytes, as they were
// in commit (40 hex digits).
func (v *Vault) ReadVersion(ctx context.Context, ref Ref, commit string) (*Memory, []byte, error) {
	path, data, err := v.past(ctx, ref, plumbing.NewHash(commit))
	if err != nil {
		return nil, nil, err
	}
	m := parseMemory(path, repo.BlobHash(data), data)
	return &m, data, nil
}

// past returns where the memory that ref names belongs and what it held in commit.
func (v *Vault) past(ctx context.Context, ref Ref, commit plumbing.Hash) (string, []byte, error) {
	path, err := v.pastPath(ctx, ref)
	if errors.Is(err, ErrNotFound) {
		return v.named(ctx, ref, commit, err)
	}
	if err != nil {
		return "", nil, err
	}
	data, err := v.ReadAt(commit, path)
	if err == nil {
		return v.present(ctx, path, data), data, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return path, data, err
	}
	old, snapErr := v.SnapshotAt(commit) // it had another path then
	if snapErr != nil {
		return "", nil, snapErr
	}
	byID := ref
	if m, err := v.Read(ctx, ref); err == nil && m.ID != "" {
		byID = Ref(m.ID)
	}
	i, resolveErr := old.Resolve(byID)
	if resolveErr != nil {
		return "", nil, err
	}
	data, err = old.Read(i)
	return path, data, err
}

// named is past for a ref that names nothing any more, such as the title of a
// forgotten memory, but did in commit. notFound is the error when it did not.
func (v *Vault) named(ctx context.Context, ref Ref, commit plumbing.Hash, notFound error) (string, []byte, error) {
	old, err := v.SnapshotAt(commit)
	if err != nil {
		return "", nil, err
	}
	i, err := old.Resolve(ref)
	if errors.Is(err, ErrNotFound) {
		return "", nil, notFound
	}
	if err != nil {
		return "", nil, err
	}
	path, _ := old.Key(i)
	data, err := old.Read(i)
	if err != nil {
		return "", nil, err
	}
	return v.present(ctx, path, data), data, nil
}

// present is where the memory that was at path with data is now: it may have
// moved since. It stays path when it is gone or has no id.
func (v *Vault) present(ctx context.Context, path string, data []byte) string {
	id := ParseDocument(data).Memory().ID
	if id == "" {
		return path
	}
	if m, err := v.Read(ctx, Ref(id)); err == nil && m.ID == id {
		return m.Path
	}
	return path
}

// Read returns the memory that ref names, as it is on disk.
func (v *Vault) Read(ctx context.Context, ref Ref) (*Memory, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	i, err := s.Resolve(ref)
	if err != nil {
		return nil, err
	}
	return s.Memory(i)
}
