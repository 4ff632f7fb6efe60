package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// The limits in real time. npx may install an agent before it replies.
const (
	firstLimit = 50 * time.Second
	replyLimit = 30 * time.Second
)

func (x *session) replyLimit() time.Duration { return cmp.Or(x.Program.ReplyLimit, replyLimit) }

// Program says how the program under test is started.
type Program = plug.Program

// Subject is an ACP agent.
type Subject struct{ Program }

// Open implements conformance.Subject: it starts the agent and opens a session
// with it.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if option := plug.RuntimeOnly(o); option != "" {
		return nil, plug.Unsupported("ACP cannot express " + option)
	}
	p, err := s.Start(ctx, o, "agent", nil)
	if err != nil {
		return nil, plug.StartError("start the agent", err)
	}
	x := newSession(s, p, o)
	if err := x.open(ctx, o); err != nil {
		x.abandon()
		return nil, err
	}
	return x, nil
}

// open initializes the connection and opens a session.
func (x *session) open(ctx context.Context, o conformance.Open) error {
	hello, err := call[acpsdk.InitializeResponse](ctx, x, cmp.Or(x.Program.StartLimit, firstLimit), acpsdk.AgentMethodInitialize, acpsdk.InitializeRequest{
		ProtocolVersion: acpsdk.ProtocolVersionNumber,
		ClientInfo:      &acpsdk.Implementation{Name: "turnspec", Version: "1"},
	})
	if err != nil {
		return x.openError("initialize", err)
	}
	if hello.ProtocolVersion != acpsdk.ProtocolVersionNumber {
		return x.openError("initialize", plug.Errorf("the agent speaks protocol version %d, this is version %d",
			hello.ProtocolVersion, acpsdk.ProtocolVersionNumber).Advise("use a version of the agent that speaks this one"))
	}
	x.can = hello.AgentCapabilities
	if l := plug.LimitsOf(o); l != nil && x.TakesLimits() {
		x.limits = map[string]any{metaKey: map[string]any{"limits": l}}
	}
	modes, options, err := x.openSession(ctx, o)
	if err != nil {
		return err
	}
	mode, err := x.enterMode(ctx, plug.Mode(o), modes, options)
	if err != nil {
		return err
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.EmitReady(event.SessionReady{
		SessionID: o.SessionID, Runtime: x.Program.Of, ProviderSessionID: string(x.id), Resumed: o.Resume != "", Cwd: o.Dir, Mode: mode,
	}, func(d event.Data) bool {
		_, isNotice := d.(event.Notice) // the session opened in the mode that was reported before
		return isNotice
	})
	return nil
}

// remoteServer returns a server that runs already, in the form of the protocol. An agent says
// which transports it has.
func (x *session) remoteServer(m adapters.MCPServer) (acpsdk.McpServer, error) {
	headers := []acpsdk.HttpHeader{}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		headers = append(headers, acpsdk.HttpHeader{Name: name, Value: m.Headers[name]})
	}
	switch {
	case m.SSE && x.can.McpCapabilities.Sse:
		return acpsdk.McpServer{Sse: &acpsdk.McpServerSseInline{Name: m.Name, Type: "sse", Url: m.URL, Headers: headers}}, nil
	case !m.SSE && x.can.McpCapabilities.Http:
		return acpsdk.McpServer{Http: &acpsdk.McpServerHttpInline{Name: m.Name, Type: "http", Url: m.URL, Headers: headers}}, nil
	}
	return acpsdk.McpServer{}, plug.Unsupported("an MCP server over HTTP, which the agent does not list in mcpCapabilities")
}

// openSession opens a new session or resumes one.
func (x *session) openSession(ctx context.Context, o conformance.Open) (*acpsdk.SessionModeState, []acpsdk.SessionConfigOption, error) {
	servers := make([]acpsdk.McpServer, 0, len(o.MCP))
	for _, m := range o.MCP {
		if m.URL != "" {
			server, err := x.remoteServer(m)
			if err != nil {
				return nil, nil, err
			}
			servers = append(servers, server)
			continue
		}
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
	x.Mu.Lock()
	x.id = acpsdk.SessionId(o.Resume)
	x.Mu.Unlock()
	switch {
	case o.Resume == "":
		r, err := call[acpsdk.NewSessionResponse](ctx, x, cmp.Or(x.Program.ReplyLimit, firstLimit), acpsdk.AgentMethodSessionNew, acpsdk.NewSessionRequest{Meta: x.limits, Cwd: o.Dir, McpServers: servers})
		x.Mu.Lock()
		x.id = r.SessionId
		x.Mu.Unlock()
		return r.Modes, r.ConfigOptions, x.openError("session/new", err)
	case x.can.SessionCapabilities.Resume != nil:
		r, err := call[acpsdk.ResumeSessionResponse](ctx, x, cmp.Or(x.Program.ReplyLimit, firstLimit), acpsdk.AgentMethodSessionResume, acpsdk.ResumeSessionRequest{Meta: x.limits, Cwd: o.Dir, McpServers: servers, SessionId: x.id})
		return r.Modes, r.ConfigOptions, x.openError("session/resume", err)
	case x.can.LoadSession:
		x.Mu.Lock()
		x.loading = true
		x.Mu.Unlock()
		r, err := call[acpsdk.LoadSessionResponse](ctx, x, cmp.Or(x.Program.ReplyLimit, firstLimit), acpsdk.AgentMethodSessionLoad, acpsdk.LoadSessionRequest{Meta: x.limits, Cwd: o.Dir, McpServers: servers, SessionId: x.id})
		x.Mu.Lock()
		x.loading = false
		x.MarkUnsupported("session_ready.resumed")
		x.Mu.Unlock()
		return r.Modes, r.ConfigOptions, x.openError("session/load", err)
	}
	return nil, nil, plug.Unsupported("the agent declares neither session/resume nor session/load")
}

// openError adds a code to an error of Open, if ACP has one.
func (x *session) openError(op string, err error) error {
	if err == nil {
		return nil
	}
	code := event.ErrorUnknown
	if r, ok := errors.AsType[*acpsdk.RequestError](err); ok {
		switch r.Code {
		case -32000:
			code, err = event.ErrorAuth, fmt.Errorf("the agent requires a login: %s\n"+
				"next: give it a key that means nothing, such as ANTHROPIC_API_KEY=x or OPENAI_API_KEY=x; the stand-in needs none", errorText(err))
		case -32002, -32602:
			code, err = event.ErrorInvalid, errors.New(errorText(err))
		default:
			x.waitForEnd()
			err = errors.New(errorText(err))
		}
	}
	if broken := x.ProtocolError(); broken != nil {
		code, err = event.ErrorProtocol, broken
	}
	return &adapters.OpenError{Code: code, Op: op, Stderr: x.Process.Output(), Err: err}
}

// metaKey is the member of _meta in which an agent declares {"can":["limits"]}, in the
// capabilities of its reply to initialize, and gets the limits of a session.
const metaKey = "turnspec"

// TakesLimits implements conformance.LimitTaker.
func (x *session) TakesLimits() bool {
	declared, _ := x.can.Meta[metaKey].(map[string]any)
	can, _ := declared["can"].([]any)
	return slices.Contains(can, any(plug.CanLimits))
}
