package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/agentfile"
)

func agentsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List, check and add the sub-agents of a workspace",
		Example: `  turnspec agents list
  turnspec agents prepare --runtime claude --from templates/claude`,
	}
	cmd.AddCommand(agentsListCmd(), agentsPrepareCmd())
	return cmd
}

// formFlag adds --runtime, which decides the form of definitions.
func formFlag(cmd *cobra.Command, of *string, usage string) {
	cmd.Flags().StringVar(of, "runtime", "", usage)
	completeFlag(cmd, "runtime", func() []string { return texts(agentfile.Forms()) })
}

// workspaceOf returns the folder argument, or the current folder.
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
		Short: "List the agents in .claude/agents and .codex/agents, and their errors",
		Long: `List reads the definitions of a workspace, the current folder by default. A runtime
silently ignores a definition that it cannot read; list prints its errors as
file:line.

Exit codes: 0 no errors, also if there are no definitions; 1 a definition is invalid;
2 wrong use.`,
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
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", a.Name, a.File, a.Description) // Flush returns the error
	}
	return w.Flush()
}

func agentsPrepareCmd() *cobra.Command {
	var runtime, from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prepare --runtime RUNTIME --from DIR [WORKSPACE]",
		Short: "Copy agents into a workspace that does not define them",
		Long: `Prepare copies the definitions in a folder to .claude/agents or .codex/agents of a
workspace, the current folder by default. It does not overwrite a file, and does not
copy an agent that the workspace defines in another file. If a definition in either
folder is invalid, it writes nothing.

Exit codes: 0 every agent is defined; 1 a definition is invalid; 2 wrong use.`,
		Example: `  turnspec agents prepare --runtime claude --from templates/claude
  turnspec agents prepare --runtime codex --from templates/codex ../service`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := agentfile.Form(runtime)
			if err := f.Valid(); err != nil {
				return fmt.Errorf("--runtime: %w", err)
			}
			if from == "" {
				return errors.New("--from DIR is missing: name the folder of the definitions to copy")
			}
			if files, err := filepath.Glob(filepath.Join(from, "*"+f.Ext())); err != nil || len(files) == 0 {
				if _, err := os.Stat(from); err != nil {
					return fmt.Errorf("--from: %w", err)
				}
				return fmt.Errorf("--from: there are no %s files in %s", f.Ext(), from)
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
	cmd.Flags().StringVar(&from, "from", "", "folder of the definitions to copy")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
