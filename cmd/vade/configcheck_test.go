package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// canary has the shape of a service's key; it must not be in anything printed.
const canary = "ghp_x8Zq2Wm4Rt6Yp1Ls9Kd3Jf5Hg7Nb0VcQaEw2"

// problemsOf are the problems of a config, a line each; warnings begin with "~".
func problemsOf(text string, look *app) []string {
	_, problems := parseConfig([]byte(text), look)
	var lines []string
	for _, p := range problems {
		line := p.String()
		if p.Warning {
			line = "~" + line
		}
		lines = append(lines, line)
	}
	return lines
}

func TestConfigCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		want   []string
	}{
		"nothing":  {"", nil},
		"comments": {"# nothing yet\n", nil},
		"null":     {"providers:\nprofiles:\n", nil},
		"all of it": {`
identity: todd
home: ~/memory
sync: {auto: yes, transport: exec}
capture: {sync: never, keep: forever}
hooks: {capture: true, inject: off, redact: ['ACME-[0-9]{6}']}
providers:
  lite: {type: sqlite, path: lite.db, weight: 10, timeout: 50ms, min_relevance: 0, tiers: [ltm], types: [fact], scopes: [personal, team]}
  mem0: {type: mem0, url: "http://localhost:8888", key: env:MEM0_KEY, user: me, infer: true, score: distance, from: here, sessions: true, write_timeout: 5m}
  zep: {type: zep, key: {command: [pass, show, zep]}, graph: g}
  mem: {type: mcp, command: [npx, server], preset: server-memory, env: {LEVEL: debug, TOKEN: file:~/.token}, vars: {project: x}}
  own-map: {type: mcp, url: https://example.com/mcp, tools: {search: {tool: find, args: {q: "{query}", n: [1, {a: b}]}}, per_word: true, score: similarity}}
  prog: {type: jsonrpc, command: [prog, --fast], one_shot: true, dialect: paxm}
profiles:
  passive: {limit: 1, tokens: 0, threshold: 1, strict: false, tiers: [LTM], types: [fact], required: [own, todd], write: own, tier: stm}
  x: {routes: {mem0: {read: true, write: false, required: true, weight: 0.5, timeout: 2s, min_relevance: 1, tiers: [stm], scopes: [team]}}}
`, nil},
		"several": {"idnetity: kim\nhooks:\n  injcet: true\n  capture: maybe\nzzz: 1\n", []string{
			"line 1: idnetity: this key is unknown", "line 3: hooks.injcet: this key is unknown",
			`line 4: hooks.capture: "maybe" is not true or false`, "line 5: zzz: this key is unknown",
		}},
		"twice": {"home: a\nidentity: kim\nhome: b\n", []string{"line 3: home: this key is there twice"}},
		"kinds": {"home: [a]\nsync: yes\nprofiles: [x]\nhooks: {redact: x}\nproviders: {lite: {type: sqlite, weight: much, timeout: soon, tiers: ltm}}\n", []string{
			"line 1: home: a text is wanted here, and this is a list or has keys of its own", "line 2: sync: keys with values are wanted here",
			"line 3: profiles: names with values are wanted here", "line 4: hooks.redact: a list is wanted here",
			`line 5: providers.lite.weight: "much" is not a number`, `line 5: providers.lite.timeout: "soon" is no time`, "line 5: providers.lite.tiers: a list is wanted here",
		}},
		"a word":    {"hello\n", []string{"line 1: keys with values are wanted here"}},
		"documents": {"home: a\n---\nhome: b\n", []string{"there is more than one document"}},
		"tabs":      {"hooks:\n\tinject: true\n", []string{"line 2: the file is not YAML: found character that cannot start any token"}},
		"anchor":    {"home: a\nidentity: *kim\n", []string{"line 2: * refers to something by a name that nothing has"}},
		"words": {"identity: Todd\nsync: {transport: ssh}\ncapture: {sync: newer, keep: 3w}\n", []string{
			`line 1: identity: "Todd" is no name of an identity`, `line 2: sync.transport: "ssh" is unknown`,
			`line 3: capture.sync: "newer" is unknown`, `line 3: capture.keep: "3w" is no number of days`,
		}},
		"patterns": {"hooks:\n  redact: ['ok', 'my[secret', 'x*']\n", []string{
			"line 2: hooks.redact[1]: this is no regular expression: missing closing ]", "line 2: hooks.redact[2]: this pattern matches everything",
		}},
		"profiles": {"profiles:\n  p:\n    limit: 0\n    tokens: -1\n    threshold: 1.5\n    tiers: [ltm, mtm]\n    types: [idea]\n    required: [own, 'A b']\n    write: /x\n    tier: hot\n", []string{
			"line 3: profiles.p.limit: must be at least 1", "line 4: profiles.p.tokens: must not be negative", "line 5: profiles.p.threshold: must be from 0 to 1",
			`line 6: profiles.p.tiers[1]: tier "mtm" is unknown`, `line 7: profiles.p.types[0]: type "idea" is unknown`,
			`line 8: profiles.p.required[1]: "A b" is no name of an identity`, `line 9: profiles.p.write: "/x" is no name of an identity`,
			`line 10: profiles.p.tier: tier "hot" is unknown`,
		}},
		"routes": {"providers: {lite: {type: sqlite}}\nprofiles:\n  p:\n    routes:\n      liet: {}\n      lite:\n        weight: 11\n        timeout: 3s\n        min_relevance: 2\n        scopes: [all]\n        weihgt: 1\n", []string{
			"line 5: profiles.p.routes.liet: no provider has this name", "line 7: profiles.p.routes.lite.weight: must be from 0 to 10",
			"line 8: profiles.p.routes.lite.timeout: must be from 50ms to 2s", "line 9: profiles.p.routes.lite.min_relevance: must be from 0 to 1",
			`line 10: profiles.p.routes.lite.scopes[0]: "all" is unknown`, "line 11: profiles.p.routes.lite.weihgt: this key is unknown",
		}},
		"no providers": {"profiles: {p: {routes: {mem0: {}}}}\n", []string{"line 1: profiles.p.routes.mem0: no provider has this name"}},
		"names": {"providers:\n  vault: {type: sqlite}\n  own: {type: sqlite}\n  'vault:x': {type: sqlite}\n  A: {type: sqlite}\n  '': {type: sqlite}\n", []string{
			"line 2: providers.vault: this name is reserved", "line 3: providers.own: this name is reserved", "line 4: providers.vault:x: this name is reserved",
			"line 5: providers.A: no provider can have this name", "line 6: providers.: this is no name",
		}},
		"types": {"providers:\n  a: {}\n  b:\n  c: {type: mem00, url: x}\n  d: {type: mem0}\n  e: {type: sqlite, url: 'https://x', key: env:X}\n  f: {type: openviking, url: 'https://x'}\n  g: {type: jsonrpc, command: [], dialect: soap}\n  h: {type: mcp}\n  i: {type: mcp, url: 'https://x', command: [y], preset: memory}\n", []string{
			"line 2: providers.a: it has no type", "line 3: providers.b: it has no type", `line 4: providers.c.type: "mem00" is unknown`,
			"line 5: providers.d: mem0 needs url", "line 6: providers.e.url: a provider of type sqlite takes no url", "line 6: providers.e.key: a provider of type sqlite takes no key",
			"line 7: providers.f: openviking needs key", "line 8: providers.g.command: it names no program", `line 8: providers.g.dialect: "soap" is unknown`,
			"line 9: providers.h: mcp needs either command or url", "line 9: providers.h: mcp needs preset or tools",
			"line 10: providers.i: mcp needs either command or url", `line 10: providers.i.preset: "memory" is unknown`,
		}},
		"values": {"providers:\n  m:\n    type: mem0\n    url: https://x\n    weight: 0\n    score: percent\n    from: there\n    timeout: 49ms\n    write_timeout: 900ms\n    infer: 3\n", []string{
			"line 5: providers.m.weight: must be above 0", `line 6: providers.m.score: "percent" is unknown`, `line 7: providers.m.from: "there" is unknown`,
			"line 8: providers.m.timeout: must be from 50ms to 2s", "line 9: providers.m.write_timeout: must be from 1s to 5m0s", `line 10: providers.m.infer: "3" is not true or false`,
		}},
		"dialects": {"providers:\n  z: {type: zep, key: env:X, dialect: paxm, reranker: best}\n  j: {type: jsonrpc, command: [x], dialect: v3}\n", []string{
			`line 2: providers.z.dialect: "paxm" is unknown`, `line 2: providers.z.reranker: "best" is unknown`, `line 3: providers.j.dialect: "v3" is unknown`,
		}},
		"not a number": {"providers: {m: {type: sqlite, weight: .nan}}\n", []string{"line 1: providers.m.weight: must be from 0 to 10"}},
		"addresses": {"providers:\n  a: {type: mem0, url: 'ftp://x'}\n  b: {type: mem0, url: 'https://me:pw@x'}\n  c: {type: mem0, url: 'http://example.com'}\n  d: {type: mem0, url: 'http://example.com', insecure: true}\n  e: {type: mem0, url: 'http://[::1]:80'}\n  f: {type: mem0, url: 'https://x/?k=v'}\n  g: {type: mem0, url: localhost:8888}\n  h: {type: memos, url: 'https://x'}\n", []string{
			"line 2: providers.a.url: this is no address of a service", "line 3: providers.b.url: the address holds a name or password",
			"line 4: providers.c.url: memories and the key would go to another machine for all to read", "line 7: providers.f.url: the address must end with its path",
			"line 8: providers.g.url: this is no address of a service", "~line 9: providers.h.url: whoever reaches this address can read your memories: there is no key",
		}},
		"keys": {"providers:\n  a: {type: zep, key: " + canary + "}\n  b: {type: zep, key: hunter2}\n  c: {type: zep, key: [" + canary + "]}\n  d: {type: zep, key: {command: x}}\n  e: {type: zep, key: 'env:A B'}\n  f: {type: mcp, command: [x], preset: mem0, env: {'A-B': plain, C: 'env:x-y'}}\n  g: {type: zep, key: 'file:'}\n", []string{
			"line 2: providers.a.key: the secret itself is written here", "line 3: providers.b.key: the secret itself is written here",
			"line 4: providers.c.key: this does not say where the secret is", "line 5: providers.d.key: this does not say where the secret is",
			"line 6: providers.e.key: the secret itself is written here",
			"line 7: providers.f.env.A-B: no variable can have this name", "line 7: providers.f.env.C: the secret itself is written here",
			"line 8: providers.g.key: the secret itself is written here",
		}},
		"merged":         {"providers:\n  a: &a {type: mem0, url: 'https://x', weight: 20}\n  b: {<<: *a, weight: 1, user: me}\n", []string{"line 2: providers.a.weight: must be from 0 to 10"}},
		"secret as key":  {canary + ": x\nprofiles: {" + canary + ": {limit: 0}}\n", []string{"line 1: …: this key is unknown", "line 2: profiles.….limit: must be at least 1"}},
		"merges itself":  {"providers: &p\n  <<: *p\n  a: {type: sqlite}\n", []string{"a * refers to what it stands in, or to too much"}},
		"holds itself":   {"profiles: &p\n  a: *p\n", []string{"line 2: profiles.a.a: this key is unknown"}},
		"holds no word":  {"? [a, b]\n: c\n", []string{"line 1: a list or a mapping is no key"}},
		"mapping's typo": {"providers: {m: {type: mcp, url: 'https://x', tools: {search: {tol: x, args: {a: 1, a: 2}}}}}\n", []string{"line 1: providers.m.tools.search.tol: this key is unknown", "line 1: providers.m.tools.search.args.a: this key is there twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, problemsOf(tt.config, nil)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigCheckRemedies(t *testing.T) {
	for config, want := range map[string]string{
		"idnetity: kim\n": "did you mean identity?",
		"providers: {a: {base-url: x, type: sqlite}}\n":                          "did you mean url?",
		"providers: {a: {type: sqlite, api_key: x}}\n":                           "did you mean key?",
		"providers: {a: {type: memo-cloud}}\n":                                   "did you mean mem0-cloud?",
		"providers: {a: {type: word}}\n":                                         "use one of " + providerTypeNames(),
		"zzz: 1\n":                                                               "known keys: capture, home, hooks, identity, profiles, providers, sync",
		"providers: {ab: {type: sqlite, url: 'https:x'}}":                        "it takes path",
		"sync: {transport: x}\n":                                                 "use builtin or exec",
		"providers: {m: {type: mem0, url: 'https://x', score: x}}\n":             "use similarity, distance, rank or none",
		"providers: {mem: {type: sqlite}}\nprofiles: {p: {routes: {men: {}}}}\n": "did you mean mem?",
	} {
		_, problems := parseConfig([]byte(config), nil)
		if len(problems) == 0 || problems[0].Remedy != want {
			t.Errorf("%q: got %v, want the remedy %q", config, problems, want)
		}
	}
}

// TestConfigCheckLooksAtThisMachine: what a config leads to and is not there.
func TestConfigCheckLooksAtThisMachine(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("DIR", filepath.ToSlash(dir), "PROGRAM", filepath.ToSlash(program)).Replace(`providers:
  a: {type: zep, key: env:SET}
  b: {type: zep, key: env:UNSET}
  c: {type: zep, key: "file:DIR/key"}
  d: {type: zep, key: "file:DIR/open"}
  e: {type: zep, key: "file:DIR/none"}
  f: {type: zep, key: "file:DIR"}
  g: {type: jsonrpc, command: ["PROGRAM"]}
  h: {type: jsonrpc, command: [no-such-program, --token, ` + canary + `]}
  i: {type: zep, key: {command: [no-such-keychain]}}
  j: {type: jsonrpc, command: ["PROGRAM"], env: {API_TOKEN: ` + canary + `, LEVEL: debug}}
  k: {type: zep, key: env:` + canary + `}
`)
	look := &app{env: func(name string) string { return map[string]string{"SET": canary}[name] }}
	want := []string{
		"~line 3: providers.b.key: $UNSET is not set here",
		"~line 5: providers.d.key: others on this machine can read the file",
		"~line 6: providers.e.key: the file is not there, or not for us to read",
		"~line 7: providers.f.key: this is no file",
		`~line 9: providers.h.command[0]: the program "no-such-program" is not found`,
		"~line 9: providers.h.command[2]: this looks like a secret, and all on this machine can see what programs are started with",
		`~line 10: providers.i.key.command[0]: the program "no-such-keychain" is not found`,
		"~line 11: providers.j.env.API_TOKEN: this looks like a secret",
		"~line 12: providers.k.key: the variable is not set here",
	}
	if runtime.GOOS == "windows" {
		want = append(want[:1], want[2:]...)
	}
	if diff := cmp.Diff(want, problemsOf(config, look)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := problemsOf(config, nil); got != nil {
		t.Errorf("without a look at the machine: got %v, want nothing", got)
	}
}
