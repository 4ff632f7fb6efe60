package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/live"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// complete completes arguments from a list.
func complete(all func() []string) completer {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, s := range all() {
			if strings.HasPrefix(s, word) {
				out = append(out, s)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFlag(cmd *cobra.Command, flag string, all func() []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete(all)); err != nil {
		panic(err) // the flag does not exist: a bug in this program
	}
}

// everyCheck returns all checks, also those of the golden and live tiers.
func everyCheck() []*conformance.Check {
	return append(backend.WithGoldens(fixtures.Embedded()), live.Checks()...)
}

func checkIDs() []string {
	var out []string
	for _, c := range everyCheck() {
		out = append(out, c.ID)
	}
	return out
}

// checkNames returns the ids and topics of checks.
func checkNames() []string {
	ids := checkIDs()
	out := slices.Clone(ids)
	for _, id := range ids {
		if topic, _, _ := strings.Cut(id, "."); !slices.Contains(out, topic) {
			out = append(out, topic)
		}
	}
	return out
}

func caseIDs() []string {
	ids, _ := fixtures.Embedded().CaseIDs()
	return ids
}

func scenarioIDs() []string {
	all, _ := fixtures.Scenarios()
	var out []string
	for _, s := range all {
		out = append(out, s.ID)
	}
	return out
}

func runtimeNames() []string { return runtimes.Kinds() }

// completeSubjectRuntime completes --runtime of a command that runs the reference
// adapters unless a flag or a command names another subject.
func completeSubjectRuntime(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("runtime", func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		names := reference.Names
		if slices.ContainsFunc([]string{subjectFlag, acpFlag, runnerFlag, httpFlag}, cmd.Flags().Changed) || len(args) > 0 {
			names = runtimeNames
		}
		return complete(names)(cmd, args, word)
	})
	if err != nil {
		panic(err) // the flag does not exist: a bug in this program
	}
}

func tierNames() []string {
	return []string{string(conformance.TierWitness), string(conformance.TierGolden), string(conformance.TierTiming), string(conformance.TierProcess), string(conformance.TierLive)}
}

// faultNames returns the faults that the checks try.
func faultNames() []string {
	var out []string
	for _, o := range fault.Operators() {
		out = append(out, o.Name)
	}
	return out
}
