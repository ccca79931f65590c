package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// LockedError is an ErrLocked that says who holds the lock.
type LockedError struct {
	Path string
	PID  int // of the holder, 0 when it did not say
	Wait time.Duration
}

func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s holds %s (waited %s)", holder, e.Path, e.Wait)
}

func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// lockFile takes an exclusive advisory lock on path. The kernel drops it with
// the process, so that a killed holder leaves none behind; the holder's
// process id in the file is only for the error message.
func lockFile(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lockInTurn(ctx, l, wait)
	switch {
	case errors.Is(err, context.Canceled), ctx.Err() != nil && !ok:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
		return nil, &LockedError{Path: path, PID: lockHolder(path), Wait: wait}
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return func() { _ = l.Unlock() }, nil
}

// lockInTurn takes l, behind whoever waits for it already: the file beside it
// is held by the one who is next. Without it, a writer that writes one thing
// after the other takes the lock again before those who look every few
// milliseconds do, and four of them starve one another for more than ten seconds.
func lockInTurn(ctx context.Context, l *flock.Flock, wait time.Duration) (ok bool, err error) {
	next := flock.New(l.Path()+".next", flock.SetPermissions(0o600))
	defer next.Close()
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, f := range []*flock.Flock{next, l} {
		ok, err = f.TryLock() // once in any case: a short wait may be over before it begins
		if err == nil && !ok && wait > 0 {
			ok, err = f.TryLockContext(waiting, 3*time.Millisecond)
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// LockPath takes the lock file at path and returns how to release it; the
// error is a [*LockedError] when it was not free within wait. The identity's
// own lock is taken by [Vault.Lock].
func LockPath(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	return lockFile(ctx, path, wait)
}

func lockHolder(path string) int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}
