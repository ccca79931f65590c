package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/providers"
)

// TestMain is also the other process of the tests: it puts numbered items,
// and prints the number of each when it has its receipt.
func TestMain(m *testing.M) {
	path := os.Getenv("SQLITE_TEST_PATH")
	if path == "" {
		os.Exit(m.Run())
	}
	p, err := New(Config{Path: path})
	if err == nil {
		for i := range 1_000_000 {
			if os.Getenv("SQLITE_TEST_COUNT") == fmt.Sprint(i) {
				break
			}
			if _, err = p.Put(context.Background(), note(fmt.Sprintf("%s-%d", os.Getenv("SQLITE_TEST_NAME"), i), fmt.Sprintf("tide number%d %s", i, strings.Repeat("more words ", 200)))); err != nil {
				break
			}
			fmt.Println(i)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := p.Close(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func other(t *testing.T, name, path, count string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SQLITE_TEST_PATH="+path, "SQLITE_TEST_NAME="+name, "SQLITE_TEST_COUNT="+count)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	for round := range 8 {
		name := fmt.Sprint("round", round)
		cmd := other(t, name, path, "")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, stop, acknowledged := bufio.NewScanner(out), 1+rand.IntN(20), 0
		for lines.Scan() {
			if acknowledged++; acknowledged == stop {
				time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		checked(t, path)
		p := at(t, path)
		var ids []string
		for i := range acknowledged {
			ids = append(ids, fmt.Sprintf("%s-%d", name, i))
		}
		hits, err := p.FindByID(t.Context(), ids...)
		if err != nil || len(hits) != acknowledged {
			t.Errorf("%d of %d that had a receipt, %v", len(hits), acknowledged, err)
		}
		if last := fmt.Sprintf("number%d", acknowledged-1); !strings.Contains(found(t, p, last), ids[acknowledged-1]+"#0") {
			t.Errorf("%s is not found", last)
		}
	}
}

func TestTwoProcessesAndManyGoroutines(t *testing.T) {
	const each, writers = 15, 4
	path := filepath.Join(t.TempDir(), "new", "memory.db") // which all of them make
	var all sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		all.Go(func() {
			if out, err := other(t, name, path, fmt.Sprint(each)).Output(); err != nil {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		})
	}
	p := at(t, path)
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := p.Put(t.Context(), note(fmt.Sprintf("w%d-%d", w, i), "tide")); err != nil {
					t.Error(err)
				}
				if hits, err := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 1000}); err != nil || len(hits) < i {
					t.Error(len(hits), err)
				}
			}
		})
	}
	all.Wait()
	if got := len(strings.Fields(found1000(t, p))); got != each*(writers+2) {
		t.Errorf("%d of %d", got, each*(writers+2))
	}
	checked(t, path)
}

func found1000(t *testing.T, p *Provider) string {
	t.Helper()
	hits, err := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return refs(hits)
}
