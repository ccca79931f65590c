package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// benchVault is a vault to measure on: generated, or made of somebody's notes.
type benchVault struct {
	root  string
	home  string // of vade
	vault string // its work tree
	git   string // a clone for the git command, once cloned was called

	text  int64 // bytes of its notes, once built was called
	built map[string]builtIndex
}

// vaultOf makes a vault of n memories, once; with --vault, of the notes there.
func (b *bench) vaultOf(ctx context.Context, n int) (*benchVault, error) {
	if v, ok := b.vaults[n]; ok {
		return v, nil
	}
	v, err := b.makeVault(ctx, filepath.Join(b.dir, fmt.Sprint(n)), n)
	if err != nil {
		return nil, err
	}
	if b.vaults == nil {
		b.vaults = map[int]*benchVault{}
	}
	b.vaults[n] = v
	return v, nil
}

// makeVault makes a vault of n memories in root.
func (b *bench) makeVault(ctx context.Context, root string, n int) (*benchVault, error) {
	v := &benchVault{root: root, home: filepath.Join(root, "home"), git: filepath.Join(root, "git")}
	v.vault = filepath.Join(v.home, "bench", "vault")
	notes := filepath.Join(root, "notes")
	if b.notes != "" && n > 0 {
		notes = b.notes
	} else if err := writeNotes(notes, n, b.size); err != nil {
		return nil, err
	}
	if n == 0 {
		return v, nil
	}
	return v, b.importInto(ctx, v.home, notes)
}

// importInto makes a vault in home of a folder of notes. Some of somebody's
// notes may be refused; the others will do.
func (b *bench) importInto(ctx context.Context, home, notes string) error {
	_, err := b.vade(ctx, home, "import", "markdown", notes, "--into", "2026", "--allow-secret")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitPartly {
		return nil
	}
	return err
}

// cloned gives v its git clone, once.
func (b *bench) cloned(ctx context.Context, v *benchVault) error {
	if _, err := os.Stat(v.git); err == nil {
		return nil
	}
	return b.git(ctx, v.root, "clone", "--quiet", "--no-hardlinks", v.vault, v.git)
}

// countNotes is how many markdown files there are below dir.
func countNotes(dir string) (int, error) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			n++
		}
		return err
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s holds no markdown files", dir)
	}
	return n, err
}

// environment is what measured processes run with: no configuration of the
// person's, nothing in the background.
func environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "VADE_HOME=" + home, "VADE_IDENTITY=bench",
		"VADE_HOST=bench", "VADE_NO_BACKGROUND=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@b", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@b",
		"GOCACHE=" + os.Getenv("GOCACHE"), "SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.Getenv("TEMP"),
	}
}

// vade runs this program on home and returns its CPU time.
func (b *bench) vade(ctx context.Context, home string, args ...string) (time.Duration, error) {
	return cpuOf(b.command(ctx, home, args...))
}

func (b *bench) command(ctx context.Context, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.self, append([]string{"--quiet"}, args...)...)
	cmd.Env, cmd.Dir = environment(home), b.dir
	return cmd
}

// git runs git in dir.
func (b *bench) git(ctx context.Context, dir string, args ...string) error {
	_, err := b.gitCPU(ctx, dir, args...)
	return err
}

func (b *bench) gitCPU(ctx context.Context, dir string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env, cmd.Dir = environment(b.dir), dir
	return cpuOf(cmd)
}

// cpuOf runs cmd to its end and returns its CPU time, user and system, with
// that of the children that it waited for.
func cpuOf(cmd *exec.Cmd) (time.Duration, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out.Bytes())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// turns runs the sides in turn, so that noise hits them alike, and returns the
// median of each in milliseconds. Each side is told the number of its run.
func (b *bench) turns(sides ...func(run int) (time.Duration, error)) ([]float64, error) {
	times := make([][]time.Duration, len(sides))
	for run := range b.runs + 1 {
		for i, side := range sides {
			d, err := side(run)
			if err != nil {
				return nil, err
			}
			if run > 0 { // the first one warms the caches
				times[i] = append(times[i], d)
			}
		}
	}
	medians := make([]float64, len(sides))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = float64(t[len(t)/2].Microseconds()) / 1000
	}
	return medians, nil
}

// median sorts list and returns the middle of it.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// sizeOf is the size of the files below dir, in bytes.
func sizeOf(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}
