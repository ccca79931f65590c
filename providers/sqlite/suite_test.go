package sqlite

import (
	"os"
	"testing"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

func TestSuite(t *testing.T) {
	providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
		p, err := New(Config{Path: t.TempDir() + "/memory.db"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := os.Stat(p.path); err == nil {
				checked(t, p.path)
			}
		})
		return p
	}})
}

func BenchmarkSuite(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider {
		p, err := New(Config{Path: b.TempDir() + "/memory.db"})
		if err != nil {
			b.Fatal(err)
		}
		return p
	})
}
