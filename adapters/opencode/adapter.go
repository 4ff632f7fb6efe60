package opencode

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/httplines"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "opencode"

// New returns the adapter for opencode serve.
func New() Adapter { return Adapter{} }

// Adapter is the adapter for opencode serve. It has no state.
type Adapter struct{}

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Permissions: true, Thinking: true, ToolOutput: true, Subagents: true,
		Can: op.SetOf(op.SetModel, op.SetMode, op.Revert, op.Compact, op.Rename, op.List).And(
			"resume", "fork", "instructions", "effort", "mcp", "schema", "judge"),
	}
}

// server is the program, which announces on stdout where it listens.
var server = httplines.Server{Ready: regexp.MustCompile(`^opencode server listening on (http://\S+)`)}

// Open implements adapters.Adapter.
func (Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	mode := cmp.Or(o.Mode, adapters.ModeNever)
	env, err := environment(o, mode)
	if err == nil {
		err = checkOptions(o, mode)
	}
	if err != nil {
		return nil, session.InvalidOptions(err)
	}
	if o.SessionID == "" {
		o.SessionID = rand.Text()
	}
	if o.Launch == nil {
		o.Launch = proc.Exec{}
	}
	o.Launch = server.Launcher(o.Launch)
	c := proc.Command{Argv: commandLine(o), Dir: o.Dir, Env: env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: runtimeName, ProviderSessionID: o.Resume}
	s, live, err := session.Open(ctx, o, c, hint, func(h session.Host) *client { return newClient(h, o, mode) })
	if err != nil {
		return nil, err
	}
	return liveSession{s, live}, nil
}

// checkOptions rejects what the runtime does not have.
func checkOptions(o adapters.Options, mode string) error {
	if err := New().Capabilities().Refuse(o); err != nil {
		return err
	}
	if o.ReplaceInstructions {
		return fmt.Errorf("instructions: the runtime adds them to its own: %w", adapters.ErrUnsupported)
	}
	return session.CheckMode(mode, askedPermissions)
}

// commandLine returns the program, the adapter's arguments and the caller's.
func commandLine(o adapters.Options) []string {
	args := slices.Clone(o.Command)
	if len(args) == 0 {
		args = []string{opencodecli.Program(o.Env)}
	}
	return append(append(args, "serve", "--hostname", "127.0.0.1", "--port", "0"), o.Args...)
}

// environment returns the child's environment, with what is added to its settings: the MCP
// servers, and what is asked for. The rules of a session do not hold for its sub-agents, and
// the settings do.
func environment(o adapters.Options, mode string) ([]string, error) {
	asked := map[string]string{}
	for _, permission := range askedPermissions[mode] {
		asked[permission] = "ask"
	}
	if o.Judge != nil {
		asked = map[string]string{"*": "ask"}
	}
	return opencodecli.Environment(o, asked)
}
