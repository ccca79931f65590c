package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is what an argument holds.
type kind int

const (
	text kind = iota
	number
	list
	flag
)

// param is one argument of a tool.
type param struct {
	name     string
	kind     kind
	about    string
	enum     []string
	required bool
	also     []string // other names by which models send it
}

// schema is the JSON Schema of params, in their order: plain types only,
// because some clients drop a union such as ["null","array"].
func schema(params []param) json.RawMessage {
	var props bytes.Buffer
	required := []string{}
	for i, p := range params {
		if i > 0 {
			props.WriteByte(',')
		}
		fmt.Fprintf(&props, "%s:%s", quoteJSON(p.name), p.schema())
		if p.required {
			required = append(required, p.name)
		}
	}
	out := `{"type":"object","properties":{` + props.String() + `}`
	if len(required) > 0 {
		out += `,"required":` + quoteJSON(required)
	}
	return json.RawMessage(out + "}")
}

func (p param) schema() string {
	about := ""
	if p.about != "" {
		about = `,"description":` + quoteJSON(p.about)
	}
	switch {
	case p.kind == number:
		return `{"type":"integer"` + about + `}`
	case p.kind == flag:
		return `{"type":"boolean"` + about + `}`
	case p.kind == list:
		return `{"type":"array","items":{"type":"string"}` + about + `}`
	case len(p.enum) > 0:
		return `{"type":"string","enum":` + quoteJSON(p.enum) + about + `}`
	}
	return `{"type":"string"` + about + `}`
}

func quoteJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings and lists of them always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// args are the arguments of one call. Models send a number as "5", a list as
// "a, b" or "[\"a\"]", one string where a list is wanted: whatever has one
// sensible meaning is taken. All that has none is told at once, so that the
// model can mend it in one more call.
type args struct {
	params []param
	given  map[string]any
	wrong  []string
}

// parseArgs reads the arguments of a call to a tool that takes params.
func parseArgs(raw json.RawMessage, params []param) (*args, error) {
	a := &args{params: params, given: map[string]any{}}
	var whole string
	if json.Unmarshal(raw, &whole) == nil { // an object that was encoded twice
		raw = json.RawMessage(whole)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: %w; %s", err, a.takes())
	}
	for name, value := range fields {
		p, ok := a.param(name)
		switch {
		case !ok:
			a.wrong = append(a.wrong, fmt.Sprintf("there is no argument %q", name))
		case value == nil: // absent
		case a.has(p.name):
			a.wrong = append(a.wrong, fmt.Sprintf("%s is given twice", p.name))
		default:
			a.given[p.name] = value
		}
	}
	slices.Sort(a.wrong)
	for _, p := range params {
		if p.required && strings.TrimSpace(a.text(p.name)) == "" {
			a.refuse("%s is missing", p.name)
		}
	}
	return a, nil
}

func (a *args) param(name string) (param, bool) {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, p := range a.params {
		if p.name == name || slices.Contains(p.also, name) {
			return p, true
		}
	}
	return param{}, false
}

func (a *args) has(name string) bool {
	_, ok := a.given[name]
	return ok
}

func (a *args) refuse(format string, values ...any) {
	if problem := fmt.Sprintf(format, values...); !slices.Contains(a.wrong, problem) {
		a.wrong = append(a.wrong, problem)
	}
}

// problem is everything that was wrong with the arguments that were asked for.
func (a *args) problem() error {
	if len(a.wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(a.wrong, "; ") + ". " + a.takes())
}

// takes says what the tool takes.
func (a *args) takes() string {
	if len(a.params) == 0 {
		return "This tool takes no arguments."
	}
	var names []string
	for _, p := range a.params {
		name := p.name
		if p.required {
			name += " (required)"
		}
		names = append(names, name)
	}
	return "It takes: " + strings.Join(names, ", ") + "."
}

// text is a string; "" when it was not given.
func (a *args) text(name string) string {
	value, ok := a.given[name]
	if !ok {
		return ""
	}
	if s, ok := scalar(value); ok {
		return s
	}
	if items, ok := value.([]any); ok {
		if lines, ok := scalars(items); ok {
			return strings.Join(lines, "\n")
		}
	}
	a.refuse("%s must be a string", name)
	return ""
}

// optional is text, or nil when it was not given.
func (a *args) optional(name string) *string {
	if !a.has(name) {
		return nil
	}
	s := a.text(name)
	return &s
}

// oneOf is text in lower case that is one of the parameter's enum, or "".
func (a *args) oneOf(name string) string {
	s := strings.ToLower(strings.TrimSpace(a.text(name)))
	if p, _ := a.param(name); s != "" && !slices.Contains(p.enum, s) {
		a.refuse("%s must be one of %s, not %q", name, strings.Join(p.enum, ", "), s)
	}
	return s
}

// number is a whole number from least to most; preset when it was not given.
func (a *args) number(name string, preset, least, most int) int {
	value, ok := a.given[name]
	if !ok {
		return preset
	}
	s, _ := scalar(value)
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || f != math.Trunc(f) {
		a.refuse("%s must be a whole number, not %s", name, quoteJSON(value))
		return preset
	}
	if f < float64(least) {
		a.refuse("%s must be at least %d", name, least)
		return preset
	}
	return int(math.Min(f, float64(most)))
}

// list is a list of strings: an array, the text of one, or words between commas.
func (a *args) list(name string) []string {
	value, ok := a.given[name]
	if !ok {
		return nil
	}
	items, isList := value.([]any)
	if s, ok := value.(string); ok {
		if json.Unmarshal([]byte(s), &items) != nil {
			return split(s)
		}
		isList = true
	}
	if s, ok := scalar(value); ok && !isList {
		return split(s)
	}
	words, ok := scalars(items)
	if !ok || !isList {
		a.refuse("%s must be a list of strings", name)
		return nil
	}
	return slices.DeleteFunc(words, func(s string) bool { return strings.TrimSpace(s) == "" })
}

func split(s string) []string {
	var words []string
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// flag is true or false; false when it was not given.
func (a *args) flag(name string) bool {
	value, ok := a.given[name]
	if !ok {
		return false
	}
	s, ok := scalar(value)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "1":
		return true
	case "false", "no", "0", "":
		if ok {
			return false
		}
	}
	a.refuse("%s must be true or false", name)
	return false
}

// scalar is the text of a string, number or boolean.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func scalars(items []any) ([]string, bool) {
	words := make([]string, len(items))
	for i, item := range items {
		s, ok := scalar(item)
		if !ok {
			return nil, false
		}
		words[i] = s
	}
	return words, true
}
