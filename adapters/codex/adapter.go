package codex

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const clientVersion = "0.1.0"

// New returns the adapter for codex app-server.
func New() Adapter { return Adapter{} }

// Adapter is the adapter for codex app-server. It has no state.
type Adapter struct{}

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: "codex", Permissions: true, Thinking: true, ToolOutput: true, Background: true, Subagents: true,
		Can: op.SetOf(op.Steer, op.SetModel, op.SetMode, op.StopTask, op.Revert, op.Compact, op.Archive, op.Rename, op.List).And(
			"resume", "fork", "fork_at", "instructions", "effort", "extra_dirs", "mcp", "tools", "schema", "config", "judge"),
	}
}

// Open implements adapters.Adapter.
func (a Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	if err := a.Capabilities().Refuse(o); err != nil {
		return nil, session.InvalidOptions(err)
	}
	o.Mode = cmp.Or(o.Mode, adapters.ModeAsk)
	if err := session.CheckMode(o.Mode, modes); err != nil {
		return nil, session.InvalidOptions(err)
	}
	if err := codexcli.CheckServers(o.MCP); err != nil {
		return nil, session.InvalidOptions(err)
	}
	if o.SessionID == "" {
		o.SessionID = rand.Text()
	}
	c := proc.Command{Argv: commandLine(o, disableArgs(ctx, o)), Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: "codex", ProviderSessionID: o.Resume}
	s, live, err := session.Open(ctx, o, c, hint, func(h session.Host) *client { return newClient(h, o, modes[o.Mode]) })
	if err != nil {
		return nil, err
	}
	return liveSession{s, live}, nil
}

// commandLine returns the program, its subcommand, the settings that the judge
// requires, the settings ordered by name, and the caller's arguments.
func commandLine(o adapters.Options, closed []string) []string {
	args := slices.Clone(o.Command)
	if len(args) == 0 {
		args = []string{codexcli.Executable(o.Env)}
	}
	args = append(append(args, "app-server"), closed...)
	for _, k := range slices.Sorted(maps.Keys(o.Config)) {
		args = append(args, "-c", k+"="+o.Config[k])
	}
	args = append(args, codexcli.SessionArgs(o)...)
	args = append(args, codexcli.ServerArgs(o.MCP, serverSettings(o))...)
	return append(args, o.Args...)
}
