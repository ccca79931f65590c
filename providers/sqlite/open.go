package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// busyTimeout is how long somebody waits for another process's transaction: a
// batch of the largest items takes about a second on a slow disk.
const busyTimeout = 5 * time.Second

// Errors of a file that vade cannot use, each with the way out. It stays as it is.
var (
	errVacant = errors.New("is empty")
	errNewer  = errors.New("was made by a newer vade: update vade, or give the provider another path")
	errOthers = errors.New("is a database of another program: give the provider another path")
	errBroken = errors.New("is damaged, or no SQLite database: move it away, then \"vade provider backfill\" fills a new one from the vault")
)

// make0600 makes the folders of path and an empty file, where they are missing.
func make0600(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close() // the first commit makes its name durable, with that of the log
}

// open opens the file at path, which must be there, and makes sure that it is
// one of ours. One that only reads gets errVacant of a file without tables;
// for another they are made.
func open(ctx context.Context, path string, reads bool) (*conn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	db, err := sqlite3.OpenFlags(uri(path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, file: info, stmts: map[string]*sqlite3.Stmt{}}
	db.SetInterrupt(ctx)
	if err := c.begin(reads); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// uri names the file at path to SQLite, so that its log gets the file's mode.
func uri(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/…
		slashed = "/" + slashed
	}
	modeOf := strings.ReplaceAll(url.QueryEscape(path), "+", "%20") // SQLite takes a plus for a plus
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: "modeof=" + modeOf}
	return u.String()
}

// begin checks whose the file is before anything could change it.
func (c *conn) begin(reads bool) error {
	if err := c.db.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	if err := fts5.Register(c.db); err != nil {
		return err
	}
	switch err := c.mine(); {
	case errors.Is(err, errVacant) && !reads:
		if err := c.make(); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	for pragma := range strings.FieldsSeq(settings) {
		if err := c.db.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	if reads {
		return c.db.Exec("PRAGMA query_only=ON")
	}
	return nil
}

// mine reports whether the file is one of ours.
func (c *conn) mine() error {
	app, err := c.number("application_id")
	if err != nil {
		return err
	}
	version, err := c.number("user_version")
	if err != nil {
		return err
	}
	tables := 0
	if err := c.each("SELECT count(*) FROM sqlite_schema", func(r row) error { tables = r.ColumnInt(0); return nil }); err != nil {
		return err
	}
	switch {
	case app == applicationID && version == schemaVersion:
		return nil
	case app == applicationID && version > schemaVersion:
		return fmt.Errorf("%w (its schema is %d, this vade knows %d)", errNewer, version, schemaVersion)
	case app == 0 && version == 0 && tables == 0:
		return errVacant
	}
	return errOthers
}

// make turns an empty file into one of ours, unless another process is faster.
func (c *conn) make() error {
	// SQLite does not wait for others here.
	for start := time.Now(); ; {
		err := c.db.Exec("PRAGMA journal_mode=WAL")
		if err == nil {
			break
		}
		if !errors.Is(err, sqlite3.BUSY) || time.Since(start) > busyTimeout {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return c.transact(func() error {
		if err := c.mine(); !errors.Is(err, errVacant) {
			return err
		}
		return c.db.Exec(schema + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, schemaVersion))
	})
}
