package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// PackOptions tune [GitDir.PackLoose].
type PackOptions struct {
	Loose int // pack when there are more loose objects than this; 0 means 2000, below 0 always
	Packs int // merge packs when there are more than this; 0 means 50
}

// PackStats says what [GitDir.PackLoose] did; all zero when there was no need.
type PackStats struct {
	Objects int   // objects in the new pack
	Bytes   int64 // size of the new pack
	Packs   int   // packs that went into it
}

// PackLoose moves loose objects into one pack when there are many of them, and
// merges small packs when there are many of those. Whether there are is estimated,
// as git gc --auto does it, from a few folders.
//
// Versions of one path are stored as deltas against the next newer one. Loose
// files and old packs are removed only when the new pack is durable: a crash leaves
// objects twice, never none. The caller must be the only vade process that packs;
// git may be at work.
func (g *GitDir) PackLoose(ctx context.Context, o PackOptions) (PackStats, error) {
	if o.Loose == 0 {
		o.Loose = 2000
	}
	if o.Packs == 0 {
		o.Packs = 50
	}
	if err := g.Flush(); err != nil {
		return PackStats{}, err
	}
	loose, err := g.tooManyLoose(o.Loose)
	if err != nil {
		return PackStats{}, err
	}
	small, err := g.smallPacks(o.Packs)
	if err != nil || len(loose) == 0 && len(small) == 0 {
		return PackStats{}, err
	}
	broken := map[plumbing.Hash]bool{}
	for {
		stats, err := g.repack(ctx, loose, small, broken)
		if b, ok := errors.AsType[*brokenLooseError](err); ok && !broken[b.hash] {
			g.warn(fmt.Sprintf("left a broken object alone: %v", b))
			broken[b.hash] = true
			continue
		}
		if err != nil {
			return stats, fmt.Errorf("pack objects: %w", err)
		}
		g.sweepTemps()
		return stats, nil
	}
}

// tooManyLoose lists the loose objects if there are more than limit. Four folders
// of 256 stand for all of them.
func (g *GitDir) tooManyLoose(limit int) ([]plumbing.Hash, error) {
	if limit > 0 {
		n := 0
		for _, i := range []int{0x17, 0x5a, 0xa3, 0xe8} {
			hs, err := g.db.fanOut(i)
			if err != nil {
				return nil, err
			}
			n += len(hs)
		}
		if n*64 <= limit {
			return nil, nil
		}
	}
	return g.db.looseHashes()
}

// smallPacks lists the packs to merge if there are more than limit: from the
// smallest up, until the rest are each larger than all the smaller ones together,
// and few. Packs that somebody wants kept, or that git keeps other books on, are
// left alone.
func (g *GitDir) smallPacks(limit int) ([]*pack, error) {
	if err := g.db.list(); err != nil {
		return nil, err
	}
	dir := filepath.Join(g.objects, "pack")
	if _, err := os.Lstat(filepath.Join(dir, "multi-pack-index")); err == nil {
		return nil, nil
	}
	type sized struct {
		*pack
		size int64
	}
	var packs []sized
	for _, p := range g.db.packs {
		st, err := os.Lstat(p.path)
		if err != nil || filepath.Dir(p.path) != dir || p.isKept() {
			continue
		}
		packs = append(packs, sized{p, st.Size()})
	}
	if len(packs) <= limit {
		return nil, nil
	}
	slices.SortFunc(packs, func(a, b sized) int { return int(a.size - b.size) })
	take, sum := 0, int64(0)
	for i, p := range packs {
		if p.size <= sum || len(packs)-i > limit/2 {
			take = i + 1
		}
		sum += p.size
	}
	var out []*pack
	for _, p := range packs[:take] {
		out = append(out, p.pack)
	}
	return out, nil
}

func (p *pack) isKept() bool {
	for _, ext := range []string{"keep", "promisor", "mtimes"} {
		if _, err := os.Lstat(strings.TrimSuffix(p.path, "pack") + ext); err == nil {
			return true
		}
	}
	return false
}

// repack writes loose objects and the objects of packs into one new pack, and
// removes them.
func (g *GitDir) repack(ctx context.Context, loose []plumbing.Hash, packs []*pack, broken map[plumbing.Hash]bool) (PackStats, error) {
	r := newRepacker(ctx, g, loose, packs)
	if err := r.gather(broken); err != nil {
		return PackStats{}, err
	}
	if len(r.todo) == 0 {
		return PackStats{}, g.removePacked("", r.loose, nil)
	}
	p, err := createPackFile(g.objects)
	if err != nil {
		return PackStats{}, err
	}
	defer p.discard()
	if err := r.write(p); err != nil {
		return PackStats{}, err
	}
	path, err := p.finish()
	if err != nil {
		return PackStats{}, err
	}
	if err := g.db.list(); err != nil {
		return PackStats{}, err
	}
	stats := PackStats{Objects: len(p.entries), Bytes: p.offset, Packs: len(packs)}
	return stats, g.removePacked(path, r.loose, packs)
}

// removePacked removes what the pack at path holds now.
func (g *GitDir) removePacked(path string, loose map[plumbing.Hash]bool, packs []*pack) error {
	var errs []error
	for h, ok := range loose {
		if ok {
			errs = append(errs, ignoreMissing(os.Remove(loosePath(g.objects, h))))
		}
	}
	for _, p := range packs {
		if p.path == path {
			continue // it was the same objects in the same order
		}
		g.db.drop(p)
		base := strings.TrimSuffix(p.path, "pack")
		// The index first: a pack without one is not there.
		for _, ext := range []string{"idx", "rev", "bitmap", "pack"} {
			errs = append(errs, ignoreMissing(os.Remove(base+ext)))
		}
	}
	return errors.Join(errs...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// sweepTemps removes what processes that were killed left half written a day ago
// or more.
func (g *GitDir) sweepTemps() {
	dirs := []string{filepath.Join(g.objects, "pack")}
	for i := range 256 {
		dirs = append(dirs, filepath.Join(g.objects, fmt.Sprintf("%02x", i)))
	}
	for _, dir := range dirs {
		names, _ := os.ReadDir(dir)
		for _, e := range names {
			if !strings.HasPrefix(e.Name(), "tmp_") {
				continue
			}
			if st, err := e.Info(); err == nil && time.Since(st.ModTime()) > 24*time.Hour {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
		if dir != dirs[0] {
			os.Remove(dir) // if it is empty
		}
	}
}
