package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/reference"
)

func policyEnforceCmd() *cobra.Command {
	var runtime string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "enforce",
		Short: "List what a policy cannot enforce on a runtime",
		Long: `Enforce lists what a runtime does although the adapter's Judge cannot prevent it,
with the reason, and what enforces it instead. The Judge sees everything else
before it happens.`,
		Example: `  turnspec policy enforce --runtime codex
  turnspec policy enforce --runtime codex@0.120.0 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, version, _ := strings.Cut(runtime, "@")
			a := reference.Of(name)
			if a == nil {
				return fmt.Errorf("--runtime: unknown runtime %q; want one of %s, with @VERSION if not the newest", name, strings.Join(reference.Names(), ", "))
			}
			gaps := a.Unenforceable(version)
			w := cmd.OutOrStdout()
			if asJSON {
				return printJSON(w, gaps)
			}
			for _, g := range gaps {
				if _, err := fmt.Fprintf(w, "%s\n  why: %s\n  instead: %s\n", g.What, g.Reason, g.Remedy); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&runtime, "runtime", "", strings.Join(reference.Names(), ", ")+", with @VERSION")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.MarkFlagRequired("runtime")
	completeFlag(cmd, "runtime", reference.Names)
	return cmd
}
