package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secret checks where a key is to be found. The key itself is refused: a config
// is shown, copied and synced.
func (w *configWalk) secret(n *yaml.Node, at spot) {
	var s secretConfig
	kind, rest, _ := strings.Cut(n.Value, ":")
	switch {
	case s.UnmarshalYAML(n) != nil:
		w.bad(n, at, "this does not say where the secret is", secretForms)
	case n.Kind != yaml.ScalarNode:
		w.runnable(second(member(n, "command")), at.below(n, "command", "command"))
	case n.Value == "":
		w.bad(n, at, "it is empty", secretForms)
	case kind == "env" && variableName().MatchString(rest):
		w.variableSet(n, at, rest)
	case kind == "file" && rest != "":
		w.secretFile(n, at, rest)
	default:
		w.bad(n, at, "the secret itself is written here", "take it out of the file; "+secretForms)
	}
}

func second[A, B any](_ A, b B) B { return b }

// variable checks what a program's variable is set to: as a secret, or a plain
// text.
func (w *configWalk) variable(n *yaml.Node, at spot) {
	kind, _, ok := strings.Cut(n.Value, ":")
	if n.Kind != yaml.ScalarNode || ok && (kind == "env" || kind == "file") {
		w.secret(n, at)
		return
	}
	if w.look != nil && saysSecret(at.key.Value, n.Value) {
		w.warn(n, at, "this looks like a secret", "take it out of the file; "+secretForms)
	}
}

// What follows looks at this machine, and only warns: what is not there now may
// be there when it is needed.

func (w *configWalk) variableSet(n *yaml.Node, at spot, name string) {
	if w.look != nil && w.look.env(name) == "" {
		what := "the variable is not set here"
		if harmless(name) {
			what = "$" + name + " is not set here"
		}
		w.warn(n, at, what, "set it where vade and your agents start")
	}
}

func (w *configWalk) secretFile(n *yaml.Node, at spot, path string) {
	if w.look == nil {
		return
	}
	info, err := os.Stat(w.look.expandTilde(path))
	switch {
	case err != nil:
		w.warn(n, at, "the file is not there, or not for us to read", "write the secret into it, and nothing else")
	case !info.Mode().IsRegular():
		w.warn(n, at, "this is no file", "name a file that holds the secret and nothing else")
	case readByOthers(info):
		w.warn(n, at, "others on this machine can read the file", "chmod 600 it")
	}
}

// readByOthers reports whether others than its owner may read a file. Windows
// keeps who may in lists that the mode does not show.
func readByOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0
}

// runnable checks the command n, a list.
func (w *configWalk) runnable(n *yaml.Node, at spot) {
	if w.look == nil || n == nil || n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return
	}
	program := resolved(n.Content[0])
	if _, err := exec.LookPath(w.look.expandTilde(program.Value)); err != nil {
		w.warn(program, at.below(nil, "[0]", "[]"), "the program "+shown(program.Value)+" is not found", "install it, or give its whole path")
	}
	for i := 1; i < len(n.Content); i++ {
		if arg := resolved(n.Content[i]); saysSecret(nameOf("", resolved(n.Content[i-1]).Value), arg.Value) {
			w.warn(arg, at.below(nil, fmt.Sprintf("[%d]", i), "[]"), "this looks like a secret, and all on this machine can see what programs are started with", "give it in env, from env:NAME or file:PATH")
		}
	}
}
