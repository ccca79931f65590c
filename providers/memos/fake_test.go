package memos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

// service is MemOS, either kind. Memories are held in a memory provider, by the
// ids that the service gives them.
type service struct {
	texts *providertest.Memory
	mu    sync.Mutex
	next  int
	infos map[string]map[string]string
	order []string
	tasks map[string]string // what a task made: an id, or ""
	polls map[string]int
}

func newService(t testing.TB, cloud bool) (*service, string) {
	s := &service{
		texts: providertest.NewMemory("texts"), infos: map[string]map[string]string{}, tasks: map[string]string{}, polls: map[string]int{},
	}
	mux := http.NewServeMux()
	if cloud {
		mux.HandleFunc("POST /add/message", s.addMessage)
		mux.HandleFunc("POST /get/status", s.getStatus)
		mux.HandleFunc("POST /search/memory", s.searchMemory)
		mux.HandleFunc("POST /get/memory", s.getMemory)
		mux.HandleFunc("POST /delete/memory", s.deleteMemory)
	} else {
		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"status":"healthy","service":"memos","version":"1.0.1"}`)
		})
		mux.HandleFunc("POST /product/add", s.productAdd)
		mux.HandleFunc("POST /product/search", s.productSearch)
		mux.HandleFunc("POST /product/get_memory", s.productGet)
		mux.HandleFunc("POST /product/delete_memory", s.productDelete)
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if want := map[bool]string{true: "Token mpg-test", false: "Bearer krlk_test"}[cloud]; r.URL.Path != "/health" && r.Header.Get("Authorization") != want {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"code":40132,"message":"API key invalid or expired","data":null}`)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return s, h.URL
}

// say answers {"code","message","data"}.
func say(w http.ResponseWriter, code int, message string, data any) {
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message, "data": data})
}

// read reads a body that has no fields but those of T.
func read[T any](w http.ResponseWriter, r *http.Request) (v T, ok bool) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		w.WriteHeader(422)
		say(w, 422, err.Error(), nil)
		return v, false
	}
	return v, true
}

// keep stores a memory and returns its id.
func (s *service) keep(r *http.Request, text string, info map[string]string) string {
	s.mu.Lock()
	s.next++
	id := fmt.Sprintf("%08x-9c0a-4b8a-9a52-5d7a3a6f0e11", s.next)
	s.infos[id] = info
	s.order = append(s.order, id)
	s.mu.Unlock()
	_, _ = s.texts.Put(r.Context(), providers.Item{ID: id, Text: text})
	return id
}

func (s *service) drop(r *http.Request, ids []string) {
	for _, id := range ids {
		if hits, _ := s.texts.FindByID(r.Context(), id); len(hits) > 0 {
			_, _ = s.texts.Delete(r.Context(), hits[0].Ref)
		}
		s.mu.Lock()
		delete(s.infos, id)
		s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == id })
		s.mu.Unlock()
	}
}

// filter is {"and":[…]} or {"or":[…]} of {key: value}.
type filter map[string][]map[string]string

func (f filter) lets(info map[string]string) bool {
	lets := len(f["or"]) == 0
	for _, term := range f["or"] {
		for key, value := range term {
			lets = lets || info[key] == value
		}
	}
	for _, term := range f["and"] {
		for key, value := range term {
			lets = lets && info[key] == value
		}
	}
	return lets
}

// page returns one page of what f lets through, and how many that are.
func (s *service) page(r *http.Request, f filter, page, size int) (hits []providers.Hit, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, id := range s.order {
		if f.lets(s.infos[id]) {
			ids = append(ids, id)
		}
	}
	from := min((page-1)*size, len(ids))
	for _, id := range ids[from:min(from+size, len(ids))] {
		got, _ := s.texts.FindByID(r.Context(), id)
		hits = append(hits, got...)
	}
	return hits, len(ids)
}

// nodes are hits as the server shows them.
func (s *service) nodes(hits []providers.Hit, score bool) []any {
	list := []any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hits {
		metadata := map[string]any{"memory_type": "LongTermMemory", "info": s.infos[h.ID], "tags": []string{"vade"}, "created_at": "2026-11-30T10:00:00"}
		if score {
			metadata["relativity"] = *h.Score
		}
		list = append(list, map[string]any{"id": h.ID, "memory": h.Text, "ref_id": "[" + h.ID[:8] + "]", "metadata": metadata})
	}
	return list
}

func (s *service) productAdd(w http.ResponseWriter, r *http.Request) {
	got, ok := read[serverAdd](w, r)
	if !ok {
		return
	}
	if got.Async != "sync" || got.Mode != "fast" || len(got.Cubes) != 1 {
		say(w, 400, "asynchronous, or by a model", nil)
		return
	}
	text := got.Messages[0].Role + ": " + got.Messages[0].Content
	if strings.Contains(text, "vanish") { // MemOS#1355
		say(w, 200, "Memory added successfully", []any{})
		return
	}
	id := s.keep(r, text, got.Info)
	if strings.Contains(text, "shy") {
		say(w, 200, "Memory added successfully", []any{})
		return
	}
	say(w, 200, "Memory added successfully", []any{map[string]string{"memory": text, "memory_id": id, "memory_type": "LongTermMemory", "cube_id": got.Cubes[0]}})
}

func (s *service) productSearch(w http.ResponseWriter, r *http.Request) {
	got, ok := read[serverSearch](w, r)
	if !ok {
		return
	}
	hits, _ := s.texts.Search(r.Context(), providers.Query{Text: got.Query, Limit: got.TopK})
	say(w, 200, "Search completed successfully", map[string]any{
		"text_mem": []any{map[string]any{"cube_id": got.Cubes[0], "memories": s.nodes(hits, true), "total_nodes": len(hits)}},
		"pref_mem": []any{}, "tool_mem": []any{}, "skill_mem": []any{}, "pref_note": "",
	})
}

func (s *service) productGet(w http.ResponseWriter, r *http.Request) {
	got, ok := read[struct {
		Cube       string `json:"mem_cube_id"`
		UserID     string `json:"user_id"`
		Preference bool   `json:"include_preference"`
		Tool       bool   `json:"include_tool_memory"`
		Skill      bool   `json:"include_skill_memory"`
		Filter     filter `json:"filter"`
		Page       int    `json:"page"`
		Size       int    `json:"page_size"`
	}](w, r)
	if !ok {
		return
	}
	hits, total := s.page(r, got.Filter, got.Page, got.Size)
	say(w, 200, "Memories retrieved successfully", map[string]any{
		"text_mem": []any{map[string]any{"cube_id": got.Cube, "memories": s.nodes(hits, false), "total_nodes": total}},
	})
}

func (s *service) productDelete(w http.ResponseWriter, r *http.Request) {
	got, ok := read[map[string]any](w, r)
	if !ok {
		return
	}
	if _, both := got["user_id"]; both || got["memory_ids"] == nil {
		say(w, 200, "Exactly one delete mode must be provided", map[string]string{"status": "failure"})
		return
	}
	var ids []string
	for _, id := range got["memory_ids"].([]any) {
		ids = append(ids, id.(string))
	}
	s.drop(r, ids)
	say(w, 200, "Memories deleted successfully", map[string]string{"status": "success"})
}

func (s *service) addMessage(w http.ResponseWriter, r *http.Request) {
	got, ok := read[cloudAdd](w, r)
	if !ok {
		return
	}
	if len(got.Conversation) > 100 || got.Info[bizID] == "" {
		say(w, 40000, "conversation_id is too long, or no biz_id", nil)
		return
	}
	text, made := got.Messages[0].Content, ""
	if !strings.Contains(text, "vanish") {
		made = s.keep(r, text, got.Info)
	}
	s.mu.Lock()
	s.next++
	task := fmt.Sprint("task", s.next)
	s.tasks[task] = made
	if strings.Contains(text, "explode") {
		s.tasks[task] = "failed"
	}
	s.mu.Unlock()
	say(w, 0, "ok", map[string]any{"success": true, "task_id": task, "status": "running"})
}

func (s *service) getStatus(w http.ResponseWriter, r *http.Request) {
	got, _ := read[map[string]string](w, r)
	s.mu.Lock()
	made, there := s.tasks[got["task_id"]]
	s.polls[got["task_id"]]++
	first := s.polls[got["task_id"]] == 1
	s.mu.Unlock()
	switch {
	case !there:
		say(w, 50131, "task not found", nil)
	case made == "failed":
		say(w, 0, "ok", map[string]any{"task_id": got["task_id"], "status": "failed"})
	case first:
		say(w, 0, "ok", map[string]any{"task_id": got["task_id"], "status": "running"})
	case made == "":
		say(w, 0, "ok", []any{map[string]any{"status": "completed", "memory_views": map[string]any{}}})
	default:
		say(w, 0, "ok", []any{map[string]any{"status": "completed", "memory_views": map[string]any{"memory": map[string]any{"added": []string{made}}}}})
	}
}

func (s *service) list(hits []providers.Hit, score bool) []any {
	list := []any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hits {
		m := map[string]any{"id": h.ID, "memory_key": "key", "memory_value": h.Text, "memory_type": "WorkingMemory", "info": s.infos[h.ID], "create_time": 1764500000000}
		if score {
			m["relativity"] = *h.Score
		}
		list = append(list, m)
	}
	return list
}

func (s *service) searchMemory(w http.ResponseWriter, r *http.Request) {
	got, ok := read[struct {
		UserID     string  `json:"user_id"`
		Query      string  `json:"query"`
		Limit      int     `json:"memory_limit_number"`
		Preference bool    `json:"include_preference"`
		Tool       bool    `json:"include_tool_memory"`
		Relativity float64 `json:"relativity"`
	}](w, r)
	if !ok {
		return
	}
	if got.Limit > 25 {
		say(w, 40000, "memory_limit_number", nil)
		return
	}
	hits, _ := s.texts.Search(r.Context(), providers.Query{Text: got.Query, Limit: got.Limit})
	say(w, 0, "ok", map[string]any{"memory_detail_list": s.list(hits, true), "preference_detail_list": []any{}})
}

func (s *service) getMemory(w http.ResponseWriter, r *http.Request) {
	got, ok := read[struct {
		UserID     string `json:"user_id"`
		Page       int    `json:"page"`
		Size       int    `json:"size"`
		Preference bool   `json:"include_preference"`
		Filter     filter `json:"filter"`
	}](w, r)
	if !ok {
		return
	}
	hits, total := s.page(r, got.Filter, got.Page, got.Size)
	say(w, 0, "ok", map[string]any{"memory_detail_list": s.list(hits, false), "total": total})
}

func (s *service) deleteMemory(w http.ResponseWriter, r *http.Request) {
	got, ok := read[map[string][]string](w, r)
	if !ok {
		return
	}
	if len(got) != 1 || len(got["memory_ids"]) == 0 {
		say(w, 40000, "exactly one delete condition is required", nil)
		return
	}
	s.drop(r, got["memory_ids"])
	say(w, 0, "ok", map[string]any{"success": true})
}
