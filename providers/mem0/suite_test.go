package mem0

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

func server(t testing.TB, url string, c Config) *Server {
	t.Helper()
	c.BaseURL, c.Key = url, "key"
	s, err := NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func cloud(t testing.TB, url string, c Config) *Cloud {
	t.Helper()
	c.BaseURL, c.Key = url, "key"
	p, err := NewCloud(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSuite(t *testing.T) {
	for name, prepare := range map[string]func(*fake, *Config){
		"word for word": func(*fake, *Config) {},
		"extracted":     func(_ *fake, c *Config) { c.Infer = true },
		"bare lists":    func(f *fake, _ *Config) { f.bare = true },
		"unscored":      func(_ *fake, c *Config) { c.Score = providers.Unscored },
		"similar only":  func(f *fake, _ *Config) { f.drops = true },
	} {
		t.Run(name+"/server", func(t *testing.T) {
			providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
				f, url := newFake(t)
				c := Config{}
				prepare(f, &c)
				return server(t, url, c)
			}})
		})
		t.Run(name+"/cloud", func(t *testing.T) {
			providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
				f, url := newFake(t)
				c := Config{}
				prepare(f, &c)
				return cloud(t, url, c)
			}})
		})
	}
}

const (
	uuid       = "5c9a417c-c08f-4a15-82f2-ee6f128f37ea"
	goodSearch = `{"results":[{"id":"` + uuid + `","memory":"the tide is high","score":0.4,"metadata":{"vault_id":"01J1","n":3}}]}`
	withScore  = `{"results":[{"id":"` + uuid + `","memory":"the tide is high","score":%s,"metadata":null}]}`
	goodDelete = `{"message":"Memory deleted successfully"}`
)

func TestFaultsOfServer(t *testing.T) {
	t.Parallel()
	providertest.Faults(t, providertest.FaultConfig{
		New: func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
			return server(t, url, Config{Transport: transport})
		},
		Search: goodSearch, ScoreAnswer: withScore, Delete: goodDelete, Ref: uuid, Health: `{"results":[]}`,
		Put: `{"results":[{"id":"` + uuid + `","memory":"the tide is high","event":"ADD","actor_id":null,"role":"user"}]}`,
	})
}

func TestFaultsOfCloud(t *testing.T) {
	t.Parallel()
	providertest.Faults(t, providertest.FaultConfig{
		New: func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
			return cloud(t, url, Config{Transport: transport})
		},
		Search: goodSearch, ScoreAnswer: withScore, Delete: goodDelete, Ref: uuid, Health: `{"status":"ok"}`,
		Put: `{"event_id":"` + uuid + `","status":"SUCCEEDED","results":[{"id":"` + uuid + `","event":"ADD","data":{"memory":"the tide is high"}}]}`,
		InOK: map[providers.Class]string{
			providers.Permanent: `{"event_id":"` + uuid + `","status":"FAILED","error":"extraction failed"}`,
		},
	})
}

func BenchmarkServer(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider { return server(b, answering(b), Config{MaxItemBytes: 4 << 20}) })
}

func BenchmarkCloud(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider { return cloud(b, answering(b), Config{MaxItemBytes: 4 << 20}) })
}

// answering is a server that takes everything and keeps nothing, so that what
// is measured is the adapter and loopback.
func answering(b *testing.B) string {
	b.Helper()
	var list []string
	for i := range 5 {
		list = append(list, fmt.Sprintf(`{"id":"%s%d","memory":"The harbour opens at seven","score":0.4,"metadata":{"vault_id":"01J%d"}}`, uuid, i, i))
	}
	found := `{"results":[` + strings.Join(list, ",") + `]}`
	return loopback(b, func(r *http.Request) string {
		if strings.Contains(r.URL.Path, "search") {
			return found
		}
		return `{"status":"SUCCEEDED","results":[{"id":"` + uuid + `","event":"ADD"}]}`
	})
}
