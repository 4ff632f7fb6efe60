package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/httplines"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "chat"

// New returns the adapter for models that offer chat completions.
func New() Adapter { return Adapter{} }

// Adapter is the adapter for models that offer chat completions. The zero value is ready for
// use.
type Adapter struct {
	// Client sends the requests of sessions that start no program; nil is
	// http.DefaultClient.
	Client *http.Client
}

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Permissions: true, Thinking: true,
		Can: op.SetOf(op.SetModel, op.SetMode, op.StopAll, op.Withdraw).And(
			"instructions", "effort", "max_requests", "stream_tool_input", "mcp", "tools", "judge"),
	}
}

// Open implements adapters.Adapter.
func (a Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.SessionID, o.Mode = cmp.Or(o.SessionID, rand.Text()), cmp.Or(o.Mode, adapters.ModeNever)
	o.Model = cmp.Or(o.Model, proc.Getenv(o.Env, "OPENAI_MODEL"))
	if err := checkOptions(o); err != nil {
		return nil, session.InvalidOptions(err)
	}
	servers := cmp.Or[proc.Launcher](o.Launch, proc.Exec{})
	argv := slices.Clone(o.Command)
	if program := proc.Getenv(o.Env, "CHAT_RELAY"); len(argv) == 0 && program != "" {
		argv = []string{program}
	}
	if o.Launch == nil && len(argv) == 0 {
		relay, err := a.relay(o)
		if err != nil {
			return nil, session.InvalidOptions(err)
		}
		o.Launch = proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) { return relay.Start(), nil })
	}
	if len(argv) == 0 {
		argv = []string{runtimeName}
	}
	c := proc.Command{Argv: append(argv, o.Args...), Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: runtimeName}
	s, live, err := session.Open(ctx, o, c, hint, func(h session.Host) *client { return newClient(h, o, servers) })
	if err != nil {
		return nil, err
	}
	return liveSession{s, live}, nil
}

// relay returns the connection to the server that the environment names.
func (a Adapter) relay(o adapters.Options) (*httplines.Relay, error) {
	base := proc.Getenv(o.Env, "OPENAI_BASE_URL")
	if base == "" {
		return nil, fmt.Errorf("OPENAI_BASE_URL is not set: it names the server, as https://host/v1")
	}
	r := &httplines.Relay{Base: base, Client: a.Client}
	if key := proc.Getenv(o.Env, "OPENAI_API_KEY"); key != "" {
		r.Header = http.Header{"Authorization": {"Bearer " + key}}
	}
	return r, nil
}

// modes are the permission modes, with whether they ask about a call of a tool that changes
// something.
var modes = map[string]bool{adapters.ModeNever: false, adapters.ModeAsk: true}

// checkOptions rejects what the adapter does not have.
func checkOptions(o adapters.Options) error {
	if err := New().Capabilities().Refuse(o); err != nil {
		return err
	}
	if err := checkMCP(o.MCP); err != nil {
		return err
	}
	return session.CheckMode(o.Mode, modes)
}
