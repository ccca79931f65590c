package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// journalIn is a journal in a bubble, with no chance in it.
func journalIn(t *testing.T) *Journal {
	return Open(t.TempDir()+"/journal", Options{Jitter: func() float64 { return 1 }})
}

func (j *Journal) one(t *testing.T, key string) Delivery {
	t.Helper()
	list, err := j.Deliveries()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.Key == key {
			return d
		}
	}
	t.Fatalf("no delivery %s in %v", key, list)
	return Delivery{}
}

func TestBackoffUntilDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		if err := j.Queue(t.Context(), Delivery{To: "mem0", Key: "m@1"}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var waits []time.Duration
		for {
			got, err := j.Claim(t.Context(), "mem0", 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				if d := j.one(t, "m@1"); d.State == Dead {
					break
				}
				time.Sleep(500 * time.Millisecond)
				continue
			}
			waits = append(waits, time.Since(start).Round(time.Second))
			start = time.Now()
			if err := j.Settle(t.Context(), "mem0", Outcome{Key: "m@1", Err: errors.New("503")}); err != nil {
				t.Fatal(err)
			}
		}
		want := "[0s 1s 2s 4s 8s 16s 32s 1m4s 2m8s 4m16s]"
		if got := fmt.Sprint(waits); got != want {
			t.Errorf("waited %s, want %s", got, want)
		}
		if d := j.one(t, "m@1"); d.Attempts != 10 || d.Error != "503" {
			t.Errorf("dead: %+v", d)
		}
		if n, err := j.Retry(t.Context(), func(Delivery) bool { return true }); n != 1 || err != nil {
			t.Errorf("retry: %d %v", n, err)
		}
		if got, _ := j.Claim(t.Context(), "mem0", 1); len(got) != 1 || got[0].Attempts != 1 {
			t.Errorf("after retry: %v", got)
		}
	})
}

func TestBackoffIsBounded(t *testing.T) {
	j := journalIn(t)
	if got := j.backoff(40); got != maxBackoff {
		t.Errorf("got %s", got)
	}
	j.opts.Jitter = func() float64 { return 0 }
	if got := j.backoff(1); got != minBackoff/2 {
		t.Errorf("got %s", got)
	}
}

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		for _, key := range []string{"a", "b", "c"} {
			if err := j.Queue(t.Context(), Delivery{To: "zep", Key: key}, Delivery{To: "mem0", Key: key}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		first, _ := j.Claim(t.Context(), "zep", 2)
		second, _ := j.Claim(t.Context(), "zep", 2)
		if got := keysOf(first) + " " + keysOf(second); got != "a,b c" {
			t.Fatalf("claimed %s", got)
		}
		// One that fails does not hold up the next.
		if err := j.Settle(t.Context(), "zep", Outcome{Key: "a", Err: errors.New("no")}, Outcome{Key: "b", State: Stored}); err != nil {
			t.Fatal(err)
		}
		if none, _ := j.Claim(t.Context(), "zep", 9); len(none) != 0 {
			t.Errorf("claimed %v", none)
		}
		time.Sleep(31 * time.Second) // c's sender was killed; a has waited
		if again, _ := j.Claim(t.Context(), "zep", 9); keysOf(again) != "a,c" {
			t.Errorf("after the lease: %v", again)
		}
		// The one who was too slow settles all the same; what was dropped stays dropped.
		if _, err := j.Drop(t.Context(), func(d Delivery) bool { return d.To == "zep" && d.Key == "c" }); err != nil {
			t.Fatal(err)
		}
		if err := j.Settle(t.Context(), "zep", Outcome{Key: "c", Err: errors.New("late")}, Outcome{Key: "a", Err: errors.New("never"), Permanent: true}); err != nil {
			t.Fatal(err)
		}
		states := map[string]State{}
		list, _ := j.Deliveries()
		for _, d := range list {
			states[d.To+" "+d.Key] = d.State
		}
		want := map[string]State{"zep a": Dead, "zep b": Stored, "zep c": Empty, "mem0 a": Queued, "mem0 b": Queued, "mem0 c": Queued}
		for k, s := range want {
			if states[k] != s {
				t.Errorf("%s is %s, want %s", k, states[k], s)
			}
		}
	})
}

func keysOf(list []Delivery) string {
	var keys []string
	for _, d := range list {
		keys = append(keys, d.Key)
	}
	return strings.Join(keys, ",")
}

func TestPostponedDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		_ = j.Queue(t.Context(), Delivery{To: "vault", Key: "a"})
		for range 30 {
			if got, err := j.Claim(t.Context(), "vault", 1); len(got) != 1 || err != nil {
				t.Fatalf("claimed %v %v", got, err)
			}
			_ = j.Settle(t.Context(), "vault", Outcome{Key: "a", Err: errors.New("locked"), Postponed: true})
			time.Sleep(2 * time.Second)
		}
		if d := j.one(t, "a"); d.State != Retry || d.Attempts != 0 {
			t.Errorf("got %+v", d)
		}
	})
}

func TestTornLedger(t *testing.T) {
	j := journalIn(t)
	_ = j.Queue(t.Context(), Delivery{To: "vault", Key: "a"})
	f, err := os.OpenFile(j.ledger.path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"sum":"0`)
	f.Close()
	_ = j.Queue(t.Context(), Delivery{To: "vault", Key: "b"})
	if list, err := j.Deliveries(); len(list) != 2 || err != nil {
		t.Errorf("got %v %v", list, err)
	}
}

func TestNothingToSteerBeforeTheFirstEvent(t *testing.T) {
	dir := t.TempDir() + "/journal"
	j := Open(dir, Options{})
	all := func(Delivery) bool { return true }
	if n, err := j.Retry(t.Context(), all); n != 0 || err != nil {
		t.Errorf("retry: %d, %v", n, err)
	}
	if got, err := j.Cancel(t.Context(), "no more", all); len(got) != 0 || err != nil {
		t.Errorf("cancel: %v, %v", got, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestLedgerIsCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		for i := range 400 {
			_ = j.Queue(t.Context(), Delivery{To: "vault", Key: fmt.Sprint("k", i)})
		}
		for range 2 {
			got, _ := j.Claim(t.Context(), "vault", 300)
			var out []Outcome
			for _, d := range got {
				out = append(out, Outcome{Key: d.Key, State: Stored})
			}
			_ = j.Settle(t.Context(), "vault", out[:min(len(out), 299)]...)
		}
		size := func() int64 {
			st, err := os.Stat(j.ledger.path())
			if err != nil {
				t.Fatal(err)
			}
			return st.Size()
		}
		was := size()
		time.Sleep(8 * 24 * time.Hour)
		if err := j.ledger.compact(t.Context(), time.Now().Add(-j.opts.Keep)); err != nil {
			t.Fatal(err)
		}
		if now := size(); now > was/100 {
			t.Errorf("%d bytes were %d", now, was)
		}
		if list, _ := j.Deliveries(); len(list) != 1 || list[0].State != Sending {
			t.Errorf("got %v", list)
		}
	})
}
