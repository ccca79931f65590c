package transport

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// missing returns the wants that s does not hold in full.
func missing(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	var out []plumbing.Hash
	for _, w := range wants {
		if s.HasEncodedObject(w) == nil {
			err := connected(ctx, s, []plumbing.Hash{w}, haves, nil)
			if err == nil {
				continue
			}
			if !errors.Is(err, repo.ErrObjectNotFound) {
				return nil, err
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// checkConnected proves a fetch: every object that wants reach and haves do not
// is in s.
func (r *Remote) checkConnected(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) error {
	err := connected(ctx, s, wants, haves, func(done, total int) {
		r.opts.Progress(Progress{Phase: Checking, Done: int64(done), Total: int64(total)})
	})
	if errors.Is(err, repo.ErrObjectNotFound) {
		for _, w := range wants {
			if s.HasEncodedObject(w) != nil {
				return fault(ErrMoved, fmt.Sprintf("it no longer offers %s", w), "run it again")
			}
		}
		return corrupt("the remote left objects out: %w", err)
	}
	return err
}

// connected returns repo.ErrObjectNotFound when s lacks anything that wants
// reach and haves do not.
func connected(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash, tick func(done, total int)) error {
	objects, err := repo.NewObjects(s, wants, haves)
	if err != nil {
		return err
	}
	for i, h := range objects {
		if i%256 == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if tick != nil {
				tick(i, len(objects))
			}
		}
		if err := s.HasEncodedObject(h); err != nil {
			return fmt.Errorf("object %s: %w", h, err)
		}
	}
	return nil
}
