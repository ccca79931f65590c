package main

import (
	"github.com/spf13/cobra"

	"vademecum/vault"
)

func (a *app) forgetCmd() *cobra.Command {
	var ifMatch string
	cmd := &cobra.Command{
		Use:     "forget REF",
		Aliases: []string{"rm"},
		Short:   "Forget a memory, on every host",
		GroupID: groupMemory,
		Long: `Forget a memory: its file goes and a tombstone stays, without content, so that no
old clone, import or replay brings it back. History keeps the text: "vade undo"
or "vade restore" brings it back, and so does remembering it again.

To find out what is in history, see "vade history".`,
		Example: `  vade forget 7v5n9t
  vade forget "Deploy rule" && vade undo`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				m, err := o.vault.Read(cmd.Context(), vault.Ref(args[0]))
				if err != nil {
					return err
				}
				if err := o.adopt(cmd.Context(), m.Path); err != nil {
					return err
				}
				r, err := o.vault.Forget(cmd.Context(), vault.Ref(m.Path), vault.Version(ifMatch))
				if err != nil {
					return err
				}
				o.afterWrite(cmd.Context(), &r)
				return a.printReceipt("forgotten", r)
			})
		},
	}
	cmd.Flags().StringVar(&ifMatch, "if-match", "", "refuse unless the file has this version")
	return cmd
}
