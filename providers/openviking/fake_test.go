package openviking

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

// server behaves as OpenViking does, for one user, alice, with vectors that are
// there at once. Files are held in a memory provider, by their URIs.
type server struct {
	mux      *http.ServeMux
	files    *providertest.Memory
	mu       sync.Mutex
	folders  map[string]bool
	tags     map[string][]string
	sessions map[string][]string // texts
	asked    []string            // "METHOD /path"
}

func newServer(t testing.TB) (*server, string) {
	s := &server{
		mux: http.NewServeMux(), files: providertest.NewMemory("files"),
		folders: map[string]bool{}, tags: map[string][]string{}, sessions: map[string][]string{},
	}
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"ok","healthy":true,"version":"0.4.2"}`)
	})
	s.mux.HandleFunc("GET /api/v1/fs/ls", func(w http.ResponseWriter, _ *http.Request) { ok(w, []any{}) })
	s.mux.HandleFunc("POST /api/v1/fs/mkdir", s.mkdir)
	s.mux.HandleFunc("DELETE /api/v1/fs", s.rm)
	s.mux.HandleFunc("POST /api/v1/content/batch-write", s.batchWrite)
	s.mux.HandleFunc("POST /api/v1/content/set_tags", s.setTags)
	s.mux.HandleFunc("GET /api/v1/content/read", s.read)
	s.mux.HandleFunc("POST /api/v1/search/find", s.find)
	s.mux.HandleFunc("POST /api/v1/sessions", s.session)
	s.mux.HandleFunc("POST /api/v1/sessions/{id}/messages/batch", s.messages)
	s.mux.HandleFunc("POST /api/v1/sessions/{id}/commit", s.commit)
	s.mux.HandleFunc("GET /api/v1/tasks/{id}", s.task)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	switch key := r.Header.Get("X-API-Key"); {
	case r.URL.Path == "/health", key == "user-key":
		s.mux.ServeHTTP(w, r)
	case key == "root":
		fail(w, 403, "PERMISSION_DENIED", "ROOT API keys cannot access tenant-scoped data APIs in api_key mode")
	default:
		fail(w, 401, "UNAUTHENTICATED", "invalid key "+key)
	}
}

func ok(w http.ResponseWriter, result any) {
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "result": result, "time": 0.1})
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "error", "error": map[string]any{"code": code, "message": message}})
}

// body reads a body that has no fields but those of T.
func body[T any](w http.ResponseWriter, r *http.Request) (v T, good bool) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		fail(w, 400, "INVALID_ARGUMENT", err.Error())
		return v, false
	}
	return v, true
}

// canonical is uri with the user in the place of "~".
func canonical(uri string) string {
	return strings.Replace(uri, "viking://~/", "viking://user/alice/", 1)
}

func (s *server) mkdir(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct{ URI string }](w, r)
	if !good {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folders[canonical(got.URI)] {
		fail(w, 409, "ALREADY_EXISTS", "directory exists")
		return
	}
	s.folders[canonical(got.URI)] = true
	ok(w, map[string]string{"uri": canonical(got.URI)})
}

func (s *server) rm(w http.ResponseWriter, r *http.Request) {
	uri := canonical(r.URL.Query().Get("uri"))
	for _, item := range s.files.Items() {
		if item.ID == uri || strings.HasPrefix(item.ID, uri+"/") && r.URL.Query().Get("recursive") == "true" {
			hits, _ := s.files.FindByID(r.Context(), item.ID)
			_, _ = s.files.Delete(r.Context(), hits[0].Ref)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.folders, uri)
	ok(w, map[string]string{"uri": uri})
}

func (s *server) batchWrite(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct {
		RootURI    string `json:"root_uri"`
		Operations []struct{ URI, Content, Mode string }
		Wait       bool
	}](w, r)
	root := canonical(got.RootURI)
	s.mu.Lock()
	there := s.folders[root]
	s.mu.Unlock()
	if !good || !there {
		fail(w, 404, "NOT_FOUND", "root_uri is not there")
		return
	}
	lists := map[string][]string{"created": {}, "updated": {}, "unchanged": {}}
	seen := map[string]bool{}
	for _, op := range got.Operations {
		uri := canonical(op.URI)
		if name, under := strings.CutPrefix(uri, root+"/"); !under || strings.ContainsAny(name, "/%") || seen[uri] || op.Mode != "upsert" {
			fail(w, 400, "INVALID_ARGUMENT", op.URI+": not a file of its own below the root, or no upsert")
			return
		}
		seen[uri] = true
		before, _ := s.files.FindByID(r.Context(), uri)
		kind := "created"
		if len(before) > 0 {
			kind = "updated"
			if before[0].Text == op.Content {
				kind = "unchanged"
			}
		}
		lists[kind] = append(lists[kind], uri)
		_, _ = s.files.Put(r.Context(), providers.Item{ID: uri, Text: op.Content})
	}
	ok(w, map[string]any{
		"root_uri": root, "created": lists["created"], "updated": lists["updated"], "unchanged": lists["unchanged"],
		"semantic_status": "queued", "vector_status": "queued",
	})
}

func (s *server) setTags(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct {
		URI, Mode string
		Tags      []string
	}](w, r)
	if !good {
		return
	}
	for i, tag := range got.Tags {
		got.Tags[i] = strings.ToLower(strings.TrimSpace(tag))
		if key, value, found := strings.Cut(tag, "="); !found || key == "" || value == "" {
			fail(w, 400, "INVALID_ARGUMENT", "tags are k=v: "+tag)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags[canonical(got.URI)] = got.Tags
	ok(w, map[string]any{"uri": canonical(got.URI), "tags": got.Tags, "tags_updated": true})
}

func (s *server) read(w http.ResponseWriter, r *http.Request) {
	hits, _ := s.files.FindByID(r.Context(), canonical(r.URL.Query().Get("uri")))
	if len(hits) == 0 {
		fail(w, 404, "NOT_FOUND", "no such file")
		return
	}
	ok(w, hits[0].Text)
}

func (s *server) find(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct {
		Query       string
		TargetURI   string `json:"target_uri"`
		ContextType string `json:"context_type"`
		Limit       int
		Level       int
	}](w, r)
	if !good {
		return
	}
	if !strings.HasPrefix(got.TargetURI, "viking://~/") || got.Level != 2 || got.ContextType != "memory" {
		fail(w, 400, "INVALID_URI", "use viking://~/memories")
		return
	}
	hits, _ := s.files.Search(r.Context(), providers.Query{Text: got.Query, Limit: got.Limit})
	list := []map[string]any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hits {
		list = append(list, map[string]any{
			"context_type": "memory", "uri": h.ID, "level": 2, "score": *h.Score, "abstract": h.Text, "tags": s.tags[h.ID],
		})
	}
	ok(w, map[string]any{"memories": list, "resources": []any{}, "skills": []any{}, "total": len(list)})
}

func (s *server) session(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct {
		SessionID string `json:"session_id"`
	}](w, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.sessions[got.SessionID]; !good || there || got.SessionID != url.PathEscape(got.SessionID) {
		fail(w, 409, "ALREADY_EXISTS", "session "+got.SessionID)
		return
	}
	s.sessions[got.SessionID] = nil
	ok(w, map[string]string{"session_id": got.SessionID})
}

func (s *server) messages(w http.ResponseWriter, r *http.Request) {
	got, good := body[struct {
		Messages []struct{ Role, Content string }
	}](w, r)
	if !good {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range got.Messages {
		s.sessions[r.PathValue("id")] = append(s.sessions[r.PathValue("id")], m.Content)
	}
	ok(w, map[string]any{"session_id": r.PathValue("id"), "message_count": len(got.Messages), "added": len(got.Messages)})
}

func (s *server) commit(w http.ResponseWriter, r *http.Request) {
	ok(w, map[string]any{"session_id": r.PathValue("id"), "status": "accepted", "task_id": r.PathValue("id"), "archived": true})
}

// task extracts what was said, in the server's own words, the second time that
// it is asked; of what is "small talk", nothing.
func (s *server) task(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	texts, asked := s.sessions[id], 0
	for _, a := range s.asked {
		if a == "GET /api/v1/tasks/"+id {
			asked++
		}
	}
	s.mu.Unlock()
	switch {
	case texts == nil:
		fail(w, 404, "NOT_FOUND", "task")
		return
	case asked < 2:
		ok(w, map[string]any{"task_id": id, "status": "running"})
		return
	case strings.Contains(texts[0], "explode"):
		ok(w, map[string]any{"task_id": id, "status": "failed", "error": "the model is on fire"})
		return
	}
	kinds := map[string]int{}
	for i, text := range texts {
		if text != "small talk" {
			kinds["events"]++
			_, _ = s.files.Put(r.Context(), providers.Item{ID: fmt.Sprintf("viking://user/alice/memories/events/%s-%d.md", id, i), Text: "It was said: " + text})
		}
	}
	ok(w, map[string]any{"task_id": id, "task_type": "session_commit", "status": "completed", "result": map[string]any{"memories_extracted": kinds}})
}

// count is how often a request was made.
func (s *server) count(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.asked), func(a string) bool { return a != request }))
}
