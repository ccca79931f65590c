package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestSecret(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"key": canary + "\n", "empty": " \n", "huge": strings.Repeat("x", secretSize+1), "~.key": "home\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &app{env: func(name string) string {
		return map[string]string{"SET": " " + canary + " ", "HOME": dir, "USERPROFILE": dir}[name]
	}}
	for name, tt := range map[string]struct {
		secret secretConfig
		want   string
		err    string
	}{
		"nothing":          {secretConfig{}, "", ""},
		"a variable":       {secretConfig{From: "env:SET"}, canary, ""},
		"no variable":      {secretConfig{From: "env:UNSET"}, "", "p: key: $UNSET is not set"},
		"a key as name":    {secretConfig{From: "env:" + canary}, "", "p: key: the variable is not set"},
		"a file":           {secretConfig{From: "file:" + filepath.Join(dir, "key")}, canary, ""},
		"a file below ~":   {secretConfig{From: "file:~/~.key"}, "home", ""},
		"an empty file":    {secretConfig{From: "file:" + filepath.Join(dir, "empty")}, "", "p: key: it is empty"},
		"another file":     {secretConfig{From: "file:" + filepath.Join(dir, "huge")}, "", "p: key: the file holds more than 64 KiB"},
		"a key as path":    {secretConfig{From: "file:" + canary}, "", "p: key: the file cannot be read: "},
		"the key itself":   {secretConfig{From: canary}, "", "p: key: it is written into the config"},
		"no such program":  {secretConfig{Command: []string{"no-such-keychain", canary}}, "", "p: key: no-such-keychain: "},
		"a program's word": {secretConfig{Command: []string{"printf", `\n  first \nsecond\n`}}, "first", ""},
		"a program's exit": {secretConfig{Command: []string{"sh", "-c", "echo " + canary + " >&2; exit 3"}}, "", "p: key: sh: exit status 3"},
		"a mute program":   {secretConfig{Command: []string{"true"}}, "", "p: key: it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && len(tt.secret.Command) > 0 && tt.secret.Command[0] != "no-such-keychain" {
				t.Skip("no such programs here")
			}
			got, err := a.secret(t.Context(), "p: key", tt.secret)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("got the error %v, want %q", err, tt.err)
			}
			if err != nil && (strings.Contains(err.Error(), canary) || hintFor(err) == "") {
				t.Errorf("the error %q tells the secret, or not what to do", err)
			}
		})
	}
}

func TestSecretForms(t *testing.T) {
	for text, want := range map[string]secretConfig{
		"env:A":             {From: "env:A"},
		"plain":             {From: "plain"},
		"5":                 {From: "5"},
		"null":              {},
		"{command: [a, b]}": {Command: []string{"a", "b"}},
	} {
		var got secretConfig
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"[" + canary + "]", "{}", "{command: " + canary + "}", "{command: []}", "{command: [a], b: " + canary + "}", "{" + canary + ": [a]}", "{command: [{a: " + canary + "}]}"} {
		var got secretConfig
		if err := yaml.Unmarshal([]byte(text), &got); err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: got %v, want an error that names the line and no secret", text, err)
		}
	}
}

func TestDuration(t *testing.T) {
	var d duration
	if err := yaml.Unmarshal([]byte("1m30s"), &d); err != nil || time.Duration(d) != 90*time.Second {
		t.Errorf("got %v, %v", d, err)
	}
	for _, text := range []string{"5", "soon", "[1s]", canary} {
		if err := yaml.Unmarshal([]byte(text), &d); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: got %v, want an error without the text", text, err)
		}
	}
}
