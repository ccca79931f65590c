package vault

import (
	"fmt"
	"strings"
)

// SetBody replaces the body with text. Where the old body has one kind of line
// end, text takes it, and a final newline where the old body has one.
func (d *Document) SetBody(text string) error {
	old := d.body
	if old == "" {
		old = d.opener
	}
	switch lines := strings.Count(old, "\n"); strings.Count(old, "\r\n") {
	case lines: // none, or all CRLF
		if lines > 0 {
			text = withEOL(text, "\r\n")
		}
	case 0:
		text = withEOL(text, "\n")
	}
	if text != "" && strings.HasSuffix(old, "\n") && !strings.HasSuffix(text, "\n") {
		text += d.eol()
	}
	return d.SetRawBody(text)
}

// SetRawBody replaces the body with exactly text. It returns ErrBroken,
// wrapped, where nothing tells the front matter from the body.
func (d *Document) SetRawBody(text string) error {
	if d.err != nil && d.opener == "" {
		return fmt.Errorf("body not changed: %w; mend the header in an editor (vade edit) first", d.err)
	}
	if d.opener == "" && takenForHeader(d.mark+text, text) {
		d.opener, d.closer = "---"+d.eol(), "---"+d.eol()
	}
	if text != "" && d.closer != "" && !strings.HasSuffix(d.closer, "\n") {
		d.closer += d.eol()
	}
	d.body = text
	return nil
}

// takenForHeader reports whether a file of these bytes would not read back
// with this body: it starts like front matter, or with a BOM.
func takenForHeader(file, body string) bool {
	if !strings.HasPrefix(file, "---") && !strings.HasPrefix(file, "+++") && !strings.HasPrefix(file, bom) {
		return false
	}
	d := ParseDocument([]byte(file))
	return d.opener != "" || d.err != nil || d.body != body
}

// NewDocument renders m as a new file, keys in the order of the file format.
// Fields that are zero are left out; the body ends in a newline.
func NewDocument(m Memory) *Document {
	d := &Document{opener: "---\n", closer: "---\n", body: m.Body}
	if m.Body != "" && !strings.HasSuffix(m.Body, "\n") {
		d.body += "\n"
	}
	d.head = parseHeader(renderFields(m.fields()))
	return d
}

// renderFields renders one line for each field that says something.
func renderFields(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		if s, err := newSetting(f.value); err == nil && !s.empty() {
			s.clean()
			b.WriteString(f.key + ": " + s.render(plainStyle, false) + "\n")
		}
	}
	return b.String()
}

type field struct {
	key   string
	value any
}

// fields lists what front matter says of m, in keyOrder.
func (m *Memory) fields() []field {
	return []field{
		{"id", m.ID},
		{"title", m.Title},
		{"type", m.Type},
		{"tier", m.Tier},
		{"tags", m.Tags},
		{"aliases", m.Aliases},
		{"created", m.Created},
		{"updated", m.Updated},
		{"expires", m.Expires},
		{"origin", m.Origin},
		{"scope", m.Scope},
		{"workspace", m.Workspace},
		{"supersedes", m.Supersedes},
		{"superseded_by", m.SupersededBy},
		{"merged_ids", m.MergedIDs},
		{"conflict_of", m.ConflictOf},
		{"source", m.Source},
		{"why", m.Why},
		{"trust", m.Trust},
	}
}
