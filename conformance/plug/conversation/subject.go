package conversation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// startLimit is how long a runner and its runtime may take to be ready.
const startLimit = 50 * time.Second

// Program says how the program under test is started.
type Program = plug.Program

// Subject is a runner.
type Subject struct{ Program }

// modeNames are the modes that --permission-mode has a name for.
var modeNames = map[string]string{
	adapters.ModeNever: "bypassPermissions", adapters.ModeAsk: "default", adapters.ModeAcceptEdits: "acceptEdits",
	adapters.ModePlan: "plan", adapters.ModeDontAsk: "dontAsk",
}

// Open implements conformance.Subject: it starts the runner and waits until its session has
// started, or until the runner is ready if only a message starts the session.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	fork := o.Fork
	o.Fork = false // --fork
	if option := plug.RuntimeOnly(o); option != "" {
		return nil, plug.Unsupported("a runner cannot express " + option)
	}
	mode, ok := modeNames[plug.Mode(o)]
	if !ok {
		return nil, plug.Unsupported("the mode " + plug.Mode(o))
	}
	args := append(slices.Clone(s.Command[min(1, len(s.Command)):]), "--cwd", o.Dir, "--permission-mode", mode)
	if o.Resume != "" {
		args = append(args, "--resume", o.Resume)
	}
	if fork {
		args = append(args, "--fork")
	}
	file, err := serversFile(o)
	if err != nil {
		return nil, err
	}
	if file != "" {
		args = append(args, "--mcp-servers-file", file)
	}
	p, err := s.Start(ctx, o, "runner", args)
	if err != nil {
		return nil, plug.StartError("start the runner", err)
	}
	x := newSession(s, p, o, file)
	limit := startLimit
	if s.StartLimit > 0 {
		limit = s.StartLimit
	}
	if !plug.WaitFor(ctx, x.started, limit) && ctx.Err() == nil {
		_ = x.Fail(plug.Errorf("no session_started within %v", limit).Advise("write it when the runtime is ready"))
	}
	if err := x.openError(); err != nil {
		x.abandon()
		return nil, err
	}
	return x, nil
}

// serversFile writes the MCP servers of an opening into a file, and returns its name, or "" if
// there are none.
func serversFile(o conformance.Open) (string, error) {
	if len(o.MCP) == 0 {
		return "", nil
	}
	servers := map[string]plug.MCPServer{}
	for _, m := range plug.MCPServers(o) {
		servers[m.Name] = m
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "turnspec-runner-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "servers.json")
	return name, os.WriteFile(name, b, 0o600)
}

// openError returns why no session has started, or nil.
func (x *session) openError() error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if err := x.ProtocolError(); err != nil {
		return &adapters.OpenError{Code: event.ErrorProtocol, Op: "open", Stderr: x.Process.Output(), Err: err}
	}
	if x.Ready || x.opened {
		return nil
	}
	if x.refused == nil {
		x.refused = &plug.RefusalError{Code: string(event.ErrorUnknown), Text: "the runner ended before its session started"}
	}
	code := x.refused.EventCode()
	if code == "" {
		code = event.ErrorUnknown
	}
	return &adapters.OpenError{Code: code, Op: "open", Stderr: x.Process.Output(), Err: x.refused}
}
