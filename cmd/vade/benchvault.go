package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// benchVault is a generated vault and a plain git clone of it.
type benchVault struct {
	home  string // of vade
	vault string // its work tree
	git   string // a clone for the git command
}

// vaultOf makes a vault of n memories, once.
func (b *bench) vaultOf(ctx context.Context, n int) (*benchVault, error) {
	if v, ok := b.vaults[n]; ok {
		return v, nil
	}
	root := filepath.Join(b.dir, fmt.Sprint(n))
	v := &benchVault{home: filepath.Join(root, "home"), git: filepath.Join(root, "git")}
	v.vault = filepath.Join(v.home, "bench", "vault")
	notes := filepath.Join(root, "notes")
	if err := writeNotes(notes, n); err != nil {
		return nil, err
	}
	if n > 0 {
		if _, err := b.vade(ctx, v.home, "import", "markdown", notes, "--into", "2026"); err != nil {
			return nil, err
		}
		if err := b.git(ctx, root, "clone", "--quiet", "--no-hardlinks", v.vault, v.git); err != nil {
			return nil, err
		}
	}
	if b.vaults == nil {
		b.vaults = map[int]*benchVault{}
	}
	b.vaults[n] = v
	return v, nil
}

// writeNotes makes n notes of about 1 KB, 500 a folder, always the same.
func writeNotes(dir string, n int) error {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("%02d", i/500))
		if i%500 == 0 {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
		}
		name := filepath.Join(folder, fmt.Sprintf("note-%06d.md", i))
		if err := os.WriteFile(name, []byte(note(i, 1000)), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o700)
}

// note is a memory with about size bytes of made-up words; the same for the
// same i on every host.
func note(i, size int) string {
	head := fmt.Sprintf("---\ntitle: Note %d\ntags: [bench, t%d]\ncreated: 2026-01-02T03:04:05Z\nupdated: 2026-01-02T03:04:05Z\n---\n", i, i%50)
	return head + prose(i, size-len(head))
}

// prose is about size bytes of made-up words; the same for the same i.
func prose(i, size int) string {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(word(r))
		if r.IntN(12) == 0 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// word is one of some 8,000, the low ones far more often (as in text).
func word(r *rand.Rand) string {
	const letters = "etaoinshrdlucmfwypvbgkqjxz"
	n := int(8000 * r.Float64() * r.Float64() * r.Float64())
	w := []byte{letters[n%26], letters[(n/3)%13], letters[(n/26)%26]}
	for n > 700 {
		w = append(w, letters[n%17])
		n /= 5
	}
	return string(w)
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
	cmd := exec.CommandContext(ctx, b.self, append([]string{"--quiet"}, args...)...)
	cmd.Env, cmd.Dir = environment(home), b.dir
	return cpuOf(cmd)
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
