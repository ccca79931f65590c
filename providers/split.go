package providers

import (
	"strings"
	"unicode/utf8"

	"vademecum/vault"
)

// Split cuts text into parts of at most limit bytes; 0: no bound. Joined they
// are text again, and no rune is cut. It cuts where it hurts least, in the
// second half of what fits: before a heading, else behind a blank line, a line,
// a word. With turns it also cuts before every heading of the second level,
// which is where the turns of a captured session begin, and no part is of
// two turns.
func Split(text string, limit int, turns bool) []string {
	whole := []string{text}
	if turns {
		whole = splitTurns(text)
	}
	if limit <= 0 {
		return whole
	}
	var parts []string
	for _, rest := range whole {
		for len(rest) > limit {
			n := cutAt(rest, limit)
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		if rest != "" || len(parts) == 0 {
			parts = append(parts, rest)
		}
	}
	return parts
}

// turnMark begins a turn, on a line of its own; see sync/journal, whose
// sections have no other heading of that level.
const turnMark = "\n## "

func splitTurns(text string) []string {
	var parts []string
	for from := 0; ; {
		n := strings.Index(text[from:], turnMark)
		if n < 0 {
			return append(parts, text)
		}
		at := from + n + 1
		if strings.TrimSpace(text[:at]) == "" { // nothing before the first
			from = at
			continue
		}
		parts = append(parts, text[:at])
		text, from = text[at:], 0
	}
}

// cutAt is where to cut text, which is longer than limit.
func cutAt(text string, limit int) int {
	head := text[:limit]
	if n := strings.LastIndex(head, "\n#"); n >= 0 && n+1 > limit/2 {
		return n + 1
	}
	for _, end := range []string{"\n\n", "\n", " "} {
		if n := strings.LastIndex(head, end); n >= 0 && n+len(end) > limit/2 {
			return n + len(end)
		}
	}
	n := limit
	for n > 0 && n > limit-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	if n <= 0 || !utf8.RuneStart(text[n]) { // no rune fits, or it is not UTF-8
		return min(max(limit, runeLen(text)), len(text))
	}
	return n
}

func runeLen(text string) int {
	_, n := utf8.DecodeRuneInString(text)
	return n
}

// items are m as what p is handed over: whole, or in parts where it is too
// long. None where it says nothing.
func items(p Provider, is Properties, vaultID vault.ID, m *vault.Memory) []Item {
	text := textOf(m)
	if text == "" {
		return nil
	}
	one := Item{
		ID: idOf(vaultID, m), Version: m.Version, Vault: string(vaultID), Title: m.Title, Type: m.Type, Tier: m.Tier, Tags: m.Tags,
		Workspace: m.Workspace, Scope: m.Scope, Origin: m.Origin, Created: m.Created, Updated: m.Updated, Expires: m.Expires,
	}
	var list []Item
	for _, part := range Split(text, is.MaxItemBytes, KeepsTurns(p) && vault.IsCapture(m.Path)) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		one.Part, one.Text = len(list), part
		list = append(list, one)
	}
	for i := range list {
		list[i].Parts = len(list)
	}
	return list
}

// textOf is what is to be found of m: its title, unless the body begins with
// it, and its body.
func textOf(m *vault.Memory) string {
	body := strings.TrimSpace(clean(m.Body))
	title := strings.TrimSpace(clean(m.Title))
	if strings.HasPrefix(strings.TrimLeft(body, "# \t"), title) {
		return body
	}
	return strings.TrimSpace(title + "\n\n" + body)
}

// clean is s as valid UTF-8 without NUL.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "")
}

// idOf is what m is called elsewhere, see Item.ID.
func idOf(vaultID vault.ID, m *vault.Memory) string {
	if m.ID != "" {
		return string(m.ID)
	}
	return string(vaultID) + ":" + m.Path
}
