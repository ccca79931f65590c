package mem0

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// remove deletes the memory at path plus ref. One that is not there is deleted.
func (c *client) remove(ctx context.Context, op, before string, ref providers.Ref, after string) (providers.Receipt, error) {
	if strings.Trim(string(ref), "./ \\") == "" { // the path of everything
		return providers.Receipt{}, &providers.Error{
			Provider: c.Name(), Op: op, Class: providers.Permanent, Msg: fmt.Sprintf("%q names no memory", ref),
		}
	}
	var said struct{}
	r := rest.Request{Op: op, Method: http.MethodDelete, Path: before + url.PathEscape(string(ref)) + after, Mutates: true}
	if _, err := c.rest.Do(ctx, r, &said); err != nil && !missing(err) {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// purge deletes what is ours, one by one, until all returns none of it: what
// the services say of deleting everything at once is not to be relied on
// (mem0#4957). What others put under the same user stays.
func (c *client) purge(ctx context.Context, all func() ([]providers.Hit, error), remove func(providers.Ref) error) (int, error) {
	gone := map[providers.Ref]bool{}
	for {
		hits, err := all()
		if err != nil {
			return len(gone), err
		}
		left, before := 0, len(gone)
		for _, h := range hits {
			if h.ID == "" {
				continue
			}
			if left++; gone[h.Ref] {
				continue
			}
			if err := remove(h.Ref); err != nil {
				return len(gone), err
			}
			gone[h.Ref] = true
		}
		switch {
		case left == 0:
			return len(gone), nil
		case len(gone) == before:
			return len(gone), &providers.Error{
				Provider: c.Name(), Op: "purge", Class: providers.Protocol,
				Msg: fmt.Sprintf("it still has %d memories that it said it deleted", left),
			}
		}
	}
}
