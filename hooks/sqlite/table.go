package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Table is one table of a database.
type Table struct {
	db      *DB
	root    uint32
	columns []string
}

// Table returns the table called name.
func (db *DB) Table(name string) (*Table, error) {
	schema := &Table{db: db, root: 1, columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}}
	var found *Table
	err := schema.Rows(func(r Row) error {
		if r.Text("type") != "table" || !strings.EqualFold(r.Text("name"), name) {
			return r.Err()
		}
		found = &Table{db: db, root: uint32(r.Int("rootpage")), columns: columnsOf(r.Text("sql"))}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fmt.Errorf("it has no table %s: %w", name, ErrCorrupt)
	}
	return found, nil
}

// columnsOf are the names of the columns in a CREATE TABLE statement: the
// first word of each of its parts that is no constraint.
func columnsOf(sql string) []string {
	_, sql, _ = strings.Cut(sql, "(")
	var names []string
	depth, start := 0, 0
	take := func(part string) {
		word, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch strings.ToUpper(word) {
		case "", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
		default:
			names = append(names, strings.Trim(word, "`\"[]'"))
		}
	}
	for i, c := range []byte(sql) {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			take(sql[start:i])
			return names
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			take(sql[start:i])
			start = i + 1
		}
	}
	return names
}

// maxDepth is deeper than any tree of pages.
const maxDepth = 20

// Rows hands every row to yield, in the order of their ids, and stops at its
// first error. A row is good until yield returns.
func (t *Table) Rows(yield func(Row) error) error {
	return t.walk(t.root, map[uint32]bool{}, yield)
}

// walk visits the tree of pages below n; a page that was visited before shows
// that it is none.
func (t *Table) walk(n uint32, visited map[uint32]bool, yield func(Row) error) error {
	if visited[n] {
		return ErrCorrupt
	}
	visited[n] = true
	return t.cells(n, func(leaf bool, cell []byte) error {
		if !leaf {
			return t.walk(binary.BigEndian.Uint32(cell), visited, yield)
		}
		r, err := t.row(cell)
		if err != nil {
			return err
		}
		return yield(r)
	})
}

// Get returns the row called id; ok is false when there is none.
func (t *Table) Get(id int64) (r Row, ok bool, err error) {
	n := t.root
	for range maxDepth {
		next := uint32(0)
		err := t.cells(n, func(leaf bool, cell []byte) error {
			if next != 0 || ok {
				return nil
			}
			if !leaf {
				if key, _ := varint(cell[4:]); len(cell) == 4 || id <= key {
					next = binary.BigEndian.Uint32(cell)
				}
				return nil
			}
			_, k := varint(cell)
			if key, _ := varint(cell[k:]); key != id {
				return nil
			}
			var err error
			r, err = t.row(cell)
			ok = err == nil
			return err
		})
		if err != nil || ok || next == 0 {
			return r, ok, err
		}
		n = next
	}
	return r, false, ErrCorrupt
}

// cells hands the cells of page n to yield: of an inner page the number of a
// page and a key each, and at last the number alone.
func (t *Table) cells(n uint32, yield func(leaf bool, cell []byte) error) error {
	p, err := t.db.page(n)
	if err != nil {
		return err
	}
	head := p
	if n == 1 {
		head = p[100:]
	}
	var first int
	leaf := head[0] == 0x0d
	switch head[0] {
	case 0x0d:
		first = 8
	case 0x05:
		first = 12
	default:
		return ErrCorrupt
	}
	count := int(binary.BigEndian.Uint16(head[3:]))
	if first+2*count > len(head) {
		return ErrCorrupt
	}
	for i := range count {
		at := int(binary.BigEndian.Uint16(head[first+2*i:]))
		if at+4 > len(p) {
			return ErrCorrupt
		}
		if err := yield(leaf, p[at:]); err != nil {
			return err
		}
	}
	if leaf {
		return nil
	}
	return yield(false, head[8:12])
}

// Row is one row of a table. What goes wrong while its values are read is Err's.
type Row struct {
	ID      int64
	t       *Table
	local   []byte // what of the record is on its page
	size    int
	rest    uint32 // page on which it goes on
	columns []span
	fault   *error
}

// span is where a column lies in its record.
type span struct {
	kind   int64
	at, to int
}

// row reads the head of the record in a leaf's cell.
func (t *Table) row(cell []byte) (Row, error) {
	size, n := varint(cell)
	id, m := varint(cell[n:])
	if n == 0 || m == 0 || size < 0 || size > t.db.bytes {
		return Row{}, ErrCorrupt
	}
	cell = cell[n+m:]
	r := Row{ID: id, t: t, size: int(size), fault: new(error)}
	local := r.size
	if limit := t.db.usable - 35; local > limit {
		least := (t.db.usable-12)*32/255 - 23
		if local = least + (r.size-least)%(t.db.usable-4); local > limit {
			local = least
		}
		if local+4 > len(cell) {
			return Row{}, ErrCorrupt
		}
		r.rest = binary.BigEndian.Uint32(cell[local:])
	}
	if local > len(cell) {
		return Row{}, ErrCorrupt
	}
	r.local = cell[:local]
	return r, r.head()
}

func (r *Row) head() error {
	length, n := varint(r.local)
	if n == 0 || length < int64(n) || length > int64(r.size) {
		return ErrCorrupt
	}
	head := r.local
	if int(length) > len(head) { // hundreds of columns
		head = r.bytes(0, int(length))
		if head == nil {
			return *r.fault
		}
	}
	at := int(length)
	for n < int(length) {
		kind, m := varint(head[n:min(int(length), len(head))])
		if m == 0 || kind < 0 {
			return ErrCorrupt
		}
		n += m
		end := at + sizeOf(kind)
		if end < at || end > r.size {
			return ErrCorrupt
		}
		r.columns = append(r.columns, span{kind, at, end})
		at = end
	}
	return nil
}

// sizeOf is the length of a value of that kind, in bytes.
func sizeOf(kind int64) int {
	switch {
	case kind <= 4:
		return int(kind)
	case kind == 5:
		return 6
	case kind <= 7:
		return 8
	case kind < 12:
		return 0
	}
	return int(min(kind-12, math.MaxInt32*2) / 2)
}

// bytes are those of the record from at to to, nil when they cannot be read.
func (r *Row) bytes(at, to int) []byte {
	if to <= len(r.local) {
		return r.local[at:to]
	}
	whole := append(make([]byte, 0, to), r.local...)
	for n := r.rest; len(whole) < to; {
		p, err := r.t.db.page(n)
		if err != nil {
			*r.fault = err
			return nil
		}
		n = binary.BigEndian.Uint32(p)
		whole = append(whole, p[4:r.t.db.usable]...)
	}
	return whole[at:to]
}

// Err is the first thing that went wrong when a value was read.
func (r Row) Err() error { return *r.fault }

func (r Row) column(name string) (span, bool) {
	for i, c := range r.t.columns {
		if strings.EqualFold(c, name) && i < len(r.columns) {
			return r.columns[i], true
		}
	}
	return span{}, false
}

// Text is the text in a column; "" when it holds something else.
func (r Row) Text(column string) string {
	s, ok := r.column(column)
	if !ok || s.kind < 12 {
		return ""
	}
	return string(r.bytes(s.at, s.to))
}

// Int is the whole number in a column; 0 when it holds something else.
func (r Row) Int(column string) int64 {
	s, ok := r.column(column)
	switch {
	case ok && s.kind == 9:
		return 1
	case !ok || s.kind < 1 || s.kind > 6:
		return 0
	}
	b := r.bytes(s.at, s.to)
	if len(b) == 0 {
		return 0
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v
}

// varint reads a number of one to nine bytes and returns how many; 0 when b ends.
func varint(b []byte) (v int64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | int64(b[i]), 9
		}
		v = v<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
