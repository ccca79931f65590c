package providers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// CatchUp queues what each provider is owed of what changed since the commit
// that it was followed to. It asks nobody. A provider that is new starts at the
// present commit; Backfill gives it the rest.
//
// It compares trees, so that a merge or a rewritten history is followed like
// any other change. The cursor moves after the journal has what is owed: after
// a crash between the two it is queued again, under the same keys.
func (o *Outbox) CatchUp(ctx context.Context) error {
	unlock, err := o.lockCursors(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := o.dropRemoved(ctx); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	head, err := o.Vault.Head()
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	f := &follower{o: o, head: head, since: map[plumbing.Hash][]change{}}
	var owed []journal.Delivery
	var moved []string
	for i := range o.Targets {
		t := &o.Targets[i]
		cursor, err := o.cursor(t.name())
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("outbox: %w", err)
		case cursor == head:
			continue
		default:
			list, err := f.owedTo(t, cursor)
			if err != nil {
				return fmt.Errorf("outbox: what %s is owed since %s: %w", t.name(), cursor, err)
			}
			owed = append(owed, list...)
		}
		moved = append(moved, t.name())
	}
	if err := o.Journal.Queue(ctx, owed...); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return o.moveCursors(moved, head)
}

// Follow notes the present commit for providers that are not followed yet, so
// that the next one is theirs: also for Others, which are owed it once they can
// be opened.
func (o *Outbox) Follow(ctx context.Context) error {
	names := slices.Clone(o.Others)
	for i := range o.Targets {
		names = append(names, o.Targets[i].name())
	}
	var fresh []string
	for _, name := range names {
		if _, err := o.cursor(name); errors.Is(err, fs.ErrNotExist) {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	unlock, err := o.lockCursors(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	head, err := o.Vault.Head()
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return o.moveCursors(fresh, head)
}

// cursorWait is how long to wait for another process that catches up.
const cursorWait = 10 * time.Second

func (o *Outbox) lockCursors(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return vault.LockPath(ctx, filepath.Join(o.Dir, "cursors.lock"), cursorWait)
}

func (o *Outbox) cursor(name string) (plumbing.Hash, error) {
	raw, err := os.ReadFile(o.file(name, "cursor"))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	text := strings.TrimSpace(string(raw))
	if !plumbing.IsHash(text) { // a file that somebody broke: everything is looked at again
		return lostCursor, nil
	}
	return plumbing.NewHash(text), nil
}

// lostCursor names no commit.
var lostCursor = plumbing.Hash{0xff}

func (o *Outbox) moveCursors(names []string, head plumbing.Hash) error {
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(o.Dir, name), 0o700); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		if err := journal.WriteDurable(o.file(name, "cursor"), []byte(head.String()+"\n")); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
	}
	return nil
}
