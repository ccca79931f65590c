package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/hooks/install"
)

func TestSetupForm(t *testing.T) {
	tests := []struct {
		name, in, known, captures string
		want                      setupChoice
		err                       error
	}{
		{"Enter all the way", "\n\n\n\n", "", "", setupChoice{agents: []string{"claude", "codex"}, mcp: true, capture: "never"}, nil},
		{"untick and tick", "1 4\n99,x\n\nn\ngit@host:me.git\nyes\n", "", "", setupChoice{agents: []string{"codex", "gemini"}, remote: "git@host:me.git", capture: "always"}, nil},
		{"known already", "\n\n", "git@host:me.git", "never", setupChoice{agents: []string{"claude", "codex"}, mcp: true}, nil},
		{"no agent", "1,2\n\n\n", "", "", setupChoice{agents: []string{"none"}}, nil},
		{"no last line end", "\n\n\ny", "", "", setupChoice{agents: []string{"claude", "codex"}, mcp: true, capture: "always"}, nil},
		{"the input ends", "\n", "", "", setupChoice{agents: []string{"claude", "codex"}}, errNoAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{stdout: &out, stderr: &out, env: func(string) string { return "" }}
			h := install.Host{Home: t.TempDir(), Env: a.env, Look: func(program string) (string, error) {
				if program == "claude" || program == "codex" {
					return "/bin/" + program, nil
				}
				return "", fs.ErrNotExist
			}}
			var got setupChoice
			f := &form{a, bufio.NewReader(strings.NewReader(tt.in))}
			if err := f.askSetup(h, &got, tt.known, tt.captures); !errors.Is(err, tt.err) {
				t.Errorf("got error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(setupChoice{})); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, out.String())
			}
		})
	}
}

func TestEditYAML(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", "capture:\n  sync: never\n"},
		{"a comment", "# mine", "# mine\ncapture:\n  sync: never\n"},
		{"others", "identity: todd # me\r\n", "identity: todd # me\r\ncapture:\r\n  sync: never\r\n"},
		{"no last line end", "identity: todd", "identity: todd\ncapture:\n  sync: never\n"},
		{"the section", "capture:\n    # days\n    keep: 30d\nhome: x\n", "capture:\n    # days\n    sync: never\n    keep: 30d\nhome: x\n"},
		{"another value", "capture:\n  sync: always # yes\n  keep: 1d\n", "capture:\n  sync: never # yes\n  keep: 1d\n"},
		{"in quotes", "capture: # c\n  sync: \"always\"\n", "capture: # c\n  sync: \"never\"\n"},
		{"the same", "capture: {sync: never}\n", "capture: {sync: never}\n"},
		{"flow", "capture: {keep: 1d}\n", ""},
		{"null", "capture:\n", ""},
		{"broken", "capture: [\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := editYAML([]byte(tt.in), "capture", "sync", "never")
			if tt.want == "" {
				if err == nil {
					t.Errorf("got %q, want an error", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
