package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/vault"
)

// say is a result of text alone.
func say(lines ...string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Join(lines, "\n")}}}
}

// Bounds of what one answer holds. Clients cut or refuse longer ones (Claude
// Code at 25,000 tokens).
const (
	maxHits   = 50
	maxBudget = 20_000
	maxListed = 200
	maxRead   = 40_000 // bytes of a memory
)

func recall(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	q := Recall{
		Filter: filter(a), Query: a.text("query"),
		Limit: a.number("limit", 5, 1, maxHits), Budget: a.number("budget", 4000, 1, maxBudget),
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	found, err := v.Recall(ctx, q)
	if err != nil {
		return nil, err
	}
	return say(recalled(found)), nil
}

// recalled is the answer to a query as text.
func recalled(found Found) string {
	var out []string
	for _, w := range found.Warnings {
		out = append(out, "Warning: "+oneLine(w, 300))
	}
	if len(found.Hits) == 0 {
		reason := found.Reason
		if reason == "" {
			reason = "no memory matches"
		}
		return strings.Join(append(out, "Nothing found: "+oneLine(reason, 300)+"."), "\n")
	}
	blocks := make([]string, len(found.Hits))
	for i, h := range found.Hits {
		blocks[i] = block(hitHeading(h), h.Text)
	}
	return strings.Join(append(out, framed(blocks...)), "\n")
}

func remember(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	d := Draft{
		Text: a.text("text"), Title: a.text("title"), Type: a.oneOf("type"), Tier: a.oneOf("tier"),
		Why: a.text("why"), Source: a.text("source"), Expires: a.text("expires"),
		Tags: a.list("tags"), Aliases: a.list("aliases"), Supersedes: a.list("supersedes"),
		Workspace: a.text("workspace"), NoWorkspace: a.flag("no_workspace"),
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	r, err := v.Remember(ctx, d)
	if err != nil {
		return nil, err
	}
	return written("Remembered", r), nil
}

func read(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	ref, from := a.text("ref"), a.number("from_line", 1, 1, 1<<30)
	if err := a.problem(); err != nil {
		return nil, err
	}
	m, err := v.Read(ctx, ref)
	if err != nil {
		return nil, err
	}
	return say(whole(m, from)), nil
}

// whole is a memory with all that is known of it, its text from line from on.
func whole(m *vault.Memory, from int) string {
	var b strings.Builder
	fact := func(name, value string) {
		if value = oneLine(value, 500); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	fact("version", string(m.Version))
	fact("path", m.Path)
	fact("why", m.Why)
	fact("source", m.Source)
	fact("aliases", strings.Join(m.Aliases, ", "))
	fact("supersedes", strings.Join(m.Supersedes, ", "))
	part, rest := window(m.Body, from, maxRead)
	out := framed(memoryHeading(m) + "\n" + b.String() + quote(part))
	if rest > 0 {
		out += fmt.Sprintf("\nThere is more: read it with from_line %d.", rest)
	}
	return out
}

// window is text from line from (1-based) on, in whole lines of at most limit
// bytes together, and the line that follows; 0 when there is none.
func window(text string, from, limit int) (part string, next int) {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n < from {
			continue
		}
		if b.Len() > 0 && b.Len()+len(line) > limit {
			return b.String(), n
		}
		if len(line) > limit {
			line = strings.ToValidUTF8(line[:limit], "") + "…\n"
		}
		b.WriteString(line)
	}
	return b.String(), 0
}

func edit(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	e := Edit{
		IfMatch: a.text("if_match"), Title: a.optional("title"), Text: a.optional("text"), Why: a.optional("why"),
		Workspace: a.optional("workspace"), Expires: a.optional("expires"), Type: a.optional("type"), Tier: a.optional("tier"),
		AddTags: a.list("add_tags"), RemoveTags: a.list("remove_tags"), Old: a.text("old"), New: a.text("new"),
	}
	switch {
	case a.has("old") != a.has("new"):
		a.refuse(`old and new belong together (new "" removes the passage)`)
	case a.has("old") && e.Old == "":
		a.refuse("old is empty")
	case a.has("old") && a.has("text"):
		a.refuse("give text, or old and new, not both")
	case len(a.given) == 1 || len(a.given) == 2 && a.has("if_match"):
		a.refuse("nothing to change")
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	r, err := v.Edit(ctx, a.text("ref"), e)
	if err != nil {
		return nil, err
	}
	return written("Edited", r), nil
}

func forget(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	ref, ifMatch := a.text("ref"), a.text("if_match")
	if err := a.problem(); err != nil {
		return nil, err
	}
	r, err := v.Forget(ctx, ref, ifMatch)
	if err != nil {
		return nil, err
	}
	return written("Forgotten", r), nil
}

// receipt is what a write answers as structured content: facts by the time of
// the answer, without any of the memory's text.
type receipt struct {
	ID       string   `json:"id,omitempty"`
	Path     string   `json:"path"`
	Version  string   `json:"version,omitempty"`
	Saved    bool     `json:"saved"`
	Commit   string   `json:"commit,omitempty"`
	Pushed   bool     `json:"pushed"`
	Warnings []string `json:"warnings,omitempty"`
}

// written tells the same receipt to clients that show text and to those that
// show structured content.
func written(verb string, r vault.Receipt) *sdk.CallToolResult {
	out := receipt{
		ID: string(r.ID), Path: r.Path, Version: string(r.Version),
		Saved: r.Saved, Commit: r.Commit, Pushed: r.Pushed,
	}
	words := "saved"
	if r.Commit != "" {
		words += ", committed " + r.Commit[:min(10, len(r.Commit))]
	}
	lines := []string{strings.TrimSpace(fmt.Sprintf("%s %s%s (%s)", verb, name(r.ID, r.Path), r.Path, words))}
	if r.Version != "" {
		lines = append(lines, "version: "+string(r.Version))
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, oneLine(w, 300))
		lines = append(lines, "note: "+oneLine(w, 300))
	}
	res := say(lines...)
	res.StructuredContent = out
	return res
}

func listing(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	f, limit, offset := filter(a), a.number("limit", 30, 1, maxListed), a.number("offset", 0, 0, 1<<30)
	if err := a.problem(); err != nil {
		return nil, err
	}
	found, err := v.List(ctx, f)
	if err != nil {
		return nil, err
	}
	return say(listed(found, offset, limit)), nil
}

// listed is a page of a list as text.
func listed(found []*vault.Memory, offset, limit int) string {
	page := found[min(offset, len(found)):]
	page = page[:min(limit, len(page))]
	if len(page) == 0 {
		return fmt.Sprintf("No memories from number %d on; %s match.", offset+1, plural(len(found), "memory", "memories"))
	}
	var b strings.Builder
	for _, m := range page {
		b.WriteString(memoryHeading(m) + "\n")
	}
	out := framed(b.String())
	if end := offset + len(page); end < len(found) {
		out += fmt.Sprintf("\n%d to %d of %d; list with offset %d shows more.", offset+1, end, len(found), end)
	}
	return out
}

func history(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	ref, limit := a.text("ref"), a.number("limit", 20, 1, maxListed)
	if err := a.problem(); err != nil {
		return nil, err
	}
	entries, err := v.History(ctx, strings.TrimSpace(ref), limit)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return say("No commits."), nil
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(entryLine(e) + "\n")
	}
	return say(framed(b.String())), nil
}

func entryLine(e vault.LogEntry) string {
	facts := facts{oneLine(e.Subject, 120)}
	facts.add(e.When.UTC().Format("2006-01-02 15:04"), origin(vault.Origin{User: e.Author, Agent: e.Agent, Host: e.Host}))
	if e.Session != "" {
		facts.add("session " + e.Session)
	}
	if e.Path != "" && e.Version == "" {
		facts.add("removed")
	}
	return "[" + e.Commit[:min(10, len(e.Commit))] + "] " + facts.String()
}

func doctor(ctx context.Context, v Vault, a *args) (*sdk.CallToolResult, error) {
	if err := a.problem(); err != nil {
		return nil, err
	}
	report, err := v.Doctor(ctx)
	if errors.Is(err, vault.ErrNotFound) {
		return say("There is no vault yet; the first remember makes it."), nil
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, f := range report.Findings {
		b.WriteString(findingLines(f))
	}
	verdict := "All is well"
	if !report.OK {
		verdict = "Something is wrong; tell the user"
	}
	return say(fmt.Sprintf("%s. %s.", verdict, plural(report.Memories, "memory", "memories")), b.String()), nil
}

func findingLines(f Finding) string {
	var out strings.Builder
	out.WriteString(fmt.Sprintf("[%s] %s", f.State, oneLine(f.Check, 80)))
	if f.Detail != "" {
		out.WriteString(": " + oneLine(f.Detail, 300))
	}
	if f.Remedy != "" && f.State != "ok" {
		out.WriteString(". Remedy, for the owner: " + oneLine(f.Remedy, 300))
	}
	out.WriteString("\n")
	const shown = 10
	for _, item := range f.Items[:min(shown, len(f.Items))] {
		out.WriteString("> " + oneLine(item, 300) + "\n")
	}
	if n := len(f.Items) - shown; n > 0 {
		out.WriteString(fmt.Sprintf("> and %d more\n", n))
	}
	return out.String()
}
