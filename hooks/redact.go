package hooks

import (
	"fmt"
	"regexp"

	"vademecum/sync/journal"
	"vademecum/vault"
)

const (
	// maxToolInput and maxToolOutput are how much of a tool's call is kept, in
	// bytes: what it was and how it ended, not what it printed.
	maxToolInput  = 8 << 10
	maxToolOutput = 32 << 10
	// overlap is how much more than what is kept is looked through for
	// secrets, so that none is kept because it is cut: the longest is a key of
	// some 13 KB.
	overlap = 48 << 10
)

// Redactor takes out of a text what must not be kept. The zero value knows
// secrets and <private>.
type Redactor struct{ patterns []*regexp.Regexp }

// NewRedactor returns a Redactor that also takes out what the expressions
// match, in the syntax of package regexp.
func NewRedactor(expressions []string) (Redactor, error) {
	var r Redactor
	for _, e := range expressions {
		p, err := regexp.Compile(e)
		if err != nil {
			return r, fmt.Errorf("redaction pattern %q: %w", e, err)
		}
		if p.MatchString("") {
			return r, fmt.Errorf("redaction pattern %q matches everything", e)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// Text returns text without what is private or secret.
func (r Redactor) Text(text string) string {
	text, _ = vault.StripPrivate(text)
	for _, p := range r.patterns {
		text = p.ReplaceAllString(text, "[redacted:pattern]")
	}
	text, _ = vault.Redact(text)
	return text
}

// field redacts, strips and cuts a text to at most limit bytes, out of its
// middle, and returns how many bytes were cut.
func (r Redactor) field(text string, limit int) (string, int) {
	text, _ = vault.StripPrivate(text)
	cut := 0
	if far := len(text) - limit - 2*overlap; far > 0 {
		first, _ := head(text, limit*3/4+overlap)
		last := tail(text, limit/4+overlap)
		cut = len(text) - len(first) - len(last)
		text = r.middle(r.Text(first), r.Text(last), limit, &cut)
	} else {
		text = r.Text(text)
	}
	if text = strip(text); len(text) > limit {
		text = r.middle(text, text, limit, &cut)
	}
	return text, cut
}

// middle is the start of first and the end of last, in at most limit bytes.
func (r Redactor) middle(first, last string, limit int, cut *int) string {
	a, _ := head(first, limit*3/4)
	b := tail(last, limit/4-len(gap))
	if first == last {
		*cut += len(first) - len(a) - len(b)
	} else {
		*cut += len(first) - len(a) + len(last) - len(b)
	}
	return a + gap + b
}

// event redacts everything in e that somebody wrote.
func (r Redactor) event(e *journal.Event) {
	text, cut := r.field(e.Text, journal.MaxText)
	e.Text, e.Cut = text, e.Cut+cut
	e.Cwd = r.Text(e.Cwd)
	if e.Tool == nil {
		return
	}
	use := *e.Tool
	use.Input = r.input(use.Input)
	use.Name, _ = r.field(use.Name, 256)
	for _, f := range []struct {
		text  *string
		limit int
	}{{&use.Input, maxToolInput}, {&use.Output, maxToolOutput}, {&use.Error, maxToolOutput}} {
		*f.text, cut = r.field(*f.text, f.limit)
		e.Cut += cut
	}
	e.Tool = &use
}

// input redacts every text in a tool's input, which is JSON: with its escapes,
// lines and quotes are not what they look for.
func (r Redactor) input(input string) string {
	o, ok := parseObject([]byte(input))
	if !ok {
		return input
	}
	return compact(r.value(o))
}

// value is v with its texts redacted.
func (r Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
		return v
	case object:
		for key, e := range v {
			v[key] = r.value(e)
		}
		return v
	}
	return v
}

// head returns at most limit bytes of text, whole runes, and how many are left out.
func head(text string, limit int) (string, int) {
	if len(text) <= limit {
		return text, 0
	}
	end := limit
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end], len(text) - end
}
