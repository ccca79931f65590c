package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"vademecum/index"
	"vademecum/vault"
)

// search answers q from what is on disk, or was as of q.AsOf. scan is how many milliseconds of the
// whole went into finding out what that is.
func (o *opened) search(ctx context.Context, q vault.Query) (f found, scan float64, err error) {
	start := time.Now()
	if q.AsOf == "" {
		f.snapshot, err = o.vault.Snapshot(ctx)
	} else {
		f.snapshot, q.Now, err = o.vault.AsOf(ctx, q.AsOf)
	}
	if err != nil {
		return f, 0, err
	}
	scan = milliseconds(time.Since(start))
	if f.snapshot.Damaged != "" {
		f.warnings = append(f.warnings, f.snapshot.Damaged)
	}
	for _, u := range f.snapshot.Unreadable {
		f.warnings = append(f.warnings, fmt.Sprintf("%s cannot be read: %v", u.Path, u.Err))
	}
	x, err := o.index()
	if err != nil {
		return f, scan, err
	}
	defer x.Close()
	if f.result, err = x.Search(ctx, f.snapshot, q); err != nil {
		return f, scan, fmt.Errorf("search: %w", err)
	}
	for _, path := range f.result.Unreadable {
		f.warnings = append(f.warnings, path+" cannot be read")
	}
	f.warnings = append(f.warnings, f.result.Warnings...)
	for i := range f.result.Hits {
		f.result.Hits[i].Providers = []string{"vault"}
	}
	f.ms = milliseconds(time.Since(start))
	return f, scan, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// refreshAt is from how many notes outside the index on a recall has it
// brought up to date.
const refreshAt = 64

// refreshIndex starts a process that indexes what a search had to read by
// itself, when that was much. The caller's answer is out by then and does not
// wait for it.
func (o *opened) refreshIndex(r index.Result) {
	if r.Stats.InMemory < refreshAt || o.a.env("VADE_NO_BACKGROUND") != "" {
		return
	}
	o.background("reindex", "--if-stale")
}

// background starts vade with args for the same identity, detached from this
// process: its output goes nowhere and it outlives us. Failing to start is no
// error; the work is done by whoever comes next.
func (o *opened) background(args ...string) {
	startDetached(o.vault.WorkDir(), append(args, "--home", o.home, "--identity", o.identity()))
}

// startDetached starts vade in dir, detached and silent.
func startDetached(dir string, args []string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command(self, append(args, "--quiet")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "VADE_NO_BACKGROUND=1")
	detach(cmd)
	if err := cmd.Start(); err == nil {
		_ = cmd.Process.Release()
	}
}
