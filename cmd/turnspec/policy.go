package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/event"
)

// exitAsk is the exit code of `policy explain` for the decision ask.
const exitAsk = 3

func policyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Explain, check and compare tool policies",
		Example: `  turnspec policy explain 'git status; sudo ls'
  turnspec policy check policy.yaml`,
	}
	cmd.AddCommand(policyExplainCmd(), policyCheckCmd(), policyEnforceCmd())
	return cmd
}

func policyExplainCmd() *cobra.Command {
	var tool, input, mode, preset, rules, dir string
	var roots []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [COMMAND]",
		Short: "Print the decision about a shell command or a tool call, and why",
		Long: `Explain decides about a call and prints the tree of decisions: each simple command,
redirection, path and assignment with its effect and reason. If a program, an option or a
construct is not on the list of what is known to be harmless, the reason says which, and
what to write instead. It runs nothing.

Exit codes: 0 allow, 1 deny, 3 ask, 2 wrong use.`,
		Example: `  turnspec policy explain 'cat a.txt | sort -o b.txt'
  turnspec policy explain --mode implementation 'git status && rm -rf build'
  turnspec policy explain --tool Write --input '{"file_path":"/etc/hosts"}'
  turnspec policy explain --rules policy.yaml --json 'git push'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := policy.Policy{}
			if rules != "" {
				var err error
				if p, err = loadPolicy(rules); err != nil {
					return err
				}
			}
			if p.Home == "" {
				p.Home, _ = os.UserHomeDir() // without a home, ~ is an unknown place
			}
			if cmd.Flags().Changed("mode") {
				p.Mode = policy.Mode(mode)
			}
			if cmd.Flags().Changed("preset") {
				p.Preset = policy.Preset(preset)
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			for _, r := range roots {
				abs, err := filepath.Abs(r)
				if err != nil {
					return err
				}
				p.Roots = append(p.Roots, abs)
			}
			if err := p.Validate(); err != nil {
				return err
			}
			call := adapters.Call{Tool: tool, Dir: dir, Input: event.Raw(input)}
			switch {
			case len(args) == 1 && (input != "" || tool != "Bash"):
				return errors.New("COMMAND is for the tool Bash only; give other tools --input JSON")
			case len(args) == 1:
				call.Input = policy.CommandInput(args[0])
			case input == "" && tool == "Bash":
				return errors.New("give a COMMAND, or --tool NAME --input JSON")
			}
			d := p.Decide(call)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), d)
			} else if err = d.WriteTree(cmd.OutOrStdout()); err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s\n", d.Effect, d.Reason)
			}
			switch {
			case err != nil:
				return err
			case d.Effect == adapters.EffectAsk:
				return exitError(exitAsk)
			case d.Effect == adapters.EffectDeny:
				return errFailed
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&tool, "tool", "Bash", "name of the tool")
	fl.StringVar(&input, "input", "", "the tool's input, JSON")
	fl.StringVar(&mode, "mode", "", "planner or implementation (default: the mode of --rules, else planner)")
	fl.StringVar(&preset, "preset", "", "full, read-only, no-bash or safe-edit (default: the preset of --rules, else full)")
	fl.StringVar(&rules, "rules", "", "a policy file; 'go doc ./adapters/backend/policy Load' lists its keys")
	fl.StringArrayVar(&roots, "root", nil, "a folder of the workspace (repeatable; default: --dir)")
	fl.StringVar(&dir, "dir", ".", "the working directory of the call")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	completeFlag(cmd, "mode", func() []string { return texts(policy.Modes()) })
	completeFlag(cmd, "preset", func() []string { return texts(policy.Presets()) })
	return cmd
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

func policyCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check a policy file",
		Example: `  turnspec policy check policy.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadPolicy(args[0])
			if err != nil {
				return err
			}
			var parts []string
			for _, l := range []struct {
				name  string
				rules []policy.Rule
			}{{"allow", p.Rules.Allow}, {"ask", p.Rules.Ask}, {"deny", p.Rules.Deny}} {
				parts = append(parts, fmt.Sprintf("%d %s", len(l.rules), l.name))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %s\n", args[0], strings.Join(parts, ", "))
			return err
		},
	}
}

func loadPolicy(file string) (policy.Policy, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return policy.Policy{}, err
	}
	return policy.Load(file, b)
}
