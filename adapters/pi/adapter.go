package pi

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "pi"

// New returns the adapter for pi --mode rpc.
func New() Adapter { return Adapter{} }

// Adapter is the adapter for pi --mode rpc. It has no state.
type Adapter struct{}

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Permissions: true, Thinking: true, ToolOutput: true,
		Can: op.SetOf(op.Steer, op.SetModel, op.Revert, op.Compact, op.Rename, op.List).And(
			"resume", "fork", "instructions", "effort", "stream_tool_input", "judge"),
	}
}

// Open implements adapters.Adapter.
func (Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	mode := cmp.Or(o.Mode, adapters.ModeNever)
	if err := checkOptions(o, mode); err != nil {
		return nil, session.InvalidOptions(err)
	}
	if o.SessionID == "" {
		o.SessionID = rand.Text()
	}
	x, err := writeExtension(o, mode)
	if err != nil {
		return nil, &adapters.OpenError{Code: event.ErrorStartFailure, Op: "extension", Err: err}
	}
	c := proc.Command{Argv: commandLine(o, x.file), Dir: o.Dir, Env: o.Env}
	o.Launch = x.launcher(o.Launch)
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
	return session.CheckMode(mode, askedTools)
}

// commandLine returns the program, the adapter's arguments and the caller's.
func commandLine(o adapters.Options, extension string) []string {
	args := slices.Clone(o.Command)
	if len(args) == 0 {
		args = []string{cmp.Or(proc.Getenv(o.Env, "PI_PATH"), proc.LookPath(o.Env, "pi"))}
	}
	args = append(args, "--mode", "rpc")
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	if o.Effort != "" {
		args = append(args, "--thinking", o.Effort)
	}
	switch {
	case o.Instructions == "":
	case o.ReplaceInstructions:
		args = append(args, "--system-prompt", o.Instructions)
	default:
		args = append(args, "--append-system-prompt", o.Instructions)
	}
	switch {
	case o.Fork:
		args = append(args, "--fork", o.Resume)
	case o.Resume != "":
		args = append(args, "--session", o.Resume)
	}
	if extension != "" {
		args = append(args, "-e", extension)
	}
	return append(args, o.Args...)
}
