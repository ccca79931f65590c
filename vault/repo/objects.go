package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// objectDB reads the objects of a git directory: loose ones and packs, its own
// and those of its alternates. Packs are listed on first need, and again when an
// object is not found: git gc may have moved it while we had the old list.
type objectDB struct {
	dirs   []string // objects folders, our own first
	packs  []*pack  // most recently useful first
	listed bool
	inf    *inflater
	cache  *deltaCache
	warn   func(string)
}

func openObjectDB(objects string, warn func(string)) (*objectDB, error) {
	db := &objectDB{inf: newInflater(), cache: &deltaCache{}, warn: warn}
	return db, db.addDir(objects, 0)
}

// addDir adds an objects folder and what its info/alternates names.
func (db *objectDB) addDir(dir string, depth int) error {
	if slices.Contains(db.dirs, dir) {
		return nil
	}
	db.dirs = append(db.dirs, dir)
	b, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case depth >= 5: // git's own limit
		return fmt.Errorf("%s: alternates are nested too deep", dir)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		if err := db.addDir(filepath.Clean(line), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (db *objectDB) close() {
	for _, p := range db.packs {
		p.close()
	}
	db.packs, db.listed = nil, false
	db.cache.entries, db.cache.size = nil, 0
}

// list opens packs that are not open yet. A pack without an index, which an
// interrupted fetch leaves behind, is not there for git and not for us. A file
// that vanishes meanwhile belongs to a fetch or gc at work.
func (db *objectDB) list() error {
	db.listed = true
	open := map[string]bool{}
	for _, p := range db.packs {
		open[p.path] = true
	}
	for _, dir := range db.dirs {
		names, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range names {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			path := filepath.Join(dir, "pack", base+".pack")
			if !ok || open[path] {
				continue
			}
			if _, err := os.Stat(path); err != nil {
				continue
			}
			p, err := openPack(path, db.inf, db.cache)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				db.warn(fmt.Sprintf("ignored a pack: %v", err))
			default:
				db.packs = append(db.packs, p)
			}
		}
	}
	return nil
}

// read returns an object. On a miss it looks once more at what is on disk.
func (db *objectDB) read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	t, b, err := db.readOnce(h)
	if err == nil || h.IsZero() {
		return t, b, err
	}
	if lerr := db.list(); lerr != nil {
		return 0, nil, lerr
	}
	return db.readOnce(h)
}

func (db *objectDB) readOnce(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	p, off, err := db.findPacked(h)
	if err != nil {
		return 0, nil, err
	}
	if p != nil {
		t, b, err := p.read(off, db.read)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return t, b, err
		}
		// gc removed the pack after we had read its index.
		db.drop(p)
	}
	return db.readLoose(h)
}

// drop forgets a pack whose file is gone.
func (db *objectDB) drop(p *pack) {
	p.close()
	db.packs = slices.DeleteFunc(db.packs, func(q *pack) bool { return p == q })
}

// findPacked returns the pack that holds h, or nil.
func (db *objectDB) findPacked(h plumbing.Hash) (*pack, int64, error) {
	if !db.listed {
		if err := db.list(); err != nil {
			return nil, 0, err
		}
	}
	for i, p := range db.packs {
		off, ok, err := p.idx.find(h)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.path, err)
		}
		if ok {
			if i > 0 { // the next look-up is likely to hit the same pack
				copy(db.packs[1:i+1], db.packs[:i])
				db.packs[0] = p
			}
			return p, off, nil
		}
	}
	return nil, 0, nil
}

// has reports whether h is stored, without reading it.
func (db *objectDB) has(h plumbing.Hash) (bool, error) {
	p, _, err := db.findPacked(h)
	if err != nil || p != nil {
		return p != nil, err
	}
	_, ok := db.looseFile(h)
	return ok, nil
}

// looseFile returns the file of a loose object. An empty file is none: a power cut
// leaves such behind where git did not sync.
func (db *objectDB) looseFile(h plumbing.Hash) (path string, ok bool) {
	for _, dir := range db.dirs {
		path := loosePath(dir, h)
		if st, err := os.Lstat(path); err == nil && st.Size() > 0 {
			return path, true
		}
	}
	return "", false
}

func loosePath(objects string, h plumbing.Hash) string {
	s := h.String()
	return filepath.Join(objects, s[:2], s[2:])
}

func (db *objectDB) readLoose(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	for _, dir := range db.dirs {
		f, err := os.Open(loosePath(dir, h))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		t, b, err := db.inf.loose(f)
		f.Close()
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		return t, b, nil
	}
	return 0, nil, ErrObjectNotFound
}

var errLoose = errors.New("loose object is malformed")

// loose reads a loose object: "type size NUL content", compressed.
func (i *inflater) loose(r io.Reader) (plumbing.ObjectType, []byte, error) {
	t, size, z, err := i.looseHeader(r)
	if err != nil {
		return 0, nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(z, b); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errLoose, err)
	}
	return t, b, i.end()
}

// looseHeader returns type and size, and the reader of the content.
func (i *inflater) looseHeader(r io.Reader) (plumbing.ObjectType, int64, io.Reader, error) {
	i.buf.Reset(r)
	if err := i.reset(i.buf); err != nil {
		return 0, 0, nil, err
	}
	var head [64]byte
	n, err := io.ReadAtLeast(i.z, head[:], 8)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, 0, nil, fmt.Errorf("%w: %w", errLoose, err)
	}
	line, rest, ok := bytes.Cut(head[:n], []byte{0})
	kind, digits, ok2 := strings.Cut(string(line), " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	t, terr := plumbing.ParseObjectType(kind)
	if !ok || !ok2 || err != nil || terr != nil || size < int64(len(rest)) || size > maxObject {
		return 0, 0, nil, errLoose
	}
	return t, size, io.MultiReader(bytes.NewReader(rest), i.z), nil
}

// size returns the size of an object, inflating as little as it can.
func (db *objectDB) size(h plumbing.Hash) (int64, error) {
	if path, ok := db.looseFile(h); ok {
		f, err := os.Open(path)
		if err == nil {
			defer f.Close()
			_, n, _, err := db.inf.looseHeader(f)
			return n, err
		}
	}
	_, b, err := db.read(h)
	return int64(len(b)), err
}

// looseHashes lists the loose objects of our own folder.
func (db *objectDB) looseHashes() ([]plumbing.Hash, error) {
	var hs []plumbing.Hash
	for i := range 256 {
		names, err := db.fanOut(i)
		if err != nil {
			return nil, err
		}
		hs = append(hs, names...)
	}
	return hs, nil
}

// fanOut lists the loose objects whose id starts with byte i, by id.
func (db *objectDB) fanOut(i int) ([]plumbing.Hash, error) {
	prefix := fmt.Sprintf("%02x", i)
	names, err := os.ReadDir(filepath.Join(db.dirs[0], prefix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var hs []plumbing.Hash
	for _, e := range names {
		if s := prefix + e.Name(); plumbing.IsHash(s) {
			hs = append(hs, plumbing.NewHash(s))
		}
	}
	return hs, nil
}

// hashes lists everything that is stored, in no order, some of it repeatedly.
func (db *objectDB) hashes() ([]plumbing.Hash, error) {
	if err := db.list(); err != nil {
		return nil, err
	}
	hs, err := db.looseHashes()
	if err != nil {
		return nil, err
	}
	for _, p := range db.packs {
		entries, err := p.idx.all()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			hs = append(hs, e.hash)
		}
	}
	return hs, nil
}
