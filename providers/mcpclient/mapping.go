package mcpclient

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// Mapping says how the tools of a server are used. Search is required; a server
// without Put is one that only is asked.
type Mapping struct {
	Search Call `yaml:"search" json:"search"`
	Put    Call `yaml:"put" json:"put"`
	Delete Call `yaml:"delete" json:"delete"`
	// Find returns what the server holds of one id.
	Find Call `yaml:"find" json:"find"`
	// Health is a tool to call; none: listing the tools is enough.
	Health Call `yaml:"health" json:"health"`

	// PerWord searches for each of the longest six words of a question alone, and
	// ranks what that finds here: for servers that look for the question as a
	// whole in each memory.
	PerWord bool `yaml:"per_word" json:"per_word"`
	// Replace, which wants Find and Delete, deletes what the server holds of an id
	// in another version before it puts, and puts nothing that is there already.
	Replace bool `yaml:"replace" json:"replace"`
	// Overwrite: the server itself puts an item in the place of what has its {name}.
	Overwrite bool `yaml:"overwrite" json:"overwrite"`
	// Lock allows one write at a time among all processes of this host: for servers
	// that read a file, change it and write it back.
	Lock bool `yaml:"lock" json:"lock"`
	// Queued: a put without a ref is only Accepted, and there when Find finds it.
	Queued bool `yaml:"queued" json:"queued"`

	Verbatim    bool                `yaml:"verbatim" json:"verbatim"`
	Attribution bool                `yaml:"attribution" json:"attribution"`
	Score       providers.ScoreKind `yaml:"score" json:"score"` // "": rank
	MaxBytes    int                 `yaml:"max_bytes" json:"max_bytes"`
}

// Call is one tool.
//
// Args are its arguments: JSON in which a string that is one {name} becomes that
// value as it is (a number, a list), and a {name} within a string becomes text;
// an argument whose whole value is empty is left out. The names are those of
// itemValues, query, limit, ref, id, and the config's vars.
//
// The rest are JSON pointers (RFC 6901) into the answer: its structured content,
// else its text as JSON. An answer that is {"result": …} is what is in there.
type Call struct {
	Tool string         `yaml:"tool" json:"tool"`
	Args map[string]any `yaml:"args" json:"args"`

	Items string `yaml:"items" json:"items"` // to the list of hits, or one hit
	// From an item:
	Ref     string `yaml:"ref" json:"ref"`
	Text    string `yaml:"text" json:"text"`
	Score   string `yaml:"score" json:"score"`
	Created string `yaml:"created" json:"created"`
	// Meta leads to what was put as {metadata}, an object, as {metadata_list},
	// strings "key=value" among others, or as {metadata_text}, lines of those.
	Meta string `yaml:"meta" json:"meta"`
	// Lines is a regular expression with groups ref, text and score, one match a
	// hit, for answers that are not JSON.
	Lines string `yaml:"lines" json:"lines"`

	// Error leads to a message, and Status to an HTTP status, in an answer that
	// does not say of itself that it is an error.
	Error  string `yaml:"error" json:"error"`
	Status string `yaml:"status" json:"status"`

	lines *regexp.Regexp
}

// maxWords is how many words of a question are searched for, with PerWord.
const maxWords = 6

// check says what is wrong with m, for values of these names.
func (m *Mapping) check(vars map[string]string) error {
	if m.Search.Tool == "" {
		return fmt.Errorf("the mapping has no search.tool")
	}
	if m.Replace && (m.Find.Tool == "" || m.Delete.Tool == "") {
		return fmt.Errorf("the mapping cannot replace without find and delete")
	}
	if m.Queued && m.Find.Tool == "" {
		return fmt.Errorf("the mapping cannot wait for what is queued without find")
	}
	item := itemValues(providers.Item{})
	for what, c := range map[string]struct {
		call  *Call
		knows values
	}{
		"search": {&m.Search, values{"query": "", "limit": 0}}, "put": {&m.Put, item}, "delete": {&m.Delete, values{"ref": ""}},
		"find": {&m.Find, values{"id": ""}}, "health": {&m.Health, nil},
	} {
		if err := c.call.check(c.knows, vars); err != nil {
			return fmt.Errorf("mapping: %s: %w", what, err)
		}
	}
	if m.Score == "" {
		m.Score = providers.Ordinal
	}
	return nil
}

func (c *Call) check(knows values, vars map[string]string) error {
	for name := range placeholders(c.Args) {
		if _, ok := vars[name]; !ok && !knows.has(name) {
			return fmt.Errorf("nothing is called {%s}; set it under vars", name)
		}
	}
	for _, p := range []string{c.Items, c.Ref, c.Text, c.Score, c.Created, c.Meta, c.Error, c.Status} {
		if p != "" && !strings.HasPrefix(p, "/") {
			return fmt.Errorf("%q is no JSON pointer: it begins with /", p)
		}
	}
	if c.Lines == "" {
		return nil
	}
	var err error
	if c.lines, err = regexp.Compile(c.Lines); err == nil && !slices.Contains(c.lines.SubexpNames(), "ref") {
		err = fmt.Errorf("lines: no group (?P<ref>…)")
	}
	return err
}

// tools are the names of those that are used.
func (m *Mapping) tools() (names []string) {
	for _, c := range []Call{m.Search, m.Put, m.Delete, m.Find, m.Health} {
		if c.Tool != "" {
			names = append(names, c.Tool)
		}
	}
	return names
}

// properties are what the mapping says of the server.
func (m *Mapping) properties() providers.Properties {
	return providers.Properties{
		Kind: "mcp", Delete: m.Delete.Tool != "", Find: m.Find.Tool != "", Resolve: m.Queued, Close: true,
		Verbatim: m.Verbatim, Idempotent: m.Replace || m.Overwrite, Replaces: m.Replace || m.Overwrite, Async: m.Queued, ReadYourWrites: !m.Queued,
		Attribution: m.Attribution, Serial: true, Score: m.Score, MaxItemBytes: m.MaxBytes,
	}
}

// stored is the state of a put that returned refs, or not.
func (m *Mapping) stored(refs []providers.Ref) journal.State {
	if m.Queued && len(refs) == 0 {
		return journal.Accepted
	}
	return journal.Stored
}
