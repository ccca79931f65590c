package repo

import (
	"strings"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// FormatMessage builds a commit message: the subject on one line, the body (may
// be empty), and the trailers. Trailers with an empty value are left out; line
// breaks in subject and values become spaces.
func FormatMessage(subject, body string, trailers ...Trailer) string {
	var b strings.Builder
	b.WriteString(oneLine(subject))
	b.WriteByte('\n')
	if body = strings.TrimSpace(body); body != "" {
		b.WriteByte('\n')
		b.WriteString(body)
		b.WriteByte('\n')
	}
	gap := "\n"
	for _, t := range trailers {
		if v := oneLine(t.Value); v != "" {
			b.WriteString(gap + t.Key + ": " + v + "\n")
			gap = ""
		}
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Subject returns the first line of the message.
func (c *Commit) Subject() string {
	s, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	return strings.TrimSpace(s)
}

// Trailer returns the last value of key, in any case of letters, or "".
func (c *Commit) Trailer(key string) string {
	value := ""
	for _, t := range c.Trailers() {
		if strings.EqualFold(t.Key, key) {
			value = t.Value
		}
	}
	return value
}

// Trailers returns the trailers in order: the last paragraph of the message when
// it is not the first one and each of its lines is a trailer or continues one.
func (c *Commit) Trailers() []Trailer {
	msg := strings.TrimRight(c.Message, "\n ")
	i := strings.LastIndex(msg, "\n\n")
	if i < 0 {
		return nil
	}
	var ts []Trailer
	for line := range strings.SplitSeq(msg[i+2:], "\n") {
		if len(ts) > 0 && strings.HasPrefix(line, " ") {
			ts[len(ts)-1].Value += " " + strings.TrimSpace(line)
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || !isTrailerKey(key) {
			return nil
		}
		ts = append(ts, Trailer{Key: key, Value: strings.TrimSpace(value)})
	}
	return ts
}

func isTrailerKey(s string) bool {
	for _, r := range s {
		if r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return s != ""
}
