package repo

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// scanner walks the work tree and the index side by side, both in the order of
// full paths.
type scanner struct {
	ctx        context.Context
	x          *indexFile
	at, left   int        // next entry of x, entries left after cur
	cur        indexEntry // name "": no more
	filter     func(path string, isDir bool) bool
	maxSize    int64
	trustCtime bool
	fileMode   bool
	res        *ScanResult
	buf        []byte          // path at hand
	admitted   map[string]bool // folders that are not on disk
	spare      [][]scanItem    // lists of folders that are done with, to be used again
	err        error           // of the index
}

func (s *scanner) run(w *WorkTree) error {
	s.advance()
	root, err := openScanRoot(w)
	if err != nil {
		return err
	}
	err = s.dir(root, "")
	root.close()
	if err != nil {
		return err
	}
	for s.cur.name != "" {
		s.missing()
	}
	if s.err != nil {
		return s.err
	}
	_, err = s.x.extensions(s.at) // refuses a split or sparse index
	return err
}

// advance makes cur the next entry of the index.
func (s *scanner) advance() {
	if s.left == 0 {
		s.cur = indexEntry{}
		return
	}
	s.left--
	e, next, err := s.x.next(s.at)
	if err != nil {
		s.err, s.left = err, 0
	}
	s.cur, s.at = e, next
}

// scanItem is a name of a folder, under the key that sorts it among full paths.
type scanItem struct {
	key  string // name, with a slash for a folder
	lead uint64 // of the key, for sortItems
	kind itemKind
}

type itemKind uint8

const (
	itemFile    itemKind = iota
	itemDir              // key ends in a slash
	itemSpecial          // socket, device, …
	itemLink             // symbolic link
	itemBelow            // entries below an itemSpecial; key ends in a slash
	itemBelowLink
)

// appendKey adds a name of type t; key is the name with a slash behind it.
func appendKey(items []scanItem, key string, t fs.FileMode) []scanItem {
	name := key[:len(key)-1]
	switch {
	case t.IsDir():
		return append(items, scanItem{key: key, kind: itemDir})
	case t.IsRegular():
		return append(items, scanItem{key: name, kind: itemFile})
	}
	if t&fs.ModeSymlink != 0 {
		return append(items, scanItem{key: name, kind: itemLink}, scanItem{key: key, kind: itemBelowLink})
	}
	return append(items, scanItem{key: name, kind: itemSpecial}, scanItem{key: key, kind: itemBelow})
}

// sortItems sorts by key. The names of a folder often begin alike: the eight bytes
// behind that, as a number, decide between nearly all of them.
func sortItems(items []scanItem) {
	if len(items) == 0 {
		return
	}
	first, common := items[0].key, len(items[0].key)
	for _, i := range items[1:] {
		n := 0
		for n < min(common, len(i.key)) && i.key[n] == first[n] {
			n++
		}
		common = n
	}
	for i := range items {
		var lead [8]byte
		copy(lead[:], items[i].key[common:])
		items[i].lead = binary.BigEndian.Uint64(lead[:])
	}
	slices.SortFunc(items, func(a, b scanItem) int {
		if a.lead != b.lead {
			return cmp.Compare(a.lead, b.lead)
		}
		return strings.Compare(a.key, b.key)
	})
}

var errNotRegular = errors.New("is not a regular file")

// err is why a special file cannot be looked at.
func (i scanItem) err() error {
	if i.kind == itemLink || i.kind == itemBelowLink {
		return ErrSymlink
	}
	return errNotRegular
}

func (i scanItem) name() string { return strings.TrimSuffix(i.key, "/") }

// dir scans an open folder, whose path is prefix with a slash at its end.
func (s *scanner) dir(d *scanDir, prefix string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	items, err := d.list(s.emptyItems())
	defer func() { s.spare = append(s.spare, items[:0]) }()
	if err != nil {
		s.unreadable(strings.TrimSuffix(prefix, "/"), err)
		return nil
	}
	if prefix != "" && slices.ContainsFunc(items, func(i scanItem) bool { return strings.EqualFold(i.name(), ".git") }) {
		s.skip(prefix)
		return nil
	}
	sortItems(items)
	for i := range items {
		if err := s.item(d, prefix, &items[i]); err != nil {
			return err
		}
	}
	return s.err
}

// emptyItems is a list to fill: what a look at 10,000 files costs is in good part
// the memory that it touches for the first time.
func (s *scanner) emptyItems() []scanItem {
	n := len(s.spare)
	if n == 0 {
		return nil
	}
	items := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return items
}

func (s *scanner) item(d *scanDir, prefix string, i *scanItem) error {
	s.buf = append(append(s.buf[:0], prefix...), i.key...)
	for s.cur.name != "" && s.cur.name < string(s.buf) {
		s.missing()
	}
	switch i.kind {
	case itemDir:
		return s.subdir(d, string(s.buf), i)
	case itemSpecial, itemLink:
		if s.cur.name == string(s.buf) {
			s.special(s.cur.name, i.err())
		}
	case itemBelow, itemBelowLink:
		s.below(string(s.buf), i.err())
	case itemFile:
		if !isDotGit(i.key) { // which is a file in a linked work tree
			s.file(d, i)
		}
	}
	return nil
}

// subdir scans the folder path, which ends in a slash.
func (s *scanner) subdir(d *scanDir, path string, i *scanItem) error {
	name, bare := i.name(), strings.TrimSuffix(path, "/")
	if isDotGit(name) || name == "node_modules" || !s.filter(bare, true) {
		s.skip(path)
		return nil
	}
	sub, err := d.sub(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // went while we looked
	case err != nil:
		s.unreadable(bare, err)
		return nil
	}
	defer sub.close()
	return s.dir(sub, path)
}

// file looks at the file whose path is in buf.
func (s *scanner) file(d *scanDir, i *scanItem) {
	var entry indexEntry
	conflict := false
	for s.cur.name == string(s.buf) && s.cur.name != "" {
		if s.cur.stage() == 0 {
			entry = s.cur
		} else {
			conflict = true
		}
		s.advance()
	}
	path := entry.name
	if path == "" {
		path = string(s.buf)
	}
	if isTemp(i.key) {
		s.res.Temps = append(s.res.Temps, path)
		return
	}
	if !s.filter(path, false) {
		return
	}
	if conflict {
		s.res.Conflicted = append(s.res.Conflicted, path)
	}
	st, err := d.stat(i.key)
	f := ScanFile{Path: path}
	if entry.name != "" {
		f.IndexHash = entry.hash()
	}
	if err == nil && st.mode == 0 {
		err = errNotRegular // became something else since the folder was listed
	}
	if err == nil {
		switch {
		case !f.IndexHash.IsZero() && s.unchanged(entry, st):
			f.Hash = f.IndexHash
		case s.maxSize > 0 && st.full > s.maxSize:
			err = ErrTooLarge
		default:
			f.Hash, st, err = d.hash(i.key)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if entry.name != "" {
			s.res.Missing = append(s.res.Missing, ScanEntry{Path: path, Hash: f.IndexHash})
		}
		return
	case err != nil:
		s.res.Unreadable = append(s.res.Unreadable, UnreadablePath{Path: path, Err: err})
		return
	}
	f.Size, f.ModTime, f.Mode = st.full, st.modTime, filemode.FileMode(st.mode)
	if !s.fileMode {
		f.Mode = filemode.Regular
		if entry.name != "" && entry.mode() == modeExecutable {
			f.Mode = filemode.Executable
		}
	}
	s.res.Files = append(s.res.Files, f)
}

// unchanged reports whether a file must still be what it was when its entry was
// written. Where an entry has no nanoseconds, its writer had none.
func (s *scanner) unchanged(e indexEntry, st fileStat) bool {
	then := e.stat()
	mtime := stamp{st.mtime.sec, st.mtime.nsec}
	if then.mtime.nsec == 0 {
		mtime.nsec = 0
	}
	switch {
	case then.mode != modeRegular && then.mode != modeExecutable,
		then.mtime != mtime,
		then.size != st.size,
		then.ino != st.ino && st.ino != 0:
		return false
	case s.trustCtime && st.ctime != stamp{}:
		ctime := st.ctime
		if then.ctime.nsec == 0 {
			ctime.nsec = 0
		}
		if then.ctime != ctime {
			return false
		}
	}
	if then.mtime.nsec == 0 {
		return then.mtime.sec < s.x.stamp.sec
	}
	return then.mtime.before(s.x.stamp)
}

// missing takes cur for a file that is not on disk.
func (s *scanner) missing() {
	e := s.cur
	s.advance()
	if !s.counts(e) {
		return
	}
	if e.stage() != 0 {
		if n := len(s.res.Conflicted); n == 0 || s.res.Conflicted[n-1] != e.name {
			s.res.Conflicted = append(s.res.Conflicted, e.name)
		}
		return
	}
	s.res.Missing = append(s.res.Missing, ScanEntry{Path: e.name, Hash: e.hash()})
}

// counts reports whether e is of a file that the filter admits and that ought to
// be on disk.
func (s *scanner) counts(e indexEntry) bool {
	if m := e.mode(); m != modeRegular && m != modeExecutable || e.extended()&extSkipWT != 0 {
		return false
	}
	return s.admits(e.name) && s.filter(e.name, false)
}

// admits asks the filter for the folders above path, once each.
func (s *scanner) admits(path string) bool {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return true
	}
	dir := path[:i]
	ok, known := s.admitted[dir]
	if !known {
		name := dir[strings.LastIndexByte(dir, '/')+1:]
		ok = s.admits(dir) && name != "node_modules" && s.filter(dir, true)
		s.admitted[dir] = ok
	}
	return ok
}

// unreadable notes a folder, and what the index has below it.
func (s *scanner) unreadable(dir string, err error) {
	s.res.Unreadable = append(s.res.Unreadable, UnreadablePath{Path: dir, Err: err})
	s.below(dirPrefix(dir), err)
}

// special notes cur, whose path is no regular file now.
func (s *scanner) special(path string, err error) {
	for s.cur.name == path {
		if s.counts(s.cur) {
			s.res.Unreadable = append(s.res.Unreadable, UnreadablePath{Path: path, Err: err})
		}
		s.advance()
	}
}

// below notes the index entries below prefix as unreadable.
func (s *scanner) below(prefix string, err error) {
	for s.cur.name != "" && strings.HasPrefix(s.cur.name, prefix) {
		if s.counts(s.cur) {
			s.res.Unreadable = append(s.res.Unreadable, UnreadablePath{Path: s.cur.name, Err: err})
		}
		s.advance()
	}
}

// skip passes over the index entries below prefix.
func (s *scanner) skip(prefix string) {
	for s.cur.name != "" && strings.HasPrefix(s.cur.name, prefix) {
		s.advance()
	}
}

var errChanging = errors.New("file keeps changing")

// hashFile returns the blob id of a file of that size.
func hashFile(f io.ReaderAt, size int64) (plumbing.Hash, error) {
	sum := sha1.New()
	sum.Write(objectHeader(plumbing.BlobObject, int(size)))
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, size+1))
	if err == nil && n != size {
		err = errChanging
	}
	return plumbing.Hash(sum.Sum(nil)), err
}
