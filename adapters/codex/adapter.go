package codex

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"

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
		return nil, invalidOption(err)
	}
	m, ok := modes[cmp.Or(o.Mode, adapters.ModeAsk)]
	if !ok {
		return nil, invalidOption(fmt.Errorf("mode: unknown mode %q: want one of %s", o.Mode, strings.Join(slices.Sorted(maps.Keys(modes)), ", ")))
	}
	switch {
	case o.Fork && o.Resume == "":
		return nil, invalidOption(fmt.Errorf("fork: needs resume, the thread to fork"))
	case o.At != "" && !o.Fork:
		return nil, invalidOption(fmt.Errorf("at: needs fork: a resumed thread continues at its end"))
	case o.Unarchive && o.Resume == "":
		return nil, invalidOption(fmt.Errorf("unarchive: needs resume, the thread to unarchive"))
	}
	if err := codexcli.CheckServers(o.MCP); err != nil {
		return nil, invalidOption(err)
	}
	if o.SessionID == "" {
		o.SessionID = newUUID()
	}
	c := proc.Command{Argv: commandLine(o, disableArgs(ctx, o)), Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: "codex", ProviderSessionID: o.Resume}
	var live *client
	s, err := session.Open(ctx, o, c, hint, func(h session.Host) session.Protocol {
		live = newClient(h, o, m)
		return live
	})
	if err != nil {
		return nil, err
	}
	return liveSession{s, live}, nil
}

func invalidOption(err error) error {
	return &adapters.OpenError{Code: event.ErrorInvalid, Op: "options", Err: err}
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

// newUUID returns a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
