package main

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures"
)

func versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program and of its corpus",
		Example: `  turnspec version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, "turnspec", buildVersion())
			scenarios, err := fixtures.Embedded().ScenarioIDs()
			if err != nil {
				return err
			}
			cases, err := fixtures.Embedded().CaseIDs()
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "corpus   %d scenarios, %d cases\n", len(scenarios), len(cases))
			count := map[string]int{}
			for _, id := range cases {
				runtime, version, _ := fixtures.SplitCaseID(id)
				count[runtime+" "+version]++
			}
			for _, name := range slices.Sorted(maps.Keys(count)) {
				fmt.Fprintf(out, "         %s: %d cases\n", name, count[name])
			}
			return nil
		},
	}
}

// The linker sets these in releases (cmd/dist).
var version, commit string

// buildVersion returns the version of the program, the commit and the version of Go.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if version != "" {
		return fmt.Sprintf("v%s %.12s %s", version, commit, info.GoVersion)
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if rev := set["vcs.revision"]; rev != "" {
		v += " " + rev[:min(12, len(rev))]
		if set["vcs.modified"] == "true" {
			v += " (modified)"
		}
	}
	return v + " " + info.GoVersion
}
