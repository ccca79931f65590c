package providers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// fill remembers n memories in one commit and returns their ids.
func (r *rig) fill(n int) {
	r.t.Helper()
	_, err := r.Vault.Update(r.t.Context(), vault.Op{Name: "import"}, func(tx *vault.Tx) error {
		for i := range n {
			id := vault.NewID(time.Now().Add(time.Duration(i)*time.Millisecond), nil)
			m := vault.Memory{ID: id, Title: fmt.Sprintf("m%05d", i), Body: fmt.Sprintf("m%05d", i)}
			if err := tx.Put(fmt.Sprintf("memories/%02d/m%05d.md", i%50, n-i), vault.NewDocument(m).Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
	r.try(err)
}

func TestBackfill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fill(700)
		zep := newKept("zep")
		zep.is.PerMinute = 60
		r.Targets = []providers.Target{{Provider: zep, Fingerprint: "f"}}
		lacks, total, err := r.BackfillCount("zep")
		r.same("dry run", fmt.Sprint(lacks, total, err), "700 700 <nil>")
		ctx, cancel := context.WithCancel(t.Context())
		n, deepest := 0, 0
		zep.onPut = func(_ context.Context, item providers.Item) error {
			if want := fmt.Sprintf("m%05d", n); n < 300 && item.Text != want {
				t.Errorf("got %s, want %s", item.Text, want)
			}
			pending, err := r.Pending("zep")
			r.try(err)
			deepest = max(deepest, pending[journal.Queued])
			if n++; n == 300 {
				cancel()
			}
			return nil
		}
		last := 0
		progress := func(done, total int) {
			if done < last || total != 700 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}
		start := time.Now()
		f, err := r.Backfill(ctx, "zep", progress)
		if !errors.Is(err, context.Canceled) || f.Total != 700 {
			t.Errorf("interrupted: %+v %v", f, err)
		}
		if deepest > 400 {
			t.Errorf("%d waited at once", deepest)
		}
		r.remember("m00700") // what comes meanwhile is not lost or twice
		r = openRig(t, r.dir, "laptop", zep)
		last = 0
		progress = func(done, total int) { last = done }
		f, err = r.Backfill(t.Context(), "zep", progress)
		if err != nil || f.Total != 701 || len(f.Owed) != 0 || last != 701 {
			t.Errorf("resumed: %+v %v, progress %d", f, err, last)
		}
		if took := time.Since(start).Round(time.Minute); took != 12*time.Minute {
			t.Errorf("700 at 60 a minute took %s", took)
		}
		if got := strings.Split(zep.texts(), " | "); len(got) != 701 || got[0] != "m00000" || got[700] != "m00700" || got[350] != "m00350" {
			t.Errorf("%d copies", len(got))
		}
		if lacks, _, _ := r.BackfillCount("zep"); lacks != 0 {
			t.Errorf("lacks %d", lacks)
		}
	})
}

// TestBackfillSaysWhatItWaitsFor: else it looks as if nothing happened, for ever.
func TestBackfillSaysWhatItWaitsFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fill(1)
		zep := newKept("zep")
		r.Targets = []providers.Target{{Provider: zep, Fingerprint: "f"}}
		tries := 0
		zep.onPut = func(context.Context, providers.Item) error {
			if tries++; tries < 4 {
				return fails(providers.Retryable)
			}
			return nil
		}
		f, err := r.Backfill(t.Context(), "zep", nil)
		if err != nil || len(f.Owed) != 0 || tries != 4 {
			t.Errorf("got %+v %v after %d tries", f, err, tries)
		}
		if len(r.notices) != 1 || !strings.HasPrefix(r.notices[0], "not handed over yet, and tried again until it is: ") {
			t.Errorf("notices %q", r.notices)
		}
	})
}

func TestBackfillOfWhoRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		r.fill(3)
		zep := newKept("zep")
		r.Targets = []providers.Target{{Provider: zep, Fingerprint: "f"}}
		zep.onPut = func(_ context.Context, item providers.Item) error {
			if item.Text == "m00001" {
				return fails(providers.Auth)
			}
			return nil
		}
		f, err := r.Backfill(t.Context(), "zep", nil)
		if !errors.Is(err, providers.ErrPaused) || f.Owed[journal.Queued] != 2 {
			t.Errorf("got %+v %v", f, err)
		}
		if _, err := r.Backfill(t.Context(), "nobody", nil); !errors.Is(err, providers.ErrNoTarget) {
			t.Errorf("got %v", err)
		}
	})
}

func TestVerify(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		listed := newAsked("listed")
		for _, p := range []struct {
			providers.Provider
			asked
		}{{newAsked("mem0"), asked{}}, {onlyListed{listed.kept, listed}, listed}} {
			s, ok := p.Provider.(asked)
			if !ok {
				s = p.asked
			}
			r := newRig(t, p.Provider)
			var ids []string
			for _, text := range []string{"fine", "missing", "stale", "twice", "orphan"} {
				ids = append(ids, r.remember(text))
			}
			r.round()
			old := s.copies[2].item
			r.edit(ids[2], "new")
			r.forget(ids[4])
			r.round()
			name := s.Name()
			v, err := r.Verify(t.Context(), name, 0, true)
			if err != nil || v.OK != 4 || v.Checked != 4 || len(v.Missing)+len(v.Stale)+len(v.Orphaned) != 0 {
				t.Errorf("%s, all is well: %+v %v", name, v, err)
			}
			_, _ = s.Delete(t.Context(), s.copies[1].ref) // missing
			s.keep(s.copies[1].item)                      // twice
			s.copies[len(s.copies)-2].item = old          // stale
			s.keep(providers.Item{ID: ids[4], Vault: string(r.Vault.Config().VaultID), Text: "orphan"})
			s.keep(providers.Item{ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Vault: "another", Text: "another vault's"})
			v, err = r.Verify(t.Context(), name, 0, true)
			r.try(err)
			r.same("found", fmt.Sprint(v.OK, v.Missing, v.Stale, v.Orphaned, v.Mending), fmt.Sprint(1, ids[1:2], ids[2:4], ids[4:], 4))
			r.drain(time.Hour)
			r.same("mended", s.texts(), "another vault's | fine | missing | new | twice")
			if v, err := r.Verify(t.Context(), name, 2, false); err != nil || v.Checked != 2 || v.OK != 2 {
				t.Errorf("a sample: %+v %v", v, err)
			}
			r.try(os.RemoveAll(filepath.Join(r.Dir, name)))
		}
	})
}

func TestVerifyByTheBook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &shop{name: "zep"}
		r := newRig(t, s)
		r.remember("A")
		r.round()
		s.onPut = func(context.Context, providers.Item) error { return fails(providers.Permanent) }
		b := r.remember("B")
		r.round()
		v, err := r.Verify(t.Context(), "zep", 0, true)
		r.try(err)
		r.same("found", fmt.Sprint(v.OK, v.Missing, v.Unverifiable), fmt.Sprint(1, []string{b}, 2))
		s.onPut = nil
		r.round()
		r.same("what was dead", r.states("zep")+" "+s.texts(), "stored stored A | B")
	})
}
