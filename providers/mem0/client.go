package mem0

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// Config says which service, and as whom.
type Config struct {
	Name    string // "" is "mem0" or "mem0-cloud"
	BaseURL string // "" is http://localhost:8888 or https://api.mem0.ai
	Key     rest.Secret
	// User is the user_id that everything is put under, without spaces; "" is "vade".
	User string
	// Infer has the service extract facts instead of keeping the text.
	Infer bool
	// Score says what the scores mean. "" is similarity at the cloud, and rank
	// at a server, of which old ones return a distance there (mem0#3144) and some
	// the same for everything (mem0#4999), but all the best first.
	Score providers.ScoreKind
	// MaxItemBytes is how much text the service's embedding model takes; 0 is 16
	// KiB, below the 8,191 tokens of OpenAI's also where a character is more than
	// one token.
	MaxItemBytes int
	// AllowInsecure lets http go to other machines.
	AllowInsecure bool
	Transport     http.RoundTripper // a seam for tests; nil: one of our own
}

const (
	maxItemBytes = 16 << 10
	maxLimit     = 1000 // of top_k
)

// client is what both dialects share.
type client struct {
	Config
	rest *rest.Client
}

func newClient(c Config, header map[string]rest.Secret) (*client, error) {
	c.User, c.MaxItemBytes = cmp.Or(c.User, "vade"), cmp.Or(c.MaxItemBytes, maxItemBytes)
	if strings.ContainsFunc(c.User, func(r rune) bool { return r <= ' ' }) {
		return nil, fmt.Errorf("provider %s: the user %q has a space, which the service refuses", c.Name, c.User)
	}
	switch c.Score {
	case providers.Similarity, providers.Distance, providers.Ordinal, providers.Unscored:
	default:
		return nil, fmt.Errorf("provider %s: score %q is none of similarity, distance, rank and none", c.Name, c.Score)
	}
	r, err := rest.New(rest.Options{
		Name: c.Name, BaseURL: c.BaseURL, AllowInsecure: c.AllowInsecure, Transport: c.Transport,
		Header: header, Classify: classify,
	})
	if err != nil {
		return nil, err
	}
	return &client{c, r}, nil
}

// Name is what the config calls it.
func (c *client) Name() string { return c.Config.Name }

// Close lets go of idle connections.
func (c *client) Close() error { return c.rest.Close() }

// properties are those that the dialects share. An equal text again is kept
// twice when it is kept word for word.
func (c *client) properties(kind string) providers.Properties {
	return providers.Properties{
		Kind:   kind,
		Delete: true, Find: true, List: true, Close: true, PurgeAll: true,
		Verbatim: !c.Infer, Attribution: true,
		Score: c.Score, MaxItemBytes: c.MaxItemBytes, MaxLimit: maxLimit,
	}
}

// warnings are what the owner should know whatever the service says.
func (c *client) warnings() []string {
	list := []string{}
	if !c.rest.Loopback() && !c.rest.Encrypted() {
		list = append(list, "memories and the key go over the network unencrypted")
	}
	return list
}

// message is one turn of what is added. Its role is always user: what only an
// assistant said is not kept (mem0#3215).
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type addition struct {
	Messages []message         `json:"messages"`
	User     string            `json:"user_id"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Infer    bool              `json:"infer"`
	Expires  string            `json:"expiration_date,omitempty"`
}

func (c *client) addition(item *providers.Item) addition {
	return addition{
		Messages: []message{{"user", item.Text}}, User: c.User, Metadata: item.Metadata(),
		Infer: c.Infer, Expires: expirationDate(item.Expires),
	}
}

// expirationDate is a day on which t is over: the service knows days only, and
// hiding something too early is worse than too late.
func expirationDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
}
