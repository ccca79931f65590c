package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// maxRecent is how many differences between the catalog and the disk a note of
// the last look names; with more it is not written.
const maxRecent = 256

// recentNote says what the disk held when it was last looked through, as
// differences from the catalog. It is derived, in index/recent; the file's
// time is that of the look.
type recentNote struct {
	Catalog uint32            `json:"catalog"` // checksum of the catalog
	Head    string            `json:"head"`
	Plus    map[string]string `json:"plus,omitempty"`  // blob by path: not in the catalog, or changed
	Minus   []int             `json:"minus,omitempty"` // rows that are not on disk
}

// Recent is Snapshot for who can do with what the disk held a moment ago: if
// somebody called Recent within maxAge, and nothing was committed since, it
// does not look again, which is most of what a search costs.
func (v *Vault) Recent(ctx context.Context, maxAge time.Duration) (*Snapshot, error) {
	if s := v.recent(maxAge); s != nil {
		return s, nil
	}
	return v.Snapshot(ctx)
}

// NoteLook lets Recent know what s saw. Failing to is no error.
func (s *Snapshot) NoteLook() {
	if s.v.git == nil || !s.disk || s.scan == nil || s.Damaged != "" || len(s.Unreadable) > 0 {
		return
	}
	s.attachCatalog()
	n := recentNote{Catalog: s.cat.crc, Head: s.head.String(), Plus: map[string]string{}}
	known := make([]bool, s.cat.n)
	for i, e := range s.entries {
		if e.row >= 0 {
			known[e.row] = true
			continue
		}
		path, blob := s.Key(i)
		n.Plus[path] = blob.String()
	}
	for row, ok := range known {
		if !ok && !IsTombstone(string(s.cat.path(row))) {
			n.Minus = append(n.Minus, row)
		}
	}
	if len(n.Plus)+len(n.Minus) > maxRecent {
		return
	}
	if raw, err := json.Marshal(n); err == nil {
		_ = replaceSmall(s.v.recentPath(), raw)
	}
}

func (v *Vault) recentPath() string { return filepath.Join(v.IndexDir(), "recent") }

// replaceSmall replaces a derived file whole or not at all; it is not fsynced.
func replaceSmall(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".recent-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// recent is a snapshot without a look at the disk; nil when the last one was
// too long ago, or of another catalog or commit.
func (v *Vault) recent(maxAge time.Duration) *Snapshot {
	if v.git == nil {
		return nil
	}
	info, err := os.Stat(v.recentPath())
	if err != nil {
		return nil
	}
	if age := time.Since(info.ModTime()); age < 0 || age > maxAge {
		return nil
	}
	raw, err := os.ReadFile(v.recentPath())
	var n recentNote
	if err != nil || json.Unmarshal(raw, &n) != nil {
		return nil
	}
	head, err := v.Head()
	if err != nil || head.String() != n.Head {
		return nil
	}
	c := openCatalog(v.catalogPath(), v.config.DigestKey, true)
	if c.n == 0 && len(n.Plus) == 0 || c.crc != n.Catalog {
		return nil
	}
	return &Snapshot{v: v, head: head, disk: true, cat: c, entries: n.entries(c)}
}

// entries are the rows of c with n's differences, sorted by path.
func (n recentNote) entries(c *catalog) []snapshotEntry {
	files := make([]repo.ScanFile, 0, c.n+len(n.Plus))
	rows := make([]int32, 0, cap(files))
	for row := range c.n {
		path := c.path(row)
		if _, gone := slices.BinarySearch(n.Minus, row); gone || bytes.HasPrefix(path, []byte(forgottenDir+"/")) {
			continue
		}
		files, rows = append(files, repo.ScanFile{Path: string(path), Hash: c.blob(row)}), append(rows, int32(row))
	}
	for path, blob := range n.Plus {
		files, rows = append(files, repo.ScanFile{Path: path, Hash: plumbing.NewHash(blob)}), append(rows, -1)
	}
	list := make([]snapshotEntry, len(files))
	for i := range files {
		list[i] = snapshotEntry{file: &files[i], row: rows[i]}
	}
	if len(n.Plus) > 0 { // rows are sorted already
		slices.SortFunc(list, func(a, b snapshotEntry) int { return strings.Compare(a.file.Path, b.file.Path) })
	}
	return list
}
