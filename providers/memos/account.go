package memos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Config says which service, and whose memories.
type Config struct {
	Name string // "": what the kind is called, memos or memos-cloud
	// BaseURL of a server is needed; the cloud's is that of mainland China, or
	// https://api.memt.ai/platform/api/openmem/v1 for the rest of the world.
	BaseURL string
	Key     rest.Secret // a plain server has none
	User    string      // whose the memories are there; "" is "vade"
	Cube    string      // of a server: where they are; "" is User's own
	// AllowInsecure lets http go to other machines.
	AllowInsecure bool
	Transport     http.RoundTripper // a seam for tests; nil: one of our own
}

// maxItemBytes is what is handed over at once: the services cut texts into
// windows of some hundred words, and the cloud takes 40,000 tokens a request.
const maxItemBytes = 32 << 10

// api is what the two services do differently.
type api interface {
	// page reads the page-th page, from 1, of size memories that filter lets
	// through; total is how many there are, -1 if it does not tell.
	page(ctx context.Context, op string, filter any, page, size int) (hits []providers.Hit, total int, err error)
	// remove deletes memories. What is not there is no error.
	remove(ctx context.Context, op string, ids []string) error
}

// account is what the two have in common.
type account struct {
	api
	name, user string
	rest       *rest.Client
	idKey      string // the key of info that has Item.ID, and can be filtered by
}

// newAccount connects to nothing.
func newAccount(c Config, scheme string, classify func(*providers.Error, int, http.Header, []byte)) (*account, error) {
	header := map[string]rest.Secret{}
	if c.Key != "" {
		header["Authorization"] = rest.Secret(scheme) + " " + c.Key
	}
	r, err := rest.New(rest.Options{
		Name: c.Name, BaseURL: c.BaseURL, AllowInsecure: c.AllowInsecure, Transport: c.Transport, Header: header, Classify: classify,
	})
	if err != nil {
		return nil, err
	}
	return &account{name: c.Name, user: cmp.Or(c.User, "vade"), rest: r}, nil
}

// Name is what the config calls it.
func (a *account) Name() string { return a.name }

// Close lets go of idle connections.
func (a *account) Close() error { return a.rest.Close() }

// call makes a request and returns the data of the answer, which may be none.
func call[T any](ctx context.Context, a *account, r rest.Request) (data T, err error) {
	var said struct {
		Code *int `json:"code"`
		Data *T   `json:"data"`
	}
	meta, err := a.rest.Do(ctx, r, &said)
	if err == nil && said.Code == nil {
		err = a.rest.Senseless(r, meta, "the answer has no code")
	}
	if err == nil && said.Data != nil {
		data = *said.Data
	}
	return data, err
}

// pageSize is the most that the cloud takes.
const pageSize = 50

// filterBy lets memories through that have one of the values.
func filterBy(key string, values []string) any {
	var terms []map[string]string
	for _, v := range values {
		terms = append(terms, map[string]string{key: v})
	}
	if len(terms) == 1 {
		return map[string]any{"and": terms}
	}
	return map[string]any{"or": terms}
}

// FindByID asks by the id in our metadata. A service that forgets the filter
// gives us more, which is not believed.
func (a *account) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var found []providers.Hit
	for some := range slices.Chunk(ids, 10) {
		hits, err := a.read(ctx, "find", filterBy(a.idKey, some))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if slices.Contains(some, h.ID) {
				found = append(found, h)
			}
		}
	}
	return found, nil
}

// read reads everything that filter lets through.
func (a *account) read(ctx context.Context, op string, filter any) ([]providers.Hit, error) {
	var all []providers.Hit
	for page := 1; ; page++ {
		hits, total, err := a.page(ctx, op, filter, page, pageSize)
		if err != nil {
			return nil, err
		}
		all = append(all, hits...)
		if isLast(len(hits), page, pageSize, total) {
			return all, nil
		}
	}
}

// isLast reports whether no page comes after one of n memories.
func isLast(n, page, size, total int) bool {
	return n < size || total >= 0 && page*size >= total
}

// List reads a page of n; a cursor is its number.
func (a *account) List(ctx context.Context, cursor string, n int) (hits []providers.Hit, next string, err error) {
	page := 1
	if cursor != "" {
		if page, err = strconv.Atoi(cursor); err != nil || page < 1 {
			return nil, "", &providers.Error{Provider: a.name, Op: "list", Class: providers.Permanent, Msg: "cursor " + strconv.Quote(cursor) + " is none of this provider's"}
		}
	}
	n = min(max(n, 1), pageSize)
	hits, total, err := a.page(ctx, "list", nil, page, n)
	if err == nil && !isLast(len(hits), page, n, total) {
		next = strconv.Itoa(page + 1)
	}
	return hits, next, err
}

// Delete removes one memory of the service.
func (a *account) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	if err := a.remove(ctx, "delete", []string{string(ref)}); err != nil {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// PurgeScope removes what we put for this user, and counts what is gone, because
// a service's word is not enough (mem0#4957). What others put for the same user
// stays.
func (a *account) PurgeScope(ctx context.Context) (int, error) {
	before := map[providers.Ref]bool{}
	for {
		hits, err := a.read(ctx, "purge", nil)
		if err != nil {
			return len(before), err
		}
		hits = slices.DeleteFunc(hits, func(h providers.Hit) bool { return h.ID == "" })
		if len(hits) == 0 {
			return len(before), nil
		}
		if before[hits[0].Ref] {
			return len(before), &providers.Error{Provider: a.name, Op: "purge", Class: providers.Retryable, Msg: "what was deleted is still there"}
		}
		for some := range slices.Chunk(hits, pageSize) {
			var ids []string
			for _, h := range some {
				before[h.Ref] = true
				ids = append(ids, string(h.Ref))
			}
			if err := a.remove(ctx, "purge", ids); err != nil {
				return len(before), err
			}
		}
	}
}

// info is what a memory carries, as the service gives it back: any JSON.
type info map[string]any

// texts are the values that are text.
func (i info) texts() map[string]string {
	m := make(map[string]string, len(i))
	for key, value := range i {
		if text, ok := value.(string); ok {
			m[key] = text
		}
	}
	return m
}

// moment is a time as the services write it: RFC 3339, without a zone, or in
// milliseconds since 1970. What is none of these is the zero time.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *moment) UnmarshalJSON(raw []byte) error {
	var ms int64
	if json.Unmarshal(raw, &ms) == nil && ms > 0 {
		m.Time = time.UnixMilli(ms).UTC()
		return nil
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime} {
		if t, err := time.Parse(layout, text); err == nil {
			m.Time = t.UTC()
			return nil
		}
	}
	return nil
}

// dropUnnamed removes hits that nobody could name, and the second of a name.
func dropUnnamed(hits []providers.Hit) []providers.Hit {
	seen := map[providers.Ref]bool{"": true}
	return slices.DeleteFunc(hits, func(h providers.Hit) bool {
		was := seen[h.Ref]
		seen[h.Ref] = true
		return was
	})
}

// gone reports whether a message says that there is nothing to delete.
func gone(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "not found") || strings.Contains(message, "not exist")
}

// missing reports whether err is a 404 of a deletion.
func missing(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusOK && e.Class == providers.Permanent && gone(e.Msg))
}
