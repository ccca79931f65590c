package merge

import (
	"maps"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// lane is one side of a merge of trees.
type lane struct {
	tree    plumbing.Hash
	when    func(path string) time.Time
	changed map[string]repo.Change // from base, by path

	// moved is where files of base are on this side, by their path in base, if
	// elsewhere or nowhere. found are the files that base does not have.
	moved map[string]entry
	found []entry
}

// changedAt returns when the lane changed the file at path.
func (l *lane) changedAt(path string) func() time.Time {
	if l.when == nil {
		return nil
	}
	return func() time.Time { return l.when(path) }
}

// compare fills in what each side changed.
func (e *engine) compare() (err error) {
	e.a.changed, e.b.changed = map[string]repo.Change{}, map[string]repo.Change{}
	if !e.base.IsZero() || e.undo {
		if err = collect(e.a.changed, repo.Diff(e.Store, e.base, e.a.tree)); err == nil {
			err = collect(e.b.changed, repo.Diff(e.Store, e.base, e.b.tree))
		}
		return err
	}
	// Without a base everything is new, but what both have is no news.
	for c, err := range repo.Diff(e.Store, e.a.tree, e.b.tree) {
		if err != nil {
			return err
		}
		if !c.OldHash.IsZero() {
			e.a.changed[c.Path] = repo.Change{Path: c.Path, NewHash: c.OldHash, NewMode: c.OldMode}
		}
		if !c.NewHash.IsZero() {
			e.b.changed[c.Path] = repo.Change{Path: c.Path, NewHash: c.NewHash, NewMode: c.NewMode}
		}
	}
	return nil
}

func collect(into map[string]repo.Change, changes func(func(repo.Change, error) bool)) error {
	for c, err := range changes {
		if err != nil {
			return err
		}
		into[c.Path] = c
	}
	return nil
}

// paths returns every path that either side changed, sorted.
func (e *engine) paths() []string {
	paths := slices.AppendSeq(slices.Collect(maps.Keys(e.a.changed)), maps.Keys(e.b.changed))
	slices.Sort(paths)
	return slices.Compact(paths)
}

// inBase returns the file that base has at a changed path.
func (e *engine) inBase(path string) entry {
	c, ok := e.a.changed[path]
	if !ok {
		c = e.b.changed[path]
	}
	return entry{path, c.OldHash, c.OldMode}
}

// on returns the file that a lane has at a changed path.
func (e *engine) on(l *lane, path string) entry {
	if c, ok := l.changed[path]; ok {
		return entry{path, c.NewHash, c.NewMode}
	}
	return e.inBase(path)
}

// match follows the files of base to where each side has them.
func (e *engine) match() error {
	paths := e.paths()
	for _, l := range []*lane{e.a, e.b} {
		f := finder{engine: e, lane: l}
		if err := f.run(paths); err != nil {
			return err
		}
	}
	for _, p := range paths {
		if base := e.inBase(p); base.there() {
			e.units = append(e.units, &unit{base: base, a: e.placeOn(e.a, base), b: e.placeOn(e.b, base)})
		}
	}
	return e.pairFound()
}

// finder follows the files of base on one lane.
type finder struct {
	*engine
	lane    *lane
	checked map[string]bool // paths that are on both sides, and whose ids were compared
	lost    []entry         // in base, and not where they were
}

func (f *finder) run(paths []string) error {
	f.checked = map[string]bool{}
	f.lane.moved = map[string]entry{}
	for _, p := range paths {
		base, now := f.inBase(p), f.on(f.lane, p)
		switch {
		case base.there() && !now.there():
			f.lost = append(f.lost, base)
		case !base.there() && now.there():
			f.lane.found = append(f.lane.found, now)
		case f.changedByBoth(p):
			if err := f.compareIDs(base, now); err != nil {
				return err
			}
		}
	}
	if len(f.lost) == 0 {
		return nil
	}
	if err := f.link(); err != nil {
		return err
	}
	if slices.ContainsFunc(f.lost, func(base entry) bool { return f.changedByBoth(base.path) }) {
		return f.linkSwapped(paths)
	}
	return nil
}

func (f *finder) changedByBoth(path string) bool {
	_, a := f.a.changed[path]
	_, b := f.b.changed[path]
	return a && b
}

// compareIDs parts a file of base from what is in its place now, if that is
// another memory: two files changed names.
func (f *finder) compareIDs(base, now entry) error {
	f.checked[base.path] = true
	if base.hash == now.hash {
		return nil
	}
	was, _, err := f.ids(base)
	if err != nil || was == "" {
		return err
	}
	is, merged, err := f.ids(now)
	if err != nil || is == "" || is == was || slices.Contains(merged, was) {
		return err
	}
	f.lost = append(f.lost, base)
	f.lane.found = append(f.lane.found, now)
	return nil
}

// linkSwapped looks for files that are still lost in the places of other files.
func (f *finder) linkSwapped(paths []string) error {
	known := len(f.lane.found)
	for _, p := range paths {
		base, now := f.inBase(p), f.on(f.lane, p)
		if _, ok := f.lane.changed[p]; ok && base.there() && now.there() && !f.checked[p] {
			if err := f.compareIDs(base, now); err != nil {
				return err
			}
		}
	}
	if len(f.lane.found) == known {
		return nil
	}
	return f.link()
}

// link finds lost files among the found ones: a memory by its id, anything
// else by equal content. What is linked leaves both lists.
func (f *finder) link() error {
	byKey := map[string][]int{}
	for i, e := range f.lane.found {
		key, err := f.linkKey(e)
		if err != nil {
			return err
		}
		byKey[key] = append(byKey[key], i)
	}
	taken := map[int]bool{}
	var still []entry
	for _, base := range f.lost {
		key, err := f.linkKey(base)
		if err != nil {
			return err
		}
		i := f.pick(base, byKey[key], taken)
		if i < 0 || base.hash == emptyBlob {
			f.lane.moved[base.path] = entry{}
			still = append(still, base)
			continue
		}
		taken[i] = true
		f.lane.moved[base.path] = f.lane.found[i]
	}
	var found []entry
	for i, e := range f.lane.found {
		if !taken[i] {
			found = append(found, e)
		}
	}
	f.lost, f.lane.found = still, found
	return nil
}

// linkKey is what a file is known by wherever it is: its id, else its content.
func (f *finder) linkKey(e entry) (string, error) {
	id, _, err := f.ids(e)
	if id == "" {
		id = e.hash.String()
	}
	return id, err
}

// emptyBlob is the blob without content; all empty files are alike, so that
// none of them can be followed.
var emptyBlob = plumbing.NewHash("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")

// pick returns the candidate that base most probably became: one with the same
// content, else the first by path; -1 for none.
func (f *finder) pick(base entry, candidates []int, taken map[int]bool) int {
	best := -1
	for _, i := range candidates {
		if taken[i] {
			continue
		}
		if f.lane.found[i].hash == base.hash {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// placeOn returns where l has a file of base; the zero entry when nowhere.
func (e *engine) placeOn(l *lane, base entry) entry {
	now, ok := l.moved[base.path]
	if !ok {
		now = e.on(l, base.path)
	}
	if !now.there() {
		return entry{}
	}
	return now
}
