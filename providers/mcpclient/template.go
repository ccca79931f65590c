package mcpclient

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"vademecum/providers"
)

// values are what the {names} of a template stand for.
type values map[string]any

func (v values) has(name string) bool {
	_, ok := v[name]
	return ok
}

// itemValues are what the template of a put may use.
func itemValues(i providers.Item) values {
	metadata := i.Metadata()
	var lines []string
	list := make([]any, 0, len(metadata))
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		lines = append(lines, key+"="+metadata[key])
		list = append(list, key+"="+metadata[key])
	}
	name := i.ID
	if i.Parts > 1 {
		name = fmt.Sprintf("%s#%d", i.ID, i.Part+1)
	}
	tags := make([]any, len(i.Tags))
	for n, tag := range i.Tags {
		tags[n] = tag
	}
	return values{
		"id": i.ID, "name": name, "key": i.Key(), "version": string(i.Version), "text": i.Text, "title": i.Title, "type": string(i.Type),
		"tier": string(i.Tier), "tags": tags, "workspace": i.Workspace, "created": instant(i.Created), "updated": instant(i.Updated),
		"expires": instant(i.Expires), "metadata": metadata, "metadata_list": list,
		"metadata_text": strings.Join(lines, "\n"),
	}
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// expand is a template with its names replaced. Values are put in once, so that
// a {name} in a memory stays what it is.
func expand(template any, v values) any {
	switch t := template.(type) {
	case string:
		return expandString(t, v)
	case []any:
		var list []any
		for _, e := range t {
			got := expand(e, v)
			if spread, ok := got.([]any); ok && isName(e) { // a list within a list is its elements
				list = append(list, spread...)
				continue
			}
			list = append(list, got)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for key, e := range t {
			if got := expand(e, v); !isName(e) || !empty(got) {
				object[key] = got
			}
		}
		return object
	}
	return template
}

// isName reports whether a template is one {name} and nothing else.
func isName(template any) bool {
	s, ok := template.(string)
	return ok && len(s) > 2 && s[0] == '{' && strings.IndexByte(s, '}') == len(s)-1
}

func empty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]string:
		return len(v) == 0
	}
	return v == nil
}

func expandString(template string, v values) any {
	if isName(template) {
		return v[template[1:len(template)-1]]
	}
	var b strings.Builder
	rest := template
	for name := range names(template) {
		before, after, _ := strings.Cut(rest, "{"+name+"}")
		b.WriteString(before)
		fmt.Fprint(&b, v[name])
		rest = after
	}
	return b.String() + rest
}

// names are the {names} in a string, in order.
func names(template string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, after, ok := strings.Cut(template, "{")
			if !ok {
				return
			}
			name, rest, ok := strings.Cut(after, "}")
			if !ok || !yield(name) {
				return
			}
			template = rest
		}
	}
}

// placeholders are all {names} in a template.
func placeholders(template any) iter.Seq[string] {
	return func(yield func(string) bool) { walk(template, yield) }
}

func walk(template any, yield func(string) bool) bool {
	switch t := template.(type) {
	case string:
		for name := range names(t) {
			if !yield(name) {
				return false
			}
		}
	case []any:
		for _, e := range t {
			if !walk(e, yield) {
				return false
			}
		}
	case map[string]any:
		for _, e := range t {
			if !walk(e, yield) {
				return false
			}
		}
	}
	return true
}
