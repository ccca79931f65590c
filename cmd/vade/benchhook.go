package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hooks compares a hook at a turn's end with a Go program that does nothing and
// with one that inserts the same event into SQLite, and one at a prompt with that and a cold recall that does not look at the
// disk. The prompt hook that counts runs right behind another one, and trusts
// what that one saw.
func (b *bench) hooks(ctx context.Context) error {
	empty, err := b.emptyProgram(ctx)
	if err != nil {
		return err
	}
	insert, err := b.yardProgram(ctx, "insert")
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
		const question = "delete empty directories eto"
		database := filepath.Join(b.dir, fmt.Sprintf("events-%d.db", size))
		ended := func(run int) string {
			return fmt.Sprintf(`{"session_id":"end","prompt_id":"%d","last_assistant_message":%q}`, run, prose(run, 2000))
		}
		ms, err := b.turns(
			func(run int) (time.Duration, error) { return b.hook(ctx, v.home, "Stop", ended(run)) },
			func(run int) (time.Duration, error) { return b.prompted(ctx, v.home, "a", run, question) },
			func(run int) (time.Duration, error) { return b.prompted(ctx, v.home, "b", run, question) },
			func(int) (time.Duration, error) { return cpuOf(exec.CommandContext(ctx, empty)) },
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "recall", question) },
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "bench", "freshness") },
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "version") },
			func(run int) (time.Duration, error) {
				cmd := exec.CommandContext(ctx, insert, database)
				cmd.Stdin = strings.NewReader(ended(run))
				return cpuOf(cmd)
			},
		)
		if err != nil {
			return err
		}
		end, looked, trusted, nothing := ms[0], ms[1], ms[2], ms[3]
		recall := ms[4] - (ms[5] - ms[6]) // without its look at the disk
		b.add(measure{Name: "hook: a turn's end", Size: size, Ours: end, Theirs: nothing, Unit: "ms", Yard: "an empty Go program"})
		b.add(measure{Name: "hook: a turn's end", Size: size, Ours: end, Theirs: ms[7], Unit: "ms", Yard: "the same event into SQLite"})
		b.add(measure{Name: "hook: its end above an empty program", Size: size, Ours: end - nothing, Unit: "ms", Allowed: 15, Absolute: true, Yard: "-"})
		b.add(measure{Name: "hook: a prompt that looks at the disk", Size: size, Ours: looked, Theirs: ms[4], Unit: "ms", Yard: "a cold recall"})
		b.add(measure{Name: "hook: a prompt soon after", Size: size, Ours: trusted, Theirs: nothing + 15 + recall, Unit: "ms", Allowed: 1, Yard: "empty program + 15 + recall without its look"})
	}
	return nil
}

// prompted runs the prompt hook in a session of its own.
func (b *bench) prompted(ctx context.Context, home, side string, run int, question string) (time.Duration, error) {
	return b.hook(ctx, home, "UserPromptSubmit", fmt.Sprintf(`{"session_id":"%s%d","prompt_id":"p","prompt":%q}`, side, run, question))
}

func (b *bench) hook(ctx context.Context, home, event, payload string) (time.Duration, error) {
	cmd := b.command(ctx, home, "hook", "claude", event)
	cmd.Stdin = strings.NewReader(payload)
	return cpuOf(cmd)
}
