package main

import (
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

func runtimesCmd() *cobra.Command {
	var dir string
	var all bool
	cmd := &cobra.Command{
		Use:   "runtimes",
		Short: "Install or list the pinned real runtimes",
		Long: `The real runtimes are needed for recording and for the tier live. Their versions
and checksums are pinned; they come from the npm registry.`,
		Example: `  turnspec runtimes list
  turnspec runtimes install codex`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "folder of the runtimes (default: $"+runtimes.Env+", else .runtimes beside go.mod)")
	install := &cobra.Command{
		Use:   "install [NAME[@VERSION]…]",
		Short: "Install pinned versions from the npm registry",
		Long: `Install pinned versions from the npm registry: the newest of each runtime, or of
those named, or the version that is named; with --all every pinned version. The
newest versions take 800 MB; the older ones are needed only to record and check
their cases.`,
		Example: `  turnspec runtimes install
  turnspec runtimes install --all
  turnspec runtimes install codex@0.98.0 --dir ./runtimes`,
		ValidArgsFunction: complete(runtimeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			pins, err := runtimes.Choose(all, args...)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			return runtimes.Install(ctx, dir, cmd.OutOrStdout(), pins)
		},
	}
	install.Flags().BoolVar(&all, "all", false, "every pinned version, not only the newest")
	cmd.AddCommand(
		install,
		&cobra.Command{
			Use:     "list",
			Short:   "List the pinned versions, and where they are installed",
			Example: "  turnspec runtimes list",
			Args:    cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				var rows [][]string
				for _, name := range runtimes.Names() {
					for _, version := range runtimes.Versions(name) {
						where := "not installed: turnspec runtimes install " + name + "@" + version
						if rt, err := runtimes.Find(dir, name, version); err == nil {
							where = rt.Binary
						}
						rows = append(rows, []string{name, version, where})
					}
				}
				return printTable(cmd.OutOrStdout(), rows)
			},
		},
	)
	return cmd
}
