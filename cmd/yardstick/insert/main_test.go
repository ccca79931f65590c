package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

func TestInsert(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	for _, event := range []string{`{"n":1}`, `{"n":2}`} {
		if err := run([]string{path}, strings.NewReader(event)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var events, mode string
	if err := db.QueryRow("SELECT group_concat(event, ' ') FROM events").Scan(&events); err != nil || events != `{"n":1} {"n":2}` {
		t.Errorf("events %s, %v", events, err)
	}
	if err := db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal mode %s, %v", mode, err)
	}
}
