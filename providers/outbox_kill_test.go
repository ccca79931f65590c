package providers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// TestKilledBetweenAnswerAndMark kills the deliverer while it hears, or has just
// heard, that a put was done: everything is delivered at least once, under the
// same key, and there is exactly one copy where the provider can be asked.
func TestKilledBetweenAnswerAndMark(t *testing.T) {
	killDeliverer(t, 6)
}

// killDeliverer kills that often, at a provider that can be asked and at one
// that cannot.
func killDeliverer(t *testing.T, kills int) {
	for _, finds := range []bool{true, false} {
		t.Run(fmt.Sprintf("finder %v", finds), func(t *testing.T) {
			k := &killer{shop: shop{name: "remote"}, puts: map[string]int{}}
			server := httptest.NewServer(k)
			defer server.Close()
			r := newRig(t, overHTTP(server.URL, finds))
			said := map[string]bool{} // every id@version that the vault had
			for n := 0; k.killed < kills; n++ {
				r.changeSomething(t, n, said)
				k.run(t, r.dir, server.URL, finds, 1+rand.IntN(3))
			}
			k.run(t, r.dir, server.URL, finds, 0)
			k.check(t, r, finds, said)
			total := 0
			for _, n := range k.puts {
				total += n
			}
			t.Logf("%d puts of %d versions, killed %d times", total, len(k.puts), k.killed)
		})
	}
}

// changeSomething remembers, and now and then edits and forgets.
func (r *rig) changeSomething(t *testing.T, n int, said map[string]bool) {
	t.Helper()
	r.remember(fmt.Sprint("new ", n))
	ids := slices.Sorted(maps.Keys(r.versions(t)))
	switch {
	case n%3 == 2:
		r.edit(ids[rand.IntN(len(ids))], fmt.Sprint("edited ", n))
	case n%5 == 4:
		r.forget(ids[rand.IntN(len(ids))])
	}
	for id, version := range r.versions(t) {
		said[id+"@"+version] = true
	}
}

// versions are the memories of the vault.
func (r *rig) versions(t *testing.T) map[string]string {
	t.Helper()
	s, err := r.Vault.Snapshot(t.Context())
	r.try(err)
	all := map[string]string{}
	for i := range s.Len() {
		m, err := s.Meta(i)
		r.try(err)
		all[string(m.ID)] = string(m.Version)
	}
	return all
}

// killer is a remote provider that outlives who writes to it, and kills him.
type killer struct {
	shop

	state  sync.Mutex
	child  *exec.Cmd
	left   int            // puts until it kills; 0: it does not
	puts   map[string]int // by key
	killed int
}

// ServeHTTP takes puts, deletions and questions.
func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var item providers.Item
	_ = json.Unmarshal(body, &item)
	var answer any
	switch r.URL.Path {
	case "/put":
		ref := k.keep(item)
		k.state.Lock()
		k.puts[item.Key()]++
		k.left--
		if k.left == 0 {
			delay := time.Duration(rand.IntN(4000)-1000) * time.Microsecond // below 0: before we answered
			if child := k.child.Process; delay < 0 {
				_ = child.Kill()
			} else {
				time.AfterFunc(delay, func() { _ = child.Kill() })
			}
		}
		k.state.Unlock()
		answer = providers.Receipt{State: journal.Stored, Refs: []providers.Ref{ref}}
	case "/delete":
		answer, _ = kept{&k.shop}.Delete(r.Context(), providers.Ref(item.ID))
	case "/find":
		answer, _ = asked{kept{&k.shop}}.FindByID(r.Context(), item.Tags...)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// run runs a deliverer until it is done, or killed after so many puts.
func (k *killer) run(t *testing.T, dir, url string, finds bool, after int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOutboxChild$")
	child.Env = append(os.Environ(), "OUTBOX_DIR="+dir, "OUTBOX_URL="+url, fmt.Sprintf("OUTBOX_FINDS=%v", finds))
	var said strings.Builder
	child.Stderr, child.Stdout = &said, &said
	k.state.Lock()
	k.child, k.left = child, after
	err := child.Start()
	k.state.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil && child.ProcessState.ExitCode() == 1 && after == 0 || strings.Contains(said.String(), "FAIL") {
		t.Fatalf("child: %v\n%s", err, said.String())
	} else if err != nil {
		k.killed++
	}
}

// check compares what the provider has with the vault.
func (k *killer) check(t *testing.T, r *rig, finds bool, said map[string]bool) {
	t.Helper()
	copies := map[string]int{}
	for _, c := range k.copies {
		copies[c.item.Key()]++
	}
	now := map[string]bool{}
	for id, version := range r.versions(t) {
		key := id + "@" + version
		now[key] = true
		if k.puts[key] == 0 || copies[key] == 0 || finds && copies[key] != 1 {
			t.Errorf("%s was put %d times and is there %d times", key, k.puts[key], copies[key])
		}
	}
	for key, n := range copies {
		if !said[key] {
			t.Errorf("%s is none of the vault's keys", key)
		}
		if finds && !now[key] {
			t.Errorf("%s is there %d times and should not be", key, n)
		}
	}
	pending, err := r.Pending("remote")
	if err != nil || len(pending) != 0 {
		t.Errorf("still owed: %v %v", pending, err)
	}
}

// TestOutboxChild is the process that gets killed.
func TestOutboxChild(t *testing.T) {
	dir := os.Getenv("OUTBOX_DIR")
	if dir == "" {
		t.Skip("it is a part of TestKilledBetweenAnswerAndMark")
	}
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "todd", Origin: vault.Origin{Host: "laptop"}})
	if err != nil {
		t.Fatal(err)
	}
	o := &providers.Outbox{
		Vault: v, Journal: journal.Open(filepath.Join(dir, "journal"), journal.Options{Attempts: 1000}), Dir: filepath.Join(dir, "providers"),
		Gates:   providers.OpenGates(filepath.Join(dir, "providers"), time.Now),
		Targets: []providers.Target{{Provider: overHTTP(os.Getenv("OUTBOX_URL"), os.Getenv("OUTBOX_FINDS") == "true"), Fingerprint: "f"}},
	}
	if err := o.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		d, err := o.Deliver(t.Context())
		if err != nil || d.Next.IsZero() {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		time.Sleep(time.Until(d.Next))
	}
}

// wire is a provider over HTTP; wireFinder one that can be asked.
type wire struct{ url string }

type wireFinder struct{ wire }

func overHTTP(url string, finds bool) providers.Provider {
	if finds {
		return wireFinder{wire{url}}
	}
	return wire{url}
}

func (w wire) Name() string { return "remote" }

func (w wire) Health(context.Context) (h providers.Health, err error) { return h, nil }

func (w wire) Search(context.Context, providers.Query) ([]providers.Hit, error) { return nil, nil }

func (w wire) Put(ctx context.Context, item providers.Item) (r providers.Receipt, err error) {
	err = w.ask(ctx, "/put", item, &r)
	return r, err
}

func (w wire) Delete(ctx context.Context, ref providers.Ref) (r providers.Receipt, err error) {
	err = w.ask(ctx, "/delete", providers.Item{ID: string(ref)}, &r)
	return r, err
}

func (w wireFinder) FindByID(ctx context.Context, ids ...string) (hits []providers.Hit, err error) {
	err = w.ask(ctx, "/find", providers.Item{Tags: ids}, &hits)
	return hits, err
}

func (w wire) ask(ctx context.Context, path string, item providers.Item, answer any) error {
	body, err := json.Marshal(item)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(r)
	if err == nil {
		defer res.Body.Close()
		err = json.NewDecoder(res.Body).Decode(answer)
	}
	if err != nil {
		return &providers.Error{Provider: "remote", Op: path, Class: providers.Retryable, Ambiguous: true, Err: err}
	}
	return nil
}
