package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// Snapshot is every memory of a vault at one moment, sorted by path: what the
// work tree holds, committed or not, or what one commit held. It is not
// changed by later writes, but Read of a file that changed since gives an
// error rather than other bytes.
type Snapshot struct {
	v       *Vault
	head    plumbing.Hash
	disk    bool // entries are files on disk, else blobs of the commit
	scan    *repo.ScanResult
	entries []snapshotEntry
	memos   map[int]*Memory // parsed on demand, by number of the entry
	cat     *catalog

	// Changed are the paths whose content on disk is not the index's:
	// edited, new, or gone. Only of a snapshot of the work tree.
	Changed []string
	// Damaged says why git's index could not be used; "" when it could. Then
	// nothing tells what is committed: Changed holds everything.
	Damaged string
	// Buried are files that hold an exact old copy of a forgotten memory and
	// that git does not track: they are not in the snapshot.
	Buried []string
	// Unreadable are files and folders that could not be looked at, and files
	// that this disk could not take. What they held is not missing; it is not
	// known here.
	Unreadable []repo.UnreadablePath
}

// snapshotEntry is small: looking through 10,000 memories takes about as long
// as touching the memory that they are described in.
type snapshotEntry struct {
	file *repo.ScanFile // of a commit's tree: path and blob alone
	row  int32          // in the catalog, -1 when it has none
}

// Snapshot reads what is on disk now. It takes no lock, writes nothing but
// the catalog, and costs about as much as git status.
func (v *Vault) Snapshot(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{v: v, disk: true, scan: &repo.ScanResult{}}
	if v.git == nil {
		return s, nil
	}
	var err error
	if s.head, err = v.Head(); err != nil {
		return nil, err
	}
	o := repo.ScanOptions{MaxSize: MaxFile, Filter: adoptable}
	s.scan, err = v.git.Scan(ctx, o)
	if s.Damaged = indexDamage(err); s.Damaged != "" {
		o.NoIndex = true // slower, and right all the same
		s.scan, err = v.git.Scan(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", v.WorkDir(), err)
	}
	return s, s.fill()
}

// indexDamage is why git's index cannot be used, or "" when err is of
// something else.
func indexDamage(err error) string {
	if errors.Is(err, repo.ErrIndexCorrupt) {
		return "git's index is damaged; \"vade doctor --fix\" makes it anew"
	}
	return ""
}

// fill takes the memories out of the scan, and what .gitignore names out of
// what git does not track.
func (s *Snapshot) fill() error {
	ignore := s.v.git.WorkTree().Ignore()
	s.scan.Files = slices.DeleteFunc(s.scan.Files, func(f repo.ScanFile) bool {
		return f.IndexHash.IsZero() && ignore.Match(f.Path, false)
	})
	s.entries = make([]snapshotEntry, 0, len(s.scan.Files))
	for i := range s.scan.Files {
		f := &s.scan.Files[i]
		if !IsMemoryPath(f.Path) {
			continue
		}
		if f.IndexHash.IsZero() && s.v.buriedFile(f.Path) {
			s.Buried = append(s.Buried, f.Path)
			continue
		}
		s.entries = append(s.entries, snapshotEntry{file: f, row: -1})
		if f.Hash != f.IndexHash {
			s.Changed = append(s.Changed, f.Path)
		}
	}
	s.Unreadable = s.scan.Unreadable
	for _, m := range s.scan.Missing {
		switch err := s.v.Absent(m.Path); {
		case err != nil:
			s.Unreadable = append(s.Unreadable, repo.UnreadablePath{Path: m.Path, Err: err})
		case IsMemoryPath(m.Path):
			s.Changed = append(s.Changed, m.Path)
		}
	}
	return s.addUnreadable()
}

// Scan is what was found on disk: memories, the flat text store, tombstones
// and what the vault says of itself, compared with git's index.
func (s *Snapshot) Scan() *repo.ScanResult { return s.scan }

// addUnreadable adds the committed versions of memories that cannot be read
// on disk now: they are not gone, and what main has of them still answers.
func (s *Snapshot) addUnreadable() error {
	tree, err := s.v.tree(s.head)
	if err != nil || len(s.Unreadable) == 0 {
		return err
	}
	for _, u := range s.Unreadable {
		if !IsMemoryPath(u.Path) {
			continue
		}
		committed, err := repo.LookupFile(s.v.git, tree, u.Path)
		if errors.Is(err, repo.ErrPathNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		s.entries = append(s.entries, snapshotEntry{file: &repo.ScanFile{Path: u.Path, Hash: committed.Hash}, row: -1})
	}
	slices.SortFunc(s.entries, func(a, b snapshotEntry) int { return strings.Compare(a.file.Path, b.file.Path) })
	s.entries = slices.CompactFunc(s.entries, func(a, b snapshotEntry) bool { return a.file.Path == b.file.Path })
	return nil
}

func (v *Vault) buriedFile(path string) bool {
	wt := v.git.WorkTree()
	data, err := wt.ReadFile(path)
	return err == nil && buried(v.config.DigestKey, data, wt.ReadFile)
}

// SnapshotAt reads what commit held.
func (v *Vault) SnapshotAt(commit plumbing.Hash) (*Snapshot, error) {
	s := &Snapshot{v: v, head: commit}
	tree, err := v.tree(commit)
	if err != nil {
		return nil, err
	}
	if tree.IsZero() {
		return s, nil
	}
	for f, err := range repo.Files(v.git, tree, "") {
		if err != nil {
			return nil, err
		}
		if isText(f.Mode) && IsMemoryPath(f.Path) {
			s.entries = append(s.entries, snapshotEntry{file: &repo.ScanFile{Path: f.Path, Hash: f.Hash}, row: -1})
		}
	}
	return s, nil
}

// attachCatalog finds, once, each entry's row by walking both lists at once:
// scans, trees and catalogs are all sorted by path.
func (s *Snapshot) attachCatalog() {
	if s.cat != nil {
		return
	}
	s.cat = openCatalog(s.v.catalogPath(), s.v.config.DigestKey, true)
	row := 0
	for i := range s.entries {
		path, blob := s.Key(i)
		for row < s.cat.n && string(s.cat.path(row)) < path {
			row++
		}
		if row < s.cat.n && string(s.cat.path(row)) == path && s.cat.blob(row) == blob {
			s.entries[i].row = int32(row)
		}
	}
}

func (v *Vault) catalogPath() string { return filepath.Join(v.IndexDir(), "catalog") }

// Head is the commit that main was at.
func (s *Snapshot) Head() plumbing.Hash { return s.head }

// Len is how many memories there are.
func (s *Snapshot) Len() int { return len(s.entries) }

// Key returns the path and the blob id of entry i.
func (s *Snapshot) Key(i int) (path string, blob plumbing.Hash) {
	return s.entries[i].file.Path, s.entries[i].file.Hash
}

// Expired returns the paths of the memories whose time is over at now.
func (s *Snapshot) Expired(now time.Time) []string {
	s.attachCatalog()
	var paths []string
	for i := range s.entries {
		if row := s.entries[i].row; row >= 0 && !s.cat.expired(int(row), now) {
			continue
		}
		if m, err := s.Meta(i); err == nil && m.Expired(now) {
			paths = append(paths, m.Path)
		}
	}
	return paths
}

// Find returns the number of the entry at path, or -1.
func (s *Snapshot) Find(path string) int {
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].file.Path >= path })
	if i < len(s.entries) && s.entries[i].file.Path == path {
		return i
	}
	return -1
}

// Read returns the bytes of entry i.
func (s *Snapshot) Read(i int) ([]byte, error) {
	path, blob := s.Key(i)
	if !s.disk {
		return repo.ReadBlob(s.v.git, blob)
	}
	data, err := s.v.git.WorkTree().ReadFile(path)
	if err == nil && repo.BlobHash(data) == blob {
		return data, nil
	}
	// It changed or went since; the version that the snapshot saw may be in git.
	if old, gitErr := repo.ReadBlob(s.v.git, blob); gitErr == nil {
		return old, nil
	}
	if err == nil {
		err = fmt.Errorf("%s: %w", path, ErrStale)
	}
	return nil, err
}

// Meta returns what entry i says of itself, without its Body. The result is
// shared: do not change it.
func (s *Snapshot) Meta(i int) (*Memory, error) {
	if m := s.memos[i]; m != nil {
		return m, nil
	}
	s.attachCatalog()
	var m *Memory
	if row := s.entries[i].row; row >= 0 {
		m = s.cat.memory(int(row))
	}
	if m == nil {
		var err error
		if m, err = s.Memory(i); err != nil {
			return nil, err
		}
		m.Body = ""
	}
	if s.memos == nil {
		s.memos = map[int]*Memory{}
	}
	s.memos[i] = m
	return m, nil
}

// Memory reads and parses entry i.
func (s *Snapshot) Memory(i int) (*Memory, error) {
	data, err := s.Read(i)
	if err != nil {
		return nil, err
	}
	path, blob := s.Key(i)
	m := parseMemory(path, blob, data)
	return &m, nil
}

func parseMemory(path string, blob plumbing.Hash, data []byte) Memory {
	m := ParseDocument(data).Memory()
	m.Path, m.Version = path, Version(blob.String())
	return m
}

// staleRows is from how many unknown entries on the catalog is written again.
const staleRows = 64

// SaveCatalog writes the catalog anew when enough of the snapshot was not in
// it to be worth the while, so that the next process need not parse those
// files again. Failing to is no error: the catalog is only a cache.
func (s *Snapshot) SaveCatalog() {
	if s.v.git == nil || !s.disk {
		return
	}
	s.attachCatalog()
	unknown := 0
	for i := range s.entries {
		if s.entries[i].row < 0 {
			unknown++
		}
	}
	if unknown < staleRows {
		return
	}
	s.v.writeCatalogOf(s)
}

func (v *Vault) writeCatalogOf(s *Snapshot) {
	rows := make([]catalogRow, 0, len(s.entries))
	for i, e := range s.entries {
		if e.row >= 0 {
			rows = append(rows, s.cat.row(int(e.row)))
			continue
		}
		data, err := s.Read(i)
		if err != nil {
			continue
		}
		rows = append(rows, v.memoryRow(e.file.Path, e.file.Hash, data))
	}
	tombstones, err := v.tombstoneRows(s)
	if err != nil {
		return
	}
	_ = writeCatalog(v.catalogPath(), s.head, v.config.DigestKey, append(rows, tombstones...))
	runtime.KeepAlive(s.cat) // the rows are slices of it
}

func (v *Vault) memoryRow(path string, blob plumbing.Hash, data []byte) catalogRow {
	m := parseMemory(path, blob, data)
	row := catalogRow{Path: path, Blob: blob, Digest: NewDigest(v.config.DigestKey, m.Title, m.Body)}
	m.Body = ""
	row.Memory = &m
	return row
}

// tombstoneRows are the rows of the tombstones in s's commit.
func (v *Vault) tombstoneRows(s *Snapshot) ([]catalogRow, error) {
	tree, err := v.tree(s.head)
	if err != nil || tree.IsZero() {
		return nil, err
	}
	var rows []catalogRow
	for f, err := range repo.Files(v.git, tree, forgottenDir) {
		if errors.Is(err, repo.ErrPathNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		row, err := v.tombstoneRow(f.Path, f.Hash)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (v *Vault) tombstoneRow(path string, blob plumbing.Hash) (catalogRow, error) {
	raw, err := repo.ReadBlob(v.git, blob)
	if err != nil {
		return catalogRow{}, err
	}
	t, err := ParseTombstone(raw)
	if err != nil {
		// Not one of ours, or damaged: it forbids nothing by text.
		return catalogRow{Path: path, Blob: blob}, nil
	}
	return catalogRow{Path: path, Blob: blob, Digest: t.Digest}, nil
}

// committedCatalog is a catalog that knows everything in commit head: the one
// on disk, and the rows of what commits since its cursor changed. It is called
// under the lock by writers, which must not read the whole work tree. The
// caller closes the catalog; the rows alias it.
func (v *Vault) committedCatalog(head plumbing.Hash) (*catalog, []catalogRow, error) {
	c := openCatalog(v.catalogPath(), v.config.DigestKey, false)
	if c.cursor == head {
		return c, nil, nil
	}
	fresh, err := v.rowsSince(c, head)
	if err != nil && !c.cursor.IsZero() {
		c.close() // its cursor is not in this repository any more
		fresh, err = v.rowsSince(c, head)
	}
	if err != nil {
		c.close()
		return nil, nil, err
	}
	if len(fresh) >= staleRows {
		_ = writeCatalog(v.catalogPath(), head, v.config.DigestKey, v.foldRows(c, fresh))
	}
	return c, fresh, nil
}

// rowsSince parses what changed between c's cursor and head.
func (v *Vault) rowsSince(c *catalog, head plumbing.Hash) ([]catalogRow, error) {
	var rows []catalogRow
	for ch, err := range repo.DiffCommits(v.git, c.cursor, head) {
		if err != nil {
			return nil, err
		}
		if ch.NewHash.IsZero() || !isText(ch.NewMode) {
			continue
		}
		switch {
		case IsTombstone(ch.Path):
			row, err := v.tombstoneRow(ch.Path, ch.NewHash)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		case IsMemoryPath(ch.Path):
			if i := c.find(ch.Path); i >= 0 && c.blob(i) == ch.NewHash {
				continue // a snapshot saw it before it was committed
			}
			data, err := repo.ReadBlob(v.git, ch.NewHash)
			if err != nil {
				return nil, err
			}
			rows = append(rows, v.memoryRow(ch.Path, ch.NewHash, data))
		}
	}
	return rows, nil
}

// foldRows is c's rows with fresh ones in their place. Rows of files that are
// gone stay until the next snapshot writes the catalog; nobody asks for them.
func (v *Vault) foldRows(c *catalog, fresh []catalogRow) []catalogRow {
	replaced := make(map[string]bool, len(fresh))
	for _, r := range fresh {
		replaced[r.Path] = true
	}
	rows := slices.Clone(fresh)
	for i := range c.n {
		if !replaced[string(c.path(i))] {
			rows = append(rows, c.row(i))
		}
	}
	return rows
}

// DropCatalog deletes the catalog; it is made again when needed.
func (v *Vault) DropCatalog() error {
	err := os.Remove(v.catalogPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
