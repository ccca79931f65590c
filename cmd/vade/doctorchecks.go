package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/index"
	"vademecum/sync"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// checkLock names a process that holds the identity's lock for long.
func (d *doctor) checkLock(ctx context.Context) error {
	unlock, err := vault.LockPath(ctx, filepath.Join(filepath.Dir(d.o.vault.WorkDir()), "lock"), 2*time.Second)
	if errors.Is(err, vault.ErrLocked) {
		d.add(finding{Check: "lock", State: stateBad, Detail: err.Error(), Remedy: "let it finish, or end that process: its work is finished by the next command"})
		return nil
	}
	if err != nil {
		return err
	}
	unlock()
	d.add(finding{Check: "lock", State: stateOK})
	return nil
}

// checkWrites looks for what an interrupted or held-up write left.
func (d *doctor) checkWrites(ctx context.Context) error {
	v := d.o.vault
	if v.Interrupted() {
		f := finding{Check: "writes", State: stateBad, Detail: "a process was killed in the middle of a write", Remedy: "the next write finishes it, or --fix"}
		if d.fix {
			if _, err := v.Update(ctx, vault.Op{Name: "doctor"}, func(*vault.Tx) error { return nil }); err != nil {
				return err
			}
			f.State = stateFixed
		}
		d.add(f)
		return nil
	}
	held, err := v.HeldPaths()
	if err != nil {
		return err
	}
	d.report("writes", held, stateNote, "saved, not committed yet", "the next write or sync commits them, as soon as git is free")
	return nil
}

// checkGit says what a human is in the middle of, and mends git's index.
func (d *doctor) checkGit(ctx context.Context) error {
	v := d.o.vault
	busy, err := v.Busy()
	if err != nil {
		return err
	}
	if busy != "" {
		d.add(finding{Check: "git", State: stateNote, Detail: busy, Remedy: "until then nothing is committed or merged"})
		return nil
	}
	staged, err := v.Staged(ctx)
	if errors.Is(err, repo.ErrIndexCorrupt) {
		f := finding{Check: "git", State: stateBad, Detail: err.Error(), Remedy: "--fix makes git's index anew; what was staged is lost, no file is"}
		if d.fix {
			if err := v.Lock(ctx, func() error { return v.Git().RebuildIndex(ctx) }); err != nil {
				return err
			}
			f.State = stateFixed
		}
		d.add(f)
		return nil
	}
	if err != nil {
		return err
	}
	d.report("git", staged, stateNote, "staged by you; left alone", "commit or unstage them")
	return nil
}

// checkObjects reads every object that main's files need.
func (d *doctor) checkObjects(ctx context.Context) error {
	v := d.o.vault
	head, err := v.Head()
	if err != nil {
		return err
	}
	var bad []string
	n, err := v.CountAt(ctx, head, func(path string, err error) {
		bad = append(bad, fmt.Sprintf("%s: %v", path, err))
	})
	if err != nil {
		d.add(finding{Check: "objects", State: stateBad, Detail: err.Error(), Remedy: "\"vade sync\" brings missing objects from the remote; \"git fsck\" in the vault says more"})
		return nil
	}
	d.counts["head"] = n
	d.report("objects", bad, stateBad, "cannot be read from git", "\"git fsck\" in the vault says more; the files on disk are whole")
	return nil
}

// checkWorkTree compares the files on disk with main and sweeps temporaries.
func (d *doctor) checkWorkTree(ctx context.Context) error {
	v := d.o.vault
	if s, err := d.o.snapshot(ctx); err != nil || s.Damaged != "" {
		return err // named by checkGit
	}
	changes, err := v.Uncommitted(ctx)
	if err != nil {
		return err
	}
	var edited, gone []string
	for _, c := range changes {
		if c.New == nil {
			gone = append(gone, c.Path)
		} else {
			edited = append(edited, c.Path)
		}
	}
	d.report("edits", edited, stateNote, "changed on disk, not committed", "\"vade sync\" commits them")
	if err := d.checkGone(ctx, gone); err != nil {
		return err
	}
	temps, err := v.Temporaries(ctx)
	if err != nil {
		return err
	}
	if d.fix && len(temps) > 0 {
		if err := v.Sweep(ctx, temps); err != nil {
			return err
		}
		d.add(finding{Check: "leftovers", State: stateFixed, Items: temps})
		return nil
	}
	d.report("leftovers", temps, stateNote, "temporary files of a process that was killed", "--fix removes them")
	return nil
}

// checkGone brings back files that history has and the disk has not.
func (d *doctor) checkGone(ctx context.Context, gone []string) error {
	if !d.fix || len(gone) == 0 {
		d.report("missing", gone, stateNote, "in history, not on disk", "\"vade sync\" records that you deleted them; --fix brings them back")
		return nil
	}
	if err := d.o.vault.BringBack(ctx, gone); err != nil {
		return err
	}
	d.add(finding{Check: "missing", State: stateFixed, Items: gone})
	return nil
}

// checkNotes reads every memory and names what is odd about it.
func (d *doctor) checkNotes(ctx context.Context) error {
	s, err := d.o.snapshot(ctx)
	if err != nil {
		return err
	}
	d.counts["vault"] = s.Len()
	var n notes
	n.look(ctx, s)
	var unreadable []string
	for _, u := range s.Unreadable {
		unreadable = append(unreadable, fmt.Sprintf("%s: %v", u.Path, u.Err))
	}
	d.report("readable", unreadable, stateBad, "cannot be read", "check owner and mode; nothing of it is taken for deleted")
	d.report("front matter", n.broken, stateBad, "cannot be understood; found by their text, never rewritten", "mend it in an editor")
	d.report("ids", n.twins, stateBad, "several files with one id", "give the copy an id of its own, or delete its id line")
	d.report("names", n.cases, stateBad, "file names that other systems take for one", "rename one of them")
	d.report("markers", n.markers, stateNote, "text that looks like a git conflict", "settle it in an editor")
	d.report("secrets", n.secrets, stateNote, "looks like a secret, and goes wherever the vault is pushed", "take it out; history keeps it, so change the secret too")
	d.report("conflicts", n.conflicts, stateNote, "parked sides that nobody settled", "\"vade conflicts list\"")
	d.report("forgotten copies", s.Buried, stateNote, "old copies of forgotten memories; not recalled", "delete them, or bring them back with \"vade restore\"")
	return ctx.Err()
}

// notes collects what is odd in the memories of a vault.
type notes struct {
	broken, twins, cases, markers, secrets, conflicts []string
}

func (n *notes) look(ctx context.Context, s *vault.Snapshot) {
	ids, folded := map[vault.ID]string{}, map[string]string{}
	for i := range s.Len() {
		if ctx.Err() != nil {
			return
		}
		m, err := s.Memory(i)
		if err != nil {
			continue // named as unreadable
		}
		if m.Broken != nil {
			n.broken = append(n.broken, fmt.Sprintf("%s: %v", m.Path, m.Broken))
		}
		if first, ok := ids[m.ID]; ok && m.ID != "" {
			n.twins = append(n.twins, first+" and "+m.Path)
		}
		ids[m.ID] = m.Path
		key := vault.FoldKey(m.Path)
		if first, ok := folded[key]; ok {
			n.cases = append(n.cases, first+" and "+m.Path)
		}
		folded[key] = m.Path
		if m.ConflictOf != "" {
			n.conflicts = append(n.conflicts, m.Path)
		}
		if line := markerLine(m.Body); line > 0 {
			n.markers = append(n.markers, fmt.Sprintf("%s: line %d of its text", m.Path, line))
		}
		for _, secret := range vault.FindSecrets(m.Body) {
			n.secrets = append(n.secrets, fmt.Sprintf("%s: %s on line %d of its text", m.Path, secret.Kind, secret.Line))
		}
	}
}

// markerLine is the line of the first git conflict marker; 0 when there is none.
func markerLine(body string) int {
	if !strings.Contains(body, "<<<<<<< ") {
		return 0
	}
	line := 0
	for text := range strings.Lines(body) {
		line++
		if strings.HasPrefix(text, "<<<<<<< ") {
			return line
		}
	}
	return 0
}

// checkIndex compares the search index with what is on disk.
func (d *doctor) checkIndex(ctx context.Context) error {
	s, err := d.o.snapshot(ctx)
	if err != nil {
		return err
	}
	x, err := d.o.index()
	if err != nil {
		return err
	}
	defer x.Close()
	r, err := x.Check(ctx, s)
	if err != nil {
		return err
	}
	d.counts["index"] = r.Notes - r.Pending
	problems := append(append([]string{}, r.Problems...), r.Wrong...)
	if d.fix && (len(problems) > 0 || r.Pending > 0) {
		if err := d.mendIndex(ctx, x, s, len(problems) > 0); err != nil {
			return err
		}
		d.counts["index"] = s.Len()
		d.add(finding{Check: "search index", State: stateFixed, Items: problems})
		return nil
	}
	if r.Pending > 0 && len(problems) == 0 {
		d.add(finding{Check: "search index", State: stateNote, Detail: count(r.Pending, "memory is", "memories are") + " not in it; searched all the same", Remedy: "\"vade reindex\" adds them"})
		return nil
	}
	d.report("search index", problems, stateBad, "is not what is on disk", "--fix or \"vade reindex --full\" makes it anew; recall does without meanwhile")
	return nil
}

func (d *doctor) mendIndex(ctx context.Context, x *index.Index, s *vault.Snapshot, rebuild bool) error {
	p := d.o.a.progress("indexing")
	defer p.done()
	if rebuild {
		_, err := x.Rebuild(ctx, s, p.update)
		return err
	}
	_, err := x.Update(ctx, s, p.update)
	return err
}

// checkRemote asks the remote where it is.
func (d *doctor) checkRemote(ctx context.Context) error {
	v := d.o.vault
	st, err := sync.Status(v)
	if err != nil {
		return err
	}
	if st.Remote == "" {
		d.add(finding{Check: "remote", State: stateNote, Detail: "none is set: this is the only copy", Remedy: "\"vade remote set URL\""})
		return nil
	}
	if d.offline {
		d.add(finding{Check: "remote", State: stateNote, Detail: fmt.Sprintf("not asked; %d ahead, %d behind when last seen", st.Ahead, st.Behind)})
		return nil
	}
	tip, err := sync.RemoteTip(ctx, v, d.o.transport(nil))
	if err != nil {
		d.add(finding{Check: "remote", State: stateBad, Detail: err.Error(), Remedy: "everything is kept here; the next sync that reaches it catches up"})
		return nil
	}
	return d.compareRemote(ctx, st, tip)
}

func (d *doctor) compareRemote(ctx context.Context, st sync.State, tip plumbing.Hash) error {
	head, err := d.o.vault.Head()
	if err != nil {
		return err
	}
	if n, err := d.o.vault.CountAt(ctx, tip, nil); err == nil {
		d.counts["remote"] = n
	}
	switch {
	case tip == head:
		d.add(finding{Check: "remote", State: stateOK, Detail: st.Remote})
	case tip.IsZero():
		d.add(finding{Check: "remote", State: stateNote, Detail: st.Remote + " is empty", Remedy: "\"vade sync\" fills it"})
	default:
		d.add(finding{Check: "remote", State: stateNote, Detail: fmt.Sprintf("%s is at %.10s, we are at %.10s", st.Remote, tip, head), Remedy: "\"vade sync\" brings them together"})
	}
	return nil
}
