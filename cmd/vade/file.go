package main

import (
	"github.com/spf13/cobra"

	"vademecum/vault"
)

func (a *app) fileCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "file",
		Short:   "Keep texts by name, byte for byte",
		GroupID: groupMemory,
		Long: `The flat text store: named texts that are kept byte for byte, in files/ of the
vault, with history and sync like memories. They are not recalled.`,
		Example: `  vade file put session-state.md --from state.md
  echo "- done" | vade file append session-state.md
  vade file get session-state.md`,
	}
	cmd.AddCommand(a.filePutCmd(), a.fileGetCmd(), a.fileListCmd(), a.fileAppendCmd(), a.fileDeleteCmd())
	return cmd
}

// preconditionFlags guard a write.
type preconditionFlags struct {
	ifMatch     string
	ifNoneMatch bool
}

func (p *preconditionFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.ifMatch, "if-match", "", "refuse unless the file has this version")
	cmd.Flags().BoolVar(&p.ifNoneMatch, "if-none-match", false, "refuse if the file exists")
}

func (p *preconditionFlags) pre() vault.Precondition {
	return vault.Precondition{IfMatch: vault.Version(p.ifMatch), IfNoneMatch: p.ifNoneMatch}
}

// fileWriteCmd is a command that stores what it is given under NAME.
func (a *app) fileWriteCmd(use, short, verb string, write func(*opened, *cobra.Command, string, []byte, vault.Precondition) (vault.Receipt, error)) *cobra.Command {
	var p preconditionFlags
	var from string
	cmd := &cobra.Command{
		Use:               use,
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.readInput(from)
			if err != nil {
				return err
			}
			return a.withVault(func(o *opened) error {
				r, err := write(o, cmd, args[0], data, p.pre())
				if err != nil {
					return err
				}
				o.afterWrite(cmd.Context(), &r)
				return a.printReceipt(verb, r)
			})
		},
	}
	p.register(cmd)
	cmd.Flags().StringVar(&from, "from", "-", `file to take the bytes from; "-" is standard input`)
	return cmd
}

func (a *app) filePutCmd() *cobra.Command {
	cmd := a.fileWriteCmd("put NAME", "Store standard input under a name", "stored",
		func(o *opened, cmd *cobra.Command, name string, data []byte, pre vault.Precondition) (vault.Receipt, error) {
			return o.vault.PutFile(cmd.Context(), name, data, pre)
		})
	cmd.Example = `  vade file put notes.md < notes.md
  vade file put notes.md --from notes.md --if-none-match`
	return cmd
}

func (a *app) fileAppendCmd() *cobra.Command {
	cmd := a.fileWriteCmd("append NAME", "Add standard input to the end of a text", "appended to",
		func(o *opened, cmd *cobra.Command, name string, data []byte, pre vault.Precondition) (vault.Receipt, error) {
			return o.vault.AppendFile(cmd.Context(), name, data, pre)
		})
	cmd.Example = `  echo "- deployed" | vade file append log.md`
	return cmd
}

func (a *app) fileGetCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "get NAME",
		Short:             "Print a text, byte for byte",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFiles,
		Example:           "  vade file get notes.md > notes.md",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				f, data, err := o.vault.GetFile(args[0])
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(struct {
						vault.FileInfo
						Content string `json:"content"`
					}{f, string(data)})
				}
				_, err = a.stdout.Write(data)
				return err
			})
		},
	}
}

func (a *app) fileListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the texts",
		Args:    cobra.NoArgs,
		Example: "  vade file list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				files, err := o.vault.ListFiles(cmd.Context())
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(map[string]any{"files": files})
				}
				for _, f := range files {
					a.printf("%s  %8d  %s\n", a.paint(dim, short(string(f.Version))), f.Size, oneLine(f.Name))
				}
				return nil
			})
		},
	}
}

func (a *app) fileDeleteCmd() *cobra.Command {
	var p preconditionFlags
	cmd := &cobra.Command{
		Use:               "delete NAME",
		Aliases:           []string{"rm"},
		Short:             "Delete a text; history keeps it",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFiles,
		Example:           "  vade file delete notes.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				r, err := o.vault.DeleteFile(cmd.Context(), args[0], p.pre())
				if err != nil {
					return err
				}
				o.afterWrite(cmd.Context(), &r)
				return a.printReceipt("deleted", r)
			})
		},
	}
	cmd.Flags().StringVar(&p.ifMatch, "if-match", "", "refuse unless the file has this version")
	return cmd
}

func (a *app) completeFiles(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		_ = a.withVault(func(o *opened) error {
			files, err := o.vault.ListFiles(cmd.Context())
			for _, f := range files {
				names = append(names, oneLine(f.Name))
			}
			return err
		})
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
