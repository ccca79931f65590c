package vault

import "strings"

// looseEntries reads of a broken header what stands on lines of its own and is
// there once: "title: Deploy: never by hand" has one meaning to a person.
func looseEntries(text string) []entry {
	var entries []entry
	count := map[string]int{}
	for chunk := range looseChunks(text) {
		e, ok := looseEntry(chunk)
		if !ok {
			continue
		}
		if count[e.key]++; count[e.key] == 1 {
			entries = append(entries, e)
		}
	}
	once := entries[:0]
	for _, e := range entries {
		if count[e.key] == 1 {
			once = append(once, e)
		}
	}
	return once
}

// looseChunks yields each line that starts in the first column with the
// deeper lines and list items below it.
func looseChunks(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(text); i = lineEnd(text, i) {
			if c := text[i]; i == start || !keyByte(c) || c == '-' {
				continue
			}
			if !yield(text[start:i]) {
				return
			}
			start = i
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// looseEntry reads one chunk: as YAML where it is, else "key: text" on one line.
func looseEntry(chunk string) (entry, bool) {
	if entries, ok := scanHeader(chunk); ok {
		if len(entries) == 1 {
			return entries[0], true
		}
		return entry{}, false
	}
	sc := scanner{s: chunk}
	key, ok := sc.key()
	if !ok || strings.TrimSpace(chunk[lineLen(chunk):]) != "" {
		return entry{}, false
	}
	val := strings.TrimSpace(chunk[sc.i:])
	if val == "" || strings.IndexByte("[{*&!|>", val[0]) >= 0 {
		return entry{}, false
	}
	val = strings.TrimSpace(strings.Trim(val, `"'`))
	return entry{key: key, val: node{text: strings.ToValidUTF8(val, "\ufffd")}}, val != ""
}

// mostlyProse reports whether most lines of a broken header look like text.
func mostlyProse(text string) bool {
	keys, lines := 0, 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" || strings.IndexByte(" \t#-]}", line[0]) >= 0 {
			continue
		}
		lines++
		word, after, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if ok && !strings.ContainsAny(strings.TrimSpace(word), " \t") && (after == "" || after[0] == ' ' || after[0] == '\t') {
			keys++
		}
	}
	return 2*keys < lines
}

// firstBlock returns the lines of s up to the first blank one.
func firstBlock(s string) string {
	for i := 0; i < len(s); i = lineEnd(s, i) {
		if strings.TrimSpace(s[i:lineEnd(s, i)]) == "" {
			return s[:i]
		}
	}
	return s
}

// parseTOML reads the single-line strings and lists of a TOML header, which is
// never edited.
func (d *Document) parseTOML() {
	if d.opener == "" {
		return
	}
	d.toml = true
	d.err = &BrokenError{Line: 1, Reason: "TOML; vade changes only YAML front matter (---)"}
	for line := range strings.Lines(d.head.text) {
		if strings.HasPrefix(line, "[") {
			break // keys of a table
		}
		key, val, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		sc := scanner{s: strings.TrimSpace(val)}
		if !ok || key == "" || sc.s == "" {
			continue
		}
		if n, ok := sc.value(true); ok && sc.endLine() {
			d.loose = append(d.loose, entry{key: key, val: n})
		}
	}
}
