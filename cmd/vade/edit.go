package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/vault"
)

// editFlags say what to change; a flag that was not given changes nothing.
type editFlags struct {
	title, body, workspace, why, kind, tier, expires, ifMatch string
	addTags, removeTags, addAliases, removeAliases            []string
	allowSecret                                               bool
}

func (a *app) editCmd() *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:     "edit REF",
		Short:   "Change a memory",
		GroupID: groupMemory,
		Long: `Change a memory: in $VISUAL or $EDITOR, or by flags. Only the lines that have to
change do; comments, key order and line ends stay. What you changed in the file
by other means is committed first, as an edit of its own.`,
		Example: `  vade edit 7v5n9t
  vade edit 7v5n9t --add-tag ci --title "Deploy rule"
  echo "new text" | vade edit 7v5n9t --body -
  vade edit 7v5n9t --if-match 3f2a1bc --remove-tag old`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				e, err := f.edit(a, o, cmd)
				if err != nil {
					return err
				}
				return o.edit(cmd.Context(), vault.Ref(args[0]), e)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.title, "title", "", "new title (the file keeps its name)")
	fl.StringVar(&f.body, "body", "", `new text; "-" reads it from standard input`)
	fl.StringVar(&f.kind, "type", "", "new type")
	fl.StringVar(&f.tier, "tier", "", "new tier")
	fl.StringVar(&f.why, "why", "", "why it is so")
	fl.StringVar(&f.workspace, "workspace", "", `project it belongs to; "" for every project`)
	fl.StringVar(&f.expires, "expires", "", `when it expires: a duration or a date; "never"`)
	fl.StringArrayVar(&f.addTags, "add-tag", nil, "add a tag; repeatable")
	fl.StringArrayVar(&f.removeTags, "remove-tag", nil, "remove a tag; repeatable")
	fl.StringArrayVar(&f.addAliases, "add-alias", nil, "add an alias; repeatable")
	fl.StringArrayVar(&f.removeAliases, "remove-alias", nil, "remove an alias; repeatable")
	fl.StringVar(&f.ifMatch, "if-match", "", "refuse unless the file has this version")
	fl.BoolVar(&f.allowSecret, "allow-secret", false, "store a text that looks like a secret")
	return cmd
}

func (f *editFlags) edit(a *app, o *opened, cmd *cobra.Command) (vault.Edit, error) {
	e := vault.Edit{
		IfMatch: vault.Version(f.ifMatch), AllowSecret: f.allowSecret,
		AddTags: splitList(f.addTags), RemoveTags: splitList(f.removeTags),
		AddAliases: f.addAliases, RemoveAliases: f.removeAliases,
	}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	for name, field := range map[string]struct {
		to   **string
		from *string
	}{
		"title": {&e.Title, &f.title}, "body": {&e.Body, &f.body}, "why": {&e.Why, &f.why},
		"workspace": {&e.Workspace, &f.workspace},
	} {
		if given(name) {
			*field.to = field.from
		}
	}
	if given("body") && f.body == "-" {
		raw, err := io.ReadAll(a.stdin)
		if err != nil {
			return e, err
		}
		f.body = string(raw)
	}
	if given("type") {
		t, err := parseType(f.kind)
		if err != nil {
			return e, err
		}
		e.Type = &t
	}
	if given("tier") {
		t, err := parseTier(f.tier)
		if err != nil {
			return e, err
		}
		e.Tier = &t
	}
	if given("expires") {
		when := time.Time{}
		if f.expires != "never" {
			var err error
			if when, err = parseMoment(f.expires, o.vault.Now(), 1); err != nil {
				return e, err
			}
		}
		e.Expires = &when
	}
	return e, nil
}

// edit makes the change e, or without one lets the person edit the file.
func (o *opened) edit(ctx context.Context, ref vault.Ref, e vault.Edit) error {
	m, err := o.vault.Read(ctx, ref)
	if err != nil {
		return err
	}
	if err := o.adopt(ctx, m.Path); err != nil {
		return err
	}
	if e.Empty() {
		raw, err := o.editInEditor(ctx, m)
		if err != nil {
			return err
		}
		if raw == nil {
			o.a.note("nothing changed")
			return nil
		}
		e.Raw, e.IfMatch, e.AllowSecret = raw, firstVersion(e.IfMatch, m.Version), true
	}
	r, err := o.vault.Edit(ctx, vault.Ref(m.Path), e)
	if stale, ok := errors.AsType[*vault.StaleError](err); ok && e.Raw != nil {
		return o.keepDraft(stale, e.Raw)
	}
	if err != nil {
		return err
	}
	o.warnExpired(&r, expiry(m, e))
	o.afterWrite(ctx, &r)
	return o.a.printReceipt("edited", r)
}

// expiry is when m expires after the edit e.
func expiry(m *vault.Memory, e vault.Edit) time.Time {
	switch {
	case e.Raw != nil:
		return vault.ParseDocument(e.Raw).Memory().Expires
	case e.Expires != nil:
		return *e.Expires
	}
	return m.Expires
}

func firstVersion(a, b vault.Version) vault.Version {
	if a != "" {
		return a
	}
	return b
}

// editInEditor gives a copy of the file to the person's editor and returns
// what they saved; nil when they changed nothing.
func (o *opened) editInEditor(ctx context.Context, m *vault.Memory) ([]byte, error) {
	before, err := os.ReadFile(filepath.Join(o.vault.WorkDir(), filepath.FromSlash(m.Path)))
	if err != nil {
		return nil, err
	}
	dir, err := o.tempDir("vade-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	draft := filepath.Join(dir, filepath.Base(m.Path))
	if err := os.WriteFile(draft, before, 0o600); err != nil {
		return nil, err
	}
	if err := o.a.runEditor(ctx, draft); err != nil {
		return nil, err
	}
	after, err := os.ReadFile(draft)
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	return after, nil
}

// tempDir makes a folder for a draft, in the system's place for them or, where
// there is none, in the identity's folder.
func (o *opened) tempDir(prefix string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		dir, err = os.MkdirTemp(filepath.Dir(o.vault.WorkDir()), prefix)
	}
	return dir, err
}

// runEditor runs $VISUAL or $EDITOR, which may carry arguments, on file.
func (a *app) runEditor(ctx context.Context, file string) error {
	words := strings.Fields(firstOf(a.env("VISUAL"), a.env("EDITOR")))
	if len(words) == 0 && a.atTerminal() {
		words = strings.Fields(defaultEditor())
	}
	if len(words) == 0 {
		return hinted(usagef("no editor is set"), "set $EDITOR, or use --title, --body, --add-tag …")
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stderr, a.stderr
	if terminal(a.stdout) {
		cmd.Stdout = a.stdout
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("editor %s: %w", words[0], err)
	}
	return nil
}

// atTerminal reports whether a person can type into an editor.
func (a *app) atTerminal() bool {
	in, ok := a.stdin.(*os.File)
	return ok && isTerminal(in)
}

func defaultEditor() string {
	for _, name := range []string{"nano", "vim", "vi", "notepad.exe"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// keepDraft saves what a person typed when the memory changed under them.
func (o *opened) keepDraft(stale *vault.StaleError, raw []byte) error {
	dir, err := o.tempDir("vade-draft-")
	if err != nil {
		return err
	}
	draft, err := os.Create(filepath.Join(dir, "draft.md"))
	if err != nil {
		return err
	}
	defer draft.Close()
	if _, err := draft.Write(raw); err != nil {
		return err
	}
	return hinted(stale, "your text is kept in "+draft.Name())
}
