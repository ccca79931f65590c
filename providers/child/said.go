package child

import "strings"

// minSecret is how long a value of the environment is that is taken for a secret.
const minSecret = 6

// Hide returns text without the values of env, which may be secrets.
func Hide(text string, env map[string]string) string {
	for _, v := range env {
		if len(v) >= minSecret {
			text = strings.ReplaceAll(text, v, "…")
		}
	}
	return text
}

// Brief returns text on one line of at most limit bytes, valid UTF-8.
func Brief(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
	}
	return text
}
