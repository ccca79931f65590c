package vault

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// tokenShape is a service's token: a fixed prefix and a run of characters.
type tokenShape struct {
	kind     string
	prefixes []string
	chars    charset
	min, max int  // length of the run behind the prefix; max 0 means no limit
	mixed    bool // it needs a letter and a digit, because the prefix says little
}

type charset func(c byte) bool

func alnum(c byte) bool      { return asciiLetter(c) || '0' <= c && c <= '9' }
func alnumWord(c byte) bool  { return alnum(c) || c == '_' }
func alnumDash(c byte) bool  { return alnum(c) || c == '_' || c == '-' }
func upperDigit(c byte) bool { return 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
func lowerHex(c byte) bool   { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
func base64Byte(c byte) bool { return alnum(c) || c == '+' || c == '/' }

// tokenShapes: each prefix is documented by the service that issues it.
var tokenShapes = [...]tokenShape{
	{kind: "aws-key", prefixes: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, chars: upperDigit, min: 16, max: 16},
	{kind: "github-token", prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, chars: alnum, min: 36, max: 255},
	{kind: "github-token", prefixes: []string{"github_pat_"}, chars: alnumWord, min: 22, max: 255},
	{kind: "gitlab-token", prefixes: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"}, chars: alnumDash, min: 20},
	{kind: "slack-token", prefixes: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"}, chars: alnumDash, min: 10},
	{kind: "slack-webhook", prefixes: []string{"https://hooks.slack.com/services/"}, chars: func(c byte) bool { return alnum(c) || c == '/' }, min: 30},
	{kind: "stripe-key", prefixes: []string{"sk_live_", "rk_live_", "whsec_"}, chars: alnum, min: 16},
	{kind: "anthropic-key", prefixes: []string{"sk-ant-"}, chars: alnumDash, min: 20},
	{kind: "openai-key", prefixes: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"}, chars: alnumDash, min: 20},
	{kind: "openai-key", prefixes: []string{"sk-"}, chars: alnum, min: 20, mixed: true},
	{kind: "google-key", prefixes: []string{"AIza"}, chars: alnumDash, min: 35, max: 35},
	{kind: "google-token", prefixes: []string{"ya29.", "GOCSPX-"}, chars: alnumDash, min: 20},
	{kind: "npm-token", prefixes: []string{"npm_"}, chars: alnum, min: 36, max: 36},
	{kind: "pypi-token", prefixes: []string{"pypi-AgE"}, chars: alnumDash, min: 40},
	{kind: "huggingface-token", prefixes: []string{"hf_"}, chars: alnum, min: 30},
	{kind: "groq-key", prefixes: []string{"gsk_"}, chars: alnum, min: 40},
	{kind: "docker-token", prefixes: []string{"dckr_pat_"}, chars: alnumDash, min: 20},
	{kind: "digitalocean-token", prefixes: []string{"dop_v1_", "doo_v1_"}, chars: lowerHex, min: 64, max: 64},
	{kind: "shopify-token", prefixes: []string{"shpat_", "shpss_", "shpca_"}, chars: alnum, min: 32},
	{kind: "atlassian-token", prefixes: []string{"ATATT3"}, chars: func(c byte) bool { return alnumDash(c) || c == '=' }, min: 50},
	{kind: "linear-key", prefixes: []string{"lin_api_"}, chars: alnum, min: 32},
	{kind: "age-key", prefixes: []string{"AGE-SECRET-KEY-1"}, chars: upperDigit, min: 50},
	{kind: "twilio-key", prefixes: []string{"SK"}, chars: lowerHex, min: 32, max: 32, mixed: true},
}

// findTokens appends the tokens of known services that start at i.
func findTokens(text string, i int, found []Secret) []Secret {
	for k := range tokenShapes {
		shape := &tokenShapes[k]
		for _, prefix := range shape.prefixes {
			if text[i] != prefix[0] || !strings.HasPrefix(text[i:], prefix) {
				continue
			}
			if end, ok := shape.match(text, i, len(prefix)); ok {
				found = append(found, Secret{Kind: shape.kind, Start: i, End: end})
				if shape.kind == "aws-key" {
					found = findAWSSecret(text, end, found)
				}
				return found
			}
		}
	}
	switch {
	case strings.HasPrefix(text[i:], "eyJ"):
		return findJWT(text, i, found)
	case strings.HasPrefix(text[i:], "SG."):
		return findSendGrid(text, i, found)
	}
	return found
}

// match returns where the token that starts at start ends.
func (s *tokenShape) match(text string, start, prefix int) (int, bool) {
	if insideToken(text, start, s.chars) {
		return 0, false
	}
	short := func(run string) bool { return len(run) < s.min }
	end, run := joinedRun(text, start+prefix, s.chars, short, s.max)
	if len(run) < s.min || s.max > 0 && len(run) > s.max || end < len(text) && alnum(text[end]) {
		return 0, false
	}
	if s.mixed && !hasLetterAndDigit(run) || isSample(run) {
		return 0, false
	}
	return end, true
}

// occurrences yields where sub stands in text.
func occurrences(text, sub string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], sub)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + len(sub)
		}
	}
}

// insideToken reports whether i is behind an underscore that is of the set:
// then the token has been looked at from its start, and looking again from
// every underscore would take quadratic time.
func insideToken(text string, i int, set charset) bool {
	return i > 0 && text[i-1] == '_' && set('_')
}

func isHex(c byte) bool { return lowerHex(c | 0x20) }

// joinedRun returns the characters from i on that are of the set, and where
// they end. A line break is stepped over where the run is too short to be the
// whole token, or where the next line is nothing but more of it.
func joinedRun(text string, i int, set charset, short func(string) bool, most int) (end int, run string) {
	end = i
	for breaks := 0; ; breaks++ {
		n := spanOf(text[end:], set)
		run += text[end : end+n]
		end += n
		next := end + breakLen(text[end:])
		if next == end || next == len(text) || breaks == 4 || most > 0 && len(run) >= most || !set(text[next]) {
			return end, run
		}
		if !short(run) && !tokenLine(text[next:], set) {
			return end, run
		}
		end = next
	}
}

// breakLen returns the length of the line break that s starts with, real or
// escaped, with the continuation mark before and the indentation behind.
func breakLen(s string) int {
	rest := strings.TrimPrefix(s, "\\\n")
	if rest == s {
		rest = strings.TrimPrefix(strings.TrimPrefix(s, `\r`), `\n`)
	}
	if rest == s {
		rest = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	}
	if rest == s {
		return 0
	}
	return len(s) - len(strings.TrimLeft(rest, " \t"))
}

// tokenLine reports whether the first line of s is nothing but the rest of a token.
func tokenLine(s string, set charset) bool {
	n := spanOf(s, set)
	return n >= 8 && (n == len(s) || breakLen(s[n:]) > 0 || s[n] == '"') && hasLetterAndDigit(s[:n])
}

func hasLetterAndDigit(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x80 && asciiLetter(byte(r))
	})
}

// findAWSSecret appends the secret key that stands close behind a key id, as
// in a CSV line or a credentials file.
func findAWSSecret(text string, from int, found []Secret) []Secret {
	window := text[from:min(len(text), from+160)]
	for i := 0; i < len(window); i++ {
		if !base64Byte(window[i]) {
			continue
		}
		n := i
		for n < len(window) && base64Byte(window[n]) {
			n++
		}
		if run := window[i:n]; len(run) == 40 && looksRandom(run) && !isSample(run) {
			return append(found, Secret{Kind: "aws-secret", Start: from + i, End: from + n})
		}
		i = n
	}
	return found
}

// looksRandom reports whether s has upper and lower case letters and digits.
func looksRandom(s string) bool {
	upper, lower, digit := charClasses(s)
	return upper && lower && digit
}

func charClasses(s string) (upper, lower, digit bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			upper = true
		case 'a' <= c && c <= 'z':
			lower = true
		case '0' <= c && c <= '9':
			digit = true
		}
	}
	return upper, lower, digit
}

// findSendGrid appends the key SG.<22>.<43> that starts at i.
func findSendGrid(text string, i int, found []Secret) []Secret {
	i += len("SG.")
	id := spanOf(text[i:], alnumDash)
	if id < 16 || id > 32 || !strings.HasPrefix(text[i+id:], ".") {
		return found
	}
	key := spanOf(text[i+id+1:], alnumDash)
	if key < 32 || isSample(text[i:i+id+1+key]) {
		return found
	}
	return append(found, Secret{Kind: "sendgrid-key", Start: i - len("SG."), End: i + id + 1 + key})
}

// spanOf returns how many bytes s starts with are of the set.
func spanOf(s string, set charset) int {
	n := 0
	for n < len(s) && set(s[n]) {
		n++
	}
	return n
}

// findJWT appends the JSON web token that starts at i: three or more parts, the
// first of which decodes to an object that names an algorithm.
func findJWT(text string, i int, found []Secret) []Secret {
	set := func(c byte) bool { return alnumDash(c) || c == '.' }
	short := func(run string) bool { return strings.Count(run, ".") < 2 || strings.HasSuffix(run, ".") }
	if insideToken(text, i, set) || i > 0 && text[i-1] == '.' {
		return found // or in the payload
	}
	end, run := joinedRun(text, i, set, short, 0)
	parts := strings.Split(strings.TrimRight(run, "."), ".")
	if len(parts) < 3 || !isJOSEHeader(parts[0]) {
		return found
	}
	for text[end-1] == '.' {
		end--
	}
	return append(found, Secret{Kind: "jwt", Start: i, End: end})
}

func isJOSEHeader(part string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return false
	}
	var header struct {
		Alg string `json:"alg"`
	}
	return json.Unmarshal(raw, &header) == nil && header.Alg != ""
}
