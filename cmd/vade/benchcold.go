package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// coldQuestion is what a cold recall is asked.
const coldQuestion = "how do we retry the deploy when the server runs out of its timeout budget?"

// cold splits what a recall costs that nothing is running for: the start of
// the program, the look at what is on disk, and the search.
func (b *bench) cold(ctx context.Context) error {
	empty, err := b.emptyProgram(ctx)
	if err != nil {
		return err
	}
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if _, err := b.vade(ctx, v.home, "reindex"); err != nil {
			return err
		}
		sides := []func(int) (time.Duration, error){
			func(int) (time.Duration, error) {
				return b.vade(ctx, v.home, "recall", "--all-workspaces", coldQuestion)
			},
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "bench", "freshness") },
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "version") },
			func(int) (time.Duration, error) { return cpuOf(exec.CommandContext(ctx, empty)) },
			func(int) (time.Duration, error) { return b.gitCPU(ctx, v.vault, "status", "--porcelain") },
		}
		if rg, err := exec.LookPath("rg"); err == nil {
			sides = append(sides, func(int) (time.Duration, error) { return cpuOf(ripgrep(ctx, rg, v.vault)) })
		}
		ms, err := b.turns(sides...)
		if err != nil {
			return err
		}
		recall, look, start, floor := ms[0], ms[1], ms[2], ms[3]
		b.add(measure{Name: "cold recall: whole", Size: size, Ours: recall, Theirs: floor, Unit: "ms", Yard: "an empty Go program"})
		b.add(measure{Name: "cold recall: start", Size: size, Ours: start, Theirs: floor, Unit: "ms", Yard: "an empty Go program"})
		b.add(measure{Name: "cold recall: freshness check", Size: size, Ours: look - start, Theirs: ms[4], Unit: "ms", Allowed: allowedFor(size, 1), Yard: "git status"})
		b.add(measure{Name: "cold recall: search", Size: size, Ours: recall - look, Theirs: floor, Unit: "ms", Allowed: allowedFor(size, 15), Yard: "an empty Go program"})
		if len(ms) > 5 {
			b.add(measure{Name: "cold recall: whole", Size: size, Ours: recall, Theirs: ms[5], Unit: "ms", Yard: "rg for any of its words"})
		}
		for name, took := range map[string]float64{"whole": recall, "start": start, "freshness check": look - start, "search": recall - look, "git status": ms[4]} {
			b.draw("cold", "Cold recall", "processor time, ms", name, size, took)
		}
	}
	return nil
}

// ripgrep looks for files that have any of the longer words of coldQuestion.
func ripgrep(ctx context.Context, rg, dir string) *exec.Cmd {
	args := []string{"--files-with-matches", "--ignore-case", "--fixed-strings"}
	for _, w := range latinWords(coldQuestion) {
		args = append(args, "-e", w)
	}
	return exec.CommandContext(ctx, rg, append(args, filepath.Join(dir, "memories"))...)
}

// writeSize is the size of the text whose writing is measured, in bytes.
const writeSize = 128 << 10

// write compares remembering a large text with a program that writes the same
// file, objects and ref, synced as often. Both are whole processes, by the clock: most of
// it is waiting for the disk.
func (b *bench) write(ctx context.Context) error {
	bare, err := b.yardProgram(ctx, "bare")
	if err != nil {
		return err
	}
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if _, err := b.vade(ctx, v.home, "reindex"); err != nil {
			return err
		}
		text := func(run int) (string, error) {
			file := filepath.Join(b.dir, "text.md")
			return file, os.WriteFile(file, []byte(prose(4_000_000+run, writeSize)), 0o600)
		}
		cpu := make([][]float64, 2)
		side := func(which int, command func(file string) *exec.Cmd) func(int) (time.Duration, error) {
			return func(run int) (time.Duration, error) {
				file, err := text(run + size)
				if err != nil {
					return 0, err
				}
				start := time.Now()
				took, err := cpuOf(command(file))
				wall := time.Since(start)
				cpu[which] = append(cpu[which], took.Seconds()*1000)
				return wall, err
			}
		}
		ms, err := b.turns(
			side(0, func(file string) *exec.Cmd { return b.command(ctx, v.home, "remember", "--file", file) }),
			side(1, func(file string) *exec.Cmd {
				return exec.CommandContext(ctx, bare, file, filepath.Join(v.root, "bare"))
			}),
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "version") },
		)
		if err != nil {
			return err
		}
		b.add(measure{Name: "write: remember 128 KiB, clock", Size: size, Ours: ms[0], Theirs: ms[1], Unit: "ms", Allowed: 2, Yard: "the same file, objects and ref"})
		b.add(measure{Name: "write: remember 128 KiB, CPU", Size: size, Ours: median(cpu[0]), Theirs: median(cpu[1]), Unit: "ms", Yard: "the same file, objects and ref"})
		b.add(measure{Name: "write: CPU above the start", Size: size, Ours: median(cpu[0]) - ms[2], Theirs: median(cpu[1]), Unit: "ms", Yard: "the same file, objects and ref"})
		if err := b.seenAtOnce(ctx, v, size); err != nil {
			return err
		}
	}
	return nil
}

// seenAtOnce proves that what was just written is what the next recall finds.
func (b *bench) seenAtOnce(ctx context.Context, v *benchVault, size int) error {
	word := uniqueWord(6_000_000 + size)
	if _, err := b.vade(ctx, v.home, "remember", "the word is "+word); err != nil {
		return err
	}
	out, err := b.command(ctx, v.home, "recall", "--json", "--limit", "1", word).Output()
	if err == nil && !strings.Contains(string(out), "the word is "+word) {
		err = fmt.Errorf("a recall right after remember does not find %q", word)
	}
	return err
}
