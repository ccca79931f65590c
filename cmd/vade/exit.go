package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/vault"
)

// Exit codes, as the root help documents them.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3 // not found or ambiguous
	exitConflict = 4
	exitPartly   = 5
	exitLocked   = 6
)

// codedError is an error that chose its exit code and, for a person, a hint.
type codedError struct {
	code int
	hint string
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// errSilent marks an error that was already shown in full.
var errSilent = errors.New("already shown")

// hinted adds what to do next to err; nil stays nil.
func hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &codedError{code: exitCode(err), hint: hint, err: err}
}

// usagef is a mistake in how the command was called.
func usagef(format string, args ...any) error {
	return &codedError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func usageError(cmd *cobra.Command, err error) error {
	if strings.Contains(err.Error(), "unknown shorthand flag: ' '") { // "- a list item"
		return hinted(usagef("a text that begins with a dash was taken for flags"), `put "--" before it, or give it on standard input`)
	}
	return &codedError{
		code: exitUsage,
		hint: fmt.Sprintf("run %q for its usage", cmd.CommandPath()+" --help"),
		err:  err,
	}
}

// exitCode is the one switch from an error to the process's exit code.
func exitCode(err error) int {
	if c, ok := errors.AsType[*codedError](err); ok {
		return c.code
	}
	if _, ok := errors.AsType[*vault.AmbiguousError](err); ok {
		return exitNotFound
	}
	switch {
	case errors.Is(err, vault.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case errors.Is(err, vault.ErrName):
		return exitUsage
	case errors.Is(err, vault.ErrStale):
		return exitConflict
	case errors.Is(err, vault.ErrLocked):
		return exitLocked
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "required flag"):
		return exitUsage
	}
	return exitFailed
}

// printError shows err on stderr: as JSON under --json, else for a person
// with what to do next.
func (a *app) printError(err error) {
	if a.flags.json {
		out := map[string]any{"error": err.Error(), "code": exitCode(err)}
		if amb, ok := errors.AsType[*vault.AmbiguousError](err); ok {
			out["candidates"] = amb.Candidates
		}
		if hint := hintFor(err); hint != "" {
			out["hint"] = hint
		}
		enc := json.NewEncoder(a.stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(out)
		return
	}
	fmt.Fprintf(a.stderr, "vade: %v\n", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(a.stderr, "  hint: %s\n", hint)
	}
}

func hintFor(err error) string {
	if c, ok := errors.AsType[*codedError](err); ok && c.hint != "" {
		return c.hint
	}
	if _, ok := errors.AsType[*vault.AmbiguousError](err); ok {
		return "name one of them by its id or path"
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted; what was acknowledged before is kept"
	case errors.Is(err, vault.ErrNotFound):
		return `"vade list" shows what there is`
	case errors.Is(err, vault.ErrStale):
		return "read it again and repeat the change with its present version"
	case errors.Is(err, vault.ErrLocked):
		return "try again; if it persists, \"vade doctor\" names the process that holds the lock"
	case errors.Is(err, vault.ErrSecret):
		return "take the secret out, or store it knowingly with --allow-secret"
	case errors.Is(err, vault.ErrBroken):
		return "mend its front matter in an editor; \"vade doctor\" names the line"
	case diskFull(err):
		return "free some space and repeat it; what was acknowledged before is kept, recall goes on"
	case errors.Is(err, fs.ErrPermission):
		return "check the owner and mode of that path (folders 0700, files 0600)"
	}
	return ""
}
