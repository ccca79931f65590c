package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"vademecum/hooks"
	"vademecum/mcp"
	"vademecum/vault"
)

// mcpVault is the vault as the MCP server needs it: what the commands do, with
// nothing printed.
type mcpVault struct {
	*opened
	project string // workspace of calls that name none; "": that of the folder
	profile string // that recall goes by
}

var _ mcp.Vault = mcpVault{}

// Close also sees to it that what hooks left in the journal is drained.
func (v mcpVault) Close() error {
	v.drainLater()
	v.closeProviders()
	return v.vault.Close()
}

func (v mcpVault) query(f mcp.Filter) (vault.Query, error) {
	flags := filterFlags{
		tags: f.Tags, types: f.Types, since: strings.TrimSpace(f.Since),
		workspace: firstOf(f.Workspace, v.project), allWorkspaces: f.AllWorkspaces,
	}
	return flags.query(v.opened)
}

func (v mcpVault) Recall(ctx context.Context, r mcp.Recall) (mcp.Found, error) {
	q, err := v.query(r.Filter)
	if err != nil {
		return mcp.Found{}, err
	}
	p, err := v.config.findProfile(v.profile)
	if err != nil {
		return mcp.Found{}, err
	}
	start := time.Now()
	q.Text, p.Limit, p.Tokens = r.Query, r.Limit, r.Budget
	answer, founds, err := v.recallBy(ctx, p, q)
	if err != nil {
		return mcp.Found{}, err
	}
	v.noteActivity(hooks.DidRecall, start, hitIDs(answer.Hits)...)
	v.deleteGone(ctx, answer.gone)
	for _, f := range founds {
		v.refreshIndex(f.result)
	}
	return mcp.Found{Hits: answer.Hits, Reason: answer.Reason, Warnings: answer.Warnings}, nil
}

func (v mcpVault) Remember(ctx context.Context, d mcp.Draft) (vault.Receipt, error) {
	flags := memoryFlags{
		title: d.Title, kind: d.Type, tier: d.Tier, why: d.Why, source: d.Source,
		expires: strings.TrimSpace(d.Expires), tags: d.Tags, aliases: d.Aliases, supersedes: d.Supersedes,
		workspace: firstOf(d.Workspace, v.project), noWorkspace: d.NoWorkspace,
	}
	draft, err := flags.draft(v.opened, d.Text)
	if err != nil {
		return vault.Receipt{}, err
	}
	r, err := v.vault.Put(ctx, draft)
	return v.written(ctx, r, err)
}

// written completes the receipt of a write and has it pushed in the background.
func (v mcpVault) written(ctx context.Context, r vault.Receipt, err error) (vault.Receipt, error) {
	if err == nil {
		v.afterWrite(ctx, &r)
	}
	return r, err
}

func (v mcpVault) Read(ctx context.Context, ref string) (*vault.Memory, error) {
	p, err := v.config.findProfile(v.profile)
	if err != nil {
		return nil, err
	}
	m, _, err := v.readAnywhere(ctx, ref, func() []string { return v.vaults(p) })
	return m, err
}

// writable is the server on the vault that has what ref names. What it has to
// close, the caller closes by calling done.
func (v mcpVault) writable(ctx context.Context, ref string) (to mcpVault, done func(), err error) {
	p, err := v.config.findProfile(v.profile)
	if err != nil {
		return v, nil, err
	}
	o, err := v.opened.writable(ctx, ref, p)
	if err != nil {
		return v, nil, err
	}
	return mcpVault{opened: o, project: v.project, profile: v.profile}, func() { o.close(v.opened) }, nil
}

func (v mcpVault) Edit(ctx context.Context, ref string, e mcp.Edit) (vault.Receipt, error) {
	edit, err := v.edits(e)
	if err != nil {
		return vault.Receipt{}, err
	}
	v, done, err := v.writable(ctx, ref)
	if err != nil {
		return vault.Receipt{}, err
	}
	defer done()
	for {
		m, err := v.vault.Read(ctx, vault.Ref(ref))
		if err != nil {
			return vault.Receipt{}, err
		}
		if err := v.adopt(ctx, m.Path); err != nil {
			return vault.Receipt{}, err
		}
		now := edit
		if e.Old != "" {
			body, err := replaceOnce(m.Body, e.Old, e.New)
			if err != nil {
				return vault.Receipt{}, err
			}
			now.Body, now.IfMatch = &body, firstVersion(edit.IfMatch, m.Version)
		}
		r, err := v.vault.Edit(ctx, vault.Ref(m.Path), now)
		if errors.Is(err, vault.ErrStale) && edit.IfMatch == "" {
			continue // somebody was faster: look for the passage in what it is now
		}
		return v.written(ctx, r, err)
	}
}

func (v mcpVault) edits(e mcp.Edit) (vault.Edit, error) {
	edit := vault.Edit{
		IfMatch: vault.Version(e.IfMatch), Title: e.Title, Body: e.Text, Why: e.Why, Workspace: e.Workspace,
		AddTags: splitList(e.AddTags), RemoveTags: splitList(e.RemoveTags),
	}
	if e.Workspace != nil && *e.Workspace != "" {
		key := v.workspace(*e.Workspace)
		edit.Workspace = &key
	}
	if e.Type != nil {
		t, err := parseType(*e.Type)
		if err != nil {
			return edit, err
		}
		edit.Type = &t
	}
	if e.Tier != nil {
		t, err := parseTier(*e.Tier)
		if err != nil {
			return edit, err
		}
		edit.Tier = &t
	}
	if e.Expires != nil {
		when := time.Time{}
		if word := strings.TrimSpace(*e.Expires); word != "" && word != "never" {
			var err error
			if when, err = parseMoment(word, v.vault.Now(), 1); err != nil {
				return edit, err
			}
		}
		edit.Expires = &when
	}
	return edit, nil
}

// replaceOnce replaces the one occurrence of old in text. What the reader was
// shown has "\n" at the end of every line.
func replaceOnce(text, old, with string) (string, error) {
	if !strings.Contains(text, old) && strings.Contains(text, "\r\n") {
		old, with = crlf(old), crlf(with)
	}
	switch n := strings.Count(text, old); n {
	case 0:
		return "", usagef("old does not occur in the memory's text; read it and copy the passage exactly")
	case 1:
		return strings.Replace(text, old, with, 1), nil
	default:
		return "", usagef("old occurs %d times in the memory's text; give a longer passage that occurs once", n)
	}
}

func crlf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

func (v mcpVault) Forget(ctx context.Context, ref, ifMatch string) (vault.Receipt, error) {
	v, done, err := v.writable(ctx, ref)
	if err != nil {
		return vault.Receipt{}, err
	}
	defer done()
	m, err := v.vault.Read(ctx, vault.Ref(ref))
	if err != nil {
		return vault.Receipt{}, err
	}
	if err := v.adopt(ctx, m.Path); err != nil {
		return vault.Receipt{}, err
	}
	r, err := v.vault.Forget(ctx, vault.Ref(m.Path), vault.Version(ifMatch))
	return v.written(ctx, r, err)
}

func (v mcpVault) List(ctx context.Context, f mcp.Filter) ([]*vault.Memory, error) {
	q, err := v.query(f)
	if err != nil {
		return nil, err
	}
	s, err := v.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.SaveCatalog()
	found := matching(s, q)
	return found, sortListing(found, "updated")
}

func (v mcpVault) History(ctx context.Context, ref string, limit int) ([]vault.LogEntry, error) {
	if !v.vault.Exists() {
		return nil, nil
	}
	var args []string
	if ref != "" {
		args = []string{ref}
	}
	return v.history(ctx, args, func(vault.LogEntry) bool { return true }, limit)
}

// Doctor looks, without asking the remote, and mends nothing.
func (v mcpVault) Doctor(ctx context.Context) (mcp.Report, error) {
	d := &doctor{o: v.opened, offline: true, counts: map[string]int{}}
	if err := d.run(ctx); err != nil {
		return mcp.Report{}, err
	}
	r := mcp.Report{OK: true, Memories: d.counts["vault"]}
	for _, f := range d.findings {
		r.OK = r.OK && f.State != stateBad
		r.Findings = append(r.Findings, mcp.Finding{Check: f.Check, State: f.State, Detail: f.Detail, Remedy: f.Remedy, Items: f.Items})
	}
	return r, nil
}
