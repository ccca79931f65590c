package repo

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// IndexChange puts a path into git's index as it lies in the work tree, or takes
// it out.
type IndexChange struct {
	Path string
	Hash plumbing.Hash     // blob; zero removes the path
	Mode filemode.FileMode // 0 keeps the entry's mode, else filemode.Regular
}

// sortChanges sorts by path; of several changes of one path the last counts.
func sortChanges(changes []IndexChange) ([]IndexChange, error) {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b IndexChange) int { return strings.Compare(a.Path, b.Path) })
	out := sorted[:0]
	for _, c := range sorted {
		if err := CheckPath(c.Path); err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && out[n-1].Path == c.Path {
			out[n-1] = c
		} else {
			out = append(out, c)
		}
	}
	return out, nil
}

// writeSpliced writes the index x with changes, which are sorted, put in, and
// returns its checksum.
func (g *GitDir) writeSpliced(w io.Writer, x *indexFile, changes []IndexChange) (checksum plumbing.Hash, err error) {
	s := splicer{g: g, x: x}
	if err := s.entries(indexOps(changes)); err != nil {
		return checksum, err
	}
	exts, err := x.extensions(s.at)
	if err != nil {
		return checksum, err
	}
	for _, e := range exts {
		switch e.name {
		case "TREE":
			if data := invalidateTree(e.data(), changes); data != nil && !s.clash {
				s.out = append(s.out, binary.BigEndian.AppendUint32([]byte("TREE"), uint32(len(data))), data)
			}
		case "REUC":
			s.out = append(s.out, e.raw)
		}
		// The others (untracked cache, fsmonitor, offset tables) describe the old
		// index; git makes them anew.
	}
	head := binary.BigEndian.AppendUint32([]byte("DIRC"), x.version)
	head = binary.BigEndian.AppendUint32(head, uint32(s.count))
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	out.Write(head)
	for _, b := range s.out {
		out.Write(b)
	}
	if err := out.Flush(); err != nil {
		return checksum, err
	}
	checksum = plumbing.Hash(sum.Sum(nil))
	_, err = w.Write(checksum[:])
	return checksum, err
}

// indexOp is what to do at one place of the sorted entries: replace or drop the
// entries called key, or drop those below the folder key.
type indexOp struct {
	key    string
	below  bool         // key ends in a slash
	change *IndexChange // nil: only drop, because a file and a folder clash
	mode   uint32       // of the entry that was there
}

// indexOps is the changes, and with each new file the removal of what a file and a
// folder of one name would clash over, sorted by key.
func indexOps(changes []IndexChange) []indexOp {
	ops := make([]indexOp, 0, 2*len(changes))
	known := make(map[string]bool, len(changes))
	for i := range changes {
		known[changes[i].Path] = true
		ops = append(ops, indexOp{key: changes[i].Path, change: &changes[i]})
	}
	for _, c := range changes {
		if c.Hash.IsZero() {
			continue
		}
		ops = append(ops, indexOp{key: c.Path + "/", below: true})
		for i := strings.LastIndexByte(c.Path, '/'); i > 0; i = strings.LastIndexByte(c.Path[:i], '/') {
			if known[c.Path[:i]] {
				break
			}
			known[c.Path[:i]] = true
			ops = append(ops, indexOp{key: c.Path[:i]})
		}
	}
	slices.SortFunc(ops, func(a, b indexOp) int { return strings.Compare(a.key, b.key) })
	return ops
}

func (o *indexOp) hits(name string) bool {
	return name == o.key || o.below && strings.HasPrefix(name, o.key)
}

// splicer copies the entries of one index, with changes put in.
type splicer struct {
	g     *GitDir
	x     *indexFile
	at    int      // offset in x of the next entry
	from  int      // what lies between from and at is kept, but not in out yet
	out   [][]byte // without the header; mostly slices of x
	count int
	clash bool // an entry went because of a file and folder of one name
}

func (s *splicer) entries(ops []indexOp) error {
	s.at, s.from = indexHead, indexHead
	for range s.x.count {
		e, next, err := s.x.next(s.at)
		if err != nil {
			return err
		}
		for len(ops) > 0 && ops[0].key < e.name && !ops[0].hits(e.name) {
			s.insert(&ops[0])
			ops = ops[1:]
		}
		if len(ops) > 0 && ops[0].hits(e.name) {
			s.flush()
			s.from = next
			s.clash = s.clash || ops[0].change == nil
			ops[0].mode = e.mode()
		} else {
			s.count++
			if s.smudges(e) {
				s.flush()
				raw := bytes.Clone(e.raw)
				clear(raw[36:40]) // the size
				s.out = append(s.out, raw)
				s.from = next
			}
		}
		s.at = next
	}
	for i := range ops {
		s.insert(&ops[i])
	}
	s.flush()
	return nil
}

func (s *splicer) flush() {
	if s.from < s.at {
		s.out = append(s.out, s.x.body[s.from:s.at])
	}
	s.from = s.at
}

// insert adds the entry of a changed file.
func (s *splicer) insert(o *indexOp) {
	if o.change == nil || o.change.Hash.IsZero() {
		return
	}
	s.flush()
	mode := uint32(o.change.Mode)
	if mode == 0 {
		if mode = o.mode; mode != modeExecutable {
			mode = modeRegular
		}
	}
	st := s.g.work.statIfHolds(o.change.Path, o.change.Hash)
	s.out = append(s.out, appendIndexEntry(nil, o.change.Path, o.change.Hash, mode, st))
	s.count++
}

// smudges reports whether an entry must lose its size. git takes a file for
// unchanged when its times are those of the entry, unless they are as young as
// the index, when it reads the file. The index that we write is younger, so git
// would no longer look: a size of 0 makes it (git's ce_smudge_racily_clean_entry).
func (s *splicer) smudges(e indexEntry) bool {
	if e.num(2) < s.x.stamp.sec || e.stage() != 0 || e.num(9) == 0 {
		return false
	}
	if m := e.mode(); m != modeRegular && m != modeExecutable {
		return false
	}
	fi, err := s.g.work.root.Lstat(filepath.FromSlash(e.name))
	if err != nil || !fi.Mode().IsRegular() {
		return false // git sees that for itself
	}
	now, then := statOf(fi), e.stat()
	if now.mtime.sec != then.mtime.sec || now.ctime.sec != then.ctime.sec && now.ctime.sec != 0 || now.size != then.size {
		return false // so it sees that
	}
	if then.mtime.nsec != 0 && now.mtime == then.mtime && now.ctime == then.ctime && then.mtime.before(s.x.stamp) {
		return false // unchanged, by the finer clock that git does not look at
	}
	b, err := s.g.work.root.ReadFile(filepath.FromSlash(e.name))
	return err != nil || BlobHash(b) != e.hash()
}

// statIfHolds describes the file at p if its content is that of blob h, and is
// empty otherwise: git then looks at the file itself.
func (w *WorkTree) statIfHolds(p string, h plumbing.Hash) fileStat {
	fi, err := w.Stat(p)
	if err != nil || !fi.Mode().IsRegular() {
		return fileStat{}
	}
	st := statOf(fi)
	if known, ok := w.written[p]; ok && known.hash == h && known.stat == st {
		return st
	}
	b, err := w.ReadFile(p)
	if err != nil || BlobHash(b) != h {
		return fileStat{}
	}
	if fi, err = w.Stat(p); err != nil || statOf(fi) != st {
		return fileStat{}
	}
	return st
}

func appendIndexEntry(b []byte, path string, h plumbing.Hash, mode uint32, st fileStat) []byte {
	start := len(b)
	for _, v := range [...]uint32{
		st.ctime.sec, st.ctime.nsec, st.mtime.sec, st.mtime.nsec,
		st.dev, st.ino, mode, st.uid, st.gid, st.size,
	} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = append(b, h[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(min(len(path), flagNameLen)))
	b = append(b, path...)
	return append(b, make([]byte, 8-(len(b)-start)%8)...)
}
