package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tell is the ledger of mem0 as "key:state" by the order of queueing.
func (j *Journal) tell(t *testing.T) string {
	t.Helper()
	list, err := j.Deliveries()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, d := range list {
		said = append(said, d.Key+":"+string(d.State))
	}
	return strings.Join(said, " ")
}

func (j *Journal) queueGroup(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		id, _, _ := strings.Cut(key, "@")
		if err := j.Queue(t.Context(), Delivery{To: "mem0", Key: key, Group: id}); err != nil {
			t.Fatal(err)
		}
	}
}

func (j *Journal) claimed(t *testing.T) string {
	t.Helper()
	got, err := j.Claim(t.Context(), "mem0", 10)
	if err != nil {
		t.Fatal(err)
	}
	return keysOf(got)
}

func (j *Journal) end(t *testing.T, o Outcome) {
	t.Helper()
	if err := j.Settle(t.Context(), "mem0", o); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSupersedes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			do    func(*Journal)
			tell  string
			claim string
		}{
			{
				"a queued one", func(j *Journal) { j.queueGroup(t, "m@1", "m@2", "n@1", "m@deleted") },
				"m@1:empty m@2:empty n@1:queued m@deleted:queued", "n@1,m@deleted",
			},
			{"one that failed", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.end(t, Outcome{Key: "m@1", Err: errors.New("no")})
				j.queueGroup(t, "m@2")
			}, "m@1:empty m@2:queued", "m@2"},
			{"a dead one", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.end(t, Outcome{Key: "m@1", Err: errors.New("no"), Permanent: true})
				j.queueGroup(t, "m@2")
			}, "m@1:empty m@2:queued", "m@2"},
			{"not one that is being sent", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.queueGroup(t, "m@deleted")
			}, "m@1:sending m@deleted:queued", ""},
			{"not one that is accepted", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.end(t, Outcome{Key: "m@1", State: Accepted})
				j.queueGroup(t, "m@deleted")
			}, "m@1:accepted m@deleted:queued", ""},
			{"one that fails while it waits", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.queueGroup(t, "m@2")
				j.end(t, Outcome{Key: "m@1", Err: errors.New("timeout")})
			}, "m@1:empty m@2:queued", "m@2"},
			{"the same thing never", func(j *Journal) { j.queueGroup(t, "m@1", "m@1") }, "m@1:queued", "m@1"},
			{"back to what is being sent", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.queueGroup(t, "m@2", "m@1")
			}, "m@1:sending m@2:empty", ""},
			{"back to what was stored", func(j *Journal) {
				j.queueGroup(t, "m@1")
				j.claimed(t)
				j.end(t, Outcome{Key: "m@1", State: Stored})
				j.queueGroup(t, "m@2")
				j.claimed(t)
				j.end(t, Outcome{Key: "m@2", State: Stored})
				j.queueGroup(t, "m@1")
			}, "m@2:stored m@1:queued", "m@1"},
		} {
			j := journalIn(t)
			tc.do(j)
			if got := j.tell(t); got != tc.tell {
				t.Errorf("%s: got %s, want %s", tc.name, got, tc.tell)
			}
			if got := j.claimed(t); got != tc.claim {
				t.Errorf("%s: claimed %q, want %q", tc.name, got, tc.claim)
			}
		}
	})
}

func TestUnsureAfterAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		j.queueGroup(t, "m@1", "n@1")
		j.claimed(t)
		j.end(t, Outcome{Key: "m@1", Err: errors.New("timeout")})
		j.queueGroup(t, "m@2", "n@2")
		if !j.one(t, "m@2").Unsure || j.one(t, "n@2").Unsure {
			t.Errorf("m@1 may be there, and n@1 is not over: %+v", j.tell(t))
		}
		j.end(t, Outcome{Key: "n@1", Err: errors.New("timeout")})
		if !j.one(t, "n@2").Unsure {
			t.Error("n@1 may be there")
		}
	})
}

func TestAcceptedIsAskedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		j.queueGroup(t, "m@1", "m@2")
		j.claimed(t)
		parts := []Part{{State: Accepted, Handle: "task-1", Refs: []string{"r"}}}
		j.end(t, Outcome{Key: "m@2", State: Accepted, Parts: parts})
		start := time.Now()
		var waits []time.Duration
		for len(waits) < 9 {
			got, err := j.Claim(t.Context(), "mem0", 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				at, ok, err := j.Next("mem0")
				if !ok || err != nil || !at.After(time.Now()) {
					t.Fatalf("next %v %v %v", at, ok, err)
				}
				time.Sleep(time.Until(at))
				continue
			}
			if got[0].State != Accepted || got[0].Attempts != 1 || cmp.Diff(parts, got[0].Parts) != "" {
				t.Fatalf("claimed %+v", got[0])
			}
			waits = append(waits, time.Since(start))
			start = time.Now()
			o := Outcome{Key: "m@2", State: Accepted}
			if len(waits) == 3 {
				o.Err = errors.New("503") // nobody knows more, and it stays what it is
			}
			j.end(t, o)
		}
		if got, want := fmt.Sprint(waits), "[1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s]"; got != want {
			t.Errorf("asked after %s, want %s", got, want)
		}
		time.Sleep(time.Minute)
		j.claimed(t)
		time.Sleep(j.opts.Lease) // whoever asked was killed
		if got := j.claimed(t); got != "m@2" {
			t.Errorf("claimed %q", got)
		}
		j.end(t, Outcome{Key: "m@2", Err: errors.New("nothing worth keeping"), Permanent: true})
		if d := j.one(t, "m@2"); d.State != Dead || d.Error != "nothing worth keeping" {
			t.Errorf("got %+v", d)
		}
	})
}

func TestOutcomesWithATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name string
			o    Outcome
			want Delivery
			wait time.Duration
		}{
			{"rate limited", Outcome{Err: errors.New("429"), Postponed: true, After: time.Now().Add(time.Minute)}, Delivery{State: Retry, Attempts: 0}, time.Minute},
			{"given back", Outcome{Err: errors.New("401"), Postponed: true, State: Queued}, Delivery{State: Queued, Attempts: 0}, 0},
			{"given back, and sent", Outcome{Err: errors.New("cancelled"), Postponed: true, State: Queued, Unsure: true}, Delivery{State: Queued, Unsure: true}, 0},
			{"failed, and told when", Outcome{Err: errors.New("503"), After: time.Now().Add(time.Hour)}, Delivery{State: Retry, Attempts: 1}, time.Hour},
			{"failed, and told too soon", Outcome{Err: errors.New("503"), After: time.Now().Add(time.Millisecond)}, Delivery{State: Retry, Attempts: 1}, time.Second},
		} {
			j := journalIn(t)
			j.queueGroup(t, "m@1")
			j.claimed(t)
			tc.o.Key = "m@1"
			j.end(t, tc.o)
			d := j.one(t, "m@1")
			if d.State != tc.want.State || d.Attempts != tc.want.Attempts || d.Unsure != tc.want.Unsure {
				t.Errorf("%s: got %+v", tc.name, d)
			}
			at, ok, err := j.Next("mem0")
			if !ok || err != nil || max(0, time.Until(at)) != tc.wait {
				t.Errorf("%s: next in %s, %v %v", tc.name, time.Until(at), ok, err)
			}
		}
	})
}

func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journalIn(t)
		j.queueGroup(t, "m@1", "n@1")
		_ = j.Queue(t.Context(), Delivery{To: "zep", Key: "m@1", Group: "m"})
		j.claimed(t)
		_, _ = j.Claim(t.Context(), "zep", 1)
		if got := j.claimed(t); got != "" {
			t.Errorf("claimed %q", got)
		}
		if err := j.Release(t.Context(), "mem0"); err != nil {
			t.Fatal(err)
		}
		if got := j.claimed(t); got != "m@1,n@1" {
			t.Errorf("claimed %q", got)
		}
		if got, _ := j.Claim(t.Context(), "zep", 1); len(got) != 0 {
			t.Errorf("claimed %v of another's", got)
		}
	})
}

// TestOldLedger: lines from before there were groups are read, and ours by
// who knows nothing of them.
func TestOldLedger(t *testing.T) {
	j := journalIn(t)
	if err := j.make(); err != nil {
		t.Fatal(err)
	}
	old := `"delivery":{"to":"vault","key":"k1","what":"e.jsonl","state":"queued","attempts":2,"queued":"2026-11-30T10:00:00Z","changed":"2026-11-30T10:00:00Z"}`
	if err := os.WriteFile(j.ledger.path(), append(seal([]byte(old)), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	j.queueGroup(t, "m@1")
	list, err := j.Deliveries()
	if err != nil || len(list) != 2 || list[0].Key != "k1" || list[0].Attempts != 2 {
		t.Fatalf("got %+v %v", list, err)
	}
	if got, err := j.Claim(t.Context(), "vault", 1); err != nil || len(got) != 1 {
		t.Errorf("claimed %v %v", got, err)
	}
}

// TestManyDeliveries: what waits does not make a claim slower than in
// proportion to what it claims.
func TestManyDeliveries(t *testing.T) {
	j := journalIn(t)
	var list []Delivery
	for i := range 5000 {
		list = append(list, Delivery{To: "mem0", Key: fmt.Sprintf("m%d@1", i), Group: fmt.Sprint("m", i)})
	}
	if err := j.Queue(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	looked := 0
	err := j.ledger.view(func(all *owed) {
		all.each("mem0", time.Now(), func(*Delivery) bool { looked++; return looked < 10 })
	})
	if err != nil || looked != 10 {
		t.Errorf("looked at %d, %v", looked, err)
	}
	got, err := j.Claim(t.Context(), "mem0", 3)
	if err != nil || keysOf(got) != "m0@1,m1@1,m2@1" {
		t.Errorf("claimed %s %v", keysOf(got), err)
	}
	if counts, err := j.Counts(); err != nil || counts["mem0"][Queued] != 4997 || counts["mem0"][Sending] != 3 {
		t.Errorf("counts %v %v", counts, err)
	}
	if owed, err := j.Owed("mem0", "m1"); err != nil || len(owed) != 1 || owed[0].State != Sending {
		t.Errorf("owed %v %v", owed, err)
	}
}

// BenchmarkLedger claims and settles 16 of 50,000 deliveries that are owed.
func BenchmarkLedger(b *testing.B) {
	j := Open(b.TempDir()+"/journal", Options{})
	var list []Delivery
	for i := range 50_000 {
		list = append(list, Delivery{To: "mem0", Key: fmt.Sprintf("01JDZ3M8Q4X0W3K2V7N5T%05d@6f3c2a119f3c2a119f3c2a119f3c2a119f3c2a11", i), Group: fmt.Sprintf("01JDZ3M8Q4X0W3K2V7N5T%05d", i), What: "memories/2026/11/x.md"})
	}
	for chunk := range slices.Chunk(list, 10_000) {
		if err := j.Queue(b.Context(), chunk...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Open(j.dir, Options{}).Next("mem0"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("claim", func(b *testing.B) {
		for b.Loop() {
			got, err := j.Claim(b.Context(), "mem0", 16)
			if err != nil {
				b.Fatal(err)
			}
			var out []Outcome
			for _, d := range got {
				out = append(out, Outcome{Key: d.Key, Err: errors.New("503"), Postponed: true, State: Queued})
			}
			if err := j.Settle(b.Context(), "mem0", out...); err != nil {
				b.Fatal(err)
			}
		}
	})
}
