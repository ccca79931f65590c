package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"

	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// The fields of a segment. A note of one chunk is found through soloField,
// which stands for both others.
const (
	soloField  = "s"
	chunkField = "c"
	noteField  = "n" // on the note's first document
	keyField   = "k" // idTails, on the note's first document
)

var plugin zap.ZapPlugin

// openGeneration is a generation that is open for reading. It is shared by
// snapshots, and closed when the last one lets go.
type openGeneration struct {
	generation
	table *table
	seg   segment.Segment
	refs  atomic.Int32

	decoded decodedLists
}

// damagedError says that a generation cannot be used.
type damagedError struct {
	name string
	err  error
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("index generation %s is damaged: %v", e.name, e.err)
}
func (e *damagedError) Unwrap() error { return e.err }

// open opens g in dir. What is wrong with its files is a *damagedError; files
// that are not there give fs.ErrNotExist.
func (g generation) open(dir string) (*openGeneration, error) {
	raw, err := os.ReadFile(filepath.Join(dir, g.Name+tableExt))
	if err != nil {
		return nil, fmt.Errorf("index generation %s: %w", g.Name, err)
	}
	t, err := decodeTable(raw)
	if err == nil && (t.notes != g.Notes || t.docs != g.Docs || tail(raw) != g.Table.CRC) {
		err = errTable
	}
	if err != nil {
		return nil, &damagedError{g.Name, err}
	}
	zapPath := filepath.Join(dir, g.Name+zapExt)
	if err := g.Zap.check(zapPath); err != nil {
		return nil, err
	}
	o := &openGeneration{generation: g, table: t}
	err = o.guard(func() error {
		o.seg, err = plugin.Open(zapPath)
		if err == nil && o.seg.Count() != uint64(g.Docs) {
			err = errors.New("segment has another number of documents")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	o.refs.Store(1)
	return o, nil
}

// guard runs fn, which reads o's segment. Whatever a damaged segment leads to,
// wrong numbers, wild offsets, or pages that are not there, is a *damagedError.
func (o *openGeneration) guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &damagedError{o.Name, fmt.Errorf("%v", p)}
		}
	}()
	if err := fn(); err != nil {
		return &damagedError{o.Name, err}
	}
	return nil
}

func (o *openGeneration) release() {
	if o.refs.Add(-1) == 0 {
		o.seg.Close()
	}
}

// check compares size and last bytes of the file at path with m. It does not
// read the rest; verify does.
func (m fileMark) check(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var last [4]byte
	if info.Size() != m.Size || m.Size < 4 {
		return &damagedError{filepath.Base(path), fmt.Errorf("%d bytes, want %d", info.Size(), m.Size)}
	}
	if _, err := f.ReadAt(last[:], m.Size-4); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(last[:]) != m.CRC {
		return &damagedError{filepath.Base(path), errors.New("not the file that was published")}
	}
	return nil
}

// verify reads the whole zap file at path and compares it with its checksum.
func (m fileMark) verify(path string) error {
	if err := m.check(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.LimitReader(f, m.Size-4)); err != nil {
		return err
	}
	if sum.Sum32() != m.CRC {
		return &damagedError{filepath.Base(path), errors.New("checksum does not match")}
	}
	return nil
}

// markZap returns the mark of a zap file that was just written.
func markZap(path string) (fileMark, error) {
	f, err := os.Open(path)
	if err != nil {
		return fileMark{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fileMark{}, err
	}
	var last [4]byte
	if _, err := f.ReadAt(last[:], info.Size()-4); err != nil {
		return fileMark{}, err
	}
	return fileMark{info.Size(), binary.BigEndian.Uint32(last[:])}, nil
}

// tail returns the checksum at the end of a table.
func tail(raw []byte) uint32 { return binary.LittleEndian.Uint32(raw[len(raw)-4:]) }
