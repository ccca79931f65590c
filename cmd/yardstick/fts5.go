package main

import (
	"database/sql"
	"strings"
	"unicode"

	_ "modernc.org/sqlite"

	"vademecum/cmd/yardstick/protocol"
)

// fts5 is SQLite's full-text index without cgo: the tokenizer unicode61, the
// text in the table, and a question as an OR of all its words, ranked by
// FTS5's own bm25.
type fts5 struct {
	db     *sql.DB
	search *sql.Stmt
}

var _ engine = (*fts5)(nil)

func openDB(index string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", index)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"journal_mode = WAL", "synchronous = NORMAL"} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			db.Close()
			return nil, err
		}
	}
	return db, nil
}

func buildFTS5(notes, index string) (built protocol.Built, err error) {
	db, err := openDB(index)
	if err != nil {
		return built, err
	}
	defer func() {
		if closeErr := db.Close(); err == nil {
			err = closeErr
		}
	}()
	if _, err = db.Exec(`CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, text, tokenize = 'unicode61')`); err != nil {
		return built, err
	}
	tx, err := db.Begin()
	if err != nil {
		return built, err
	}
	defer tx.Rollback() // nothing, once it is committed
	insert, err := tx.Prepare(`INSERT INTO notes(path, text) VALUES(?, ?)`)
	if err != nil {
		return built, err
	}
	for n, err := range notesIn(notes) {
		if err != nil {
			return built, err
		}
		if _, err := insert.Exec(n.path, n.text); err != nil {
			return built, err
		}
		built.Notes++
		built.Bytes += int64(len(n.text))
	}
	return built, tx.Commit()
}

func openFTS5(index string) (engine, error) {
	db, err := openDB(index)
	if err != nil {
		return nil, err
	}
	search, err := db.Prepare(`SELECT path, text FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?`)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &fts5{db, search}, nil
}

func (f *fts5) Close() error { return f.db.Close() }

// Search reads the text of the hits too: a recall without it is of no use.
func (f *fts5) Search(text string, limit int) ([]string, error) {
	match := matchAny(text)
	if match == "" {
		return nil, nil
	}
	rows, err := f.search.Query(match, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []string
	for rows.Next() {
		var path, text string
		if err := rows.Scan(&path, &text); err != nil {
			return nil, err
		}
		hits = append(hits, path)
	}
	return hits, rows.Err()
}

// matchAny is an FTS5 query for any of the words of text.
func matchAny(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = `"` + w + `"`
	}
	return strings.Join(words, " OR ")
}
