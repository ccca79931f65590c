package sync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/merge"
	"vademecum/sync/transport"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// Options tune a round.
type Options struct {
	Transport transport.Options
	// Wait is how long to wait for another round to end; 0 means not at all.
	Wait time.Duration
	// Still is how long a file must have been left alone before it is
	// adopted; 0 means 2 s. A round waits that long for files that were
	// changed a moment ago.
	Still time.Duration
	// AdoptDeletions commits the removal of most memories at once, which
	// otherwise is taken for an accident.
	AdoptDeletions bool
	// Committed leaves what changed on disk for a later round, and so need not
	// look at every file: what is committed goes and comes.
	Committed bool
}

// Report is what a round did.
type Report struct {
	Remote    string   `json:"remote,omitempty"`
	Head      string   `json:"head"`
	Committed []string `json:"committed"`         // paths that vade had saved and could not commit then
	Adopted   []string `json:"adopted"`           // paths of a human's edits that were committed
	Left      []Left   `json:"left"`              // what was left alone, and why
	Expired   []string `json:"expired"`           // paths that were removed because they expired
	Pulled    int      `json:"pulled"`            // commits that came
	Pushed    int      `json:"pushed"`            // commits that went
	Merged    bool     `json:"merged"`            // both sides had changed
	Conflicts []string `json:"conflicts"`         // parked sides that this round made
	Flags     []string `json:"flags"`             // edits that met a forget
	Folded    []string `json:"folded"`            // paths that became one memory with another
	Rescued   string   `json:"rescued,omitempty"` // ref that keeps our side of a rewritten remote
	Ahead     int      `json:"ahead"`
	Behind    int      `json:"behind"`
	Warnings  []string `json:"warnings"`
}

// Left is a path, or the whole vault (""), that a round left alone.
type Left struct {
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
}

// Nothing reports whether the round changed nothing on either side.
func (r *Report) Nothing() bool {
	return len(r.Committed)+len(r.Adopted)+len(r.Expired)+r.Pulled+r.Pushed == 0 && !r.Merged
}

// attempts is how often a round starts over when others push at the same time.
const attempts = 12

// ErrBusy: another round of the same identity is running.
var ErrBusy = errors.New("another sync is running")

// Round runs one round of v. A report comes back even with an error: what was
// adopted stays adopted when the remote cannot be reached.
func Round(ctx context.Context, v *vault.Vault, o Options) (Report, error) {
	r := Report{Committed: []string{}, Adopted: []string{}, Left: []Left{}, Expired: []string{}, Conflicts: []string{}, Flags: []string{}, Folded: []string{}, Warnings: []string{}}
	if !v.Exists() {
		return r, nil // nor is there a folder to lock
	}
	unlock, err := lockRounds(ctx, v, o.Wait)
	if err != nil {
		return r, err
	}
	defer unlock()
	rd := &round{v: v, o: o, report: &r}
	err = rd.run(ctx)
	if v.Exists() {
		rd.finish(err)
	}
	return r, err
}

// lockRounds lets one round run and one more wait: whoever waits will see
// everything that was committed before it started, so a third need not.
func lockRounds(ctx context.Context, v *vault.Vault, wait time.Duration) (func(), error) {
	dir := filepath.Dir(v.WorkDir())
	if wait > 0 {
		leave, err := vault.LockPath(ctx, filepath.Join(dir, "sync.wait"), 0)
		if err != nil {
			return nil, busy(err)
		}
		defer leave()
	}
	unlock, err := vault.LockPath(ctx, filepath.Join(dir, "sync.lock"), wait)
	return unlock, busy(err)
}

func busy(err error) error {
	if errors.Is(err, vault.ErrLocked) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

type round struct {
	v      *vault.Vault
	o      Options
	report *Report

	remote repo.Remote
	branch string // ref of the remote that holds the vault
	wire   *transport.Remote

	looked    bool // at everything on disk, and left nothing
	rewritten bool // the remote's branch no longer holds what it held
}

func (rd *round) run(ctx context.Context) error {
	if err := rd.commitHeld(ctx); err != nil {
		return err
	}
	if !rd.o.Committed {
		if err := rd.adopt(ctx); err != nil || !rd.v.Exists() {
			return err
		}
	}
	remote, ok, err := remoteOf(rd.v)
	if err != nil || !ok {
		return err
	}
	rd.remote, rd.report.Remote = remote, transport.Mask(remote.URL)
	if err := checkSelf(rd.v, remote.URL); err != nil {
		return err
	}
	if rd.wire, err = transport.Open(remote.URL, rd.o.Transport); err != nil {
		return err
	}
	defer rd.wire.Close()
	return rd.converge(ctx)
}

// adopt commits what changed on disk, and removes what has expired.
func (rd *round) adopt(ctx context.Context) error {
	adopted, seen, err := adopt(ctx, rd.v, AdoptOptions{Still: rd.o.Still, Wait: true, Deletions: rd.o.AdoptDeletions})
	if err != nil {
		return err
	}
	rd.report.Adopted, rd.report.Left = adopted.Paths, adopted.Left
	rd.looked = len(adopted.Left) == 0
	if !rd.v.Exists() {
		return nil
	}
	if err := rd.redescribe(ctx, adopted.Restored); err != nil {
		return err
	}
	return rd.expire(ctx, seen)
}

// commitHeld commits what earlier writes could only save, if it can be now.
func (rd *round) commitHeld(ctx context.Context) error {
	held, err := rd.v.HeldPaths()
	if err != nil || len(held) == 0 {
		return err
	}
	if busy, err := rd.v.Busy(); err != nil || busy != "" {
		return err // adopt reports it
	}
	if _, err := rd.v.Update(ctx, vault.Op{Name: "repair"}, func(*vault.Tx) error { return nil }); err != nil {
		return err
	}
	still, err := rd.v.HeldPaths()
	rd.report.Committed = slices.DeleteFunc(held, func(p string) bool { return slices.Contains(still, p) })
	return err
}

// redescribe commits a vault.yaml that somebody deleted, and says so, as of one
// that is back on disk already.
func (rd *round) redescribe(ctx context.Context, back []string) error {
	again, err := rd.v.Redescribe(ctx)
	if again {
		back = append(back, vault.ConfigPath)
	}
	for _, p := range back {
		rd.warn("%s was deleted; a vault is none without it, so it is back", p)
	}
	return err
}

// converge repeats fetch, merge, push until both sides are at one commit, and
// throws a merge away when somebody else pushed first.
func (rd *round) converge(ctx context.Context) error {
	for n := range attempts {
		done, err := rd.once(ctx)
		if err == nil && done {
			return nil
		}
		if err != nil && !again(err) {
			return err
		}
		if n == attempts-1 {
			return fmt.Errorf("sync: others kept pushing for %d attempts; try again: %w", attempts, err)
		}
		if err != nil {
			pause(ctx, n)
		}
	}
	return nil
}

// again reports whether err only means that somebody was faster.
func again(err error) bool {
	rejected, ok := errors.AsType[*transport.RejectedError](err)
	return ok && rejected.NonFastForward || errors.Is(err, transport.ErrMoved) || errors.Is(err, repo.ErrRefMoved)
}

// pause waits a random while that shrinks with the number of losses, so that
// whoever lost most often gets its turn (measured: with growing waits one of
// five hosts lost 60 races in a row).
func pause(ctx context.Context, n int) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(400*time.Millisecond/time.Duration(n+1) + time.Millisecond)):
	}
}

// once is one attempt: done when main and the remote's branch are at the same
// commit, or when nothing more can be done now.
func (rd *round) once(ctx context.Context) (done bool, err error) {
	theirs, err := rd.fetch(ctx)
	if err != nil {
		return false, err
	}
	ours, err := rd.v.Head()
	if err != nil {
		return false, err
	}
	if theirs.IsZero() {
		return true, rd.push(ctx, theirs, ours)
	}
	if err := rd.see(theirs); err != nil {
		return false, err
	}
	if theirs == ours {
		return true, nil
	}
	git := rd.v.Git()
	if ahead, err := repo.IsAncestor(git, theirs, ours); err != nil || ahead {
		if err != nil {
			return false, err
		}
		return true, rd.push(ctx, theirs, ours)
	}
	if behind, err := repo.IsAncestor(git, ours, theirs); err != nil || behind {
		if err != nil {
			return false, err
		}
		return rd.advance(ctx, ours, theirs, "pull")
	}
	warnings := len(rd.report.Warnings)
	merged, err := rd.merge(ctx, ours, theirs)
	if err == nil {
		err = rd.push(ctx, theirs, merged)
	}
	if err != nil {
		rd.unmerge(warnings)
		return false, err
	}
	return rd.advance(ctx, ours, merged, "merge")
}

// unmerge takes out of the report what a merge that nobody took had done.
func (rd *round) unmerge(warnings int) {
	r := rd.report
	r.Merged, r.Conflicts, r.Flags, r.Folded = false, []string{}, []string{}, []string{}
	r.Warnings = r.Warnings[:warnings]
}

// fetch brings the remote's branch and returns its commit; zero when the
// remote has no commits.
func (rd *round) fetch(ctx context.Context) (plumbing.Hash, error) {
	refs, head, err := rd.wire.Refs(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	rd.branch = remoteBranch(refs, head)
	theirs := refs[rd.branch]
	if theirs.IsZero() {
		return theirs, nil
	}
	git := rd.v.Git()
	local, err := git.Refs("refs/")
	if err != nil {
		return theirs, err
	}
	haves := slices.Collect(maps.Values(local))
	if _, err := rd.wire.Fetch(ctx, git, []plumbing.Hash{theirs}, haves); err != nil {
		return theirs, err
	}
	return theirs, nil
}

// see checks that theirs is this vault's and notes that the remote is there.
func (rd *round) see(theirs plumbing.Hash) error {
	last, err := tracking(rd.v, rd.remote.Name)
	if err != nil || last == theirs {
		return err
	}
	if err := rd.checkOwner(last, theirs); err != nil {
		return err
	}
	if !last.IsZero() {
		if err := rd.rescueIfRewritten(last, theirs); err != nil {
			return err
		}
	}
	return rd.track(last, theirs, "fetch")
}

func (rd *round) track(from, to plumbing.Hash, reason string) error {
	return rd.v.Git().CompareAndSet(trackingRef(rd.remote.Name), from, to, reason)
}

// remoteBranch is the branch of the remote that holds the vault: main, else
// what its HEAD names, else its only branch; main when it has none.
func remoteBranch(refs map[string]plumbing.Hash, head string) string {
	if _, ok := refs[repo.Main]; ok {
		return repo.Main
	}
	if head != "" && !strings.HasPrefix(head, "refs/") {
		head = "refs/heads/" + head
	}
	if _, ok := refs[head]; ok {
		return head
	}
	var branches []string
	for name := range refs {
		if strings.HasPrefix(name, "refs/heads/") {
			branches = append(branches, name)
		}
	}
	if len(branches) == 1 {
		return branches[0]
	}
	return repo.Main
}

// push sends commit to the remote's branch, which is at theirs.
func (rd *round) push(ctx context.Context, theirs, commit plumbing.Hash) error {
	git := rd.v.Git()
	if err := git.Flush(); err != nil {
		return err
	}
	var haves []plumbing.Hash
	if !theirs.IsZero() {
		haves = append(haves, theirs)
	}
	updates := []transport.Update{{Ref: rd.branch, Old: theirs, New: commit}}
	if err := rd.wire.Push(ctx, git, updates, haves); err != nil {
		return err
	}
	n, err := repo.Count(git, theirs, commit)
	if err != nil {
		return err
	}
	rd.report.Pushed += n
	return rd.track(theirs, commit, "push")
}

// advance moves main and the work tree to a commit that the remote has. When
// a human is in the way it is left for the next round.
func (rd *round) advance(ctx context.Context, from, to plumbing.Hash, reason string) (done bool, err error) {
	n, err := repo.Count(rd.v.Git(), from, to)
	if err != nil {
		return false, err
	}
	unwritten, err := rd.v.Advance(ctx, from, to, "sync: "+reason)
	if blocked, ok := errors.AsType[*vault.BlockedError](err); ok {
		rd.report.Left = append(rd.report.Left, Left{Reason: blocked.Reason})
		return true, nil
	}
	if err == nil {
		rd.report.Pulled += n
		rd.report.Left = append(rd.report.Left, leftUnwritten(unwritten)...)
	}
	return err == nil, err
}

// finish notes how the round ended, for status and the next one.
func (rd *round) finish(err error) {
	now := rd.v.Now()
	rec := readRecord(rd.v)
	rec.LastAttempt = now
	if rd.looked {
		rec.LastLook = now
	}
	switch {
	case err != nil:
		rec.LastError = err.Error()
	case rd.report.Remote == "": // committed here, synced with nobody
		rec.LastError = ""
	default:
		rec.LastError, rec.LastSync = "", now
	}
	if werr := writeRecord(rd.v, rec); werr != nil {
		rd.report.Warnings = append(rd.report.Warnings, werr.Error())
	}
	if head, err := rd.v.Head(); err == nil && !head.IsZero() {
		rd.report.Head = head.String()
	}
	if s, err := Status(rd.v); err == nil {
		rd.report.Ahead, rd.report.Behind = s.Ahead, s.Behind
	}
}

func refOrZero(v *vault.Vault, name string) (plumbing.Hash, error) {
	h, err := v.Git().Ref(name)
	if errors.Is(err, repo.ErrRefNotFound) {
		return plumbing.ZeroHash, nil
	}
	return h, err
}

// merge makes the merge commit of ours and theirs. No ref names it until the
// remote took it.
func (rd *round) merge(ctx context.Context, ours, theirs plumbing.Hash) (plumbing.Hash, error) {
	sides, err := rd.sides(ours, theirs)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	git := rd.v.Git()
	result, err := merge.Trees(git, sides.base, sides.ours, sides.theirs, merge.Options{
		DigestKey: rd.v.Config().DigestKey,
		ChangedA:  merge.ChangeTimes(git, sides.baseCommit, ours),
		ChangedB:  merge.ChangeTimes(git, sides.baseCommit, theirs),
	})
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("merge %.10s with %.10s: %w", ours, theirs, err)
	}
	rd.reportMerge(result)
	return merge.Commit(git, ours, theirs, result)
}

func (rd *round) reportMerge(m merge.Result) {
	r := rd.report
	r.Merged = true
	r.Conflicts, r.Flags = r.Conflicts[:0], r.Flags[:0] // of the last attempt only
	for _, c := range m.Conflicts {
		switch {
		case c.Parked == "":
		case c.Kind == merge.KindForgotten:
			r.Flags = append(r.Flags, c.Parked)
		default:
			r.Conflicts = append(r.Conflicts, c.Parked)
		}
	}
	r.Folded = append(r.Folded[:0], m.Folded...)
	for _, p := range m.Swept {
		rd.warn("%s was forgotten on one side and stays so", p)
	}
	for _, p := range m.Revived {
		rd.warn("%s is newer than its forgetting and lives", p)
	}
	for _, p := range m.Renamed {
		rd.warn("%s had to take this name: both sides had another file where it was", p)
	}
}
