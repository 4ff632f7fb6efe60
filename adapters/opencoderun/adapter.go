package opencoderun

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "opencoderun"

// Adapter is the adapter for opencode run. It has no state.
type Adapter struct{}

// New returns the adapter for opencode run.
func New() Adapter { return Adapter{} }

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Thinking: true,
		Can: op.SetOf(op.SetModel, op.SetMode, op.StopAll, op.Withdraw).And("resume", "effort", "mcp"),
	}
}

// modes are those in which the runtime asks for no permission, with the options of each. The spelling is the
// one that 1.15 has too.
var modes = map[string][]string{
	adapters.ModeNever: {"--dangerously-skip-permissions"},
	adapters.ModePlan:  {"--dangerously-skip-permissions", "--agent", "plan"},
}

// Open implements adapters.Adapter. It starts no turn; the first message does, and
// session_ready follows it.
func (Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	if o.Mode == "" {
		o.Mode = adapters.ModeNever
	}
	env, err := opencodecli.Environment(o, nil)
	if err == nil {
		err = checkOptions(o)
	}
	if err != nil {
		return nil, session.InvalidOptions(err)
	}
	o.Env = env
	if o.SessionID == "" {
		o.SessionID = "opencoderun-" + rand.Text()
	}
	inner := o.Launch
	if inner == nil {
		inner = proc.Exec{}
	}
	ps := turnproc.New(inner, o.Limits.WithDefaults())
	o.Launch = ps
	version := proc.Command{Argv: append(program(o), "--version"), Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{
		SessionID: o.SessionID, Runtime: runtimeName, ProviderSessionID: o.Resume, Resumed: o.Resume != "", Model: o.Model, Cwd: o.Dir, Mode: o.Mode,
	}
	files := turnproc.NewFiles(o.Env)
	s, _, err := session.Open(ctx, o, version, hint, func(h session.Host) *client { return newClient(h, o, ps, files) })
	if err != nil {
		return nil, err
	}
	return turnproc.SessionOf(s, files), nil
}

var _ adapters.Transcriber = Adapter{}

// checkOptions returns an error for an option that the runtime cannot honour.
func checkOptions(o adapters.Options) error {
	if err := New().Capabilities().Refuse(o); err != nil {
		return err
	}
	return session.CheckMode(o.Mode, modes)
}

// program is the program and the arguments that all of its subcommands take.
func program(o adapters.Options) []string {
	if len(o.Command) > 0 {
		return slices.Clone(o.Command)
	}
	return []string{opencodecli.Program(o.Env)}
}

// Arguments implements turnproc.Runtime. The message is stdin, because an argument with
// spaces would be put in quotation marks.
func (c *client) Arguments(m adapters.Message) []string {
	o := c.Options
	args := append(program(o), "run", "--format", "json", "--thinking")
	args = append(args, modes[c.Mode]...)
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	if o.Effort != "" {
		args = append(args, "--variant", o.Effort)
	}
	if c.t.session != "" {
		args = append(args, "--session", c.t.session)
	}
	for _, path := range c.Files.Paths(m.ID) {
		args = append(args, "--file", path)
	}
	return append(args, o.Args...)
}
