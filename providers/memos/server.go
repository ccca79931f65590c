package memos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Server is a MemOS server of one's own.
type Server struct {
	*account
	cube string
	open bool // it is asked without a key
}

var (
	_ providers.Deleter   = (*Server)(nil)
	_ providers.Finder    = (*Server)(nil)
	_ providers.Lister    = (*Server)(nil)
	_ providers.Purger    = (*Server)(nil)
	_ providers.Closer    = (*Server)(nil)
	_ providers.Describer = (*Server)(nil)
)

// NewServer returns the provider of a server. It connects to nothing.
func NewServer(c Config) (*Server, error) {
	c.Name = cmp.Or(c.Name, "memos")
	a, err := newAccount(c, "Bearer", classifyServer)
	if err != nil {
		return nil, err
	}
	s := &Server{account: a, cube: cmp.Or(c.Cube, a.user), open: c.Key == ""}
	a.api, a.idKey = s, providers.MetaID
	return s, nil
}

// Properties: with async_mode sync and mode fast the server keeps the text
// before it answers, in windows if it is long, and asks no model.
func (s *Server) Properties() providers.Properties {
	return providers.Properties{
		Kind: "memos", Delete: true, Find: true, List: true, Close: true, PurgeAll: true,
		Verbatim: true, ReadYourWrites: true, Attribution: true,
		Score: providers.Similarity, MaxItemBytes: maxItemBytes,
	}
}

// classifyServer reads {"code","message"}: code is that of HTTP, also where
// the status is 200.
func classifyServer(e *providers.Error, status int, _ http.Header, body []byte) {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code == nil || status >= 300 || *said.Code == 200 || *said.Code == 0 {
		return
	}
	e.Code, e.Msg = strconv.Itoa(*said.Code), said.Message
	switch code := *said.Code; {
	case code == 401 || code == 403:
		e.Class = providers.Auth
	case code == 429:
		e.Class = providers.RateLimited
	case code >= 500:
		e.Class = providers.Retryable
	default:
		e.Class = providers.Permanent
	}
}

// Health asks whether the server is up and takes our key.
func (s *Server) Health(ctx context.Context) (providers.Health, error) {
	h := providers.Health{Warnings: []string{}}
	var up struct {
		Status, Version string
	}
	if _, err := s.rest.Do(ctx, rest.Request{Op: "health", Path: "/health"}, &up); err != nil {
		return h, err
	}
	// A cube that nobody has written to yet may be an error of its own kind.
	if _, _, err := s.page(ctx, "health", nil, 1, 1); err != nil && !providers.Is(err, providers.Permanent) {
		return h, err
	}
	h.Version = s.rest.Clean(up.Version)
	if s.open {
		h.Warnings = append(h.Warnings, "the server takes requests without a key: whoever reaches it can read and delete these memories (run server_api_ext, which has keys, or let it listen on this machine only)")
	}
	if !s.rest.Loopback() && !s.rest.Encrypted() {
		h.Warnings = append(h.Warnings, "memories go over the network unencrypted")
	}
	return h, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type serverAdd struct {
	UserID   string            `json:"user_id"`
	Cubes    []string          `json:"writable_cube_ids"`
	Async    string            `json:"async_mode"`
	Mode     string            `json:"mode"`
	Messages []message         `json:"messages"`
	Info     map[string]string `json:"info"`
	Tags     []string          `json:"custom_tags"`
}

// Put keeps item's text as it is. An answer without memories is looked into,
// because the server says that it was successful also when it kept nothing
// (MemOS#1355, #1493).
func (s *Server) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	added, err := call[[]struct {
		ID string `json:"memory_id"`
	}](ctx, s.account, rest.Request{Op: "put", Path: "/product/add", Mutates: true, Body: serverAdd{
		UserID: s.user, Cubes: []string{s.cube}, Async: "sync", Mode: "fast",
		Messages: []message{{"user", item.Text}}, Info: item.Metadata(), Tags: []string{"vade"},
	}})
	if err != nil {
		return providers.Receipt{}, err
	}
	r := providers.Receipt{State: journal.Stored}
	for _, m := range added {
		if m.ID != "" {
			r.Refs = append(r.Refs, providers.Ref(m.ID))
		}
	}
	if len(r.Refs) == 0 {
		return s.look(ctx, &item)
	}
	return r, nil
}

// look finds out whether item was kept.
func (s *Server) look(ctx context.Context, item *providers.Item) (providers.Receipt, error) {
	hits, err := s.FindByID(ctx, item.ID)
	if err != nil {
		if e, ok := errors.AsType[*providers.Error](err); ok {
			e.Op, e.Ambiguous = "put", true
		}
		return providers.Receipt{}, err
	}
	r := providers.Receipt{State: journal.Empty, Note: "the server said yes and kept nothing"}
	for _, h := range hits {
		if h.Version == item.Version && h.Part == item.Part {
			r.State, r.Note = journal.Stored, ""
			r.Refs = append(r.Refs, h.Ref)
		}
	}
	return r, nil
}

// kept is a memory as the server gives it.
type kept struct {
	ID       string `json:"id"`
	Memory   string `json:"memory"`
	Metadata struct {
		Relativity rest.Score `json:"relativity"`
		Info       info       `json:"info"`
		CreatedAt  moment     `json:"created_at"`
		// Where info was stored flat.
		VaultID      string `json:"vault_id"`
		VaultVersion string `json:"vault_rev"`
		VaultPart    string `json:"vault_part"`
		VaultOf      string `json:"vault_of"`
	} `json:"metadata"`
}

func (k *kept) hit() providers.Hit {
	m := k.Metadata
	h := providers.Hit{Ref: providers.Ref(k.ID), Text: k.Memory, Score: m.Relativity.Value, Created: m.CreatedAt.Time}
	meta := m.Info.texts()
	if meta[providers.MetaID] == "" {
		meta = map[string]string{
			providers.MetaID: m.VaultID, providers.MetaVersion: m.VaultVersion, providers.MetaPart: m.VaultPart, providers.MetaVault: m.VaultOf,
		}
	}
	if h.Identify(meta); h.ID != "" { // the reader puts the role before what it read
		h.Text = strings.TrimPrefix(h.Text, "user: ")
	}
	return h
}

// cubes are the memories of a search or a page, by cube.
type cubes struct {
	Text []struct {
		Memories []kept `json:"memories"`
		Total    *int   `json:"total_nodes"`
	} `json:"text_mem"`
}

func (c cubes) hits() (hits []providers.Hit, total int) {
	total = -1
	for _, cube := range c.Text {
		for _, k := range cube.Memories {
			hits = append(hits, k.hit())
		}
		if cube.Total != nil {
			total = max(total, *cube.Total)
		}
	}
	return hits, total
}

type serverSearch struct {
	Query      string   `json:"query"`
	UserID     string   `json:"user_id"`
	Cubes      []string `json:"readable_cube_ids"`
	Mode       string   `json:"mode"`
	TopK       int      `json:"top_k"`
	Relativity float64  `json:"relativity"` // 0.45 unless sent: the router is the one who drops
	Dedup      string   `json:"dedup"`
	Preference bool     `json:"include_preference"`
	Tool       bool     `json:"search_tool_memory"`
	Skill      bool     `json:"include_skill_memory"`
}

// Search asks the vectors alone: the other modes ask a language model.
func (s *Server) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, nil
	}
	got, err := call[cubes](ctx, s.account, rest.Request{Op: "search", Path: "/product/search", Body: serverSearch{
		Query: q.Text, UserID: s.user, Cubes: []string{s.cube}, Mode: "fast", TopK: max(q.Limit, 1), Dedup: "no",
	}})
	if err != nil {
		return nil, err
	}
	hits, _ := got.hits()
	hits = dropUnnamed(hits)
	return hits[:min(len(hits), q.Limit)], nil
}

func (s *Server) page(ctx context.Context, op string, filter any, page, size int) ([]providers.Hit, int, error) {
	type ask struct {
		Cube       string `json:"mem_cube_id"`
		UserID     string `json:"user_id"`
		Preference bool   `json:"include_preference"`
		Tool       bool   `json:"include_tool_memory"`
		Skill      bool   `json:"include_skill_memory"`
		Filter     any    `json:"filter,omitempty"`
		Page       int    `json:"page"`
		Size       int    `json:"page_size"`
	}
	got, err := call[cubes](ctx, s.account, rest.Request{Op: op, Path: "/product/get_memory", Body: ask{
		Cube: s.cube, UserID: s.user, Filter: filter, Page: page, Size: size,
	}})
	if err != nil {
		return nil, 0, err
	}
	hits, total := got.hits()
	return hits, total, nil
}

// remove deletes by ids alone: with a user too the server sees two ways to
// choose, answers 200 and deletes nothing.
func (s *Server) remove(ctx context.Context, op string, ids []string) error {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	r := rest.Request{Op: op, Path: "/product/delete_memory", Mutates: true, Body: map[string][]string{"writable_cube_ids": {s.cube}, "memory_ids": ids}}
	meta, err := s.rest.Do(ctx, r, &said)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return err
	case said.Code == nil:
		return s.rest.Senseless(r, meta, "the answer has no code")
	case said.Data.Status == "failure" && !gone(said.Message):
		return &providers.Error{Provider: s.name, Op: op, Class: providers.Permanent, Status: meta.Status, RequestID: meta.RequestID, Code: "failure", Msg: said.Message}
	}
	return nil
}
