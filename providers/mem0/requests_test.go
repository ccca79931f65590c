package mem0

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

// TestRequests: what is asked, whole. A role that is not user keeps nothing, a
// threshold that is not told hides hits, and a second id matches nothing.
func TestRequests(t *testing.T) {
	item := providertest.Item(1, "x")
	item.Expires = item.Created
	const added = `{"messages":[{"role":"user","content":"x"}],"user_id":"vade","infer":false,"expiration_date":"2026-12-01",
		"metadata":{"vault_id":"01JDZ3M8000000000000000001","vault_of":"01JDZ000000000000000000000","vault_origin":"codex",
		"vault_rev":"0000000000000000000000000000000000abc001","vault_scope":"personal:me","vault_type":"decision","vault_workspace":"github.com/acme/app"}}`
	put := func(ctx context.Context, p scoped) error { _, err := p.Put(ctx, item); return err }
	search := func(ctx context.Context, p scoped) error {
		_, err := p.Search(ctx, providers.Query{Text: "tide", Limit: 5000, Workspace: "any"})
		return err
	}
	find := func(ctx context.Context, p scoped) error { _, err := p.FindByID(ctx, "01J1"); return err }
	for _, test := range []struct {
		name, body string
		cloud      bool
		call       func(context.Context, scoped) error
	}{
		{"put", added, false, put},
		{"put", added, true, put},
		{"search", `{"query":"tide","user_id":"vade","filters":{"user_id":"vade"},"top_k":1000,"threshold":0}`, false, search},
		{"search", `{"query":"tide","filters":{"user_id":"vade"},"top_k":1000,"threshold":0}`, true, search},
		{"find", `{"query":"01J1","user_id":"vade","filters":{"user_id":"vade","vault_id":"01J1"},"top_k":200,"threshold":0,"show_expired":true}`, false, find},
		{"find", `{"filters":{"AND":[{"user_id":"vade"},{"metadata":{"vault_id":"01J1"}}]},"show_expired":true}`, true, find},
	} {
		t.Run(fmt.Sprintf("%s, cloud %v", test.name, test.cloud), func(t *testing.T) {
			var got, want any
			transport := roundTrip(func(r *http.Request) string {
				if r.Method == http.MethodPost {
					if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
						t.Error(err)
					}
				}
				return `{"results":[]}`
			})
			var p scoped = server(t, "http://localhost", Config{Transport: transport})
			if test.cloud {
				p = cloud(t, "http://localhost", Config{Transport: transport})
			}
			if err := test.call(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.body), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f(r)))}, nil
}

// TestListThatIsTooLong: what does not fit into one answer is listed in part, so
// that it can be found and purged all the same.
func TestListThatIsTooLong(t *testing.T) {
	f, url := newFake(t)
	text := strings.Repeat("tide ", 3<<10)
	for i := range 450 { // 6.6 MiB
		f.kept = append(f.kept, &fakeMemory{ID: fmt.Sprint("m", i), Memory: text, User: "vade", Metadata: map[string]any{"vault_id": fmt.Sprint(i)}})
	}
	p := server(t, url, Config{})
	if _, _, err := p.List(t.Context(), "", 10); !providers.Is(err, providers.Unsupported) {
		t.Errorf("list: %v", err)
	}
	if n, err := p.PurgeScope(t.Context()); n != 450 || err != nil || len(f.kept) > 0 {
		t.Errorf("purge: %d, %v, left %d", n, err, len(f.kept))
	}
}
