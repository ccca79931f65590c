package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/vault"
)

// memoryFlags are the flags that describe a memory.
type memoryFlags struct {
	profile, title, kind, tier, why, workspace, scope, expires, id, source, file string
	tags, aliases, supersedes                                                    []string
	allowSecret, noWorkspace                                                     bool
}

func (a *app) rememberCmd() *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use:     "remember [TEXT… | -]",
		Short:   "Write a memory",
		GroupID: groupMemory,
		Long: `Write a memory: one markdown file with front matter, saved durably and committed
before vade answers. The text comes from the arguments, from --file, or from
standard input with "-".

The same text again, in the same workspace, is one memory with a later date.
Inside a git repository the memory belongs to that project (--no-workspace: to
every project).`,
		Example: `  vade remember --title "Deploy rule" --tag ci "Production deploys run through GitHub Actions; never from a laptop"
  vade remember --type decision --why "two outages" "우리는 배포를 GitHub Actions로만 한다"
  git log -1 --format=%B | vade remember --tag release -
  vade remember --tier stm --expires 2h "staging is locked by Kim"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.text(args, f.file)
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" && strings.TrimSpace(f.title) == "" {
				return nothingToStore()
			}
			return a.withVault(func(o *opened) error {
				start := time.Now()
				d, err := f.draft(o, text)
				if err != nil {
					return err
				}
				to, err := o.writer(f.profile, &d)
				if err != nil {
					return err
				}
				defer to.close(o)
				r, err := to.vault.Put(cmd.Context(), d)
				if err != nil {
					return err
				}
				to.warnExpired(&r, d.Expires)
				to.afterWrite(cmd.Context(), &r)
				to.noteActivity(hooks.DidRemember, start, string(r.ID))
				return a.printReceipt("remembered", r)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.profile, "profile", "", "profile to write by: its vault and tier")
	fl.StringVar(&f.title, "title", "", "title (default: the first heading or line)")
	fl.StringVar(&f.kind, "type", "", "decision, convention, constraint, fact, preference, procedure, event, handoff or note")
	fl.StringVar(&f.tier, "tier", "", "ltm: kept; stm: expires after 24 h (default ltm)")
	fl.StringArrayVar(&f.tags, "tag", nil, "tag; repeat or separate by commas")
	fl.StringArrayVar(&f.aliases, "alias", nil, "other words that somebody may search by; repeatable")
	fl.StringVar(&f.why, "why", "", "why it is so")
	fl.StringVar(&f.workspace, "workspace", "", "project it belongs to (default: the git repository you are in)")
	fl.BoolVar(&f.noWorkspace, "no-workspace", false, "it belongs to every project")
	fl.StringVar(&f.scope, "scope", "", "personal or team:NAME (default personal)")
	fl.StringVar(&f.expires, "expires", "", "when it expires: a duration (90m, 7d) or a date")
	fl.StringArrayVar(&f.supersedes, "supersedes", nil, "memory that this one replaces; repeatable")
	fl.StringVar(&f.id, "id", "", "its id, a ULID (default: a fresh one)")
	fl.StringVar(&f.source, "source", "", "where it comes from: a URL, a file, a person")
	fl.StringVar(&f.file, "file", "", "read the text from this file")
	fl.BoolVar(&f.allowSecret, "allow-secret", false, "store a text that looks like a secret")
	_ = cmd.RegisterFlagCompletionFunc("supersedes", a.completeRefs)
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(typeNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("tier", cobra.FixedCompletions([]string{"ltm", "stm"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func typeNames() []string {
	names := make([]string, len(vault.Types))
	for i, t := range vault.Types {
		names[i] = string(t)
	}
	return names
}

// text is what a command is to store: its arguments, a file, or stdin.
func (a *app) text(args []string, file string) (string, error) {
	switch {
	case file != "" && len(args) > 0:
		return "", usagef("give the text or --file, not both")
	case file != "":
		return a.readText(file)
	case len(args) == 1 && args[0] == "-":
		return a.readText("-")
	case len(args) == 0:
		return "", nothingToStore()
	}
	return strings.Join(args, " "), nil
}

func nothingToStore() error {
	return hinted(usagef("nothing to store: the text is empty"), `give the text as an argument, with --file, or "-" for standard input`)
}

// readText is readInput for what must be text: a zero byte is in no text, and
// what holds one is no memory that anybody could read.
func (a *app) readText(name string) (string, error) {
	raw, err := a.readInput(name)
	if err != nil {
		return "", err
	}
	if at := bytes.IndexByte(raw, 0); at >= 0 {
		return "", hinted(usagef("this is no text: byte %d is zero", at), `"vade file put NAME" keeps any bytes`)
	}
	return string(raw), nil
}

func (f *memoryFlags) draft(o *opened, text string) (vault.Draft, error) {
	d := vault.Draft{AllowSecret: f.allowSecret}
	d.Title, d.Body, d.Why, d.Source = f.title, text, f.why, f.source
	d.Tags, d.Aliases, d.ID = splitList(f.tags), f.aliases, vault.ID(f.id)
	for _, ref := range f.supersedes {
		d.SupersedesRefs = append(d.SupersedesRefs, vault.Ref(ref))
	}
	var err error
	if d.Type, err = parseType(f.kind); err != nil {
		return d, err
	}
	if d.Tier, err = parseTier(f.tier); err != nil {
		return d, err
	}
	if d.Scope, err = parseScope(f.scope); err != nil {
		return d, err
	}
	if d.Expires, err = parseMoment(f.expires, o.vault.Now(), 1); err != nil {
		return d, err
	}
	d.Workspace = o.workspace(f.workspace)
	if f.noWorkspace {
		d.Workspace = ""
	}
	return d, nil
}

// splitList takes "a,b" for two items.
func splitList(items []string) []string {
	var out []string
	for _, item := range items {
		for part := range strings.SplitSeq(item, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
	}
	return out
}

func parseType(s string) (vault.Type, error) {
	t := vault.Type(strings.ToLower(s))
	if t == "" || slices.Contains(vault.Types, t) {
		return t, nil
	}
	return "", usagef("type %q is unknown; use one of %s", s, strings.Join(typeNames(), ", "))
}

func parseTier(s string) (vault.Tier, error) {
	switch t := vault.Tier(strings.ToLower(s)); t {
	case "", vault.LTM, vault.STM:
		return t, nil
	}
	return "", usagef("tier %q is unknown; use ltm or stm", s)
}

func parseScope(s string) (vault.Scope, error) {
	kind, id, _ := strings.Cut(s, ":")
	switch kind {
	case "":
		return vault.Scope{}, nil
	case "personal", "team":
		return vault.Scope{Type: kind, ID: id}, nil
	}
	return vault.Scope{}, usagef("scope %q is unknown; use personal or team:NAME", s)
}

// parseMoment reads a date, a time, or a duration from now in direction
// (1: ahead, -1: back). Days and weeks are d and w.
func parseMoment(s string, now time.Time, direction int) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, ok := vault.ParseTime(s); ok {
		return t, nil
	}
	d, err := parseDuration(s)
	if err != nil || d <= 0 {
		return time.Time{}, usagef("%q is no time; use 90m, 12h, 7d, 2w, 2026-11-30 or 2026-11-30T16:00:00Z", s)
	}
	return now.Add(time.Duration(direction) * d), nil
}

func parseDuration(s string) (time.Duration, error) {
	unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	if unit == 0 {
		return time.ParseDuration(s)
	}
	var n int
	if _, err := fmt.Sscanf(s[:len(s)-1]+"\n", "%d\n", &n); err != nil || n > 36500 {
		return 0, errors.New("not a number of days or weeks")
	}
	return time.Duration(n) * unit, nil
}

// workspace is the project key that a command is about: what the flag says
// (a key or a remote URL), else where it runs.
func (o *opened) workspace(flag string) string {
	switch {
	case flag == "":
		return workspaceHere(o.home)
	case strings.ContainsAny(flag, ":@"):
		return vault.ParseWorkspace(flag)
	}
	return flag
}

// readInput reads all of a named file, or stdin for "-".
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.stdin)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &codedError{code: exitUsage, err: err, hint: "name an existing file, or - for standard input"}
	}
	return data, err
}
