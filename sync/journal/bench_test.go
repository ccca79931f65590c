package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vademecum/vault"
)

// BenchmarkAppend appends a usual event, beside the least that any durable
// queue has to do: write as many bytes and fsync.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("the answer has some words in it ", 60)
	b.Run("journal", func(b *testing.B) {
		j := Open(filepath.Join(b.TempDir(), "journal"), Options{MaxBytes: 1 << 40})
		for b.Loop() {
			if err := j.Append(event(0, Answer, text)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write+fsync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if _, err := f.WriteString(text); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkClean is what the second line of defence costs on the largest text.
func BenchmarkClean(b *testing.B) {
	text := strings.Repeat("2026-11-30 ERROR handler.go:42 request 7f3a failed: connection refused\n", 2*MaxText/70)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		e := event(0, Prompt, text)
		e.clean()
	}
}

// BenchmarkDrain drains one turn into a vault with 64 sessions of 50 KB.
func BenchmarkDrain(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "todd")
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "todd"})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	j := Open(filepath.Join(dir, "journal"), Options{})
	turn := func(session string, i int) {
		e := event(i, TurnEnd, fmt.Sprintf("session %s says %d: %s", session, i, strings.Repeat("some words ", 250)))
		e.Session, e.Turn = session, fmt.Sprint(i)
		if err := j.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	drain := func() {
		if _, err := j.Drain(b.Context(), DrainOptions{}, &Capture{Vault: v}); err != nil {
			b.Fatal(err)
		}
	}
	for s := range 64 {
		for i := range 15 {
			turn(fmt.Sprint("s", s), i)
		}
	}
	drain()
	i := 0
	for b.Loop() {
		turn("new", i)
		drain()
		i++
	}
}
