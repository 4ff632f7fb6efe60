package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "acp"

// New returns the adapter for agents of the Agent Client Protocol.
func New() Adapter { return Adapter{} }

// Adapter is the adapter for agents of the Agent Client Protocol. The zero value offers agents
// neither files nor terminals.
type Adapter struct {
	// Files lets agents read and write text files in Options.Dir and Options.ExtraDirs through
	// the adapter.
	Files bool
	// Terminals lets agents run commands there through the adapter.
	Terminals bool
}

// Capabilities implements adapters.Adapter. An agent may lack some of them.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Permissions: true, Thinking: true, ToolOutput: true,
		Can: op.SetOf(op.SetModel, op.SetMode, op.List).And("resume", "fork", "effort", "extra_dirs", "mcp", "config", "judge"),
	}
}

// Open implements adapters.Adapter.
func (a Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	if err := a.Capabilities().Refuse(o); err != nil {
		return nil, session.InvalidOptions(err)
	}
	if o.SessionID == "" {
		o.SessionID = rand.Text()
	}
	dir, err := workingDir(o.Dir)
	if err != nil {
		return nil, session.InvalidOptions(err)
	}
	// Agents wait two seconds for the runtime that they drive, and exit after it.
	o.Limits.CloseStdin = cmp.Or(o.Limits.CloseStdin, 2*o.Limits.WithDefaults().CloseStdin)
	c := proc.Command{Argv: commandLine(o), Dir: o.Dir, Env: permissions(o)}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: runtimeName, ProviderSessionID: o.Resume}
	s, live, err := session.Open(ctx, o, c, hint, func(h session.Host) *client { return newClient(h, o, dir, a) })
	if err != nil {
		return nil, err
	}
	return liveSession{s, live}, nil
}

// workingDir returns the working directory as an absolute path, which the protocol wants.
func workingDir(dir string) (string, error) {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, "/") {
		return dir, nil
	}
	return filepath.Abs(dir)
}

// commandLine returns the program and the caller's arguments.
func commandLine(o adapters.Options) []string {
	args := slices.Clone(o.Command)
	if len(args) == 0 {
		args = []string{cmp.Or(proc.Getenv(o.Env, "ACP_PATH"), proc.LookPath(o.Env, programs()...))}
		args = append(args, argsOf(filepath.Base(args[0]))...)
	}
	return append(args, o.Args...)
}
