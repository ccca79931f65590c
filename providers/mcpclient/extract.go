package mcpclient

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers"
)

// answer is what a tool said.
type answer struct {
	root any    // as JSON; nil: it is not
	text string // all of its text
}

func toAnswer(r *mcp.CallToolResult) answer {
	var a answer
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			a.text += t.Text + "\n"
		}
	}
	a.text = strings.TrimSpace(a.text)
	if a.root = r.StructuredContent; a.root == nil {
		a.root = parse(a.text)
	}
	// Frameworks wrap what is no object; and some tools return JSON as a string.
	if o, ok := a.root.(map[string]any); ok && len(o) == 1 && o["result"] != nil {
		a.root = o["result"]
	}
	if s, ok := a.root.(string); ok {
		a.text, a.root = s, parse(s)
	}
	return a
}

func parse(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// at follows a JSON pointer (RFC 6901); nil: there is nothing.
func at(v any, pointer string) any {
	if pointer == "" || v == nil {
		return nil
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(in) {
				return nil
			}
			v = in[n]
		default:
			return nil
		}
	}
	return v
}

// textAt is the string, or the number as one, that pointer leads to.
func textAt(v any, pointer string) string {
	switch s := at(v, pointer).(type) {
	case string:
		return s
	case float64:
		return strconv.FormatFloat(s, 'f', -1, 64)
	}
	return ""
}

// hits are those of an answer to c. What has no ref is none.
func (c *Call) hits(a answer) []providers.Hit {
	if c.lines != nil && a.root == nil {
		return c.lineHits(a.text)
	}
	items := a.root
	if c.Items != "" {
		items = at(a.root, c.Items)
	}
	list, ok := items.([]any)
	if !ok && items != nil {
		list = []any{items}
	}
	var hits []providers.Hit
	for _, item := range list {
		h := providers.Hit{Ref: providers.Ref(textAt(item, c.Ref)), Text: textAt(item, c.Text)}
		if score, ok := at(item, c.Score).(float64); ok {
			h.Score = &score
		}
		if t, err := time.Parse(time.RFC3339Nano, textAt(item, c.Created)); err == nil {
			h.Created = t
		}
		h.Identify(metadata(at(item, c.Meta)))
		if h.Ref != "" {
			hits = append(hits, h)
		}
	}
	return hits
}

// metadata is what was put, from an object, from strings "key=value", or from one
// string with a line for each.
func metadata(v any) map[string]string {
	m := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			m[key] = fmt.Sprint(e)
		}
	case string:
		for line := range strings.Lines(v) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				m[key] = value
			}
		}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok && strings.HasPrefix(s, "vault_") {
				key, value, _ := strings.Cut(s, "=")
				m[key] = value
			}
		}
	}
	return m
}

// lineHits are the matches of c.lines.
func (c *Call) lineHits(text string) []providers.Hit {
	var hits []providers.Hit
	for _, match := range c.lines.FindAllStringSubmatch(text, -1) {
		h := providers.Hit{Ref: providers.Ref(group(c.lines, match, "ref")), Text: group(c.lines, match, "text")}
		if score, err := strconv.ParseFloat(group(c.lines, match, "score"), 64); err == nil {
			h.Score = &score
		}
		if h.Ref != "" {
			hits = append(hits, h)
		}
	}
	return hits
}

func group(re *regexp.Regexp, match []string, name string) string {
	if n := re.SubexpIndex(name); n >= 0 {
		return strings.TrimSpace(match[n])
	}
	return ""
}
