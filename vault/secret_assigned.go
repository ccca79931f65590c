package vault

import (
	"strings"
	"unicode/utf8"
)

// secretNames end the names of variables, fields and flags whose value is a
// secret.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key",
	"access_key", "accesskey", "access-key", "secret_key", "secretkey", "private_key", "privatekey",
	"auth_key", "encryption_key", "credential", "credentials",
}

// findAssigned appends the value that is assigned to the word, if it ends in a
// secret name: password=…, "db_token": "…", --api-key …, <secret>…
func findAssigned(text string, w word, found []Secret) []Secret {
	name := secretName(text[w.start:w.end])
	if name == "" {
		return found
	}
	kind := assignedKind(name)
	if start, stop, ok := assignedValue(text, w, kind); ok {
		found = append(found, Secret{Kind: kind, Start: start, End: stop})
	}
	return found
}

// secretName returns the secret name in which s ends; "" when it does not.
func secretName(s string) string {
	for _, name := range secretNames {
		if len(s) >= len(name) && s[len(s)-1]|0x20 == name[len(name)-1] && strings.EqualFold(s[len(s)-len(name):], name) {
			return name
		}
	}
	return ""
}

func assignedKind(name string) string {
	switch name {
	case "password", "passwd", "passphrase", "pwd":
		return "password"
	case "token":
		return "token"
	}
	return "secret"
}

// assignedValue returns the value that follows the word.
func assignedValue(text string, w word, kind string) (start, stop int, ok bool) {
	i, sep := skipSeparator(text, w.end)
	if sep == "" && (i == w.end || !strings.HasSuffix(text[:w.start], "--")) {
		return 0, 0, false // only a flag has its value behind a space
	}
	quoteAt := i
	for i < len(text) && strings.IndexByte("\\\"'`", text[i]) >= 0 {
		i++
	}
	quoted := i > quoteAt
	stop = valueEnd(text, i, quoted)
	val := text[i:stop]
	tight := quoted || kind == "password" || sep == "=" && quoteAt == strings.IndexByte(text[w.end:], '=')+w.end+1
	return i, stop, looksSecret(val, tight)
}

// skipSeparator moves behind the quote that closes a name and the = : := => or
// > that assigns, with the space around. sep is "" where only space follows.
func skipSeparator(text string, i int) (next int, sep string) {
	for i < len(text) && strings.IndexByte("\\\"'`]", text[i]) >= 0 {
		i++
	}
	i += spanOf(text[i:], blank)
	for _, s := range [...]string{":=", "=>", "==", "=", ":", ">"} {
		if strings.HasPrefix(text[i:], s) {
			i += len(s)
			i += spanOf(text[i:], blank)
			return i, s
		}
	}
	return i, ""
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// valueEnd returns where the value that starts at i ends.
func valueEnd(text string, i int, quoted bool) int {
	const most = 256
	closing := byte(0)
	if quoted {
		closing = text[i-1]
	}
	for end := i; ; end++ {
		if end == len(text) || end-i == most {
			return end
		}
		switch c := text[end]; {
		case c == closing, c == '\n' || c == '\r', closing != 0 && c == '\\' && text[min(end+1, len(text)-1)] == closing:
			return end
		case closing == 0 && strings.IndexByte(" \t,;\"'`<>&|)]}", c) >= 0:
			return end
		case closing == 0 && c == '\\' && strings.IndexByte("nrt\"", text[min(end+1, len(text)-1)]) >= 0:
			return end
		}
	}
}

// looksSecret reports whether val is a secret and no placeholder, code, path or
// word. tight says that little else can stand there: it is in quotes, right
// behind "=", or called a password.
func looksSecret(val string, tight bool) bool {
	least := 8
	if tight {
		least = 6
	}
	if len(val) < least || !utf8.ValidString(val) || isPlaceholder(val) || looksLikeCode(val) {
		return false
	}
	upper, lower, digit := charClasses(val)
	symbol := strings.ContainsAny(val, "!@#$%^&*+=~?")
	switch {
	case digit && !upper && !lower:
		return false // a number
	case tight && strings.Count(val, "-") >= 3:
		return true // words for a passphrase
	case digit || symbol && (upper || lower):
		return tight || len(val) >= 12 || digits(val) >= 2 || symbol
	}
	return len(val) >= 20 && caseFlips(val) >= 5
}

func digits(s string) int {
	n := 0
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			n++
		}
	}
	return n
}

// caseFlips counts the changes between upper and lower case: random letters
// have many, words and camelCase few.
func caseFlips(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if asciiLetter(s[i]) && asciiLetter(s[i-1]) && (s[i]^s[i-1])&0x20 != 0 {
			n++
		}
	}
	return n
}

// isPlaceholder reports whether val stands for a secret that is elsewhere.
func isPlaceholder(val string) bool {
	val = val[:min(len(val), 64)] // what gives it away stands early
	if strings.IndexByte("$%<{[(", val[0]) >= 0 || isSample(val) || strings.Contains(val, "...") || strings.Contains(val, "…") {
		return true
	}
	lower := strings.ToLower(val)
	for _, word := range [...]string{"change", "replace", "secret_here", "token_here", "key_here", "todo", "${", "{{", "env.", "environ", "getenv", "my-secret", "my_secret", "not-a-real"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// looksLikeCode reports whether val is a call, a path, a URL, a file name, a
// version or several words.
func looksLikeCode(val string) bool {
	switch {
	case strings.ContainsAny(val, "()") && !strings.ContainsAny(val, "!@#$%^&*"), strings.Contains(val, "://"),
		strings.HasPrefix(val, "/"), strings.HasPrefix(val, "./"), strings.HasPrefix(val, "~/"), strings.HasPrefix(val, "../"),
		strings.Count(val, " ") > 3:
		return true
	}
	i := strings.LastIndexByte(val, '.')
	switch strings.ToLower(val[i+1:]) {
	case "json", "yaml", "yml", "txt", "md", "go", "py", "js", "ts", "pem", "env", "toml", "sh", "html", "com", "org":
		return i > 0
	}
	return false
}

// findURLPasswords appends the passwords of scheme://user:password@host, and
// tokens in the user's place.
func findURLPasswords(text string, found []Secret) []Secret {
	for at := range occurrences(text, "://") {
		start := at + len("://")
		n := userinfo(text[start:min(len(text), start+512)])
		if start+n >= len(text) || text[start+n] != '@' || at == 0 || !asciiLetter(text[at-1]) && text[at-1] != '+' {
			continue
		}
		user, password, ok := strings.Cut(text[start:start+n], ":")
		switch {
		case ok && password != "" && !isPlaceholder(password) && !isPlaceholderPassword(password):
			found = append(found, Secret{Kind: "url-password", Start: start + len(user) + 1, End: start + n})
		case !ok && len(user) >= 20 && hasLetterAndDigit(user) && !isPlaceholder(user):
			found = append(found, Secret{Kind: "url-token", Start: start, End: start + n})
		}
	}
	return found
}

// userinfo is the length of what may stand before the @ of a URL; a password
// may go on in the next line, a port does not.
func userinfo(s string) int {
	n := spanOf(s, userinfoByte)
	_, password, ok := strings.Cut(s[:n], ":")
	next := n + breakLen(s[n:])
	if !ok || next == n || digits(password) == len(password) {
		return n
	}
	if more := spanOf(s[next:], userinfoByte); next+more < len(s) && s[next+more] == '@' {
		return next + more
	}
	return n
}

func userinfoByte(c byte) bool {
	return c > ' ' && strings.IndexByte("/@?#\"'`<>\\", c) < 0
}

// isPlaceholderPassword: what examples put where the password goes.
func isPlaceholderPassword(s string) bool {
	switch strings.ToLower(s) {
	case "password", "pass", "passwd", "pwd", "secret", "token", "pw", "user", "username", "x-oauth-basic", "key", "apikey":
		return true
	}
	return false
}

// findAuth appends the credentials behind "Authorization: Bearer" and "Basic",
// and long ones behind "Bearer" anywhere, when the word names such a scheme.
func findAuth(text string, w word, found []Secret) []Secret {
	scheme := authScheme(text[w.start:w.end])
	gap := spanOf(text[w.end:], blank)
	if scheme == "" || gap == 0 {
		return found
	}
	start := w.end + gap
	n := spanOf(text[start:], func(c byte) bool { return base64Byte(c) || strings.IndexByte("-._~=", c) >= 0 })
	val := text[start : start+n]
	header := strings.Contains(strings.ToLower(text[max(0, w.start-32):w.start]), "authorization")
	long := scheme == "bearer" && n >= 20 && hasLetterAndDigit(val)
	if n < 8 || !header && !long || isPlaceholder(val) || digits(val) == 0 && caseFlips(val) <= 2 {
		return found
	}
	return append(found, Secret{Kind: scheme + "-credentials", Start: start, End: start + n})
}

func authScheme(s string) string {
	for _, scheme := range [...]string{"bearer", "basic", "token", "apikey"} {
		if strings.EqualFold(s, scheme) {
			return scheme
		}
	}
	return ""
}
