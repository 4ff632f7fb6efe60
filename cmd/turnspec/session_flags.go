package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/agentfile"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/op"
)

// sessionFlags are the flags of runner and serve for the options of sessions.
type sessionFlags struct {
	mode, model, effort              string
	schema, instructions, mcpServers string
	args, extraDirs, settings        []string
	maxRequests                      int
	maxCost                          float64
}

// register adds the flags, with the permission mode of a session that names none.
func (f *sessionFlags) register(cmd *cobra.Command, mode string) {
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "permission-mode", mode, "bypassPermissions, default, acceptEdits, plan, dontAsk, or one of the runtime's")
	fl.StringVar(&f.model, "model", "", "the model (default: the runtime's)")
	fl.StringVar(&f.effort, "effort", "", "how much the model reasons: low, medium, high, or a level of the runtime's")
	fl.StringVar(&f.schema, "structured-output", "", "JSON schema of the final answer of each turn")
	fl.StringVar(&f.instructions, "instructions-file", "", "file with instructions for the model, which follow the runtime's own")
	fl.StringVar(&f.mcpServers, "mcp-servers-file", "", "file with MCP servers, in the form of .mcp.json")
	fl.IntVar(&f.maxRequests, "max-turns", 0, "how often a turn may ask the model (default: no limit)")
	fl.Float64Var(&f.maxCost, "max-budget-usd", 0, "what the session may cost, in US dollars (default: no limit)")
	fl.StringArrayVar(&f.extraDirs, "add-dir", nil, "a further folder in which tools may work (may be repeated)")
	fl.StringSliceVar(&f.settings, "setting-sources", nil, "settings that the runtime reads: user, project, local (default: the runtime's)")
	fl.StringArrayVar(&f.args, "arg", nil, "an argument for the runtime's program (may be repeated)")
	_ = cmd.RegisterFlagCompletionFunc("permission-mode", cobra.FixedCompletions([]string{"bypassPermissions", "default", "acceptEdits", "plan", "dontAsk"}, cobra.ShellCompDirectiveNoFileComp))
}

// options returns what the flags ask for.
func (f *sessionFlags) options() (adapters.Options, error) {
	o := adapters.Options{Opening: op.Opening{
		Model: f.model, Mode: message.Mode(f.mode), Args: f.args,
		Effort: f.effort, MaxRequests: f.maxRequests, MaxCost: f.maxCost, ExtraDirs: f.extraDirs, SettingSources: f.settings,
	}}
	if f.schema != "" {
		if o.Schema = jsontext.Value(f.schema); !o.Schema.IsValid() {
			return o, errors.New("--structured-output is not JSON")
		}
	}
	if f.instructions != "" {
		b, err := os.ReadFile(f.instructions)
		if err != nil {
			return o, err
		}
		o.Instructions = string(b)
	}
	if f.mcpServers == "" {
		return o, nil
	}
	if _, err := os.Stat(f.mcpServers); err != nil {
		return o, err
	}
	var err error
	o.MCP, err = runner.ReadServers(f.mcpServers)
	return o, err
}

// withProjectServers adds the MCP servers in .mcp.json of the folder of a session. One of the options has
// precedence over one of that name.
func withProjectServers(o *adapters.Options) error {
	project, err := runner.ReadServers(filepath.Join(o.Dir, ".mcp.json"))
	if len(project) > 0 {
		o.MCP = runner.MergeServers(project, o.MCP)
	}
	return err
}

// copyAgents copies the definitions of sub-agents for a runtime, which are in a folder of its name, into a
// workspace, as `turnspec agents prepare` does. A runtime without such a folder gets none.
func copyAgents(from, runtime, workspace string) error {
	templates := os.DirFS(from)
	if _, err := fs.Stat(templates, runtime); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := agentfile.Prepare(agentfile.Form(runtime), workspace, templates, runtime); err != nil {
		return fmt.Errorf("the sub-agents in %s: %w", filepath.Join(from, runtime), err)
	}
	return nil
}
