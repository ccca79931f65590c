//go:build npm

package mem0

import (
	"slices"
	"testing"

	"vademecum/providers"
	"vademecum/providers/mem0"
	"vademecum/providers/providertest"
	"vademecum/sync/journal"
)

// TestSuite is the suite of all providers. Each test has a user of its own, since
// a peer takes a second to start.
func TestSuite(t *testing.T) {
	url, _ := startPeer(t, t.TempDir())
	for name, infer := range map[string]bool{"verbatim": false, "extracting": true} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Config{Extracts: infer, New: func(t *testing.T) providers.Provider {
				return connect(t, mem0.Config{BaseURL: url, User: t.Name(), Infer: infer})
			}})
		})
	}
}

func put(t *testing.T, p providers.Provider, item providers.Item, want journal.State) providers.Receipt {
	t.Helper()
	r, err := p.Put(t.Context(), item)
	if err != nil || r.State != want || want == journal.Stored && len(r.Refs) != 1 {
		t.Fatalf("put: %+v, %v, want %s", r, err, want)
	}
	return r
}

func find(t *testing.T, p *mem0.Server, id string) []providers.Hit {
	t.Helper()
	hits, err := p.FindByID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// TestLife of a memory: put, found, put again, updated, deleted, missing; and
// that it is still there after the server was started again.
func TestLife(t *testing.T) {
	dir := t.TempDir()
	url, stop := startPeer(t, dir)
	p := connect(t, mem0.Config{BaseURL: url})
	if _, err := p.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	item := providertest.Item(1, "The staging database lives in eu-west-1")
	first := put(t, p, item, journal.Stored)
	put(t, p, providertest.Item(2, "Releases ship on Tuesdays"), journal.Stored)

	hits, err := p.Search(t.Context(), providers.Query{Text: "which region is the staging database in", Limit: 5})
	if err != nil || len(hits) == 0 || hits[0].Ref != first.Refs[0] || hits[0].Text != item.Text || hits[0].Version != item.Version || hits[0].Score == nil {
		t.Fatalf("search: %+v, %v", hits, err)
	}

	again := put(t, p, item, journal.Stored) // word for word it keeps both
	if hits := find(t, p, item.ID); len(hits) != 2 || again.Refs[0] == first.Refs[0] {
		t.Errorf("after a duplicate: %+v", hits)
	}

	updated := item
	updated.Version, updated.Text = "newer", "The staging database lives in eu-north-1"
	put(t, p, updated, journal.Stored)
	for _, h := range find(t, p, item.ID) {
		if h.Version == updated.Version {
			continue
		}
		if r, err := p.Delete(t.Context(), h.Ref); err != nil || r.State != journal.Deleted {
			t.Errorf("delete: %+v, %v", r, err)
		}
	}
	if r, err := p.Delete(t.Context(), first.Refs[0]); err != nil || r.State != journal.Deleted { // it is not there
		t.Errorf("delete what is missing: %+v, %v", r, err)
	}

	stop()
	url, _ = startPeer(t, dir)
	p = connect(t, mem0.Config{BaseURL: url})
	if left := find(t, p, item.ID); len(left) != 1 || left[0].Text != updated.Text {
		t.Errorf("after a restart: %+v", left)
	}
}

// TestExtracting: facts have the id of what they come from, and of a text that
// is there already nothing is kept.
func TestExtracting(t *testing.T) {
	url, _ := startPeer(t, t.TempDir())
	p := connect(t, mem0.Config{BaseURL: url, Infer: true})
	item := providertest.Item(3, "The gateway listens on port 8443")
	r := put(t, p, item, journal.Stored)
	if hits := find(t, p, item.ID); len(hits) != 1 || !slices.Contains(r.Refs, hits[0].Ref) {
		t.Errorf("found %+v, want %v", hits, r.Refs)
	}
	put(t, p, item, journal.Empty)
}

func TestWrongKey(t *testing.T) {
	url, _ := startPeer(t, t.TempDir())
	p := connect(t, mem0.Config{BaseURL: url, Key: "m0sk_wrong"})
	if _, err := p.Health(t.Context()); !providers.Is(err, providers.Auth) {
		t.Errorf("health: %v", err)
	}
	if _, err := p.Put(t.Context(), providertest.Item(4, "x")); !providers.Is(err, providers.Auth) {
		t.Errorf("put: %v", err)
	}
}
