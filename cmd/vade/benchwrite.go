package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// start compares "vade version" with a Go program that does nothing.
func (b *bench) start(ctx context.Context) error {
	empty, err := b.emptyProgram(ctx)
	if err != nil {
		return err
	}
	ms, err := b.turns(
		func(int) (time.Duration, error) { return b.vade(ctx, b.dir, "version") },
		func(int) (time.Duration, error) { return cpuOf(exec.CommandContext(ctx, empty)) },
	)
	if err != nil {
		return err
	}
	b.add(measure{Name: "start: vade version", Ours: ms[0], Theirs: ms[1], Unit: "ms", Yard: "an empty Go program"})
	b.add(measure{Name: "start: above an empty program", Ours: ms[0] - ms[1], Unit: "ms", Allowed: 15, Absolute: true, Yard: "-"})
	return nil
}

// emptyProgram builds a Go program that prints one line.
func (b *bench) emptyProgram(ctx context.Context) (string, error) {
	dir := filepath.Join(b.dir, "empty")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"go.mod":  "module empty\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"x\\n\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	program := filepath.Join(dir, "empty.exe")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	_, err := cpuOf(cmd)
	return program, err
}

// remember compares writing one memory with git add and git commit of one file.
func (b *bench) remember(ctx context.Context) error {
	first := 0.0
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if err := b.cloned(ctx, v); err != nil {
			return err
		}
		ms, err := b.turns(
			func(run int) (time.Duration, error) {
				return b.vade(ctx, v.home, "remember", "--title", fmt.Sprintf("Bench %d", run), "--", prose(1_000_000+run, 1000))
			},
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "version") },
			func(run int) (time.Duration, error) { return b.addAndCommit(ctx, v.git, run) },
		)
		if err != nil {
			return err
		}
		whole, write, git := ms[0], ms[0]-ms[1], ms[2]
		b.add(measure{Name: "remember: whole process", Size: size, Ours: whole, Theirs: git, Unit: "ms", Allowed: allowedFor(size, 0.4), Yard: "git add && git commit"})
		b.add(measure{Name: "remember: the write itself", Size: size, Ours: write, Theirs: git, Unit: "ms", Allowed: allowedFor(size, 0.15), Yard: "git add && git commit"})
		if first == 0 {
			first = whole
		} else {
			b.add(measure{Name: fmt.Sprintf("remember: growth from %d", b.sizes[0]), Size: size, Ours: whole, Theirs: first, Unit: "ms", Allowed: 3, Yard: "remember in the smallest vault"})
		}
	}
	return nil
}

// allowedFor is a bound that was set for vaults of 10,000 memories and more.
func allowedFor(size int, bound float64) float64 {
	if size < 10000 {
		return 0
	}
	return bound
}

func (b *bench) addAndCommit(ctx context.Context, dir string, run int) (time.Duration, error) {
	name := filepath.Join("memories", "2026", "00", fmt.Sprintf("bench-%04d.md", run))
	if err := os.WriteFile(filepath.Join(dir, name), []byte(note(2_000_000+run, 1000)), 0o600); err != nil {
		return 0, err
	}
	add, err := b.gitCPU(ctx, dir, "add", name)
	if err != nil {
		return 0, err
	}
	commit, err := b.gitCPU(ctx, dir, "commit", "--quiet", "-m", "bench")
	return add + commit, err
}

// importNotes measures taking a folder of notes, and the size of the result.
func (b *bench) importNotes(ctx context.Context) error {
	for _, size := range b.sizes {
		root := filepath.Join(b.dir, fmt.Sprintf("import-%d", size))
		if err := writeNotes(filepath.Join(root, "notes"), size, b.size); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, b.self, "--quiet", "import", "markdown", filepath.Join(root, "notes"))
		cmd.Env, cmd.Dir = environment(filepath.Join(root, "home")), b.dir
		ours, err := cpuOf(cmd)
		if err != nil {
			return err
		}
		peak := peakMemory(cmd.ProcessState)
		theirs, err := b.gitImport(ctx, root)
		if err != nil {
			return err
		}
		b.add(measure{Name: "import: CPU", Size: size, Ours: ours.Seconds() * 1000, Theirs: theirs.Seconds() * 1000, Unit: "ms", Yard: "git add . && git commit"})
		b.add(measure{Name: "import: peak memory", Size: size, Ours: float64(peak) / (1 << 20), Unit: "MiB", Allowed: 300, Absolute: true, Yard: "-"})
		if err := b.compareSize(ctx, filepath.Join(root, "home", "bench", "vault"), size); err != nil {
			return err
		}
	}
	return b.sizeAfterWrites(ctx)
}

func (b *bench) gitImport(ctx context.Context, root string) (time.Duration, error) {
	dir := filepath.Join(root, "notes")
	if err := b.git(ctx, dir, "init", "--quiet"); err != nil {
		return 0, err
	}
	add, err := b.gitCPU(ctx, dir, "add", ".")
	if err != nil {
		return 0, err
	}
	commit, err := b.gitCPU(ctx, dir, "commit", "--quiet", "-m", "import")
	return add + commit, err
}

// compareSize compares a vault's objects with what git gc makes of a copy.
func (b *bench) compareSize(ctx context.Context, vault string, size int) error {
	ours, err := sizeOf(filepath.Join(vault, ".git", "objects"))
	if err != nil {
		return err
	}
	packed := filepath.Join(b.dir, fmt.Sprintf("gc-%d-%d", size, len(b.measures)))
	if err := b.git(ctx, b.dir, "clone", "--quiet", "--no-hardlinks", "--bare", vault, packed); err != nil {
		return err
	}
	if err := b.git(ctx, packed, "gc", "--quiet"); err != nil {
		return err
	}
	theirs, err := sizeOf(filepath.Join(packed, "objects"))
	if err != nil {
		return err
	}
	b.add(measure{Name: "size of the objects", Size: size, Ours: float64(ours) / (1 << 20), Theirs: float64(theirs) / (1 << 20), Unit: "MiB", Allowed: 2, Yard: "after git gc"})
	return nil
}

// sizeAfterWrites is the size of a vault that was written to one memory at a
// time, which is what leaves the most behind.
func (b *bench) sizeAfterWrites(ctx context.Context) error {
	const writes = 1200
	home := filepath.Join(b.dir, "writes")
	for i := range writes {
		if _, err := b.vade(ctx, home, "remember", "--title", fmt.Sprintf("Write %d", i), "--", prose(3_000_000+i, 1000)); err != nil {
			return err
		}
	}
	if _, err := b.vade(ctx, home, "sync"); err != nil {
		return err
	}
	return b.compareSize(ctx, filepath.Join(home, "bench", "vault"), writes)
}
