// Package sqlite reads tables out of an SQLite database, and nothing else: no
// indexes, no SQL, no writes and no locks. A driver would cost every start of
// a program that links it more than this program does in all.
//
// What is read is what was committed when the database was opened, from the
// database and its write-ahead log (https://www.sqlite.org/fileformat2.html).
// A checkpoint by somebody else in between shows as ErrCorrupt, at worst.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
)

// ErrCorrupt: the file is no SQLite database that can be read, or not any more.
var ErrCorrupt = errors.New("is no SQLite database that can be read")

// DB is a database that is open for reading, by one goroutine.
type DB struct {
	file     *os.File
	wal      *os.File
	frames   map[uint32]int64 // where the log has the newest version of a page
	pageSize int
	usable   int   // bytes of a page, without what is reserved
	bytes    int64 // of the database and its log
	pages    map[uint32][]byte
}

// maxCached is how many pages are kept in memory.
const maxCached = 256

// Open opens the database at path.
func Open(path string) (*DB, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	db := &DB{file: f, frames: map[uint32]int64{}, pages: map[uint32][]byte{}}
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:16]) != "SQLite format 3\x00" || binary.BigEndian.Uint32(head[56:]) > 1 {
		f.Close()
		return nil, ErrCorrupt
	}
	db.pageSize = int(binary.BigEndian.Uint16(head[16:]))
	if db.pageSize == 1 {
		db.pageSize = 1 << 16
	}
	db.usable = db.pageSize - int(head[20])
	if db.pageSize < 512 || db.pageSize&(db.pageSize-1) != 0 || db.usable < 480 {
		f.Close()
		return nil, ErrCorrupt
	}
	if err := db.openLog(path + "-wal"); err != nil {
		f.Close()
		return nil, err
	}
	for _, file := range []*os.File{db.file, db.wal} {
		if file != nil {
			if st, err := file.Stat(); err == nil {
				db.bytes += st.Size()
			}
		}
	}
	return db, nil
}

// Close closes the database.
func (db *DB) Close() error {
	if db.wal != nil {
		db.wal.Close()
	}
	return db.file.Close()
}

const (
	walHead   = 32
	frameHead = 24
)

// openLog finds the pages that the write-ahead log has: those of every frame
// up to the last one that commits, as long as the checksums go on.
func (db *DB) openLog(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	db.wal = f
	head := make([]byte, walHead)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil // empty: everything is in the database
	}
	magic := binary.BigEndian.Uint32(head)
	if magic&^1 != 0x377f0682 || int(binary.BigEndian.Uint32(head[8:])) != db.pageSize {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum(order, [2]uint32{}, head[:24])
	if sum != pair(head[24:]) {
		return nil
	}
	frame := make([]byte, frameHead+db.pageSize)
	pending := map[uint32]int64{}
	for at := int64(walHead); ; at += int64(len(frame)) {
		if _, err := f.ReadAt(frame, at); err != nil {
			return nil
		}
		if string(frame[8:16]) != string(head[16:24]) { // the salt of an older log
			return nil
		}
		sum = checksum(order, sum, frame[:8])
		sum = checksum(order, sum, frame[frameHead:])
		if sum != pair(frame[16:]) {
			return nil
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHead
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // commits
			maps.Copy(db.frames, pending)
			clear(pending)
		}
	}
}

func pair(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// checksum goes on with a checksum of the log's over b.
func checksum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	for len(b) >= 8 {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
		b = b[8:]
	}
	return s
}

// page returns page n, which is not to be changed.
func (db *DB) page(n uint32) ([]byte, error) {
	if p := db.pages[n]; p != nil {
		return p, nil
	}
	if n == 0 {
		return nil, ErrCorrupt
	}
	p := make([]byte, db.pageSize)
	var err error
	if at, ok := db.frames[n]; ok {
		_, err = db.wal.ReadAt(p, at)
	} else {
		_, err = db.file.ReadAt(p, int64(n-1)*int64(db.pageSize))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: page %d: %w", ErrCorrupt, n, err)
	}
	if len(db.pages) >= maxCached {
		clear(db.pages)
	}
	db.pages[n] = p
	return p, nil
}
