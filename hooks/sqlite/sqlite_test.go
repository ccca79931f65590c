package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// write makes a database with SQLite itself: many rows, texts of many pages,
// numbers of every size, rows that were changed and deleted.
func write(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

const table = "CREATE TABLE `notes` (`id` text PRIMARY KEY, n integer NOT NULL DEFAULT (1+1), `text` text, CONSTRAINT c CHECK (n > -9e18 OR (1, 1) = (1, 2)))"

func fill(t *testing.T, db *sql.DB, from, to int) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < to; i++ {
		if _, err := tx.Exec("INSERT INTO notes VALUES (?, ?, ?)", fmt.Sprint("id", i), number(i), text(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func number(i int) int64 { return int64(1)<<(i%62) - int64(i%3) }

func text(i int) string { return strings.Repeat(fmt.Sprintf("é%d ", i), 1+(i%50)*(i%50)*2) }

// check reads every row in both ways.
func check(t *testing.T, path string, rows int) {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	notes, err := db.Table("notes")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = notes.Rows(func(r Row) error {
		var i int
		fmt.Sscanf(r.Text("id"), "id%d", &i)
		if r.Int("n") != number(i) || r.Text("text") != text(i) || r.Err() != nil {
			t.Errorf("row %d: %d %d bytes, %v", i, r.Int("n"), len(r.Text("text")), r.Err())
		}
		got, ok, err := notes.Get(r.ID)
		if err != nil || !ok || got.Text("text") != text(i) {
			t.Errorf("get %d: %v %v", r.ID, ok, err)
		}
		seen++
		return nil
	})
	if err != nil || seen != rows {
		t.Errorf("%d rows, want %d: %v", seen, rows, err)
	}
	if _, ok, err := notes.Get(1 << 40); ok || err != nil {
		t.Errorf("a row that is not there: %v %v", ok, err)
	}
	if _, err := db.Table("nothing"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a table that is not there: %v", err)
	}
}

func TestReadsWhatSQLiteWrites(t *testing.T) {
	for _, size := range []string{"512", "4096", "65536"} {
		for _, mode := range []string{"delete", "wal"} {
			t.Run(size+" "+mode, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				db := write(t, path, "PRAGMA page_size="+size, "PRAGMA journal_mode="+mode, table)
				defer db.Close()
				fill(t, db, 0, 400)
				write(t, path, "DELETE FROM notes WHERE n = 0 OR rowid > 300").Close()
				var rows int
				if err := db.QueryRow("SELECT count(*) FROM notes").Scan(&rows); err != nil {
					t.Fatal(err)
				}
				check(t, path, rows)
			})
		}
	}
}

// What is in the log and nowhere else counts up to the last commit; what an
// older log left behind it, and half a frame, do not.
func TestLogThatWasNotCheckedIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := write(t, path, "PRAGMA journal_mode=wal", "PRAGMA wal_autocheckpoint=0", table)
	defer db.Close()
	fill(t, db, 0, 50)
	copied := filepath.Join(t.TempDir(), "b.db")
	for _, end := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if end != "" {
			raw = append(raw, raw[32:5000]...)
		}
		if err := os.WriteFile(copied+end, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(t, copied, 50)
	if _, err := db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 50, 60) // begins the log anew, over the old one
	check(t, path, 60)
}

func FuzzDatabase(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"PRAGMA page_size=512", table, "INSERT INTO notes VALUES ('id1', 7, '" + strings.Repeat("x", 2000) + "')"} {
		if _, err := db.Exec(s); err != nil {
			f.Fatal(err)
		}
	}
	db.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, 100, byte(0))
	f.Fuzz(func(t *testing.T, raw []byte, at int, with byte) {
		if len(raw) > 1<<20 {
			return
		}
		if at >= 0 && at < len(raw) {
			raw[at] = with
		}
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path)
		if err != nil {
			return
		}
		defer db.Close()
		rows := 0
		if notes, err := db.Table("notes"); err == nil {
			_ = notes.Rows(func(r Row) error {
				_ = r.Text("text")
				_ = r.Int("n")
				if rows++; rows > 1000 {
					return ErrCorrupt
				}
				return r.Err()
			})
		}
	})
}
