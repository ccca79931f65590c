package providers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// inBubble runs fn in a bubble: a second of backoff costs nothing.
func inBubble(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, fn)
}

func TestPutUpdateDelete(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep, mem0 := newKept("zep"), newAsked("mem0")
		r := newRig(t, zep, mem0)
		a, b := r.remember("the tide rises"), r.remember("the moon sets")
		r.round()
		r.edit(a, "the tide falls")
		r.round()
		r.forget(b)
		r.round()
		r.same("zep", zep.texts(), "the tide falls")
		r.same("mem0", mem0.texts(), "the tide falls")
		r.same("zep", zep.took(), "put the tide rises | put the moon sets | put the tide falls | delete zep1 | delete zep2")
		r.same("mem0", mem0.took(), "put the tide rises | put the moon sets | put the tide falls | delete mem01 | find 1 | delete mem02")
		r.same("ledger", r.states("zep"), "stored stored stored deleted")
		if id, _, ok := r.Book("zep").Lookup("zep3"); id != a || !ok {
			t.Errorf("zep3 is %q", id)
		}
		got, err := r.State(a)
		if fmt.Sprint(got, err) != "[{zep stored} {mem0 stored}] <nil>" {
			t.Errorf("state %v %v", got, err)
		}
	})
}

func TestBackToTheOldText(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		raw := func(id string) []byte {
			m, err := r.Vault.Read(t.Context(), vault.Ref(id))
			r.try(err)
			data, err := os.ReadFile(filepath.Join(r.Vault.WorkDir(), m.Path))
			r.try(err)
			return data
		}
		a := r.remember("A")
		first := raw(a)
		r.round()
		r.edit(a, "B")
		r.round()
		_, err := r.Vault.Edit(t.Context(), vault.Ref(a), vault.Edit{Raw: first}) // the very same bytes
		r.try(err)
		r.round()
		r.same("calls", zep.took(), "put A | put B | delete zep1 | put A | delete zep2")
		r.same("copies", zep.texts(), "A")
	})
}

func TestSuperseded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		a, b := r.remember("A"), r.remember("B")
		r.try(r.CatchUp(t.Context()))
		r.edit(a, "A2")
		r.forget(b)
		r.try(r.CatchUp(t.Context()))
		r.edit(a, "A3")
		r.round()
		r.same("calls", zep.took(), "put A3")
		r.same("ledger", r.states("zep"), "empty empty empty deleted stored")
	})
}

func TestMovedIsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		a := r.remember("A")
		r.round()
		zep.took()
		m, err := r.Vault.Read(t.Context(), vault.Ref(a))
		r.try(err)
		_, err = r.Vault.Update(t.Context(), vault.Op{Name: "move"}, func(tx *vault.Tx) error {
			raw, err := tx.Read(m.Path)
			r.try(err)
			tx.Remove(m.Path)
			return tx.Put("memories/elsewhere.md", raw)
		})
		r.try(err)
		r.round()
		r.same("after a move", zep.took(), "")
		// Two files with its id, and one goes: it is still there.
		for _, do := range []func(tx *vault.Tx, raw []byte) error{
			func(tx *vault.Tx, raw []byte) error { return tx.Put("memories/copy.md", raw) },
			func(tx *vault.Tx, _ []byte) error { tx.Remove("memories/elsewhere.md"); return nil },
		} {
			_, err = r.Vault.Update(t.Context(), vault.Op{Name: "copy"}, func(tx *vault.Tx) error {
				raw, err := tx.Read("memories/elsewhere.md")
				r.try(err)
				return do(tx, raw)
			})
			r.try(err)
			r.round()
		}
		r.same("copies", zep.texts(), "A")
		_, err = r.Vault.Update(t.Context(), vault.Op{Name: "remove"}, func(tx *vault.Tx) error { tx.Remove("memories/copy.md"); return nil })
		r.try(err)
		r.round()
		r.same("gone without a tombstone", zep.texts(), "")
	})
}

// TestLivesInSpiteOfATombstone: an edit that met a forget lives, and is not
// delivered again because of the tombstone.
func TestLivesInSpiteOfATombstone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		a := r.remember("A")
		r.round()
		zep.took()
		_, err := r.Vault.Update(t.Context(), vault.Op{Name: "merge"}, func(tx *vault.Tx) error {
			return tx.Put(vault.TombstonePath(vault.ID(a)), vault.Tombstone{ID: vault.ID(a), When: time.Now()}.Bytes())
		})
		r.try(err)
		r.round()
		r.same("calls", zep.took(), "")
		r.same("ledger", r.states("zep"), "stored")
	})
}

func TestRoutes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		r.Targets[0].Route = providers.WriteRoute{Tiers: []vault.Tier{vault.LTM}, Types: []vault.Type{vault.TypeDecision}, Scopes: []string{"team"}}
		team := vault.Scope{Type: "team", ID: "acme"}
		a := r.draft(vault.Memory{Body: "A", Type: vault.TypeDecision, Scope: team})
		r.draft(vault.Memory{Body: "B", Type: vault.TypeFact, Scope: team})
		r.draft(vault.Memory{Body: "C", Type: vault.TypeDecision, Tier: vault.STM, Scope: team})
		r.draft(vault.Memory{Body: "D", Type: vault.TypeDecision, Scope: vault.Scope{Type: "personal", ID: "todd"}})
		_, err := r.Vault.PutFile(t.Context(), "state.md", []byte("E"), vault.Precondition{})
		r.try(err)
		_, err = r.Vault.Update(t.Context(), vault.Op{Name: "capture"}, func(tx *vault.Tx) error {
			r.try(tx.Put("conflicts/c.md", []byte("---\ntype: decision\nscope: {type: team, id: acme}\n---\nF\n")))
			return tx.Put("sessions/2026/11/30-codex-0f3a.md", []byte("---\ntype: decision\nscope: {type: team, id: acme}\n---\nG\n"))
		})
		r.try(err)
		r.round()
		r.same("copies", zep.texts(), "A")
		fact := vault.TypeFact
		_, err = r.Vault.Edit(t.Context(), vault.Ref(a), vault.Edit{Type: &fact})
		r.try(err)
		r.round()
		r.same("no longer a decision", zep.texts(), "")
		r.Targets[0].Route = providers.WriteRoute{Sessions: true}
		_, err = r.Vault.Update(t.Context(), vault.Op{Name: "capture"}, func(tx *vault.Tx) error {
			return tx.Put("sessions/2026/11/30-codex-0f3a.md", []byte("G2\n"))
		})
		r.try(err)
		r.round()
		r.same("sessions", zep.texts(), "G2")
	})
}

func TestExpired(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep, qdrant := newKept("zep"), &shop{name: "qdrant"}
		r := newRig(t, zep, qdrant)
		r.draft(vault.Memory{Body: "soon over", Expires: time.Now().Add(time.Hour)})
		longer := r.draft(vault.Memory{Body: "longer", Expires: time.Now().Add(time.Hour)})
		r.round()
		later := time.Now().Add(48 * time.Hour)
		_, err := r.Vault.Edit(t.Context(), vault.Ref(longer), vault.Edit{Expires: &later})
		r.try(err)
		time.Sleep(2 * time.Hour)
		r.round()
		r.same("copies", zep.texts(), "longer")
		r.same("ledger", r.states("qdrant"), "stored stored stored")
		zep.took()
		r.round()
		r.same("again", zep.took(), "")
		// What expires before it is delivered is not.
		r.draft(vault.Memory{Body: "too late", Expires: time.Now().Add(time.Hour)})
		r.try(r.CatchUp(t.Context()))
		time.Sleep(2 * time.Hour)
		r.round()
		r.same("calls", zep.took(), "")
	})
}

func TestCrashBetweenQueueAndCursor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		cursor := filepath.Join(r.Dir, "zep", "cursor")
		a := r.remember("A")
		before, err := os.ReadFile(cursor)
		r.try(err)
		for range 2 {
			r.round()
			r.try(os.WriteFile(cursor, before, 0o600))
		}
		r.same("calls", zep.took(), "put A")
		r.same("ledger", r.states("zep"), "stored")
		r.round()
		before, err = os.ReadFile(cursor)
		r.try(err)
		r.forget(a)
		for range 2 {
			r.round()
			r.try(os.WriteFile(cursor, before, 0o600))
		}
		r.same("calls", zep.took(), "delete zep1")
		r.same("ledger", r.states("zep"), "stored deleted")
	})
}

func TestHistoryRewritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, cursor := range []string{strings.Repeat("1", 40), "torn"} {
			zep := newKept("zep")
			r := newRig(t, zep)
			a, b := r.remember("A"), r.remember("B")
			r.round()
			r.edit(a, "A2")
			r.forget(b)
			r.try(os.WriteFile(filepath.Join(r.Dir, "zep", "cursor"), []byte(cursor), 0o600))
			r.remember("C")
			r.round()
			r.same("copies", zep.texts(), "A2 | C")
		}
	})
}

func TestNewProviderStartsHere(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		r.remember("A")
		zep := newKept("zep")
		r.Targets = []providers.Target{{Provider: zep}}
		r.round()
		r.remember("B")
		r.round()
		r.same("copies", zep.texts(), "B")
	})
}

func TestProviderRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep, mem0 := newKept("zep"), newKept("mem0")
		r := newRig(t, zep, mem0)
		r.remember("A")
		r.round()
		r.remember("B")
		r.try(r.CatchUp(t.Context()))
		targets := r.Targets
		r.Targets, r.Others = targets[:1], []string{"mem0"} // its key is missing today
		r.round()
		r.same("ledger", r.states("mem0"), "stored queued")
		r.Others = nil
		r.round()
		r.same("ledger", r.states("mem0"), "stored empty")
		r.same("copies", mem0.texts(), "A")
		list, err := r.Journal.Deliveries()
		r.try(err)
		if last := list[len(list)-1]; last.To == "mem0" && last.Result != "provider removed" {
			t.Errorf("got %+v", last)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "mem0", "receipts.jsonl.removed")); err != nil {
			t.Error(err)
		}
		r.Targets = targets // it comes back, and begins anew
		r.round()
		r.remember("C")
		r.round()
		r.same("copies", mem0.texts(), "A | C")
	})
}

func TestForget(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep, mem0, plain, listed := newKept("zep"), newAsked("mem0"), &shop{name: "plain"}, newAsked("listed")
		r := newRig(t, zep, mem0, plain, onlyListed{listed.kept, listed})
		a := r.remember("A")
		names, err := r.CannotDelete(a)
		r.try(err)
		r.same("before it is anywhere", fmt.Sprint(names), "[]")
		r.round()
		names, err = r.CannotDelete(a)
		r.try(err)
		r.same("cannot delete", fmt.Sprint(names), "[plain]")
		for _, name := range []string{"mem0", "listed"} { // lost: they must be asked
			r.try(os.Remove(filepath.Join(r.Dir, name, "receipts.jsonl")))
		}
		r.forget(a)
		r.round()
		r.same("copies", zep.texts()+mem0.texts()+listed.texts(), "")
		r.same("ledger", r.states("zep")+" "+r.states("mem0")+" "+r.states("listed"), "stored deleted stored deleted stored deleted")
		r.same("ledger", r.states("plain"), "stored empty")
		d, _, err := r.Journal.Newest("plain", a)
		r.try(err)
		r.same("why", d.Result, "it cannot delete")
	})
}

// onlyListed cannot be asked for an id, but be read.
type onlyListed struct {
	kept
	l asked
}

func (o onlyListed) List(ctx context.Context, cursor string, n int) ([]providers.Hit, string, error) {
	return o.l.List(ctx, cursor, n)
}

func (o onlyListed) Properties() providers.Properties {
	return providers.Properties{Delete: true, List: true, Attribution: true}
}

func TestQueueDelete(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		ref := zep.keep(providers.Item{ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Text: "a ghost"})
		for range 3 {
			r.try(r.QueueDelete(t.Context(), "zep", "01JDZ3M8Q4X0W3K2V7N5T9R6BC", ref))
			r.round()
		}
		r.same("calls", zep.took(), "delete zep1")
		time.Sleep(time.Hour) // it comes back all the same
		zep.keep(providers.Item{Text: "again"})
		r.try(r.QueueDelete(t.Context(), "zep", "01JDZ3M8Q4X0W3K2V7N5T9R6BC", "zep2"))
		r.round()
		r.same("copies", zep.texts(), "")
		a := r.remember("A")
		r.try(r.CatchUp(t.Context()))
		r.try(r.QueueDelete(t.Context(), "zep", a)) // what is owed counts
		r.round()
		r.same("copies", zep.texts(), "A")
	})
}

func TestLongMemories(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		zep.is.MaxItemBytes = 8
		r := newRig(t, zep)
		fail := true
		zep.onPut = func(_ context.Context, item providers.Item) error {
			if item.Part == 1 && fail {
				fail = false
				return &providers.Error{Provider: "zep", Op: "put", Class: providers.Retryable}
			}
			return nil
		}
		a := r.remember("one two three four")
		r.drain(time.Minute)
		r.same("calls", zep.took(), "put one two  | put three  | put three  | put four")
		r.edit(a, "one two")
		r.drain(time.Minute)
		r.same("copies", zep.texts(), "one two")
		r.forget(a)
		r.drain(time.Minute)
		r.same("copies", zep.texts(), "")
	})
}

func TestPendingAndPaths(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		r := newRig(t, zep)
		_, err := r.Vault.Update(t.Context(), vault.Op{Name: "adopt"}, func(tx *vault.Tx) error {
			return tx.Put("notes/a@b.md", []byte("no id\n"))
		})
		r.try(err)
		r.try(r.CatchUp(t.Context()))
		pending, err := r.Pending("zep")
		if err != nil || pending[journal.Queued] != 1 {
			t.Errorf("pending %v %v", pending, err)
		}
		r.round()
		id := string(r.Vault.Config().VaultID) + ":notes/a@b.md"
		if e, ok := r.Book("zep").Of(id); !ok || e.Version == "" {
			t.Errorf("the book has %+v", e)
		}
		r.forget("notes/a@b.md")
		r.round()
		r.same("copies", zep.texts(), "")
	})
}
