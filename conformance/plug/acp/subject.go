package acp

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/wireonly"
)

// The limits, in real time: an agent may be installed before it speaks.
const (
	firstLimit = 50 * time.Second
	replyLimit = 30 * time.Second
)

// Subject is an ACP agent.
type Subject struct {
	Title   string   // shown in reports; the runtime's name when empty
	Of      string   // the runtime that it wraps: codex or claude
	Command []string // the program and its arguments
	Dir     string   // where it is started; "": here

	// Watch is called with each line that goes to and comes from the agent. It may
	// be nil.
	Watch func(in bool, line string)
}

// Name implements conformance.Subject.
func (s *Subject) Name() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Of
}

// Runtime implements conformance.Subject.
func (s *Subject) Runtime() string { return s.Of }

// External implements conformance.External.
func (*Subject) External() {}

// Open implements conformance.Subject: it starts the agent and opens a session
// with it.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if what := wireonly.Beyond(o); what != "" {
		return nil, fmt.Errorf("ACP has no word for %s: %w", what, conformance.ErrDeclaredUnsupported)
	}
	x, err := s.start(ctx, o)
	if err != nil {
		return nil, &adapters.OpenError{Code: event.ErrorStartFailure, Op: "start the agent", Err: err}
	}
	if err := x.open(ctx, o); err != nil {
		x.abandon()
		return nil, err
	}
	return x, nil
}

func (s *Subject) start(ctx context.Context, o conformance.Open) (*session, error) {
	launch := o.Launch
	if launch == nil {
		launch = proc.Exec{}
	}
	if len(s.Command) == 0 {
		return nil, notStarted(s.Command, errors.New("no command"))
	}
	program, err := exec.LookPath(s.Command[0]) // in our PATH: the stand-in's folder is only for the agent
	if err != nil {
		return nil, notStarted(s.Command, err)
	}
	p, err := launch.Launch(ctx, proc.Command{Argv: append([]string{program}, s.Command[1:]...), Dir: s.Dir, Env: o.Env})
	if err != nil {
		return nil, notStarted(s.Command, err)
	}
	return newSession(s, p, o), nil
}

// open introduces the client and opens a session.
func (x *session) open(ctx context.Context, o conformance.Open) error {
	hello, err := call[acpsdk.InitializeResponse](ctx, x, firstLimit, acpsdk.AgentMethodInitialize, acpsdk.InitializeRequest{
		ProtocolVersion: acpsdk.ProtocolVersionNumber,
		ClientInfo:      &acpsdk.Implementation{Name: "turnspec", Version: "1"},
	})
	if err != nil {
		return x.openError("initialize", err)
	}
	if hello.ProtocolVersion != acpsdk.ProtocolVersionNumber {
		return x.openError("initialize", otherVersion(int(hello.ProtocolVersion)))
	}
	x.can = hello.AgentCapabilities
	modes, options, err := x.begin(ctx, o)
	if err != nil {
		return err
	}
	mode, err := x.enter(ctx, askMode(o), modes, options)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ready(event.SessionReady{
		SessionID: o.SessionID, Runtime: x.s.Of, ProviderSessionID: string(x.id), Resumed: o.Resume != "", Cwd: o.Dir, Mode: mode,
	})
	return nil
}

// begin opens a new session, or an old one again.
func (x *session) begin(ctx context.Context, o conformance.Open) (*acpsdk.SessionModeState, []acpsdk.SessionConfigOption, error) {
	servers := make([]acpsdk.McpServer, 0, len(o.MCP))
	for _, m := range o.MCP {
		env := []acpsdk.EnvVariable{}
		for name, value := range m.Env {
			env = append(env, acpsdk.EnvVariable{Name: name, Value: value})
		}
		args := m.Args
		if args == nil {
			args = []string{}
		}
		servers = append(servers, acpsdk.McpServer{Stdio: &acpsdk.McpServerStdio{Name: m.Name, Command: m.Command, Args: args, Env: env}})
	}
	x.mu.Lock()
	x.id = acpsdk.SessionId(o.Resume)
	x.mu.Unlock()
	switch {
	case o.Resume == "":
		r, err := call[acpsdk.NewSessionResponse](ctx, x, firstLimit, acpsdk.AgentMethodSessionNew, acpsdk.NewSessionRequest{Cwd: o.Dir, McpServers: servers})
		x.mu.Lock()
		x.id = r.SessionId
		x.mu.Unlock()
		return r.Modes, r.ConfigOptions, x.openError("session/new", err)
	case x.can.SessionCapabilities.Resume != nil:
		r, err := call[acpsdk.ResumeSessionResponse](ctx, x, firstLimit, acpsdk.AgentMethodSessionResume, acpsdk.ResumeSessionRequest{Cwd: o.Dir, McpServers: servers, SessionId: x.id})
		return r.Modes, r.ConfigOptions, x.openError("session/resume", err)
	case x.can.LoadSession:
		x.mu.Lock()
		x.loading = true
		x.mu.Unlock()
		r, err := call[acpsdk.LoadSessionResponse](ctx, x, firstLimit, acpsdk.AgentMethodSessionLoad, acpsdk.LoadSessionRequest{Cwd: o.Dir, McpServers: servers, SessionId: x.id})
		x.mu.Lock()
		x.loading, x.lacks["session_ready.resumed"] = false, true
		x.mu.Unlock()
		return r.Modes, r.ConfigOptions, x.openError("session/load", err)
	}
	return nil, nil, fmt.Errorf("the agent declares neither session/resume nor session/load: %w", conformance.ErrDeclaredUnsupported)
}

// openError is an error of Open with a code, as far as ACP has codes.
func (x *session) openError(op string, err error) error {
	if err == nil {
		return nil
	}
	code := event.ErrorUnknown
	if r, ok := errors.AsType[*acpsdk.RequestError](err); ok {
		switch r.Code {
		case -32000:
			code, err = event.ErrorAuth, fmt.Errorf("the agent wants to be logged in: %s\nnext: give it a key that means nothing, "+
				"such as ANTHROPIC_API_KEY=x or OPENAI_API_KEY=x; the stand-in asks for none", said(err))
		case -32002, -32602:
			code, err = event.ErrorInvalid, errors.New(said(err))
		default:
			x.bury()
			err = errors.New(said(err))
		}
	}
	if b := x.ProtocolError(); b != nil {
		code, err = event.ErrorProtocol, b
	}
	return &adapters.OpenError{Code: code, Op: op, Stderr: x.tail.String(), Err: err}
}
