package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestMaskConfig(t *testing.T) {
	for name, tt := range map[string]struct{ config, want string }{
		"nothing to hide": {"# a\nhome: x # b\nproviders:\n  m: {type: zep, key: env:ZEP_KEY} # key: env:ZEP_KEY\n", ""},
		"a file":          {"providers: {m: {type: zep, key: file:~/.secrets/zep}}\n", ""},
		"a command":       {"providers: {m: {type: zep, key: {command: [pass, show, zep]}}}\n", ""},
		"limits":          {"profiles: {p: {tokens: 500, required: [own]}}\n", ""},
		"a hash":          {"providers: {m: {tools_hash: 0123456789abcdef0123456789abcdef}}\n", ""},
		"keys":            {"providers: {m: {key: hunter2, url: https://x}}\n", "providers: {m: {key: (masked), url: https://x}}\n"},
		"quoted":          {"providers:\n  m:\n    key: \"hunter2\" # a\n    user: 'b'\n", "providers:\n  m:\n    key: \"(masked)\" # a\n    user: 'b'\n"},
		"escaped":         {"providers:\n  m:\n    key: \"hunt\\x65r2\"\n    user: b\n", "providers:\n  m:\n    key: (masked)\n    user: b\n"},
		"lists":           {"providers:\n  m:\n    key: [--x, hunter2, {hunter3: hunter4}]\n", "providers:\n  m:\n    key: [(masked), (masked), {(masked): (masked)}]\n"},
		"unknown keys":    {"zep_key: hunter2\nproviders:\n  m:\n    api: [hunter2]\n", "zep_key: (masked)\nproviders:\n  m:\n    api: [(masked)]\n"},
		"wrong kinds":     {"profiles: hunter2\nsync: hunter3\n", "profiles: (masked)\nsync: (masked)\n"},
		"addresses":       {"providers: {m: {url: 'https://me:hunter2@x/y'}, n: {url: 'https://x/y?k=hunter2'}}\n", "providers: {m: {url: 'https://(masked)@x/y'}, n: {url: 'https://x/y?(masked)'}}\n"},
		"folded": {
			"providers:\n  m:\n    key: >-\n      hunter2\n      hunter3\n\n    user: b\n  n: {key: hunter4\n    hunter5, user: x}\n",
			"providers:\n  m:\n    key: (masked)\n    user: b\n  n: {key: (masked)user: x}\n",
		},
		"anchors":         {"providers: {m: {key: &k hunter2, user: b}, n: {user: &u hunter3, key: *u}}\n", "providers: {m: {key: (masked)user: b}, n: {user: (masked)key: *u}}\n"},
		"environment":     {"providers: {m: {env: {A: plain, DB_PASSWORD: hunter2, B: " + canary + ", C: 'env:X'}}}\n", "providers: {m: {env: {A: plain, DB_PASSWORD: (masked), B: (masked), C: 'env:X'}}}\n"},
		"arguments":       {"providers: {m: {command: [x, --api-key, hunter2, --level, debug]}}\n", "providers: {m: {command: [x, --api-key, (masked), --level, debug]}}\n"},
		"vars, tools":     {"providers: {m: {vars: {token: hunter2, p: q}, tools: {search: {args: {password: hunter3, n: 5}}}}}\n", "providers: {m: {vars: {token: (masked), p: q}, tools: {search: {args: {password: (masked), n: 5}}}}}\n"},
		"comments":        {"home: x # " + canary + "\n# key: hunter2\n#   MEM0_TOKEN=hunter3\n", "home: x # (masked)\n# key: (masked)\n#   MEM0_TOKEN=(masked)\n"},
		"repeated":        {"# old key was hunter2, see hunter2/x?a=hunter3\nproviders: {m: {key: hunter2, url: 'https://x/y?k=hunter3'}} # not hunter22\n", "# old key was (masked), see (masked)/x?a=(masked)\nproviders: {m: {key: (masked), url: 'https://x/y?(masked)'}} # not (masked)2\n"},
		"a byte mark":     {"\uFEFFproviders: {m: {key: hunter2}}\n", "providers: {m: {key: (masked)}}\n"},
		"wide characters": {"providers: {n: {user: 지우}, m: {user: é, key: hunter2}}\n", "providers: {n: {user: 지우}, m: {user: é, key: (masked)}}\n"},
		"documents":       {"home: x\n---\na: hunter2\n", "home: x\n---\na: (masked)\n"},
		"line ends":       {"providers:\r\n  m:\r\n    key: hunter2\r\n    user: b\r\n", "providers:\r\n  m:\r\n    key: (masked)\r\n    user: b\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.config
			}
			got, err := maskConfig([]byte(tt.config))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMaskConfigShowsNothingThatItCannotRead(t *testing.T) {
	for _, text := range []string{"providers: {m: {key: hunter2\n", "key: \xff\xfehunter2\n", "a: *hunter2\n"} {
		if got, err := maskConfig([]byte(text)); err == nil || got != "" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %q, %v; want an error without the text", text, got, err)
		}
	}
}

func TestMaskURL(t *testing.T) {
	for address, want := range map[string]string{
		"":                           "",
		"https://x/y":                "https://x/y",
		"https://me@x/y@z":           "https://(masked)@x/y@z",
		"https://me:a@b@x/y":         "https://(masked)@x/y",
		"https://me:pw@x:1/?a=b#c":   "https://(masked)@x:1/?(masked)",
		"https://x/%zz":              masked,
		"me:pw@x":                    masked,
		"http://[::1]:8888/v1":       "http://[::1]:8888/v1",
		"https://x/" + canary + "/v": "https://x/[redacted:github-token]/v",
	} {
		if got := maskURL(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

// FuzzConfig: whatever a config is, nothing panics, and a key in a place for keys
// is in nothing that is printed. SECRET in a text is where the key is.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "a", "providers: {m: {type: zep, key: SECRET}}\n", "providers: {m: {type: zep, key: &a SECRET}, n: {key: *a}}\n",
		"providers:\n  m:\n    type: mcp\n    key: {command: [x, --token, SECRET]}\n    env: {TOKEN: SECRET, A: SECRET}\n",
		"providers: {m: {url: 'https://a:SECRET@x', key: 'env:SECRET'}}\n", "SECRET: SECRET\n", "hooks: {redact: ['(SECRET']}\n# SECRET\n",
		"capture: {keep: SECRET, sync: SECRET}\nsync: {transport: SECRET, auto: SECRET}\nidentity: SECRET\n",
		"profiles: {p: {limit: SECRET, types: [SECRET], write: SECRET, routes: {SECRET: {timeout: SECRET}}}}\n", "a: !!binary SECRET\n", "a: *SECRET\n",
		"<<: &p {<<: *p}\n", "? {a: SECRET}\n: b\n", "providers: {m: {key: |\n  SECRET\n  SECRET}}\n", "a: &a [*a]\n", "--- SECRET\n--- SECRET\n", "%TAG SECRET\n---\n", "providers: {SECRET: SECRET}\n",
	} {
		f.Add(seed)
	}
	look := &app{env: func(string) string { return "" }}
	f.Fuzz(func(t *testing.T, text string) {
		raw := bytes.ReplaceAll([]byte(text), []byte("SECRET"), []byte(canary))
		c, problems := parseConfig(raw, look)
		var printed strings.Builder
		printed.WriteString(fmt.Sprint(problems))
		for _, p := range problems {
			printed.WriteString(p.Remedy)
		}
		if _, bad := firstProblem(problems); !bad {
			if v, err := look.effective(c); err == nil {
				asJSON, _ := json.Marshal(v)
				asYAML, _ := yaml.Marshal(v)
				printed.WriteString(string(asJSON) + string(asYAML))
			}
		}
		shown, err := maskConfig(raw)
		printed.WriteString(shown + fmt.Sprint(err))
		if isWord(text) && strings.Contains(printed.String(), canary) {
			t.Errorf("the secret of %q is shown:\n%s", raw, printed.String())
		}
	})
}

// isWord reports whether SECRET stands in text as a word of its own, as a key does.
func isWord(text string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "SECRET")
		if !ok {
			return true
		}
		if before != "" && !strings.ContainsAny(before[len(before)-1:], " \n:'\"[{(,&*@") || after != "" && !strings.ContainsAny(after[:1], " \n:'\"]}),@") {
			return false
		}
		rest = after
	}
}

// BenchmarkLoadConfig: every vade starts with it.
func BenchmarkLoadConfig(b *testing.B) {
	path := filepath.Join(b.TempDir(), "config.yaml")
	a := &app{env: func(string) string { return path }}
	for name, text := range map[string]string{
		"small":     "identity: todd\nhome: ~/memory\nsync: {auto: true}\ncapture: {sync: always, keep: 90d}\nhooks:\n  capture: true\n  inject: true\nprofiles:\n  passive: {limit: 2, tokens: 500, threshold: 0.35, tiers: [ltm, stm]}\n",
		"providers": "providers:\n" + strings.Repeat("  mNAME: {type: mem0, url: 'https://mem0.example.com', key: env:MEM0_KEY, weight: 0.5, timeout: 200ms}\n", 5),
	} {
		for i := range 5 {
			text = strings.Replace(text, "NAME", fmt.Sprint(i), 1)
		}
		b.Run(name, func(b *testing.B) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.loadConfig(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
