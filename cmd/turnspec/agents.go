package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/agentfile"
)

func agentsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Check the sub-agents that a workspace defines, or add some",
		Example: `  turnspec agents list
  turnspec agents prepare --runtime claude --from templates/claude`,
	}
	cmd.AddCommand(agentsListCmd(), agentsPrepareCmd())
	return cmd
}

// formFlag adds --runtime, of which form definitions are.
func formFlag(cmd *cobra.Command, of *string, usage string) {
	cmd.Flags().StringVar(of, "runtime", "", usage)
	completeFlag(cmd, "runtime", func() []string { return texts(agentfile.Forms()) })
}

// workspaceOf is the folder that a command is given, else the current one.
func workspaceOf(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

func agentsListCmd() *cobra.Command {
	var runtime string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [WORKSPACE]",
		Short: "List the agents that .claude/agents and .codex/agents define, and what is wrong with them",
		Long: `List reads the definitions of a workspace, the current folder if none is named.
A runtime passes over a file that it does not understand: what is wrong is printed
here as file:line.

Exit codes: 0 all is fine, also where nothing is defined; 1 a definition is wrong; 2 wrong use.`,
		Example: `  turnspec agents list
  turnspec agents list --runtime codex --json ../service`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			forms := agentfile.Forms()
			if runtime != "" {
				forms = []agentfile.Form{agentfile.Form(runtime)}
			}
			all := []agentfile.Agent{}
			var wrong error
			for _, f := range forms {
				if err := f.Valid(); err != nil {
					return err
				}
				found, err := agentfile.Read(f, workspaceOf(args))
				if at := (*agentfile.Error)(nil); err != nil && !errors.As(err, &at) {
					return err // there is no such workspace
				}
				all, wrong = append(all, found...), errors.Join(wrong, err)
			}
			if err := printAgents(cmd.OutOrStdout(), all, asJSON); err != nil {
				return err
			}
			if wrong != nil {
				cmd.PrintErrln(wrong)
				return errFailed
			}
			return nil
		},
	}
	formFlag(cmd, &runtime, "claude or codex (default: both)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printAgents(out io.Writer, all []agentfile.Agent, asJSON bool) error {
	if asJSON {
		return printJSON(out, all)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, a := range all {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", a.Name, a.File, a.Description) // told by Flush
	}
	return w.Flush()
}

func agentsPrepareCmd() *cobra.Command {
	var runtime, from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prepare --runtime RUNTIME --from DIR [WORKSPACE]",
		Short: "Copy agents that a workspace does not define into it; what is there stays",
		Long: `Prepare copies the definitions in a folder into .claude/agents or .codex/agents of a
workspace, the current folder if none is named. A file that is there stays as it is,
and so does an agent that the workspace defines in a file of another name. Where a
definition of either folder is wrong nothing is written.

Exit codes: 0 each agent is there; 1 a definition is wrong; 2 wrong use.`,
		Example: `  turnspec agents prepare --runtime claude --from templates/claude
  turnspec agents prepare --runtime codex --from templates/codex ../service`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := agentfile.Form(runtime)
			if err := f.Valid(); err != nil {
				return fmt.Errorf("--runtime: %w", err)
			}
			if from == "" {
				return errors.New("want --from DIR, the folder of the definitions that are copied")
			}
			done, err := agentfile.Prepare(f, workspaceOf(args), os.DirFS(from), ".")
			if at := (*agentfile.Error)(nil); errors.As(err, &at) {
				cmd.PrintErrln(err)
				return errFailed
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), done)
			}
			for _, p := range done {
				verb, why := "wrote", ""
				switch p.Kept {
				case "":
				case p.File:
					verb = "kept"
				default:
					verb, why = "kept", ": "+p.Name+" is defined by "+p.Kept
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-5s %s%s\n", verb, p.File, why); err != nil {
					return err
				}
			}
			return nil
		},
	}
	formFlag(cmd, &runtime, "claude or codex")
	cmd.Flags().StringVar(&from, "from", "", "the folder of the definitions that are copied")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
