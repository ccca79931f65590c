package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// dialect is how a program is asked for what more than one dialect knows.
type dialect interface {
	abilities(ctx context.Context) (Abilities, error)
	health(ctx context.Context) (providers.Health, error)
	search(ctx context.Context, q providers.Query) ([]providers.Hit, error)
	put(ctx context.Context, item providers.Item) (providers.Receipt, error)
	putBatch(ctx context.Context, items []providers.Item) []providers.PutResult
	delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error)
}

// vadeDialect speaks vade.provider/1.
type vadeDialect struct{ *peer }

// abilities of a program that does not know the method are none, and it is
// run once a request.
func (p vadeDialect) abilities(ctx context.Context) (Abilities, error) {
	var result json.RawMessage
	err := p.call(ctx, request{op: "initialize", method: "vade.initialize", params: p.greeting()}, &result)
	if providers.Is(err, providers.Unsupported) {
		return Abilities{OneShot: true}, nil
	} else if err != nil {
		return Abilities{}, err
	}
	able, err := parseAbilities(result)
	if err != nil {
		return able, p.protocolError("initialize", err.Error(), false)
	}
	able.Name, able.Version = p.clean(able.Name), p.clean(able.Version) // they are kept in a file
	return able, nil
}

func (p vadeDialect) health(ctx context.Context) (providers.Health, error) {
	var h providers.Health
	err := p.call(ctx, request{op: "health", method: "vade.health", params: object{}}, &h)
	if h.Version == "" {
		h.Version = p.able.Version
	}
	h.Version = p.clean(h.Version)
	for i, w := range h.Warnings {
		h.Warnings[i] = p.clean(w)
	}
	return h, err
}

func (p vadeDialect) search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	params := object{"text": q.Text, "limit": q.Limit}
	if p.able.Capabilities.Filter && q.Workspace != "" {
		params["workspace"] = q.Workspace
	}
	var result struct {
		Hits []wireHit `json:"hits"`
	}
	err := p.call(ctx, request{op: "search", method: "vade.search", params: params}, &result)
	return toHits(result.Hits, q.Limit), err
}

func (p vadeDialect) put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	return p.write(ctx, request{op: "put", method: "vade.put", params: object{"item": ToWire(item)}}, putStates)
}

func (p vadeDialect) delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	r, err := p.write(ctx, request{op: "delete", method: "vade.delete", params: object{"ref": ref}}, deleteStates)
	if notFound(err) {
		return providers.Receipt{State: journal.Deleted}, nil
	}
	return r, err
}

func notFound(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Code == fmt.Sprint(CodeNotFound)
}

// What a receipt may say after a put, a delete, and when it is asked for again.
var (
	putStates     = states{journal.Stored, journal.Accepted, journal.Empty}
	deleteStates  = states{journal.Deleted, journal.Accepted}
	resolveStates = states{journal.Stored, journal.Accepted, journal.Empty, journal.Deleted}
)

type states []journal.State

// write makes a request that is answered with a receipt.
func (p *peer) write(ctx context.Context, r request, may states) (providers.Receipt, error) {
	r.mutates = true
	var got providers.Receipt
	if err := p.call(ctx, r, &got); err != nil {
		return providers.Receipt{}, err
	}
	if err := p.checkReceipt(r.op, &got, may); err != nil {
		return providers.Receipt{}, err
	}
	return got, nil
}

// checkReceipt returns an error for a receipt that says nothing.
func (p *peer) checkReceipt(op string, r *providers.Receipt, may states) error {
	r.Note = p.clean(r.Note)
	if slices.Contains(may, r.State) {
		return nil
	}
	return p.protocolError(op, fmt.Sprintf("the state of the receipt is %q, not one of %v", r.State, may), true)
}

func (p vadeDialect) putBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	wire := make([]WireItem, len(items))
	for i, item := range items {
		wire[i] = ToWire(item)
	}
	var result struct {
		Results []struct {
			providers.Receipt
			Error *WireError `json:"error"`
		} `json:"results"`
	}
	err := p.call(ctx, request{op: "put", method: "vade.put_batch", params: object{"items": wire}, mutates: true}, &result)
	if err == nil && len(result.Results) != len(items) {
		err = p.protocolError("put", fmt.Sprintf("%d results for %d items", len(result.Results), len(items)), true)
	}
	if err != nil {
		return sameForAll(items, err)
	}
	results := make([]providers.PutResult, len(items))
	for i, r := range result.Results {
		if r.Error != nil {
			results[i].Err = p.refused("put", r.Error, true)
		} else if err := p.checkReceipt("put", &r.Receipt, putStates); err != nil {
			results[i].Err = err
		} else {
			results[i].Receipt = r.Receipt
		}
	}
	return results
}

func sameForAll(items []providers.Item, err error) []providers.PutResult {
	results := make([]providers.PutResult, len(items))
	for i := range results {
		results[i].Err = err
	}
	return results
}
