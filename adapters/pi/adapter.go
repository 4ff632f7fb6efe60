package pi

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
		return nil, &adapters.OpenError{Code: event.ErrorInvalid, Op: "options", Err: err}
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
	var live *client
	s, err := session.Open(ctx, o, c, hint, func(h session.Host) session.Protocol {
		live = newClient(h, o, mode)
		return live
	})
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
	if _, ok := askedTools[mode]; !ok {
		return fmt.Errorf("mode: %q: %w: want one of %s", mode, adapters.ErrUnsupported, strings.Join(slices.Sorted(maps.Keys(askedTools)), ", "))
	}
	if o.Fork && o.Resume == "" {
		return fmt.Errorf("fork: needs resume, the session to fork")
	}
	return nil
}

// commandLine returns the program, the adapter's arguments and the caller's.
func commandLine(o adapters.Options, extension string) []string {
	args := slices.Clone(o.Command)
	if len(args) == 0 {
		args = []string{cmp.Or(proc.Getenv(o.Env, "PI_PATH"), programIn(proc.Getenv(o.Env, "PATH")))}
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

// programIn returns pi as found on a PATH.
func programIn(path string) string {
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, "pi")
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return "pi"
}
