package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ncruces/go-sqlite3"

	"vademecum/providers"
)

// explain makes an error of the contract from one of SQLite or the file system.
// What the owner has to see to is of class Auth: the provider pauses with one
// notice, and what is owed to it waits.
func (p *Provider) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	e := &providers.Error{Provider: p.name, Op: op, Class: providers.Retryable, Err: fmt.Errorf("%s: %w", p.path, err)}
	var code sqlite3.ErrorCode
	if errors.As(err, &code) {
		e.Code = code.Error()
	}
	switch {
	case errors.Is(err, errNewer), errors.Is(err, errOthers), errors.Is(err, fs.ErrPermission):
		e.Class = providers.Auth
	case code == sqlite3.NOTADB, code == sqlite3.CORRUPT:
		e.Class, e.Err = providers.Auth, fmt.Errorf("%s %w: %w", p.path, errBroken, err)
	case code == sqlite3.CANTOPEN, code == sqlite3.PERM, code == sqlite3.READONLY:
		e.Class, e.Err = providers.Auth, fmt.Errorf("%s: %w: see to the file's and its folder's permissions", p.path, err)
	case code == sqlite3.BUSY, code == sqlite3.LOCKED:
		e.Err = fmt.Errorf("%s: another process has been writing for %s: %w", p.path, busyTimeout, err)
	case code == sqlite3.TOOBIG:
		e.Class = providers.Permanent
	case code == sqlite3.IOERR:
		e.Ambiguous = op != "search" // a commit whose fsync failed
	}
	return e
}
