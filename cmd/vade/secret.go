package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// UnmarshalYAML implements yaml.Unmarshaler: a scalar, or {command: […]}. What
// it is given is in no error: it may be the secret itself.
func (s *secretConfig) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.From = n.Value
		return nil
	}
	var byCommand struct {
		Command []string `yaml:"command"`
	}
	if _, c := member(n, "command"); len(n.Content) != 2 || c == nil || n.Decode(&byCommand) != nil || len(byCommand.Command) == 0 {
		return fmt.Errorf("line %d: a secret is env:NAME, file:PATH, or {command: [PROGRAM, ARGUMENT, …]}", n.Line)
	}
	s.Command = byCommand.Command
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %s is no time such as 250ms or 2s", n.Line, shown(n.Value))
	}
	*d = duration(v)
	return nil
}

func (s secretConfig) empty() bool { return s.From == "" && len(s.Command) == 0 }

// secretTimeout bounds a command that prints a secret: a keychain may ask its
// owner first.
const secretTimeout = 10 * time.Second

// secretForms is what to do about a secret that is not to be had.
const secretForms = "use env:NAME, file:PATH, or {command: [PROGRAM, ARGUMENT, …]} that prints it"

// secret is what s stands for, "" for nothing. what names it in errors.
func (a *app) secret(ctx context.Context, what string, s secretConfig) (string, error) {
	value, err := "", error(nil)
	switch kind, rest, _ := strings.Cut(s.From, ":"); {
	case s.empty():
		return "", nil
	case len(s.Command) > 0:
		value, err = commandSecret(ctx, s.Command)
	case kind == "env":
		if value = a.env(rest); value == "" {
			err = unsetVariable(rest)
		}
	case kind == "file":
		value, err = a.fileSecret(rest)
	default:
		err = errors.New("it is written into the config")
	}
	if value = strings.TrimSpace(value); value == "" && err == nil {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", hinted(fmt.Errorf("%s: %w", what, err), secretForms)
	}
	return value, nil
}

// unsetVariable names the variable, unless its name is the secret.
func unsetVariable(name string) error {
	if !harmless(name) {
		return errors.New("the variable is not set")
	}
	return fmt.Errorf("$%s is not set", name)
}

// secretSize bounds a file that holds a secret: more is another file.
const secretSize = 64 << 10

// fileSecret is what a file holds.
func (a *app) fileSecret(path string) (string, error) {
	f, err := os.Open(a.expandTilde(path))
	if err != nil {
		return "", hidePath(path, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, secretSize+1))
	if err != nil {
		return "", hidePath(path, err)
	}
	if len(raw) > secretSize {
		return "", fmt.Errorf("the file holds more than %d KiB", secretSize>>10)
	}
	return string(raw), nil
}

// hidePath is err without the path, if somebody wrote the secret in its place.
func hidePath(path string, err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok && !isReference("file:"+path) {
		return fmt.Errorf("the file cannot be read: %w", bad.Err)
	}
	return err
}

// commandSecret is the first line that a command prints. What it says besides
// is shown to nobody.
func commandSecret(ctx context.Context, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not end within %s", command[0], secretTimeout)
		}
		return "", fmt.Errorf("%s: %w", command[0], err)
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte{'\n'})
	return string(line), nil
}
