package merge

import (
	"bytes"
	"path"
	"strings"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// sides says which sides an outcome is of.
type sides int

const (
	sideA sides = 1 << iota
	sideB
	bothSides = sideA | sideB
)

// outcome is a file of the merged tree that is not simply what it was in base.
type outcome struct {
	entry
	made  bool // the content is the merge's own, and not in the store yet
	from  sides
	fresh bool // not in base
	unit  *unit
	gone  bool // folded or swept
	swept bool
}

// content returns the content of o.
func (e *engine) content(o *outcome) ([]byte, error) { return e.data(o.entry) }

// setContent gives o new content.
func (e *engine) setContent(o *outcome, data []byte) {
	o.hash, o.made = repo.BlobHash(data), true
	if e.files[o.hash] == nil {
		e.files[o.hash] = &file{data: data}
	}
}

// document returns the front matter of o, which must not be changed.
func (e *engine) document(o *outcome) (*vault.Document, error) {
	f, err := e.file(o.hash)
	if err != nil {
		return nil, err
	}
	return f.document(), nil
}

// resolve decides what becomes of each unit.
func (e *engine) resolve() error {
	for _, u := range e.units {
		decide := e.decide
		if e.undo {
			decide = e.decideUndo
		}
		o, err := decide(u)
		if err != nil {
			return err
		}
		if o != nil && o.there() {
			o.unit, o.fresh = u, !u.base.there()
			e.outcomes = append(e.outcomes, o)
		}
	}
	return nil
}

// decide returns the outcome of u; nil when the file is gone.
func (e *engine) decide(u *unit) (*outcome, error) {
	switch {
	case !u.a.there() && !u.b.there():
		return e.bothDeleted(u), nil
	case !u.a.there():
		return e.oneSided(u, u.b, sideB, e.a)
	case !u.b.there():
		return e.oneSided(u, u.a, sideA, e.b)
	}
	return e.decideContent(u)
}

// bothDeleted keeps what says which vault this is, whoever deleted it.
func (e *engine) bothDeleted(u *unit) *outcome {
	if u.base.path != vault.ConfigPath {
		return nil
	}
	return &outcome{entry: u.base, from: bothSides}
}

// oneSided decides on a file that only one side has: now is what it is there.
func (e *engine) oneSided(u *unit, now entry, from sides, deleter *lane) (*outcome, error) {
	o := &outcome{entry: now, from: from}
	switch {
	case !u.base.there(), now.path == vault.ConfigPath:
		return o, nil
	case now.hash == u.base.hash:
		return nil, nil
	}
	edited, err := e.edited(u.base, now)
	if err != nil || !edited {
		return nil, err
	}
	return o, e.editAgainstForget(o, u.base, deleter)
}

// edited reports whether now says something that base did not.
func (e *engine) edited(base, now entry) (bool, error) {
	if !base.isMemory() || !now.isMemory() {
		return base.hash != now.hash, nil
	}
	was, err := e.data(base)
	if err != nil {
		return false, err
	}
	is, err := e.data(now)
	return !onlyBookkeeping(was, is), err
}

// decideContent merges a file that both sides have.
func (e *engine) decideContent(u *unit) (*outcome, error) {
	o := &outcome{entry: entry{mode: u.a.mode}, from: bothSides}
	if u.a.mode == u.base.mode {
		o.mode = u.b.mode
	}
	var r FileResult
	switch {
	case u.a.hash == u.b.hash, u.b.hash == u.base.hash:
		o.hash = u.a.hash
	case u.a.hash == u.base.hash:
		o.hash, r.Winner = u.b.hash, 1
	case !u.a.plainFile() || !u.b.plainFile():
		// A link or a submodule is not merged.
		if o.hash, o.mode = u.a.hash, u.a.mode; bytes.Compare(u.a.hash[:], u.b.hash[:]) < 0 {
			o.hash, o.mode = u.b.hash, u.b.mode
		}
	default:
		var err error
		if r, err = e.mergeContent(u); err != nil {
			return nil, err
		}
		e.setContent(o, r.Data)
	}
	o.path = mergedPath(u, r.Winner)
	if o.made && !vault.IsTombstone(o.path) {
		e.result.Merged = append(e.result.Merged, o.path)
	}
	if len(r.Lost) > 0 {
		loser := []entry{u.b, u.a}[r.Winner]
		data, err := e.data(loser)
		if err != nil {
			return nil, err
		}
		e.lose(o, data, loser.path)
	}
	return o, nil
}

// mergedPath returns the path of a file that both sides have: where the side
// that moved it has it, or where the winner has it.
func mergedPath(u *unit, winner int) string {
	switch {
	case u.a.path == u.b.path, u.b.path == u.base.path:
		return u.a.path
	case u.a.path == u.base.path:
		return u.b.path
	}
	return []entry{u.a, u.b}[winner].path
}

// mergeContent merges a file whose content both sides changed.
func (e *engine) mergeContent(u *unit) (FileResult, error) {
	base, err := e.data(u.base)
	if err != nil {
		return FileResult{}, err
	}
	a, b := Side{Changed: e.a.changedAt(u.a.path)}, Side{Changed: e.b.changedAt(u.b.path)}
	if a.Data, err = e.data(u.a); err != nil {
		return FileResult{}, err
	}
	if b.Data, err = e.data(u.b); err != nil {
		return FileResult{}, err
	}
	if u.a.isMemory() != u.b.isMemory() {
		return Texts(base, a, b), nil
	}
	return Versions(u.a.path, base, a, b), nil
}

// Versions merges two versions of the file at p by what a file there is: a memory
// ([Files]), a text ([Texts]), or what a vault says of itself. A nil base means that
// both sides added it.
func Versions(p string, base []byte, a, b Side) FileResult {
	switch {
	case p == vault.ConfigPath:
		return mergeConfigs(a.Data, b.Data)
	case vault.IsTombstone(p):
		return mergeTombstones(a.Data, b.Data)
	case vault.IsMemoryPath(p):
		if base == nil {
			a.Data, b.Data = oneID(a.Data, b.Data)
		}
		return Files(base, a, b)
	case base == nil && strings.HasPrefix(path.Base(p), "."):
		base = []byte{} // lists of patterns: every line of both
	}
	return Texts(base, a, b)
}

// mergeConfigs merges what two clones say of their vault: the newer format,
// and never something that cannot be read.
func mergeConfigs(a, b []byte) FileResult {
	x, errX := vault.ParseConfig(a)
	y, errY := vault.ParseConfig(b)
	switch {
	case (errX == nil) != (errY == nil):
		if errX == nil {
			return FileResult{Data: a}
		}
	case x.Format != y.Format:
		if x.Format > y.Format {
			return FileResult{Data: a}
		}
	case bytes.Compare(a, b) > 0:
		return FileResult{Data: a}
	}
	return FileResult{Data: b, Winner: 1}
}

// oneID gives two memories that are one the earlier of their ids, so that
// their ids do not conflict. The other stays resolvable through merged_ids.
func oneID(a, b []byte) (_, _ []byte) {
	x, y := vault.ParseDocument(a), vault.ParseDocument(b)
	idX, idY := x.String("id"), y.String("id")
	switch {
	case idX == idY || x.Broken() != nil || y.Broken() != nil:
		return a, b
	case idX > idY:
		b, a = oneID(b, a)
		return a, b
	}
	if foldIDs(x, y) != nil || y.Set("id", idX) != nil {
		return a, b
	}
	return x.Bytes(), y.Bytes()
}

// lose notes that data, which was at path, lost against o.
func (e *engine) lose(o *outcome, data []byte, path string) {
	e.losers = append(e.losers, loser{o, data, path})
}

// parkAll puts the losers into conflicts/, now that every winner has its path.
func (e *engine) parkAll() error {
	for _, f := range e.flagged {
		if f.gone {
			continue
		}
		e.result.Flags = append(e.result.Flags, f.path)
		e.result.Conflicts = append(e.result.Conflicts, ConflictReport{Path: f.path, ID: f.id, Parked: f.note, Kind: KindForgotten})
	}
	for _, l := range e.losers {
		if l.winner.swept {
			continue
		}
		if err := e.park(l); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) park(l loser) error {
	won, err := e.content(l.winner)
	if err != nil || l.winner.isMemory() && sameSubstance(won, l.data) {
		return err
	}
	id, of := "", l.winner.path
	if l.winner.isMemory() {
		if id = vault.ParseDocument(won).String("id"); id != "" {
			of = id
		}
	}
	parked := Park(l.data, l.path, of)
	e.notes = append(e.notes, parked)
	e.result.Conflicts = append(e.result.Conflicts,
		ConflictReport{Path: l.winner.path, ID: vault.ID(id), Parked: parked.Path, Kind: KindOverlap})
	return nil
}
