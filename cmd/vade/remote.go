package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"vademecum/sync"
	"vademecum/sync/transport"
)

func (a *app) remoteCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remote",
		Short:   "Show or set where this vault syncs to",
		GroupID: groupOwner,
		Long: `The remote of a vault is any git repository that you can push to: a folder, an
ssh or https URL. It is git's own remote "origin" of the vault.

Over https the token comes from $VADE_REMOTE_TOKEN, netrc or git's credential
helper; over ssh from your agent, your keys and known_hosts. With
"sync: {transport: exec}" in the config, this machine's ssh and git are used.`,
		Example: `  vade remote set git@github.com:me/memory.git
  vade remote set /mnt/usb/memory.git
  vade remote show`,
	}
	cmd.AddCommand(a.remoteSetCmd(), a.remoteShowCmd(), a.remoteUnsetCmd())
	return cmd
}

func (a *app) remoteSetCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "set URL",
		Short:   "Set the remote; the next sync uses it",
		Args:    cobra.ExactArgs(1),
		Example: "  vade remote set git@github.com:me/memory.git && vade sync",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				url, err := a.absoluteURL(args[0])
				if err != nil {
					return err
				}
				s, err := sync.SetRemote(cmd.Context(), o.vault, url)
				if err != nil {
					return setRemoteError(err)
				}
				if a.flags.json {
					return a.printJSON(s)
				}
				a.printf("remote %s\n", s.Remote)
				if transport.HoldsSecret(url) {
					a.note("the password in it is kept in .git/config of the vault; $VADE_REMOTE_TOKEN or a credential helper keeps it out of there")
				}
				a.note("\"vade sync\" pushes to it; writes push by themselves from then on")
				return nil
			})
		},
	}
}

// setRemoteError says that the URL is to blame, unless the vault is.
func setRemoteError(err error) error {
	if _, ok := errors.AsType[*transport.URLError](err); ok {
		return &codedError{code: exitUsage, err: err}
	}
	return err
}

// absoluteURL makes the path of a folder absolute, so that the remote is the
// same one from wherever vade runs next.
func (a *app) absoluteURL(url string) (string, error) {
	path, ok := transport.LocalPath(url)
	if !ok || path != url {
		return url, nil
	}
	return filepath.Abs(a.expandTilde(path))
}

func (a *app) remoteShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show the remote and how far apart we are",
		Args:    cobra.NoArgs,
		Example: "  vade remote show --json",
		RunE: func(*cobra.Command, []string) error {
			return a.withVault(func(o *opened) error {
				s, err := sync.Status(o.vault)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(s)
				}
				if s.Remote == "" {
					a.note("no remote is set")
					return nil
				}
				a.printf("%s\n  %s\n", s.Remote, distance(s.Ahead, s.Behind, s.LastSync))
				if s.LastError != "" {
					a.printf("  %s\n", a.paint(red, oneLine(s.LastError)))
				}
				return nil
			})
		},
	}
}

func (a *app) remoteUnsetCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "unset",
		Short:   "Forget the remote; nothing on it changes",
		Args:    cobra.NoArgs,
		Example: "  vade remote unset",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withExisting(func(o *opened) error {
				had, err := sync.Status(o.vault)
				if err != nil {
					return err
				}
				if err := sync.UnsetRemote(cmd.Context(), o.vault); err != nil {
					return err
				}
				switch {
				case a.flags.json:
					return a.printJSON(map[string]string{"remote": "", "was": had.Remote})
				case had.Remote == "":
					a.note("no remote is set")
				default:
					a.printf("remote unset, it was %s\n", had.Remote)
				}
				return nil
			})
		},
	}
}

// cloneError gives a failed clone its exit code and hint.
func cloneError(err error) error {
	if errors.Is(err, sync.ErrExists) {
		return &codedError{code: exitConflict, err: err}
	}
	if errors.Is(err, transport.ErrUnreachable) || errors.Is(err, transport.ErrNotFound) {
		return &codedError{code: exitFailed, err: err}
	}
	return syncHint(setRemoteError(err))
}

func (a *app) cloneCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "clone URL",
		Short:   "Bring a vault from another host to this one",
		GroupID: groupOwner,
		Long: `Bring the vault at a git URL to this host. It goes to the identity that the vault
itself names. Where that identity has a vault here already, set its remote and
sync instead: the two are joined and nothing is dropped.`,
		Example: `  vade clone git@github.com:me/memory.git
  vade clone /mnt/usb/memory.git`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			home, err := a.homeDir(c)
			if err != nil {
				return err
			}
			o := &opened{a: a, config: c, home: home}
			p := a.progress("clone")
			url, err := a.absoluteURL(args[0])
			if err != nil {
				return err
			}
			done, err := sync.Clone(cmd.Context(), url, home, sync.CloneOptions{
				Transport: o.transport(p), Identity: a.flags.identity,
			})
			p.done()
			if err != nil {
				return cloneError(err)
			}
			if a.flags.json {
				return a.printJSON(done)
			}
			a.printf("%s  %s of %s\n", a.paint(green, "cloned"), count(done.Memories, "memory", "memories"), done.Identity)
			a.printf("  %s\n", a.paint(dim, done.Vault))
			if mine, err := a.identity(c); err == nil && mine != done.Identity {
				a.note("your default identity here is %q: use --identity %s, or set \"identity: %s\" in %s", mine, done.Identity, done.Identity, a.configPath())
			}
			return nil
		},
	}
}
