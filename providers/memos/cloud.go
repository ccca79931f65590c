package memos

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Cloud is MemOS Cloud.
type Cloud struct{ *account }

var (
	_ providers.Deleter   = (*Cloud)(nil)
	_ providers.Resolver  = (*Cloud)(nil)
	_ providers.Finder    = (*Cloud)(nil)
	_ providers.Lister    = (*Cloud)(nil)
	_ providers.Purger    = (*Cloud)(nil)
	_ providers.Closer    = (*Cloud)(nil)
	_ providers.Describer = (*Cloud)(nil)
)

// cloudURL is that of mainland China, the one in the documentation.
const cloudURL = "https://memos.memtensor.cn/api/openmem/v1"

// NewCloud returns the provider of an account in the cloud. It connects to nothing.
func NewCloud(c Config) (*Cloud, error) {
	c.Name, c.BaseURL = cmp.Or(c.Name, "memos-cloud"), cmp.Or(c.BaseURL, cloudURL)
	a, err := newAccount(c, "Token", classifyCloud)
	if err != nil {
		return nil, err
	}
	cloud := &Cloud{a}
	a.api, a.idKey = cloud, bizID
	return cloud, nil
}

// Properties: the cloud takes a memory in and refines it later, in its own words.
func (c *Cloud) Properties() providers.Properties {
	return providers.Properties{
		Kind: "memos-cloud", Delete: true, Resolve: true, Find: true, List: true, Close: true, PurgeAll: true,
		Async: true, Attribution: true,
		Score: providers.Similarity, MaxItemBytes: maxItemBytes, MaxLimit: 25,
	}
}

// noTask is the code of a task that the cloud does not know, or not any more.
const noTask = "50131"

// classifyCloud reads the code (memos-docs.openmem.net, error codes); 0 is well.
func classifyCloud(e *providers.Error, _ int, _ http.Header, body []byte) {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code == nil || *said.Code == 0 {
		return
	}
	e.Code, e.Msg = strconv.Itoa(*said.Code), said.Message
	switch code := *said.Code; {
	case code == 40100 || code == 40130 || code == 40132:
		e.Class = providers.Auth
	case code == 40304: // the account's quota, which is used up for long
		e.Class, e.RetryAfter = providers.RateLimited, time.Hour
	case code >= 40300 && code <= 40302:
		e.Class, e.RetryAfter = providers.RateLimited, max(e.RetryAfter, 5*time.Second)
	case e.Code == noTask:
		e.Class = providers.Permanent
	case code >= 50000 && code < 60000:
		e.Class = providers.Retryable
	case e.Class == "":
		e.Class = providers.Permanent
	}
}

// Health asks whether the cloud takes our key.
func (c *Cloud) Health(ctx context.Context) (providers.Health, error) {
	_, _, err := c.page(ctx, "health", nil, 1, 1)
	return providers.Health{Warnings: []string{}}, err
}

// Keys of info that the cloud has an index of.
const (
	bizID    = "biz_id"
	scene    = "scene"
	business = "business_type"
)

type cloudAdd struct {
	UserID       string            `json:"user_id"`
	Conversation string            `json:"conversation_id"`
	Messages     []message         `json:"messages"`
	Info         map[string]string `json:"info"` // what is under "metadata" is dropped
	Tags         []string          `json:"tags"`
	Async        bool              `json:"async_mode"`
	Source       string            `json:"source"`
}

// Put hands over item in a conversation of its own, so that it is not merged
// with others. The handle says what to ask for afterwards, see asked.
func (c *Cloud) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	meta := item.Metadata()
	for key, from := range map[string]string{bizID: providers.MetaID, scene: providers.MetaScope, business: providers.MetaType} {
		if meta[from] != "" {
			meta[key] = meta[from]
		}
	}
	r := rest.Request{Op: "put", Path: "/add/message", Mutates: true, Body: cloudAdd{
		UserID: c.user, Conversation: conversation(&item), Messages: []message{{"user", item.Text}},
		Info: meta, Tags: []string{"vade"}, Async: true, Source: "vade",
	}}
	got, err := call[struct {
		Success *bool  `json:"success"`
		TaskID  string `json:"task_id"`
		Status  string `json:"status"`
	}](ctx, c.account, r)
	switch {
	case err != nil:
		return providers.Receipt{}, err
	case got.Success != nil && !*got.Success || got.Status == "failed":
		return providers.Receipt{}, c.failed("put", got.TaskID)
	case got.TaskID == "":
		return providers.Receipt{}, c.rest.Senseless(r, rest.Meta{Status: http.StatusOK}, "the answer names no task")
	}
	return providers.Receipt{State: journal.Accepted, Handle: asked{got.TaskID, string(item.Version), item.Part, item.ID}.handle()}, nil
}

func (c *Cloud) failed(op, task string) error {
	return &providers.Error{Provider: c.name, Op: op, Class: providers.Permanent, Code: "failed", Msg: "the cloud could make nothing of it (task " + task + ")"}
}

// conversation names item in at most 100 bytes.
func conversation(item *providers.Item) string {
	name := item.Key()
	if len(name) > 100 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return name
}

// asked is what a handle has: the task, and which item it was given.
type asked struct {
	task    string
	version string
	part    int
	id      string
}

func (a asked) handle() string { return fmt.Sprintf("%s %s %d %s", a.task, a.version, a.part, a.id) }

func parseHandle(handle string) asked {
	fields := append(strings.SplitN(handle, " ", 4), "", "", "")
	part, _ := strconv.Atoi(fields[2])
	return asked{fields[0], fields[1], part, fields[3]}
}

// task is the state of one; memory_views lists what came of it.
type task struct {
	Status string `json:"status"`
	Views  struct {
		Memory struct {
			Added   []string `json:"added"`
			Updated []string `json:"updated"`
		} `json:"memory"`
	} `json:"memory_views"`
}

// tasks is one of them, or a list of one.
type tasks []task

// UnmarshalJSON implements json.Unmarshaler.
func (t *tasks) UnmarshalJSON(raw []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		var list []task
		err := json.Unmarshal(raw, &list)
		*t = list
		return err
	}
	var one task
	err := json.Unmarshal(raw, &one)
	*t = tasks{one}
	return err
}

// Resolve asks for the task. One that is complete and names no memory has kept
// it only if the memory is found by its id.
func (c *Cloud) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	if r.State != journal.Accepted || r.Handle == "" {
		return r, nil
	}
	about := parseHandle(r.Handle)
	got, err := call[tasks](ctx, c.account, rest.Request{Op: "resolve", Path: "/get/status", Body: map[string]string{"task_id": about.task}})
	if forgotten(err) { // tasks are not kept for ever: the memory may be there all the same
		if kept, lookErr := c.look(ctx, r, about); lookErr != nil || kept.State == journal.Stored {
			return kept, lookErr
		}
	}
	if err != nil || len(got) == 0 {
		return r, err
	}
	switch got[0].Status {
	case "completed":
	case "failed":
		return r, c.failed("resolve", about.task)
	default:
		return r, nil
	}
	made := got[0].Views.Memory
	for _, id := range append(made.Added, made.Updated...) {
		r.Refs = append(r.Refs, providers.Ref(id))
	}
	if len(r.Refs) == 0 {
		return c.look(ctx, r, about)
	}
	r.State = journal.Stored
	return r, nil
}

// forgotten reports whether err says that there is no such task.
func forgotten(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Code == noTask
}

// look asks whether the item is there: another version of it does not count.
func (c *Cloud) look(ctx context.Context, r providers.Receipt, about asked) (providers.Receipt, error) {
	var hits []providers.Hit
	if about.id != "" {
		var err error
		if hits, err = c.FindByID(ctx, about.id); err != nil {
			return r, err
		}
	}
	for _, h := range hits {
		if string(h.Version) == about.version && h.Part == about.part {
			r.Refs = append(r.Refs, h.Ref)
		}
	}
	if r.State = journal.Stored; len(r.Refs) == 0 {
		r.State, r.Note = journal.Empty, "the cloud found nothing in it worth a memory"
	}
	return r, nil
}

// detail is a memory as the cloud gives it.
type detail struct {
	ID         string     `json:"id"`
	Value      string     `json:"memory_value"`
	Relativity rest.Score `json:"relativity"`
	Info       info       `json:"info"`
	Created    moment     `json:"create_time"`
}

func (d *detail) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(d.ID), Text: d.Value, Score: d.Relativity.Value, Created: d.Created.Time}
	h.Identify(d.Info.texts())
	return h
}

// details are the memories of a search or a page.
type details struct {
	List  []detail `json:"memory_detail_list"`
	Total *int     `json:"total"`
}

func (d details) hits() []providers.Hit {
	var hits []providers.Hit
	for _, m := range d.List {
		hits = append(hits, m.hit())
	}
	return hits
}

// Search asks for memories alone, and for all of them: the router is the one
// who drops what is not relevant.
func (c *Cloud) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, nil
	}
	type ask struct {
		UserID     string  `json:"user_id"` // and no agent_id: exactly one
		Query      string  `json:"query"`
		Limit      int     `json:"memory_limit_number"`
		Preference bool    `json:"include_preference"`
		Tool       bool    `json:"include_tool_memory"`
		Relativity float64 `json:"relativity"`
	}
	got, err := call[details](ctx, c.account, rest.Request{Op: "search", Path: "/search/memory", Body: ask{
		UserID: c.user, Query: q.Text, Limit: min(max(q.Limit, 1), 25),
	}})
	if err != nil {
		return nil, err
	}
	hits := dropUnnamed(got.hits())
	return hits[:min(len(hits), q.Limit)], nil
}

func (c *Cloud) page(ctx context.Context, op string, filter any, page, size int) ([]providers.Hit, int, error) {
	type ask struct {
		UserID     string `json:"user_id"`
		Page       int    `json:"page"`
		Size       int    `json:"size"`
		Preference bool   `json:"include_preference"`
		Filter     any    `json:"filter,omitempty"`
	}
	got, err := call[details](ctx, c.account, rest.Request{Op: op, Path: "/get/memory", Body: ask{
		UserID: c.user, Page: page, Size: size, Filter: filter,
	}})
	if err != nil {
		return nil, 0, err
	}
	total := -1
	if got.Total != nil {
		total = *got.Total
	}
	return got.hits(), total, nil
}

// remove deletes by ids alone: exactly one condition is allowed.
func (c *Cloud) remove(ctx context.Context, op string, ids []string) error {
	got, err := call[struct {
		Success *bool `json:"success"`
	}](ctx, c.account, rest.Request{Op: op, Path: "/delete/memory", Mutates: true, Body: map[string][]string{"memory_ids": ids}})
	if missing(err) {
		return nil
	}
	if err == nil && got.Success != nil && !*got.Success {
		err = &providers.Error{Provider: c.name, Op: op, Class: providers.Permanent, Msg: "the cloud says that it did not delete it"}
	}
	return err
}
