package conformance

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/jsonrpc"
	"vademecum/sync/journal"
)

// word makes up a word that no other memory has.
func (k *kit) word() string {
	k.words++
	w := []byte("quokka")
	for n := k.words; n > 0; n /= 26 {
		w = append(w, byte('a'+n%26))
	}
	return string(w)
}

// item is a memory with text; its id is made up from a word.
func (k *kit) item(text string) providers.Item {
	now := time.Now().UTC().Truncate(time.Second)
	return providers.Item{
		ID: "01EVAL" + strings.ToUpper(k.word()), Version: "v1", Parts: 1, Vault: "eval", Title: "For the eval", Text: text,
		Type: "fact", Tier: "ltm", Created: now, Updated: now,
	}
}

// put hands over an item and follows it to its end.
func (k *kit) put(ctx context.Context, i providers.Item) ([]providers.Ref, error) {
	r, err := result[providers.Receipt](k.call(ctx, "vade.put", map[string]any{"item": jsonrpc.ToWire(i)}))
	if err != nil {
		return nil, fmt.Errorf("put: %w", err)
	}
	return k.settled(ctx, r)
}

// settled are the refs of what was stored, when it is.
func (k *kit) settled(ctx context.Context, r providers.Receipt) ([]providers.Ref, error) {
	r, err := k.resolve(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case r.State != journal.Stored:
		return nil, fmt.Errorf("put: the state is %q, not stored", r.State)
	case len(r.Refs) == 0 || r.Refs[0] == "":
		return nil, fmt.Errorf("put: stored without a ref")
	}
	return r.Refs, nil
}

// resolve asks until an accepted write has come to its end.
func (k *kit) resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	if r.State == journal.Accepted && !k.able.Capabilities.Resolve {
		return r, fmt.Errorf("accepted, but there is no vade.resolve to ask what became of it")
	}
	for deadline := time.Now().Add(k.Timeout); r.State == journal.Accepted; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return r, fmt.Errorf("still accepted after %s", k.Timeout)
		}
		var err error
		if r, err = result[providers.Receipt](k.call(ctx, "vade.resolve", map[string]any{"receipt": r})); err != nil {
			return r, fmt.Errorf("resolve: %w", err)
		}
	}
	return r, nil
}

// putAll puts texts as items, and returns their refs, the first of each.
func (k *kit) putAll(ctx context.Context, items ...providers.Item) ([]providers.Ref, error) {
	refs := make([]providers.Ref, len(items))
	for n, i := range items {
		got, err := k.put(ctx, i)
		if err != nil {
			return nil, err
		}
		refs[n] = got[0]
	}
	return refs, nil
}

type hits struct {
	Hits []providers.Hit `json:"hits"`
	Next string          `json:"next"`
}

func (k *kit) search(ctx context.Context, text string, limit int, more map[string]any) ([]providers.Hit, error) {
	params := map[string]any{"text": text, "limit": limit}
	maps.Copy(params, more)
	r, err := result[hits](k.call(ctx, "vade.search", params))
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return r.Hits, nil
}

// held is what the program holds of i: what vade.find says, or a search for word.
func (k *kit) held(ctx context.Context, i providers.Item, word string) ([]providers.Hit, error) {
	if !k.able.Capabilities.Find {
		return k.search(ctx, word, 20, nil)
	}
	r, err := result[hits](k.call(ctx, "vade.find", map[string]any{"ids": []string{i.ID}}))
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	return r.Hits, nil
}

// until tries again until ok says nil, if the program does not promise that what
// is stored is found at once.
func (k *kit) until(ok func() error) error {
	err := ok()
	if k.able.Capabilities.ReadYourWrites {
		return err
	}
	for deadline := time.Now().Add(k.Timeout); err != nil && time.Now().Before(deadline); err = ok() {
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// the returns the hit with ref.
func the(ref providers.Ref, found []providers.Hit) (providers.Hit, error) {
	for _, h := range found {
		if h.Ref == ref {
			return h, nil
		}
	}
	return providers.Hit{}, fmt.Errorf("%q is not among %d hits", ref, len(found))
}

// without returns an error if ref is found.
func without(ref providers.Ref, found []providers.Hit) error {
	if _, err := the(ref, found); err == nil {
		return fmt.Errorf("%q is still found", ref)
	}
	return nil
}
