package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/jsonrpc"
	"vademecum/sync/journal"
)

// kept puts text, which has word in it, and returns the hit that finds it again.
func (k *kit) kept(ctx context.Context, text, word string) (providers.Item, providers.Hit, error) {
	i := k.item(text)
	refs, err := k.put(ctx, i)
	if err != nil {
		return i, providers.Hit{}, err
	}
	var h providers.Hit
	err = k.until(func() error {
		found, err := k.search(ctx, word, 5, nil)
		if err == nil {
			h, err = the(refs[0], found)
		}
		return err
	})
	return i, h, err
}

// same is whether the text came back, if that is promised.
func (k *kit) same(i providers.Item, h providers.Hit) error {
	if !k.able.Capabilities.Verbatim || h.Text == i.Text {
		return nil
	}
	n := 0
	for n < min(len(h.Text), len(i.Text)) && h.Text[n] == i.Text[n] {
		n++
	}
	return fmt.Errorf("%d bytes were put and %d came back; they differ from byte %d: %.20q, not %.20q", len(i.Text), len(h.Text), n, h.Text[n:], i.Text[n:])
}

const bigItem = 1 << 20

func (k *kit) bigItem(ctx context.Context) error {
	word := k.word()
	text := word + strings.Repeat(" the tide comes and goes, and comes again", bigItem/41)
	if most := k.able.Capabilities.MaxItemBytes; most > 0 && most < len(text) {
		text = text[:most]
	}
	i, h, err := k.kept(ctx, text, word)
	if err != nil {
		return fmt.Errorf("an item of %d bytes: %w", len(text), err)
	}
	if k.able.Capabilities.Delete { // or every search that follows has to read it
		_ = k.deleteRef(ctx, h.Ref) // has a check of its own
	}
	return k.same(i, h)
}

func (k *kit) unicode(ctx context.Context) error {
	word := k.word()
	i, h, err := k.kept(ctx, "\ufeff"+word+" a\r\nb\rc\n\n\ttab  two spaces \u2028 \u0001 \"quoted\" \\ 数据库备份 한국어 e\u0301 👩‍👩‍👧 </script>\r\n", word)
	if err != nil {
		return err
	}
	return k.same(i, h)
}

func (k *kit) putBatch(ctx context.Context) error {
	can := k.able.Capabilities
	if err := promised("put_batch", can.PutBatch); err != nil {
		return err
	}
	n := 5
	if can.MaxBatch > 0 {
		n = min(n, can.MaxBatch)
	}
	words, items, wire := make([]string, n), make([]providers.Item, n), make([]any, n)
	for x := range n {
		words[x] = k.word()
		items[x] = k.item(words[x] + " in a batch")
		wire[x] = jsonrpc.ToWire(items[x])
	}
	got, err := result[struct {
		Results []struct {
			providers.Receipt
			Error *jsonrpc.WireError `json:"error"`
		} `json:"results"`
	}](k.call(ctx, "vade.put_batch", map[string]any{"items": wire}))
	if err != nil {
		return err
	}
	if len(got.Results) != n {
		return fmt.Errorf("%d results for %d items", len(got.Results), n)
	}
	for x, r := range got.Results {
		if r.Error != nil {
			return fmt.Errorf("item %d: %d %s", x, r.Error.Code, r.Error.Message)
		}
		refs, err := k.settled(ctx, r.Receipt)
		if err != nil {
			return err
		}
		if err := k.until(func() error {
			found, err := k.search(ctx, words[x], 5, nil)
			if err == nil {
				_, err = the(refs[0], found)
			}
			return err
		}); err != nil {
			return fmt.Errorf("the results are not in the order of the items: item %d: %w", x, err)
		}
	}
	return nil
}

func (k *kit) sameKeyTwice(ctx context.Context) error {
	if err := promised("idempotent", k.able.Capabilities.Idempotent); err != nil {
		return err
	}
	word := k.word()
	i := k.item(word + " said twice")
	refs, err := k.putAll(ctx, i, i)
	if err != nil {
		return err
	}
	if refs[0] != refs[1] {
		return fmt.Errorf("the ref was %q, and then %q", refs[0], refs[1])
	}
	return k.until(func() error {
		found, err := k.held(ctx, i, word)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d copies", len(found))
		}
		return err
	})
}

func (k *kit) newVersion(ctx context.Context) error {
	if err := promised("replaces", k.able.Capabilities.Replaces); err != nil {
		return err
	}
	word, now := k.word(), k.word()
	was := k.item(word + " as it was")
	second := was
	was.Parts, second.Parts, second.Part = 2, 2, 1
	second.Text = word + " and its second part"
	is := k.item(word + " " + now)
	is.ID, is.Version = was.ID, "v2"
	refs, err := k.putAll(ctx, was, second, is)
	if err != nil {
		return err
	}
	return k.until(func() error {
		found, err := k.search(ctx, word, 10, nil)
		if err != nil {
			return err
		}
		h, err := the(refs[2], found)
		if err == nil && (!strings.Contains(h.Text, now) || len(found) != 1) {
			err = fmt.Errorf("parts of the version before are still found: %d hits", len(found))
		}
		return err
	})
}

func (k *kit) find(ctx context.Context) error {
	if err := promised("find", k.able.Capabilities.Find); err != nil {
		return err
	}
	a, b, c := k.item("one"), k.item("two"), k.item("never put")
	refs, err := k.putAll(ctx, a, b)
	if err != nil {
		return err
	}
	got, err := result[hits](k.call(ctx, "vade.find", map[string]any{"ids": []string{b.ID, c.ID, a.ID}}))
	if err != nil {
		return err
	}
	for n, i := range []providers.Item{a, b} {
		h, err := the(refs[n], got.Hits)
		if err != nil {
			return err
		}
		if h.ID != i.ID || h.Version != i.Version {
			return fmt.Errorf("%s@%s is found as %s@%s", i.ID, i.Version, h.ID, h.Version)
		}
	}
	if len(got.Hits) != 2 {
		return fmt.Errorf("%d hits for two memories", len(got.Hits))
	}
	return nil
}

func (k *kit) list(ctx context.Context) error {
	if err := promised("list", k.able.Capabilities.List); err != nil {
		return err
	}
	want, err := k.putAll(ctx, k.item("one"), k.item("two"), k.item("three"))
	if err != nil {
		return err
	}
	seen := map[providers.Ref]bool{}
	for cursor := ""; ; {
		page, err := result[hits](k.call(ctx, "vade.list", map[string]any{"cursor": cursor, "limit": 2}))
		if err != nil {
			return err
		}
		for _, h := range page.Hits {
			if seen[h.Ref] {
				return fmt.Errorf("%q is listed twice", h.Ref)
			}
			seen[h.Ref] = true
		}
		if page.Next == "" {
			break
		}
		if len(page.Hits) == 0 || page.Next == cursor {
			return fmt.Errorf("the page behind %q brings nothing, and is not the last", cursor)
		}
		cursor = page.Next
	}
	for _, ref := range want {
		if !seen[ref] {
			return fmt.Errorf("%q is not listed", ref)
		}
	}
	return nil
}

func (k *kit) delete(ctx context.Context) error {
	if err := promised("delete", k.able.Capabilities.Delete); err != nil {
		return err
	}
	word := k.word()
	i, h, err := k.kept(ctx, word+" to be forgotten", word)
	if err != nil {
		return err
	}
	if err := k.deleteRef(ctx, h.Ref); err != nil {
		return err
	}
	return k.until(func() error {
		found, err := k.search(ctx, word, 5, nil)
		if err == nil {
			err = without(h.Ref, found)
		}
		if err != nil || !k.able.Capabilities.Find {
			return err
		}
		found, err = k.held(ctx, i, word)
		return errors.Join(err, without(h.Ref, found))
	})
}

func (k *kit) deleteRef(ctx context.Context, ref providers.Ref) error {
	reply, err := k.call(ctx, "vade.delete", map[string]any{"ref": ref})
	if err == nil && reply.Error != nil && reply.Error.Code == jsonrpc.CodeNotFound {
		return nil
	}
	r, err := result[providers.Receipt](reply, err)
	if err == nil {
		r, err = k.resolve(ctx, r)
	}
	if err == nil && r.State != journal.Deleted {
		err = fmt.Errorf("delete: the state is %q", r.State)
	}
	return err
}

func (k *kit) deleteMissing(ctx context.Context) error {
	if err := promised("delete", k.able.Capabilities.Delete); err != nil {
		return err
	}
	return k.deleteRef(ctx, providers.Ref("no-such-"+k.word()))
}

// resolves: whatever was put comes to its end, and asking again about that
// changes nothing.
func (k *kit) resolves(ctx context.Context) error {
	if err := promised("resolve", k.able.Capabilities.Resolve); err != nil {
		return err
	}
	i := k.item("soon " + k.word())
	r, err := result[providers.Receipt](k.call(ctx, "vade.put", map[string]any{"item": jsonrpc.ToWire(i)}))
	if err == nil {
		r, err = k.resolve(ctx, r)
	}
	if err != nil {
		return err
	}
	r, err = result[providers.Receipt](k.call(ctx, "vade.resolve", map[string]any{"receipt": r}))
	if err == nil && !r.State.Final() {
		err = fmt.Errorf("what was stored is %q when it is asked for again", r.State)
	}
	return err
}

// expired memories are not found, and vade.cleanup removes those only.
func (k *kit) expired(ctx context.Context) error {
	if err := promised("cleanup", k.able.Capabilities.Cleanup); err != nil {
		return err
	}
	word := k.word()
	was, is := k.item(word+" until yesterday"), k.item(word+" until tomorrow")
	was.Expires, is.Expires = is.Created.Add(-24*time.Hour), is.Created.Add(24*time.Hour)
	refs, err := k.putAll(ctx, was, is)
	if err != nil {
		return err
	}
	if err := k.until(func() error {
		found, err := k.search(ctx, word, 5, nil)
		if err == nil {
			_, err = the(refs[1], found)
		}
		return errors.Join(err, without(refs[0], found))
	}); err != nil {
		return err
	}
	reply, err := result[json.RawMessage](k.call(ctx, "vade.cleanup", map[string]any{"now": time.Now().UTC()}))
	if err != nil {
		return fmt.Errorf("cleanup %s: %w", reply, err)
	}
	if !k.able.Capabilities.Find {
		return nil
	}
	gone, err := k.held(ctx, was, word)
	if err == nil {
		err = without(refs[0], gone)
	}
	left, err2 := k.held(ctx, is, word)
	if err2 == nil {
		_, err2 = the(refs[1], left)
	}
	return errors.Join(err, err2)
}

func (k *kit) purge(ctx context.Context) error {
	if err := promised("purge", k.able.Capabilities.Purge); err != nil {
		return err
	}
	word := k.word()
	_, h, err := k.kept(ctx, word+" and all the rest", word)
	if err != nil {
		return err
	}
	if _, err := result[json.RawMessage](k.call(ctx, "vade.purge", map[string]any{})); err != nil {
		return err
	}
	return k.until(func() error {
		found, err := k.search(ctx, word, 5, nil)
		if err == nil {
			err = without(h.Ref, found)
		}
		if err != nil || !k.able.Capabilities.List {
			return err
		}
		left, err := result[hits](k.call(ctx, "vade.list", map[string]any{"cursor": "", "limit": 2}))
		if err == nil && len(left.Hits) > 0 {
			err = errors.New("something is left")
		}
		return err
	})
}
