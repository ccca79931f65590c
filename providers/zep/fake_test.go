package zep

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

// service behaves as Zep does, in both dialects: a user or graph must be made,
// episodes are processed when they are asked after, and are found then. It has
// one of them, whatever it is called; of v4 its UUID is graphUUID.
type service struct {
	texts *providertest.Memory // by UUID; what is processed
	mu    sync.Mutex
	about map[string]any // of the user or graph; nil: there is none
	made  int
	n     int
	list  []episode
	// strange: the user that is not there yet is forbidden, not missing.
	strange bool
}

const graphUUID = "11111111-2222-3333-4444-555555555555"

func newService(t testing.TB) (*service, string) {
	s := &service{texts: providertest.NewMemory("texts")}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /projects/info", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"project":{"name":"p"}}`) })
	for _, path := range []string{"POST /graph/create", "POST /users"} {
		mux.HandleFunc(path, s.create)
	}
	for _, path := range []string{"/graph/{id}", "/users/{id}"} {
		mux.HandleFunc("GET "+path, s.show)
		mux.HandleFunc("DELETE "+path, s.drop)
	}
	for _, path := range []string{"POST /graph", "POST /graphs/{graph}/episodes"} {
		mux.HandleFunc(path, s.add)
	}
	for _, path := range []string{"POST /graph/search", "POST /graphs/{graph}/search/episodes"} {
		mux.HandleFunc(path, s.search)
	}
	for _, path := range []string{"/graph/episodes/{uuid}", "/graphs/{graph}/episodes/{uuid}"} {
		mux.HandleFunc("GET "+path, s.get)
		mux.HandleFunc("DELETE "+path, s.remove)
	}
	for _, path := range []string{"POST /graph/episodes/{kind}/{id}", "POST /graphs/{graph}/episodes/list"} {
		mux.HandleFunc(path, s.page)
	}
	for _, path := range []string{"POST /users/lookup", "POST /graphs/lookup"} {
		mux.HandleFunc(path, s.lookup)
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Authorization") != "Api-Key z_test" {
			say(w, http.StatusUnauthorized, "unauthorized")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return s, h.URL
}

func say(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// there answers for what is not there.
func (s *service) there(w http.ResponseWriter, r *http.Request) bool {
	if g := r.PathValue("graph"); g != "" && g != graphUUID {
		say(w, http.StatusBadRequest, `invalid_identifier`)
		return false
	}
	if s.about == nil {
		say(w, map[bool]int{true: http.StatusForbidden, false: http.StatusNotFound}[s.strange], "not found")
	}
	return s.about != nil
}

func (s *service) create(w http.ResponseWriter, r *http.Request) {
	about := map[string]any{}
	if json.NewDecoder(r.Body).Decode(&about) != nil || s.about != nil {
		say(w, http.StatusBadRequest, "it exists")
		return
	}
	s.about, s.made = about, s.made+1
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{}`)
}

func (s *service) show(w http.ResponseWriter, r *http.Request) {
	if s.there(w, r) {
		_ = json.NewEncoder(w).Encode(s.about)
	}
}

func (s *service) drop(w http.ResponseWriter, r *http.Request) {
	if s.there(w, r) {
		s.about, s.list = nil, nil
		_, _ = s.texts.PurgeScope(r.Context())
		say(w, http.StatusOK, "deleted")
	}
}

func (s *service) lookup(w http.ResponseWriter, r *http.Request) {
	if s.there(w, r) {
		fmt.Fprintf(w, `{"uuid":%q}`, graphUUID)
	}
}

func (s *service) add(w http.ResponseWriter, r *http.Request) {
	var body struct {
		whose
		Data, Type  string
		Metadata    map[string]any
		Description string `json:"source_description"`
		CreatedAt   string `json:"created_at"`
		Time        string `json:"reference_time"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	v4 := r.PathValue("graph") != ""
	if d.Decode(&body) != nil || (body.GraphID == "") == (body.UserID == "") && !v4 || len(body.Metadata) > 10 || len([]rune(body.Data)) > 10_000 {
		say(w, http.StatusBadRequest, "bad request")
		return
	}
	if !s.there(w, r) {
		return
	}
	s.n++
	e := episode{UUID: fmt.Sprint("e", s.n), Content: body.Data, Metadata: body.Metadata}
	s.list = append(s.list, e)
	w.WriteHeader(http.StatusAccepted)
	answer := any(plainOf(e))
	if v4 {
		answer = map[string]any{"episode": answer, "task": map[string]string{"uuid": "t1", "status": "pending"}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// plainOf is e as the service sends it.
func plainOf(e episode) map[string]any {
	return map[string]any{"uuid": e.UUID, "content": e.Content, "metadata": e.Metadata, "processed": e.Processed, "created_at": "2026-11-01T10:00:00Z"}
}

func (s *service) find(uuid string) int {
	return slices.IndexFunc(s.list, func(e episode) bool { return e.UUID == uuid })
}

func (s *service) search(w http.ResponseWriter, r *http.Request) {
	var q struct {
		whose
		Query, Scope, Reranker string
		Limit                  int
	}
	key := "episodes"
	bad := json.NewDecoder(r.Body).Decode(&q) != nil
	if size := r.URL.Query().Get("page_size"); size != "" {
		q.Limit, _ = strconv.Atoi(size)
		key, q.Scope = "items", "episodes"
	}
	if bad || q.Limit > maxLimit || q.Limit < 1 || q.Scope != "episodes" || len([]rune(q.Query)) > maxQuery {
		say(w, http.StatusBadRequest, "bad request")
		return
	}
	if !s.there(w, r) {
		return
	}
	hits, _ := s.texts.Search(r.Context(), providers.Query{Text: q.Query, Limit: q.Limit})
	var list []any
	for i, h := range hits {
		e := plainOf(s.list[s.find(h.ID)])
		if e["score"] = i + 1; q.Reranker == "cross_encoder" {
			e["score"], e["relevance"] = 0.9, *h.Score
		}
		list = append(list, e)
	}
	answer := map[string]any{}
	if len(list) > 0 { // what is empty is absent
		answer[key] = list
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *service) get(w http.ResponseWriter, r *http.Request) {
	i := s.find(r.PathValue("uuid"))
	if i < 0 {
		say(w, http.StatusNotFound, "episode not found")
		return
	}
	_ = json.NewEncoder(w).Encode(plainOf(s.list[i]))
	s.list[i].Processed = true // the next time that it is asked
	_, _ = s.texts.Put(r.Context(), providers.Item{ID: s.list[i].UUID, Text: s.list[i].Content})
}

func (s *service) remove(w http.ResponseWriter, r *http.Request) {
	i := s.find(r.PathValue("uuid"))
	if i < 0 {
		say(w, http.StatusNotFound, "episode not found")
		return
	}
	if hits, _ := s.texts.FindByID(r.Context(), s.list[i].UUID); len(hits) > 0 {
		_, _ = s.texts.Delete(r.Context(), hits[0].Ref)
	}
	s.list = slices.Delete(s.list, i, i+1)
	say(w, http.StatusOK, "Episode deleted")
}

func (s *service) page(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Cursor, Direction string
		Limit             int
		V3                *filters            `json:"episode_metadata_filters"`
		V4                map[string]*filters `json:"filters"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		say(w, http.StatusBadRequest, err.Error())
		return
	}
	if !s.there(w, r) {
		return
	}
	v4 := r.PathValue("graph") != ""
	f := q.V3
	if v4 {
		q.Cursor, f = r.URL.Query().Get("cursor"), q.V4["metadata_filters"]
		q.Limit, _ = strconv.Atoi(r.URL.Query().Get("page_size"))
	}
	list, next := []any{}, ""
	from, _ := strconv.Atoi(q.Cursor)
	for i := from; i < len(s.list); i++ {
		if len(list) == q.Limit {
			next = strconv.Itoa(i)
			break
		}
		if f == nil || slices.ContainsFunc(f.Filters, func(f filter) bool { return s.list[i].Metadata[f.Property] == f.Value }) {
			list = append(list, plainOf(s.list[i]))
		}
	}
	if v4 {
		_ = json.NewEncoder(w).Encode(map[string]any{"items": list, "next_cursor": next})
		return
	}
	if next != "" {
		w.Header().Set("Zep-Next-Cursor", next)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"episodes": list})
}

// names are the ids of what is kept, for people.
func (s *service) names() string {
	var list []string
	for _, e := range s.list {
		id, _ := e.Metadata[providers.MetaID].(string)
		list = append(list, id)
	}
	return strings.Join(list, " ")
}
