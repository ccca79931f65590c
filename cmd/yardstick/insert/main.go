// Insert keeps one event in an SQLite database as a hook that uses one would:
// it opens the database, in WAL mode, and inserts a row, synced to disk. It
// takes nothing out of the event and looks at nothing in it: it is what
// "vade bench hooks" compares with.
//
//	insert DATABASE < EVENT
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "insert: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 1 {
		return errors.New("use: insert DATABASE < EVENT")
	}
	event, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)", "busy_timeout(800)"}}
	db, err := sql.Open("sqlite", "file:"+args[0]+"?"+q.Encode())
	if err != nil {
		return err
	}
	const table = "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, event TEXT NOT NULL)"
	if _, err = db.Exec(table); err == nil {
		_, err = db.Exec("INSERT INTO events (time, event) VALUES (?, ?)", time.Now().UnixNano(), string(event))
	}
	return errors.Join(err, db.Close())
}
