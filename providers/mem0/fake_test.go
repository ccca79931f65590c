package mem0

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake behaves as both services do. Its model extracts a text as it is, once.
type fake struct {
	mux *http.ServeMux

	mu     sync.Mutex
	next   int
	kept   []*fakeMemory
	events map[string][]*fakeMemory // that are not done yet
	drops  bool                     // a search leaves out what is not similar at all
	bare   bool                     // lists are bare, as with old servers
	keeps  bool                     // it says that it deletes, and does not
	asked  []string
}

type fakeMemory struct {
	ID       string         `json:"id"`
	Memory   string         `json:"memory"`
	Metadata map[string]any `json:"metadata"`
	User     string         `json:"user_id"`
	Created  string         `json:"created_at"`
	Expires  string         `json:"expiration_date"`
	Score    *float64       `json:"score,omitempty"`
}

func newFake(t testing.TB) (*fake, string) {
	f := &fake{mux: http.NewServeMux(), events: map[string][]*fakeMemory{}}
	f.mux.HandleFunc("POST /memories", f.addToServer)
	f.mux.HandleFunc("GET /memories", f.listServer)
	f.mux.HandleFunc("POST /search", f.searchServer)
	f.mux.HandleFunc("DELETE /memories/{id}", f.remove)
	f.mux.HandleFunc("GET /v1/ping/{$}", func(w http.ResponseWriter, _ *http.Request) { say(w, 200, map[string]any{"status": "ok"}) })
	f.mux.HandleFunc("POST /v3/memories/add/{$}", f.addToCloud)
	f.mux.HandleFunc("POST /v3/memories/search/{$}", f.searchCloud)
	f.mux.HandleFunc("POST /v3/memories/{$}", f.listCloud)
	f.mux.HandleFunc("GET /v1/event/{id}/{$}", f.event)
	f.mux.HandleFunc("DELETE /v1/memories/{id}/{$}", f.remove)
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	cloud := strings.HasPrefix(r.URL.Path, "/v")
	if cloud && r.Header.Get("Authorization") != "Token key" || !cloud && r.Header.Get("X-API-Key") != "key" {
		say(w, 401, map[string]any{"detail": "Invalid API key."})
		return
	}
	f.mux.ServeHTTP(w, r)
}

func say(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// read decodes a body that has no fields but those of T.
func read[T any](w http.ResponseWriter, r *http.Request) (v T, ok bool) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		say(w, 400, map[string]any{"detail": err.Error()})
		return v, false
	}
	return v, true
}

type fakeAddition struct {
	Messages []message      `json:"messages"`
	User     string         `json:"user_id"`
	Metadata map[string]any `json:"metadata"`
	Infer    *bool          `json:"infer"`
	Expires  string         `json:"expiration_date"`
}

func (f *fake) add(a fakeAddition) []*fakeMemory {
	var made []*fakeMemory
	for _, m := range a.Messages {
		same := func(k *fakeMemory) bool { return k.Memory == m.Content && k.User == a.User }
		if (a.Infer == nil || *a.Infer) && slices.ContainsFunc(f.kept, same) {
			continue
		}
		f.next++
		made = append(made, &fakeMemory{
			ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", f.next), Memory: m.Content, Metadata: a.Metadata, User: a.User,
			Created: time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC).Format(time.RFC3339), Expires: a.Expires,
		})
	}
	return made
}

func (f *fake) addToServer(w http.ResponseWriter, r *http.Request) {
	a, ok := read[fakeAddition](w, r)
	if !ok {
		return
	}
	made, results := f.add(a), []map[string]any{}
	f.kept = append(f.kept, made...)
	for _, m := range made {
		results = append(results, map[string]any{"id": m.ID, "memory": m.Memory, "event": "ADD", "role": "user", "actor_id": nil})
	}
	say(w, 200, map[string]any{"results": results})
}

func (f *fake) addToCloud(w http.ResponseWriter, r *http.Request) {
	a, ok := read[fakeAddition](w, r)
	if !ok {
		return
	}
	made := f.add(a)
	f.next++
	id := fmt.Sprintf("00000000-0000-4000-9000-%012d", f.next)
	if a.Infer == nil || *a.Infer {
		f.events[id] = made
		say(w, 200, map[string]any{"event_id": id, "status": "PENDING"})
		return
	}
	f.kept = append(f.kept, made...)
	say(w, 200, map[string]any{"event_id": id, "status": "SUCCEEDED", "results": results(made)})
}

func results(made []*fakeMemory) []map[string]any {
	list := []map[string]any{}
	for _, m := range made {
		list = append(list, map[string]any{"id": m.ID, "event": "ADD", "data": map[string]any{"memory": m.Memory}})
	}
	return list
}

// event is running when it is asked for the first time, and done the second.
func (f *fake) event(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	made, ok := f.events[id]
	key := "GET " + r.URL.Path
	switch first := slices.Index(f.asked, key) == len(f.asked)-1; {
	case !ok:
		say(w, 404, map[string]any{"error": "Event not found!"})
	case first:
		say(w, 200, map[string]any{"id": id, "status": "RUNNING", "results": []any{}})
	default:
		f.kept = append(f.kept, made...)
		say(w, 200, map[string]any{"id": id, "status": "SUCCEEDED", "results": results(made)})
	}
}

// matches are what has user and all of metadata, by how many words of query it
// has.
func (f *fake) matches(user, query string, metadata map[string]any) []*fakeMemory {
	list := []*fakeMemory{}
	words := strings.Fields(strings.ToLower(query))
	for _, m := range f.kept {
		has, n := m.User == user, 0
		for key, value := range metadata {
			has = has && m.Metadata[key] == value
		}
		for _, word := range words {
			if strings.Contains(strings.ToLower(m.Memory), word) {
				n++
			}
		}
		if has && (n > 0 || !f.drops || query == "") {
			c, score := *m, float64(n)/float64(max(len(words), 1))
			c.Score = &score
			list = append(list, &c)
		}
	}
	slices.SortStableFunc(list, func(a, b *fakeMemory) int { return cmp.Compare(*b.Score, *a.Score) })
	return list
}

func (f *fake) answer(w http.ResponseWriter, list []*fakeMemory) {
	if f.bare {
		say(w, 200, list)
		return
	}
	say(w, 200, map[string]any{"results": list})
}

func (f *fake) searchServer(w http.ResponseWriter, r *http.Request) {
	q, ok := read[struct {
		Query     string         `json:"query"`
		User      string         `json:"user_id"`
		Filters   map[string]any `json:"filters"`
		Limit     int            `json:"top_k"`
		Threshold *float64       `json:"threshold"`
		Expired   bool           `json:"show_expired"`
	}](w, r)
	if !ok {
		return
	}
	if q.Threshold == nil || *q.Threshold != 0 || q.User == "" || q.Filters["user_id"] != q.User {
		say(w, 500, map[string]any{"detail": "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."})
		return
	}
	delete(q.Filters, "user_id")
	list := f.matches(q.User, q.Query, q.Filters)
	f.answer(w, list[:min(len(list), q.Limit)])
}

func (f *fake) listServer(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("top_k"))
	list := f.matches(r.URL.Query().Get("user_id"), "", nil)
	f.answer(w, list[:min(len(list), n)])
}

// scope reads a filter of the cloud.
func scope(w http.ResponseWriter, filters map[string]any) (user string, metadata map[string]any, ok bool) {
	conditions := []any{filters}
	if and, ok := filters["AND"].([]any); ok {
		conditions = and
	}
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		for key := range c {
			if key != "user_id" && key != "metadata" {
				say(w, 400, map[string]any{"error": "invalid filter " + key})
				return "", nil, false
			}
		}
		if u, ok := c["user_id"].(string); ok {
			user = u
		}
		if m, ok := c["metadata"].(map[string]any); ok {
			metadata = m
		}
	}
	if user == "" {
		say(w, 400, map[string]any{"error": "filters need an entity id"})
	}
	return user, metadata, user != ""
}

func (f *fake) searchCloud(w http.ResponseWriter, r *http.Request) {
	q, ok := read[struct {
		Query     string         `json:"query"`
		Filters   map[string]any `json:"filters"`
		Limit     int            `json:"top_k"`
		Threshold float64        `json:"threshold"`
	}](w, r)
	if !ok {
		return
	}
	if user, metadata, ok := scope(w, q.Filters); ok {
		list := f.matches(user, q.Query, metadata)
		f.answer(w, list[:min(len(list), q.Limit)])
	}
}

func (f *fake) listCloud(w http.ResponseWriter, r *http.Request) {
	q, ok := read[struct {
		Filters map[string]any `json:"filters"`
		Expired bool           `json:"show_expired"`
	}](w, r)
	if !ok {
		return
	}
	user, metadata, ok := scope(w, q.Filters)
	if !ok {
		return
	}
	query := r.URL.Query()
	page, _ := strconv.Atoi(query.Get("page"))
	size, _ := strconv.Atoi(query.Get("page_size"))
	list := f.matches(user, "", metadata)
	from := min((page-1)*size, len(list))
	to := min(from+size, len(list))
	answer := map[string]any{"count": len(list), "next": nil, "previous": nil, "results": list[from:to]}
	if to < len(list) {
		next := url.Values{"page": {strconv.Itoa(page + 1)}}
		answer["next"] = "https://api.mem0.ai/v3/memories/?" + next.Encode()
	}
	say(w, 200, answer)
}

func (f *fake) remove(w http.ResponseWriter, r *http.Request) {
	at := slices.IndexFunc(f.kept, func(m *fakeMemory) bool { return m.ID == r.PathValue("id") })
	if at < 0 {
		say(w, 404, map[string]any{"detail": "Memory with ID " + r.PathValue("id") + " not found"})
		return
	}
	if !f.keeps {
		f.kept = slices.Delete(f.kept, at, at+1)
	}
	say(w, 200, map[string]any{"message": "Memory deleted successfully"})
}
