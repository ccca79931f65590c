package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// killedVault is what the child of TestKilledWriter indexes in round i: it
// grows, changes, and now and then needs everything merged.
func killedVault(i int) *notes {
	content := randomVaultOf(400)
	for k := range i {
		content[fmt.Sprintf("memories/round-%d.md", k)] = "deploy round " + strconv.Itoa(k)
		delete(content, fmt.Sprintf("memories/%03d.md", k*7))
	}
	return newNotes(content)
}

// TestKilledWriterChild is the child of TestKilledWriter: it updates until it
// is killed.
func TestKilledWriterChild(t *testing.T) {
	dir := os.Getenv("VADE_TEST_KILLED_INDEX")
	if dir == "" {
		return
	}
	x, err := Open(dir, Options{Grace: time.Nanosecond})
	must(t, err)
	for i := 0; ; i = (i + 1) % 40 {
		src := killedVault(i)
		if i%8 == 7 {
			_, err = x.Rebuild(t.Context(), src, nil)
		} else {
			_, err = x.Update(t.Context(), src, nil)
		}
		must(t, err)
		fmt.Println("updated") // tells the parent that work has begun
	}
}

// Killed at any moment, a writer leaves an index that answers right, and that
// the next writer goes on with.
func TestKilledWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	src := killedVault(20)
	want := answersOnly(t, open(t), src)
	r := rand.New(rand.NewPCG(9, 10))
	for range 15 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterChild$")
		cmd.Env = append(os.Environ(), "VADE_TEST_KILLED_INDEX="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, err = out.Read(make([]byte, 1)) // the first update is done
		must(t, err)
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		x := openIn(t, dir)
		if diff := cmp.Diff(want, answersOnly(t, x, src)); diff != "" {
			t.Fatalf("answers after a kill (-want +got):\n%s", diff)
		}
		if st := update(t, x, src); st.Skipped || len(st.Dropped) > 0 {
			t.Errorf("update after a kill: %+v", st)
		}
		checkSound(t, x, src)
		x.Close()
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tmpPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
