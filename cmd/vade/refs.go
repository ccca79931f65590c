package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/vault"
)

// jsonTime prints times as the files hold them and leaves out the zero one.
type jsonTime struct{ time.Time }

func (t jsonTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + vault.FormatTime(t.Time) + `"`), nil
}

// identity is the name of the folder that the vault is opened from.
func (o *opened) identity() string { return o.vault.Origin().User }

// readRef reads what REF or REF@COMMIT names, with the file's bytes.
func (o *opened) readRef(ctx context.Context, ref string) (*vault.Memory, []byte, error) {
	name, commit, err := o.splitRef(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if commit != "" {
		return o.vault.ReadVersion(ctx, vault.Ref(name), commit)
	}
	s, err := o.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	i, err := s.Resolve(vault.Ref(name))
	if err != nil {
		return nil, nil, err
	}
	m, err := s.Memory(i)
	if err != nil {
		return nil, nil, err
	}
	raw, err := s.Read(i)
	return m, raw, err
}

// splitRef takes REF@COMMIT apart; commit is "" when there is none. A title
// may hold an @: only what reads as a commit after the last one is split off.
func (o *opened) splitRef(ctx context.Context, ref string) (name, commit string, err error) {
	at := strings.LastIndexByte(ref, '@')
	if at < 1 {
		return ref, "", nil
	}
	tail := ref[at+1:]
	if len(tail) < 4 || strings.Trim(strings.ToLower(tail), "0123456789abcdef") != "" && !strings.EqualFold(tail, "head") {
		return ref, "", nil
	}
	h, err := o.commit(ctx, tail)
	if err != nil {
		return "", "", err
	}
	return ref[:at], h.String(), nil
}

// completeRefs completes references to memories in the shell.
func (a *app) completeRefs(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	err := a.withVault(func(o *opened) error {
		s, err := o.snapshot(cmd.Context())
		if err == nil {
			found = s.Complete(prefix, 100)
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for i, f := range found {
		found[i] = oneLineTabs(f)
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// oneLineTabs is oneLine for "value\tdescription".
func oneLineTabs(s string) string {
	value, description, _ := strings.Cut(s, "\t")
	return oneLine(value) + "\t" + oneLine(description)
}
