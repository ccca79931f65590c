package mem0

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Server is a Mem0 server that one runs oneself.
type Server struct{ *client }

var (
	_ providers.Deleter   = (*Server)(nil)
	_ providers.Finder    = (*Server)(nil)
	_ providers.Lister    = (*Server)(nil)
	_ providers.Purger    = (*Server)(nil)
	_ providers.Closer    = (*Server)(nil)
	_ providers.Describer = (*Server)(nil)
)

// NewServer returns the server that c describes. It connects to nothing.
// A key that is a JWT goes as a bearer token, another one as X-API-Key; the
// server hashes keys of users slowly at every request, so recall is faster
// with its ADMIN_API_KEY.
func NewServer(c Config) (*Server, error) {
	c.Name, c.BaseURL, c.Score = cmp.Or(c.Name, "mem0"), cmp.Or(c.BaseURL, "http://localhost:8888"), cmp.Or(c.Score, providers.Ordinal)
	header := map[string]rest.Secret{"X-API-Key": c.Key}
	if key := c.Key.Reveal(); strings.HasPrefix(key, "eyJ") && strings.Count(key, ".") == 2 {
		header = map[string]rest.Secret{"Authorization": rest.Secret("Bearer " + key)}
	}
	inner, err := newClient(c, header)
	if err != nil {
		return nil, err
	}
	return &Server{inner}, nil
}

// Properties: it stores within the request, also what it extracts.
func (s *Server) Properties() providers.Properties {
	is := s.properties("mem0")
	is.ReadYourWrites = true
	return is
}

// Health lists one memory: no other path of the server asks for the key.
func (s *Server) Health(ctx context.Context) (providers.Health, error) {
	h := providers.Health{Warnings: s.warnings()}
	_, err := s.page(ctx, "health", 1)
	if err == nil && s.Key == "" && !s.rest.Loopback() {
		h.Warnings = append(h.Warnings, "the server asks for no key: whoever reaches it reads your memories")
	}
	return h, err
}

// Put adds item. Of a text that is there already the server keeps nothing new
// when it extracts.
func (s *Server) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	var got records
	r := rest.Request{Op: "put", Path: "/memories", Body: s.addition(&item), Mutates: true}
	meta, err := s.rest.Do(ctx, r, &got)
	if err != nil {
		return providers.Receipt{}, err
	}
	refs, ok := kept(got.Results)
	if got.Results == nil || !ok {
		return providers.Receipt{}, s.rest.Senseless(r, meta, "the answer does not say what was kept")
	}
	if len(refs) == 0 {
		return providers.Receipt{State: journal.Empty, Note: nothingKept}, nil
	}
	return providers.Receipt{State: journal.Stored, Refs: refs}, nil
}

const nothingKept = "it kept nothing: it is there already, or nothing in it was worth keeping"

// question is a search. The user is named twice: old servers read only the one
// at the top, newer ones only the filters (hermes-agent#111252), and today's both.
type question struct {
	Query     string            `json:"query"`
	User      string            `json:"user_id"`
	Filters   map[string]string `json:"filters"`
	Limit     int               `json:"top_k"`
	Threshold float64           `json:"threshold"` // 0: of others the best may be cut off (mem0#4456)
	Expired   bool              `json:"show_expired,omitempty"`
}

func (s *Server) ask(ctx context.Context, op string, q question) ([]providers.Hit, error) {
	q.User = s.User
	if q.Filters == nil {
		q.Filters = map[string]string{}
	}
	q.Filters["user_id"] = s.User
	return s.list(ctx, rest.Request{Op: op, Path: "/search", Body: q}, q.Limit)
}

// list makes a request whose answer is memories, and returns limit at most.
func (c *client) list(ctx context.Context, r rest.Request, limit int) ([]providers.Hit, error) {
	var got records
	meta, err := c.rest.Do(ctx, r, &got)
	if err == nil && got.Results == nil {
		err = c.rest.Senseless(r, meta, "the answer has no results")
	}
	if err != nil {
		return nil, err
	}
	return c.hits(got.Results, limit), nil
}

// Search asks by meaning, and by words where the server can.
func (s *Server) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	return s.ask(ctx, "search", question{Query: q.Text, Limit: min(q.Limit, maxLimit)})
}

// Delete removes one memory.
func (s *Server) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	return s.remove(ctx, "delete", "/memories/", ref, "")
}

// copies is how many memories of one id are asked for: its parts, their earlier
// versions, and the facts extracted of them.
const copies = 200

// FindByID asks for the id in the metadata. A search drops what is less similar
// to the question than nothing at all, so that what it does not find is looked
// for in the list of everything too, as far as that goes.
func (s *Server) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var found []providers.Hit
	misses := map[string]bool{}
	for _, id := range ids {
		hits, err := s.ask(ctx, "find", question{
			Query: id, Filters: map[string]string{providers.MetaID: id}, Limit: copies, Expired: true,
		})
		if err != nil {
			return nil, err
		}
		misses[id] = true
		for _, h := range hits {
			if h.ID == id {
				delete(misses, id)
				found = append(found, h)
			}
		}
	}
	if len(misses) == 0 {
		return found, nil
	}
	all, _, err := s.beginning(ctx, "find")
	if err != nil && !providers.Is(err, providers.Protocol) { // Protocol: no list at all
		return nil, err
	}
	for _, h := range all {
		if misses[h.ID] {
			found = append(found, h)
		}
	}
	return found, nil
}

// page is the first n of the list of everything.
func (s *Server) page(ctx context.Context, op string, n int) ([]providers.Hit, error) {
	return s.list(ctx, rest.Request{Op: op, Method: http.MethodGet, Path: "/memories", Query: url.Values{
		"user_id": {s.User}, "top_k": {strconv.Itoa(n)}, "show_expired": {"true"},
	}}, n)
}

// beginning is as much of the list of everything as the server gives at once and
// an answer may be long; more says that it may go on.
func (s *Server) beginning(ctx context.Context, op string) (hits []providers.Hit, more bool, err error) {
	for n := maxLimit; ; n /= 5 {
		hits, err = s.page(ctx, op, n)
		if n < 5 || !providers.Is(err, providers.Protocol) {
			return hits, len(hits) == n, err
		}
	}
}

// unlisted is the error of a list that goes on where nobody can read it.
func (s *Server) unlisted(op string) error {
	return &providers.Error{
		Provider: s.Name(), Op: op, Class: providers.Unsupported,
		Msg: fmt.Sprintf("the server lists %d memories at most, or %d MiB, and has as many or more", maxLimit, rest.MaxBody>>20),
	}
}

// List returns everything at once, since the server has no pages; it fails as
// Unsupported when there is more than the server returns.
func (s *Server) List(ctx context.Context, _ string, _ int) ([]providers.Hit, string, error) {
	hits, more, err := s.beginning(ctx, "list")
	if more {
		err = s.unlisted("list")
	}
	return hits, "", err
}

// PurgeScope removes what is ours of the user's memories.
func (s *Server) PurgeScope(ctx context.Context) (int, error) {
	more := false // behind what was read last
	n, err := s.purge(ctx, func() (hits []providers.Hit, err error) {
		hits, more, err = s.beginning(ctx, "purge")
		return hits, err
	}, func(ref providers.Ref) error {
		_, err := s.remove(ctx, "purge", "/memories/", ref, "")
		return err
	})
	if err == nil && more {
		err = s.unlisted("purge")
	}
	return n, err
}
