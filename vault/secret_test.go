package vault

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

const (
	awsKey    = "AKIAQ3EGRIKUXYZ2ABCD"
	awsSecret = "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"
	ghToken   = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	jwt       = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pemLine   = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
)

var pemKey = "-----BEGIN PRIVATE KEY-----\n" + pemLine + "\n" + pemLine + "\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S\n-----END PRIVATE KEY-----"

func TestFindSecrets(t *testing.T) {
	stripe := "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc" // in parts, or scanners of this repository bite
	tests := []struct {
		name, text string
		want       []string // kind=text
	}{
		{"aws", "key " + awsKey + ".", []string{"aws-key=" + awsKey}},
		{"aws with its secret", awsKey + "," + awsSecret + "\n", []string{"aws-key=" + awsKey, "aws-secret=" + awsSecret}},
		{"aws secret by name", "aws_secret_access_key = " + awsSecret, []string{"secret=" + awsSecret}},
		{"github", "use " + ghToken, []string{"github-token=" + ghToken}},
		{"github fine-grained", "github_pat_11ABCDEFG0abcdefghijkl_" + strings.Repeat("aB3", 19), []string{"github-token=github_pat_11ABCDEFG0abcdefghijkl_" + strings.Repeat("aB3", 19)}},
		{"gitlab", "glpat-xY9zW8vU7tS6rQ5pO4nM", []string{"gitlab-token=glpat-xY9zW8vU7tS6rQ5pO4nM"}},
		{"slack", "xox" + "b-123456789012-abcdefGHIJKL", []string{"slack-token=xox" + "b-123456789012-abcdefGHIJKL"}},
		{"stripe", stripe, []string{"stripe-key=" + stripe}},
		{"openai", "sk-abcdefghijklmnopqrstuvwx1234", []string{"openai-key=sk-abcdefghijklmnopqrstuvwx1234"}},
		{"openai project", "sk-proj-Ab3_dEf-GhIjKlMnOpQrSt", []string{"openai-key=sk-proj-Ab3_dEf-GhIjKlMnOpQrSt"}},
		{"anthropic", "sk-ant-api03-Ab3dEfGhIjKlMnOpQrSt", []string{"anthropic-key=sk-ant-api03-Ab3dEfGhIjKlMnOpQrSt"}},
		{"google", "AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v", []string{"google-key=AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v"}},
		{"npm", "npm_" + strings.Repeat("a1B", 12), []string{"npm-token=npm_" + strings.Repeat("a1B", 12)}},
		{"pypi", "pypi-AgEIcHlwaS5vcmc" + strings.Repeat("Zx9", 15), []string{"pypi-token=pypi-AgEIcHlwaS5vcmc" + strings.Repeat("Zx9", 15)}},
		{"huggingface", "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", []string{"huggingface-token=hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"}},
		{"sendgrid", "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", []string{"sendgrid-key=SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"}},
		{"twilio", "S" + "K0123456789abcdef0123456789abcdef", []string{"twilio-key=S" + "K0123456789abcdef0123456789abcdef"}},
		{"jwt", "cookie=" + jwt + "; path=/", []string{"jwt=" + jwt}},
		{"jwt over lines", "x\n" + strings.ReplaceAll(jwt, ".", ".\n") + "\nNext line", []string{"jwt=" + strings.ReplaceAll(jwt, ".", ".\n")}},
		{"pem", "a\n" + pemKey + "\nb", []string{"private-key=" + pemKey}},
		{"pem escaped", `{"key":"` + strings.ReplaceAll(pemKey, "\n", `\n`) + `\n"}`, []string{"private-key=" + strings.ReplaceAll(pemKey, "\n", `\n`)}},
		{"pem without its end", "-----BEGIN RSA PRIVATE KEY-----\n" + pemLine + "\n" + pemLine[:20], []string{"private-key=-----BEGIN RSA PRIVATE KEY-----\n" + pemLine + "\n" + pemLine[:20]}},
		{"pem without its start", "text\n" + pemLine + "\n" + pemLine + "\n-----END RSA PRIVATE KEY-----\n", []string{"private-key=" + pemLine + "\n" + pemLine + "\n-----END RSA PRIVATE KEY-----"}},
		{"pem quoted in a reply", "> -----BEGIN EC PRIVATE KEY-----\n> " + pemLine + "\n> -----END EC PRIVATE KEY-----\n", []string{"private-key=-----BEGIN EC PRIVATE KEY-----\n> " + pemLine + "\n> -----END EC PRIVATE KEY-----"}},
		{"token split by a line break", "ghp_16C7e42F292c6912\nE7710c838347Ae178B4a", []string{"github-token=ghp_16C7e42F292c6912\nE7710c838347Ae178B4a"}},
		{"token split by an escaped one", `ghp_16C7e42F292c6912\nE7710c838347Ae178B4a`, []string{`github-token=ghp_16C7e42F292c6912\nE7710c838347Ae178B4a`}},
		{"token behind an escape", `"out\n` + ghToken + `\n"`, []string{"github-token=" + ghToken}},
		{"token behind a colour", "\x1b[1;31m" + ghToken + "\x1b[0m", []string{"github-token=" + ghToken}},
		{"token behind a percent escape", "https://h/?q=a%3D" + ghToken, []string{"github-token=" + ghToken}},
		{"token behind dashes and words", "--" + ghToken + " MY_" + awsKey, []string{"github-token=" + ghToken, "aws-key=" + awsKey}},
		{"token before prose", "ghp_16C7e42F292c6912E7710c838347Ae178B4a\nNext", []string{"github-token=" + ghToken}},
		{"password", "password=hunter2", []string{"password=hunter2"}},
		{"password in YAML", "password: hunter2", []string{"password=hunter2"}},
		{"passphrase", "PASSWORD=correct-horse-battery-staple", []string{"password=correct-horse-battery-staple"}},
		{"password in quotes", `password: "S3cr3t! pw"`, []string{"password=S3cr3t! pw"}},
		{"password in JSON", `{"db_password": "kq83hfQx", "user": "bob"}`, []string{"password=kq83hfQx"}},
		{"password in escaped JSON", `"{\"password\": \"kq83hfQx\"}"`, []string{"password=kq83hfQx"}},
		{"token in YAML", "token: 9f8a7b6c5d4e3f2a", []string{"token=9f8a7b6c5d4e3f2a"}},
		{"flag", "curl --api-key a8f5f167f44f4964", []string{"secret=a8f5f167f44f4964"}},
		{"environment", "export CLIENT_SECRET=Zm9vYmFyLTEyMw==", []string{"secret=Zm9vYmFyLTEyMw=="}},
		{"xml", "<password>pa55w0rdX</password>", []string{"password=pa55w0rdX"}},
		{"url", "postgres://app:tr0ub4dor@db/x", []string{"url-password=tr0ub4dor"}},
		{"url over lines", "postgres://app:tr0ub4\ndor3xyz@db/x", []string{"url-password=tr0ub4\ndor3xyz"}},
		{"url with a token", "https://0123456789abcdef0123abcd@github.com/a/b", []string{"url-token=0123456789abcdef0123abcd"}},
		{"bearer", "Authorization: Bearer abc123def456", []string{"bearer-credentials=abc123def456"}},
		{"basic", "authorization: Basic dXNlcjpwYXNzMTIz", []string{"basic-credentials=dXNlcjpwYXNzMTIz"}},
		{"base64 behind an escaped line end", `a\n` + base64.StdEncoding.EncodeToString([]byte("x "+ghToken)) + `\n`, []string{"encoded-github-token=" + base64.StdEncoding.EncodeToString([]byte("x "+ghToken))}},
		{"base64 of a token", "data: " + base64.StdEncoding.EncodeToString([]byte("x "+ghToken+"\n")), []string{"encoded-github-token=" + base64.StdEncoding.EncodeToString([]byte("x "+ghToken+"\n"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range FindSecrets(tt.text) {
				got = append(got, s.Kind+"="+tt.text[s.Start:s.End])
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			once, n := Redact(tt.text)
			if twice, m := Redact(once); twice != once || m != 0 {
				t.Errorf("redacted twice: %q, then %q", once, twice)
			}
			if n == 0 {
				t.Error("nothing redacted")
			}
		})
	}
}

func TestBase64OfSecretsIsFoundAtEveryOffset(t *testing.T) {
	for _, secret := range []string{awsKey, ghToken, "password=hunter2hunter", jwt, pemKey, "sk-ant-api03-Ab3dEfGhIjKlMnOpQrSt"} {
		for pad := range 3 {
			plain := []byte(strings.Repeat(" ", pad) + secret + " and more")
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
				text := "out: " + wrap(enc.EncodeToString(plain), 76)
				got, n := Redact(text)
				if n == 0 || got == text {
					t.Errorf("base64 of %q with %d before is kept:\n%s", secret, pad, got)
				}
			}
		}
	}
}

func wrap(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s
}

func TestWhatIsNoSecret(t *testing.T) {
	for _, text := range []string{
		"commit 7cd4e29b0f1d2c3a4b5e6f708192a3b4c5d6e7f8",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"digest = e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"id 123e4567-e89b-12d3-a456-426614174000",
		"01JDZ3M8Q4X0W3K2V7N5T9R6BC",
		"AKIAIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"api_key: your-api-key-1",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"password=<your password>",
		"token: <token>",
		"token=$TOKEN1",
		`password: "${DB_PASSWORD_1}"`,
		"password={{ vault.password1 }}",
		"password=changeme123",
		"password: ********",
		"password = os.Getenv(\"PW1\")",
		"The token: see chapter 3",
		"password: string",
		"secret: the one that everybody knows",
		"max_tokens: 4096",
		"token = parser.nextToken()",
		"tokens=300000",
		"The file starts with -----BEGIN RSA PRIVATE KEY----- and so on.",
		"-----BEGIN CERTIFICATE-----\n" + pemLine + "\n-----END CERTIFICATE-----",
		"https://user:password@example.com/",
		"http://localhost:8080\ntodd@example.com",
		"https://github.com/acme/shop/blob/7cd4e29b0f1d2c3a4b5e6f708192a3b4c5d6e7f8/a.go",
		"git@github.com:acme/shop.git",
		"sk-learn is a python library; a sk-something-else-with-dashes-2",
		"risk-assessment-and-task-20240101",
		"bearer of good news and bad",
		"eyJhbGciOiJ is how a JWT starts",
		"secret: my-secret.yaml",
		"PWD=/home/user/src1",
		"password: at least 8 characters",
		"connect(user=user, password=password)",
		"token: see docs/how-to-make-one.md",
		"[redacted:github-token] password=[redacted:password]",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq7J5Vd1X9c3k2",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"github.com/yuin/goldmark v1.8.7 h1:fVcFKWvrslecOb/tg+Cc05dkeYx540o0FuFt3nUVDoE=",
	} {
		if found := FindSecrets(text); len(found) > 0 {
			t.Errorf("%q: found %s %q", text, found[0].Kind, text[found[0].Start:found[0].End])
		}
	}
}

func TestSecretLine(t *testing.T) {
	found := FindSecrets("one\ntwo\n\npassword=hunter2\n" + ghToken)
	if len(found) != 2 || found[0].Line != 4 || found[1].Line != 5 {
		t.Errorf("got %+v, want lines 4 and 5", found)
	}
}

func TestStripPrivate(t *testing.T) {
	tests := []struct {
		text, want string
		spans      int
	}{
		{"nothing private here", "nothing private here", 0},
		{"a <private>b</private> c", "a  c", 1},
		{"a <PRIVATE>b</Private> c <private>d</private>", "a  c ", 2},
		{"a <private>b <private>c</private> d</private> e", "a  e", 1},
		{"a <private>b", "a ", 1},
		{"a <private", "a ", 1},
		{"a </private> b", "a  b", 0},
		{"a < private >b</ private > c", "a  c", 1},
		{`a <private reason="x">b</private> c`, "a  c", 1},
		{`"a \u003cprivate\u003eb\u003c/private\u003e c"`, `"a  c"`, 1},
		{"a &lt;private&gt;b&lt;/private&gt; c", "a  c", 1},
		{"a <private>b\nc\n</private>\nd", "a \nd", 1},
		{"class A { x <private-key> }", "class A { x <private-key> }", 0},
		{"if a <private b then", "if a <private b then", 0},
	}
	for _, tt := range tests {
		got, spans := StripPrivate(tt.text)
		if got != tt.want || spans != tt.spans {
			t.Errorf("StripPrivate(%q) = %q, %d; want %q, %d", tt.text, got, spans, tt.want, tt.spans)
		}
	}
}

// TestSecretsInHostileText holds the search to linear time on texts made of
// what starts a match.
func TestSecretsInHostileText(t *testing.T) {
	for _, part := range []string{
		"eyJ", "eyJ_", "eyJ--", `\neyJ`, "eyJ.", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n",
		"AKIA", "sk-", "password=", "password: \"", "://a:", "<private>", "A", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
		"bearer ", "SG.", "token", "a@", "\\", "SG.aaaaaaaaaaaaaaaa.", "=", "%3Dghp_", "password=\\\"",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n", "AAAA\n-----END PRIVATE KEY-----\n",
	} {
		text := strings.Repeat(part, 1<<18/len(part))
		start := time.Now()
		Redact(text)
		StripPrivate(text)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("256 KB of %q takes %v", part, d)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password=hunter2 " + ghToken)
	f.Add(pemKey + jwt)
	f.Add(base64.StdEncoding.EncodeToString([]byte(ghToken)))
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, s := range FindSecrets(text) {
			if s.Start < last || s.End <= s.Start || s.End > len(text) || s.Line < 1 {
				t.Fatalf("%+v after %d in %q", s, last, text)
			}
			last = s.End
		}
		once, _ := Redact(text)
		if twice, _ := Redact(once); twice != once {
			t.Fatalf("%q\nredacted   %q\nand again  %q", text, once, twice)
		}
		stripped, _ := StripPrivate(text)
		if len(stripped) > len(text) {
			t.Fatalf("StripPrivate made %q longer: %q", text, stripped)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	prose := strings.Repeat("The deploy runs through GitHub Actions; commit 7cd4e29b0f1d2c3a4b5e6f708192a3b4c5d6e7f8 says so. ", 1<<20/96)
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		Redact(prose)
	}
}
