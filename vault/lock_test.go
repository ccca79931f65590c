package vault

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Who releases a lock and takes it again comes behind those who wait for it.
func TestLockIsTakenInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 2)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		unlock, err := lockFile(t.Context(), path, time.Minute)
		if err != nil {
			t.Error(err)
			return
		}
		order <- "who waited"
		unlock()
	})
	for isFree(t, path+".next") { // until it waits
		time.Sleep(time.Millisecond)
	}
	unlock()
	if unlock, err = lockFile(t.Context(), path, time.Minute); err != nil {
		t.Fatal(err)
	}
	order <- "who had it"
	unlock()
	waiting.Wait()
	if first := <-order; first != "who waited" {
		t.Errorf("the lock went to %s first", first)
	}
}

func isFree(t *testing.T, path string) bool {
	f := flock.New(path)
	defer f.Close()
	ok, err := f.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	return ok
}
