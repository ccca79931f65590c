package openviking

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Limits: what is behind the first 64 KiB of a file is in no abstract, and so
// in no vector; a batch has at most 256 files and 16 MiB.
const (
	maxItemBytes = 64 << 10
	maxBatch     = 32
	// shortPart is what only the last part of a memory has less than: others
	// are cut in the second half of what fits.
	shortPart = maxItemBytes / 4
)

// Provider keeps memories word for word, as files.
type Provider struct {
	*client
	mu    sync.Mutex
	ready bool // the folder is there
}

var (
	_ providers.BatchPutter = (*Provider)(nil)
	_ providers.Deleter     = (*Provider)(nil)
	_ providers.Finder      = (*Provider)(nil)
	_ providers.Purger      = (*Provider)(nil)
	_ providers.Closer      = (*Provider)(nil)
	_ providers.Describer   = (*Provider)(nil)
)

// New returns the provider that c describes. It connects to nothing.
func New(c Config) (*Provider, error) {
	inner, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Provider{client: inner}, nil
}

// Properties: files are written at once, their vectors some time later, so that
// what is stored is found after a while. The server may show an abstract in
// place of the text.
func (p *Provider) Properties() providers.Properties {
	return providers.Properties{
		Kind:  "openviking",
		Batch: true, Delete: true, Find: true, Close: true, PurgeAll: true,
		Idempotent: true, Replaces: true, Attribution: true,
		Score: providers.Similarity, MaxItemBytes: maxItemBytes, MaxBatch: maxBatch,
	}
}

// Put writes item's file, in the place of another version of it.
func (p *Provider) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	got := p.PutBatch(ctx, []providers.Item{item})[0]
	return got.Receipt, got.Err
}

type operation struct {
	URI     string `json:"uri"`
	Content string `json:"content"`
	Mode    string `json:"mode"`
}

type batchWrite struct {
	RootURI    string      `json:"root_uri"`
	Operations []operation `json:"operations"`
	Wait       bool        `json:"wait"`
}

// written is the answer to a batch-write.
type written struct {
	Created   []string `json:"created"`
	Updated   []string `json:"updated"`
	Unchanged []string `json:"unchanged"`
	Vectors   string   `json:"vector_status"`
}

// PutBatch writes the files of items in one request. Two items of one file in
// one batch are the later one.
func (p *Provider) PutBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	results := make([]providers.PutResult, len(items))
	got, err := p.writeAll(ctx, items)
	there := map[string]bool{}
	for _, uri := range slices.Concat(got.Created, got.Updated, got.Unchanged) {
		if name, ok := ourName(uri); ok {
			there[name] = true
		}
	}
	for i := range items {
		name := fileName(items[i].ID, items[i].Part)
		switch {
		case err != nil:
			results[i].Err = err
		case !there[name]:
			results[i].Err = &providers.Error{
				Provider: p.name, Op: "put", Class: providers.Protocol, Ambiguous: true,
				Msg: "the server took the request and does not list " + name + " among what it wrote",
			}
		default:
			results[i].Receipt = providers.Receipt{State: journal.Stored, Refs: []providers.Ref{providers.Ref(folder + name)}}
			results[i].Note = p.tag(ctx, name, &items[i])
			if strings.Contains(got.Vectors, "fail") {
				results[i].Note = "the file is kept, but not its vector: it is not found before the server has indexed it again"
			}
		}
	}
	return results
}

func (p *Provider) writeAll(ctx context.Context, items []providers.Item) (written, error) {
	if err := p.makeFolder(ctx); err != nil {
		return written{}, err
	}
	body := batchWrite{RootURI: strings.TrimSuffix(folder, "/")}
	at := map[string]int{} // targets must be different
	for i := range items {
		name := fileName(items[i].ID, items[i].Part)
		op := operation{folder + name, items[i].Text, "upsert"}
		if n, ok := at[name]; ok {
			body.Operations[n] = op
			continue
		}
		at[name] = len(body.Operations)
		body.Operations = append(body.Operations, op)
	}
	return call[written](ctx, p.client, rest.Request{Op: "put", Path: "/api/v1/content/batch-write", Body: body, Mutates: true})
}

// makeFolder makes the folder, once: a batch-write wants one that is there.
func (p *Provider) makeFolder(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready {
		return nil
	}
	_, err := call[nothing](ctx, p.client, rest.Request{
		Op: "put", Path: "/api/v1/fs/mkdir", Body: map[string]string{"uri": strings.TrimSuffix(folder, "/")},
	})
	if e, ok := errors.AsType[*providers.Error](err); ok && (e.Code == "ALREADY_EXISTS" || e.Status == http.StatusConflict) {
		err = nil
	}
	p.ready = err == nil
	return err
}

// tag gives the file its metadata, which the server keeps in lower case. It
// says what went wrong, if anything: the memory is kept all the same, and its
// id is in its name.
func (p *Provider) tag(ctx context.Context, name string, item *providers.Item) (note string) {
	var tags []string
	for key, value := range item.Metadata() {
		tags = append(tags, key+"="+value)
	}
	slices.Sort(tags)
	body := struct {
		URI  string   `json:"uri"`
		Tags []string `json:"tags"`
		Mode string   `json:"mode"`
	}{folder + name, tags, "replace"}
	_, err := call[nothing](ctx, p.client, rest.Request{Op: "put", Path: "/api/v1/content/set_tags", Body: body})
	if err != nil {
		return "kept without its tags: " + err.Error()
	}
	return ""
}

// fileURI is what a request may name: only a file of ours, whatever ref says
// (hermes-agent#107095: a client was made to delete others' files).
func (p *Provider) fileURI(op string, ref providers.Ref) (string, error) {
	if name, ok := ourName(string(ref)); ok {
		return folder + name, nil
	}
	return "", &providers.Error{
		Provider: p.name, Op: op, Class: providers.Permanent,
		Msg: fmt.Sprintf("%q is not in %s, where vade's files are", ref, folder),
	}
}

// Delete removes a file of ours.
func (p *Provider) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	uri, err := p.fileURI("delete", ref)
	if err == nil {
		err = p.remove(ctx, "delete", url.Values{"uri": {uri}})
	}
	if err != nil {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// remove is idempotent at the server, and also where an older one is not.
func (p *Provider) remove(ctx context.Context, op string, query url.Values) error {
	_, err := call[nothing](ctx, p.client, rest.Request{Op: op, Method: http.MethodDelete, Path: "/api/v1/fs", Query: query, Mutates: true})
	if missing(err) {
		return nil
	}
	return err
}

func missing(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && (e.Code == "NOT_FOUND" || e.Status == http.StatusNotFound)
}

// FindByID reads the files that are there, which is the truth even where their
// vectors are not (OpenViking#3640). Versions are not in a file.
func (p *Provider) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var hits []providers.Hit
	for _, id := range ids {
		for part := 0; ; part++ {
			uri := folder + fileName(id, part)
			text, err := call[string](ctx, p.client, rest.Request{
				Op: "find", Path: "/api/v1/content/read", Query: url.Values{"uri": {uri}, "raw": {"true"}},
			})
			if missing(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			hits = append(hits, providers.Hit{Ref: providers.Ref(uri), ID: id, Part: part, Text: text})
			if len(text) < shortPart {
				break
			}
		}
	}
	return hits, nil
}

// PurgeScope removes our folder. The server does not tell how many files that were.
func (p *Provider) PurgeScope(ctx context.Context) (int, error) {
	p.mu.Lock()
	p.ready = false
	p.mu.Unlock()
	err := p.remove(ctx, "purge", url.Values{"uri": {strings.TrimSuffix(folder, "/")}, "recursive": {"true"}})
	if err != nil {
		return 0, err
	}
	return -1, nil
}
