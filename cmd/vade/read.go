package main

import (
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/vault"
)

// memoryView is the JSON of a memory that was asked for: with its content.
type memoryView struct {
	memoryListing
	Body    string `json:"body"`
	Content string `json:"content"` // the whole file
}

// memoryListing is the JSON of a memory in a list: without its content.
type memoryListing struct {
	ID           vault.ID      `json:"id,omitempty"`
	Title        string        `json:"title"`
	Path         string        `json:"path"`
	Version      vault.Version `json:"version"`
	Type         vault.Type    `json:"type,omitempty"`
	Tier         vault.Tier    `json:"tier"`
	Tags         []string      `json:"tags"`
	Aliases      []string      `json:"aliases,omitempty"`
	Created      jsonTime      `json:"created,omitzero"`
	Updated      jsonTime      `json:"updated,omitzero"`
	Expires      jsonTime      `json:"expires,omitzero"`
	Expired      bool          `json:"expired,omitempty"`
	Origin       vault.Origin  `json:"origin"`
	Scope        vault.Scope   `json:"scope"`
	Workspace    string        `json:"workspace,omitempty"`
	Supersedes   []string      `json:"supersedes,omitempty"`
	SupersededBy string        `json:"superseded_by,omitempty"`
	MergedIDs    []vault.ID    `json:"merged_ids,omitempty"`
	ConflictOf   string        `json:"conflict_of,omitempty"`
	Source       string        `json:"source,omitempty"`
	Why          string        `json:"why,omitempty"`
	Broken       string        `json:"broken,omitempty"`
}

func (o *opened) listing(m *vault.Memory) memoryListing {
	l := memoryListing{
		ID: m.ID, Title: m.Title, Path: m.Path, Version: m.Version, Type: m.Type, Tier: m.Tier,
		Tags: m.Tags, Aliases: m.Aliases, Created: jsonTime{m.Created}, Updated: jsonTime{m.Updated},
		Expires: jsonTime{m.Expires}, Expired: m.Expired(o.vault.Now()), Origin: m.Origin, Scope: m.Scope,
		Workspace: m.Workspace, Supersedes: m.Supersedes, SupersededBy: m.SupersededBy,
		MergedIDs: m.MergedIDs, ConflictOf: m.ConflictOf, Source: m.Source, Why: m.Why,
	}
	if l.Tags == nil {
		l.Tags = []string{}
	}
	if m.Broken != nil {
		l.Broken = m.Broken.Error()
	}
	return l
}

func (a *app) readCmd() *cobra.Command {
	var body bool
	cmd := &cobra.Command{
		Use:     "read REF",
		Aliases: []string{"get"},
		Short:   "Show a memory whole",
		GroupID: groupMemory,
		Long: `Show a memory's file as it lies on disk. A REF is an id, an unambiguous prefix or
suffix of one, a path, or an exact title. REF@COMMIT shows an older version.`,
		Example: `  vade read 7v5n9t
  vade read "Deploy rule"
  vade read memories/2026/11/deploy-rule-7v5n9t.md
  vade read 7v5n9t@3f2a1bc`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				m, raw, err := o.readAnywhere(cmd.Context(), args[0], o.everyVault)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(memoryView{o.listing(m), m.Body, string(raw)})
				}
				text := string(raw)
				if body {
					text = m.Body
				}
				if terminal(a.stdout) {
					text = printable(text)
				}
				a.printf("%s", text)
				if !strings.HasSuffix(text, "\n") && terminal(a.stdout) {
					a.printf("\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&body, "body", false, "without the front matter")
	return cmd
}

func (a *app) listCmd() *cobra.Command {
	var f filterFlags
	var limit int
	var sortBy string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List memories",
		GroupID: groupMemory,
		Long:    `List memories, the latest first, without their text.`,
		Example: `  vade list --tag ci
  vade list --since 7d --all-workspaces
  vade list --json | jq -r '.memories[].path'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usagef("--limit must not be negative")
			}
			return a.withVault(func(o *opened) error {
				q, err := f.query(o)
				if err != nil {
					return err
				}
				s, err := o.snapshot(cmd.Context())
				if err != nil {
					return err
				}
				defer s.SaveCatalog()
				found := matching(s, q)
				if err := sortListing(found, sortBy); err != nil {
					return err
				}
				total := len(found)
				if limit > 0 {
					found = found[:min(limit, total)]
				}
				return a.printList(o, s, found, total)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many (0: all)")
	cmd.Flags().StringVar(&sortBy, "sort", "updated", "updated, created, title or path")
	return cmd
}

// matching are the memories of s that q's filters admit.
func matching(s *vault.Snapshot, q vault.Query) []*vault.Memory {
	var found []*vault.Memory
	for i := range s.Len() {
		m, err := s.Meta(i)
		if err == nil && q.Admits(m) {
			found = append(found, m)
		}
	}
	return found
}

func sortListing(list []*vault.Memory, by string) error {
	less, ok := map[string]func(a, b *vault.Memory) bool{
		"updated": func(a, b *vault.Memory) bool { return a.Updated.After(b.Updated) },
		"created": func(a, b *vault.Memory) bool { return a.Created.After(b.Created) },
		"title":   func(a, b *vault.Memory) bool { return a.Title < b.Title },
		"path":    func(a, b *vault.Memory) bool { return a.Path < b.Path },
	}[by]
	if !ok {
		return usagef("--sort %q is unknown; use updated, created, title or path", by)
	}
	sort.SliceStable(list, func(i, j int) bool { return less(list[i], list[j]) })
	return nil
}

func (a *app) printList(o *opened, s *vault.Snapshot, found []*vault.Memory, total int) error {
	for _, u := range s.Unreadable {
		a.warn("%s cannot be read: %v", u.Path, u.Err)
	}
	if a.flags.json {
		out := make([]memoryListing, len(found))
		for i, m := range found {
			out[i] = o.listing(m)
		}
		return a.printJSON(map[string]any{"memories": out, "total": total})
	}
	for _, m := range found {
		name := m.ID.Suffix()
		if m.ID == "" {
			name = "-     "
		}
		title := oneLine(m.Title)
		if m.Broken != nil {
			title += a.paint(red, "  (broken front matter)")
		}
		a.printf("%s  %s  %s%s\n", a.paint(cyan, name), a.paint(dim, shortTime(m.Updated)), title, a.paint(dim, tagWords(m)))
		if m.ID == "" {
			a.printf("        %s\n", a.paint(dim, m.Path))
		}
	}
	if len(found) < total {
		a.note("%d of %d", len(found), total)
	}
	if total == 0 {
		a.note("no memories match")
	}
	return nil
}

func tagWords(m *vault.Memory) string {
	words := ""
	if m.Type != "" && m.Type != vault.TypeNote {
		words += " · " + string(m.Type)
	}
	if len(m.Tags) > 0 {
		words += " · #" + strings.Join(m.Tags, " #")
	}
	if m.Workspace != "" {
		words += " · " + m.Workspace
	}
	return oneLinePrefix(words)
}

func oneLinePrefix(words string) string {
	if words == "" {
		return ""
	}
	return "  " + oneLine(words)
}
