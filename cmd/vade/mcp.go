package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"vademecum/mcp"
)

func (a *app) mcpCmd() *cobra.Command {
	var addr, dir, workspace, profile string
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the memory to agents over MCP",
		GroupID: groupMemory,
		Long: `Serve the memory over the Model Context Protocol: revision 2026-07-28 and all
earlier ones, on standard input and output, or with --http on an address of this
machine, under /mcp.

Tools: recall, remember, read, edit, forget, list, history, doctor. None of them
changes configuration, remotes, credentials or hooks. The project is that of
--workspace, else of the folder that the client starts the server in; --dir and
$VADE_PROJECT_DIR name another folder. Over HTTP, whoever can open a connection
on this machine may call; web pages may not.

The server ends when its input ends or the client is gone.`,
		Example: `  claude mcp add vade -- vade mcp
  codex mcp add vade -- vade mcp
  vade mcp --http 127.0.0.1:7411`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir = firstOf(dir, a.env("VADE_PROJECT_DIR")); dir != "" {
				if err := os.Chdir(a.expandTilde(dir)); err != nil {
					return hinted(usagef("project folder: %w", err), "name an existing folder with --dir")
				}
			}
			if err := a.checkProfile(profile); err != nil {
				return err
			}
			a.pool = &pool{}
			defer a.pool.close()
			server := mcp.New(version(), a.openMCP(firstOf(workspace, a.env("VADE_WORKSPACE")), profile))
			if addr == "" {
				return mcp.ServeStdio(cmd.Context(), server, a.stdin, a.stdout)
			}
			l, err := mcp.Listen(cmd.Context(), addr)
			if errors.Is(err, mcp.ErrNotLoopback) {
				return hinted(usagef("%w", err), "use 127.0.0.1:PORT, [::1]:PORT or localhost:PORT")
			}
			if err != nil {
				return err
			}
			a.note("http://%s/mcp", l.Addr())
			return mcp.ServeHTTP(cmd.Context(), server, l)
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "serve over HTTP on this address (HOST:PORT, port 0: any) of this machine")
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the project (default: $VADE_PROJECT_DIR, the current one)")
	cmd.Flags().StringVar(&workspace, "workspace", "", "project, as a key or a remote's URL (default: $VADE_WORKSPACE, the folder's)")
	cmd.Flags().StringVar(&profile, "profile", "", "profile that recall goes by (default: default)")
	return cmd
}

// checkProfile refuses a profile that is unknown.
func (a *app) checkProfile(name string) error {
	c, err := a.loadConfig()
	if err == nil {
		_, err = c.findProfile(name)
	}
	return err
}

// openMCP opens a vault for one call. Each gets its own: it sees what other
// processes did since the last one, and calls do not wait for each other.
func (a *app) openMCP(workspace, profile string) mcp.Opener {
	return func(ctx context.Context, agent string) (mcp.Vault, error) {
		call := *a
		call.stdout = a.stderr // stdout is the protocol's
		call.flags.json, call.flags.quiet = false, true
		call.flags.agent = firstOf(a.flags.agent, a.env("VADE_AGENT"), agent)
		o, err := call.open()
		if err != nil {
			return nil, err
		}
		o.follow(ctx)
		return mcpVault{o, workspace, profile}, nil
	}
}
