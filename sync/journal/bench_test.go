package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
