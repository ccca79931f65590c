package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestActivityIsBoundedAndSumsAreNot(t *testing.T) {
	a := Activity{Dir: filepath.Join(t.TempDir(), "hooks")}
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	const n = 3 * maxActivity / 200
	for i := range n {
		e := Entry{Time: start.Add(time.Duration(i) * time.Second), What: DidHook, Agent: "claude", Event: "UserPromptSubmit", Session: strings.Repeat("s", 60), IDs: []string{fmt.Sprint("id", i%10)}, Bytes: 10}
		if err := a.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(0)
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2*maxActivity+64<<10 {
		t.Errorf("%d bytes", size)
	}
	sums := a.Sums()
	total := 0
	for _, u := range sums.Memories {
		total += u.Told
	}
	if last := start.Add((n - 1) * time.Second); total != n || !sums.Fired["claude"]["UserPromptSubmit"].Equal(last) {
		t.Errorf("told %d of %d, last %v", total, n, sums.Fired)
	}
	if got := len(a.Entries()); got == 0 || got >= n {
		t.Errorf("%d entries", got)
	}
}

func TestActivityOfManyAtOnce(t *testing.T) {
	a := Activity{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				if err := a.Add(Entry{Time: time.Now(), What: DidRecall, IDs: []string{fmt.Sprint(i)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(a.Entries()); got != 800 {
		t.Errorf("%d entries", got)
	}
}
