package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vademecum/providers"
	"vademecum/sync"
	"vademecum/sync/journal"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// statusView is the JSON of status.
type statusView struct {
	Identity  string     `json:"identity"`
	Vault     string     `json:"vault"`
	Exists    bool       `json:"exists"`
	Head      string     `json:"head"`
	Memories  int        `json:"memories"`
	Changed   int        `json:"changed"` // files that differ from git's index
	Held      []string   `json:"held"`    // saved by vade and not committed yet
	Conflicts int        `json:"conflicts"`
	Broken    int        `json:"broken"`
	Forgotten int        `json:"forgotten"`
	Remote    string     `json:"remote,omitempty"`
	Ahead     int        `json:"ahead"`
	Behind    int        `json:"behind"`
	LastSync  *time.Time `json:"last_sync"`
	LastError string     `json:"last_error"`
	Warnings  []string   `json:"warnings"`

	Journal journal.Status `json:"journal"`
}

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show where everything stands",
		GroupID: groupOwner,
		Long: `Show where the vault is, what is in it, what is not committed or not pushed, and
why. It looks at this host only; "vade sync" asks the remote.`,
		Example: "  vade status\n  vade status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				s, err := o.status(cmd.Context())
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(s)
				}
				a.printStatus(s)
				return nil
			})
		},
	}
}

func (o *opened) status(ctx context.Context) (statusView, error) {
	v := statusView{
		Identity: o.vault.Identity(), Vault: o.vault.WorkDir(), Exists: o.vault.Exists(),
		Held: []string{}, Warnings: []string{},
	}
	var err error
	if v.Journal, err = o.journal().Status(); err != nil {
		return v, err
	}
	v.Warnings = append(v.Warnings, journalWarnings(v.Journal)...)
	if !v.Exists {
		return v, nil
	}
	s, err := o.snapshot(ctx)
	if err != nil {
		return v, err
	}
	defer s.SaveCatalog()
	if head := s.Head(); !head.IsZero() {
		v.Head = head.String()
	}
	v.Memories, v.Changed = s.Len(), len(s.Changed)
	v.count(s)
	v.warn(s)
	if err := v.held(o); err != nil {
		return v, err
	}
	stones, err := o.vault.Tombstones()
	if err != nil {
		return v, err
	}
	v.Forgotten = len(stones)
	v.providers(o)
	return v, v.sync(o)
}

// providers names those that nothing is handed over to at present: who found
// that out was a process in the background, with nobody to tell.
func (v *statusView) providers(o *opened) {
	for _, name := range o.config.providerNames() {
		s, err := o.source(name)
		if err == nil {
			err = o.gates().Peek(name, providers.Writing, s.fingerprint)
		}
		if err != nil {
			v.Warnings = append(v.Warnings, "nothing is handed over now: "+err.Error())
		}
	}
}

func (v *statusView) count(s *vault.Snapshot) {
	for i := range s.Len() {
		m, err := s.Meta(i)
		switch {
		case err != nil:
		case m.ConflictOf != "" || vault.IsConflict(m.Path):
			v.Conflicts++
		case m.Broken != nil:
			v.Broken++
		}
	}
}

func (v *statusView) warn(s *vault.Snapshot) {
	if s.Damaged != "" {
		v.Warnings = append(v.Warnings, s.Damaged)
		v.Changed = 0 // nobody can tell
	}
	for _, u := range s.Unreadable {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s cannot be read: %v", u.Path, u.Err))
	}
	for _, p := range s.Buried {
		v.Warnings = append(v.Warnings, p+" is a copy of a memory that was forgotten; it is not recalled")
	}
	if v.Broken > 0 {
		v.Warnings = append(v.Warnings, count(v.Broken, "memory has", "memories have")+" broken front matter; \"vade doctor\" names them")
	}
}

func (v *statusView) held(o *opened) error {
	held, err := o.vault.HeldPaths()
	if err != nil {
		return err
	}
	v.Held = append(v.Held, held...)
	busy, err := o.vault.Busy()
	if err != nil {
		return err
	}
	if busy != "" {
		v.Warnings = append(v.Warnings, "nothing is committed or merged now: "+busy)
	}
	staged, err := o.vault.Staged(context.Background())
	if err != nil && !errors.Is(err, repo.ErrIndexCorrupt) {
		return err
	}
	for _, p := range staged {
		v.Warnings = append(v.Warnings, p+" is staged by you and left alone")
	}
	return nil
}

func (v *statusView) sync(o *opened) error {
	st, err := sync.Status(o.vault)
	if err != nil {
		return err
	}
	v.Remote, v.Ahead, v.Behind, v.LastError = st.Remote, st.Ahead, st.Behind, st.LastError
	if !st.LastSync.IsZero() {
		v.LastSync = &st.LastSync
	}
	if st.LastError != "" {
		v.Warnings = append(v.Warnings, "not replicated: "+st.LastError)
	}
	return nil
}

// distance says how far this host and the remote are apart, as of last, the
// last time that they met; zero: never.
func distance(ahead, behind int, last time.Time) string {
	if last.IsZero() {
		return fmt.Sprintf("never synced, %d ahead", ahead)
	}
	return fmt.Sprintf("%d ahead, %d behind, last sync %s", ahead, behind, shortTime(last))
}

func (a *app) printStatus(s statusView) {
	row := func(key, format string, args ...any) {
		a.printf("%-10s %s\n", key, oneLine(fmt.Sprintf(format, args...)))
	}
	row("identity", "%s", s.Identity)
	row("vault", "%s", s.Vault)
	if !s.Exists {
		a.note("nothing here yet: \"vade remember\" makes it")
		return
	}
	row("memories", "%d (%d forgotten)", s.Memories, s.Forgotten)
	row("head", "%s", short(s.Head))
	if s.Changed > 0 || len(s.Held) > 0 {
		row("changed", "%s not committed yet; \"vade sync\" commits", count(max(s.Changed, len(s.Held)), "file", "files"))
	}
	if s.Conflicts > 0 {
		row("conflicts", "%d; see \"vade conflicts list\"", s.Conflicts)
	}
	switch {
	case s.Remote == "":
		row("remote", "none; \"vade remote set URL\" sets one")
	case s.LastSync == nil:
		row("remote", "%s, %s", s.Remote, distance(s.Ahead, s.Behind, time.Time{}))
	default:
		row("remote", "%s, %s", s.Remote, distance(s.Ahead, s.Behind, *s.LastSync))
	}
	if j := s.Journal; j.Events+j.Open+j.Waiting() > 0 {
		row("journal", "%s not kept yet, %s owed", count(j.Events+j.Open, "event", "events"), count(j.Waiting(), "delivery", "deliveries"))
	}
	for _, w := range s.Warnings {
		a.printf("%s\n", a.paint(gold, oneLine(w)))
	}
}
