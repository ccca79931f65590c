package merge

import "bytes"

// endLine returns text with a newline at its end, in the style of the line
// before. Whether a text ends in one is merged apart from its lines: else an
// addition after a last line without newline would be a change of that line.
func endLine(text []byte) []byte {
	n := len(text)
	if endsLine(text) {
		return text
	}
	at := bytes.LastIndexByte(text, '\n')
	if at > 0 && text[at-1] == '\r' && text[n-1] != '\r' {
		return append(text[:n:n], "\r\n"...)
	}
	return append(text[:n:n], '\n')
}

func endsLine(text []byte) bool {
	return len(text) == 0 || text[len(text)-1] == '\n'
}

// endLike takes the newline that endLine may have added off merged again, if
// the side that changed it, or else both, have none. Empty texts have no say.
func endLike(merged, base, a, b []byte) []byte {
	if keepsNewline(base, a, b) {
		return merged
	}
	merged = bytes.TrimSuffix(merged, []byte{'\n'})
	if bytes.HasSuffix(a, []byte{'\r'}) || bytes.HasSuffix(b, []byte{'\r'}) {
		return merged
	}
	return bytes.TrimSuffix(merged, []byte{'\r'})
}

func keepsNewline(base, a, b []byte) bool {
	switch {
	case len(a) == 0:
		return endsLine(b)
	case len(b) == 0, endsLine(a) == endsLine(b):
		return endsLine(a)
	case len(base) == 0:
		return true
	case endsLine(base) == endsLine(a):
		return endsLine(b)
	}
	return endsLine(a)
}
