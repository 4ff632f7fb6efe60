package acpagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// Config is what Run needs.
type Config struct {
	Adapter adapters.Adapter
	// Options are those of each session. The client chooses Dir, MCP and, later, Mode.
	Options adapters.Options
	Version string // of the agent, for the client
}

// agent implements acpsdk.Agent.
type agent struct {
	c    Config
	ctx  context.Context //nolint:containedctx // of all sessions
	conn *acpsdk.AgentSideConnection

	asking sync.Mutex    // is held until a request for a permission is written
	asked  chan struct{} // receives then

	replying sync.Mutex    // is held until the reply to a prompt is written
	replied  chan struct{} // receives then

	mu       sync.Mutex
	sessions map[acpsdk.SessionId]*session
}

// Run serves a client until its input ends or ctx is done, and closes all sessions.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &agent{c: c, ctx: ctx, sessions: map[acpsdk.SessionId]*session{}, asked: make(chan struct{}, 1), replied: make(chan struct{}, 1)}
	ready := make(chan struct{})
	a.conn = acpsdk.NewAgentSideConnection(a, &orderWriter{out, a.asked, a.replied}, &heldReader{in, ready})
	a.conn.SetLogger(slog.New(slog.DiscardHandler)) // stderr belongs to the runtime
	close(ready)
	select {
	case <-a.conn.Done():
	case <-ctx.Done():
	}
	a.mu.Lock()
	var all []*session
	for _, s := range a.sessions {
		all = append(all, s)
	}
	a.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.close(context.WithoutCancel(ctx)))
	}
	return errors.Join(errs...)
}

// heldReader reads nothing until ready is closed: the connection begins to read before its
// agent can know it.
type heldReader struct {
	io.Reader
	ready chan struct{}
}

func (r *heldReader) Read(b []byte) (int, error) {
	<-r.ready
	return r.Reader.Read(b)
}

// modes are the modes that a client may choose, with their ids.
var modes = []struct{ id, mode, name string }{
	{"default", adapters.ModeAsk, "Ask"},
	{"acceptEdits", adapters.ModeAcceptEdits, "Accept edits"},
	{"plan", adapters.ModePlan, "Plan"},
	{"read-only", adapters.ModeReadOnly, "Read only"},
	{"dontAsk", adapters.ModeDontAsk, "Deny without asking"},
	{"bypassPermissions", adapters.ModeNever, "Never ask"},
}

// modeID returns the id of a mode, or of a mode of the runtime that is called like that; "" if there
// is none.
func modeID(mode string) string {
	for _, m := range modes {
		if m.mode == mode || m.id == mode {
			return m.id
		}
	}
	return ""
}

// modeState returns the modes, of which a session is in one.
func (a *agent) modeState(id string) *acpsdk.SessionModeState {
	if !a.c.Adapter.Capabilities().Can.Has(op.SetMode) {
		return nil
	}
	out := &acpsdk.SessionModeState{CurrentModeId: acpsdk.SessionModeId(id)}
	for _, m := range modes {
		out.AvailableModes = append(out.AvailableModes, acpsdk.SessionMode{Id: acpsdk.SessionModeId(m.id), Name: m.name})
	}
	return out
}

// Initialize implements acpsdk.Agent.
func (a *agent) Initialize(context.Context, acpsdk.InitializeRequest) (acpsdk.InitializeResponse, error) {
	can := acpsdk.AgentCapabilities{
		McpCapabilities:     acpsdk.McpCapabilities{Http: true, Sse: true},
		PromptCapabilities:  acpsdk.PromptCapabilities{EmbeddedContext: true},
		SessionCapabilities: acpsdk.SessionCapabilities{Close: &acpsdk.SessionCloseCapabilities{}},
	}
	if a.c.Adapter.Capabilities().Can.Names("resume") {
		can.SessionCapabilities.Resume = &acpsdk.SessionResumeCapabilities{}
	}
	return acpsdk.InitializeResponse{
		ProtocolVersion: acpsdk.ProtocolVersionNumber, AgentCapabilities: can, AuthMethods: []acpsdk.AuthMethod{},
		AgentInfo: &acpsdk.Implementation{Name: "turnspec-" + a.c.Adapter.Capabilities().Runtime, Version: a.c.Version},
	}, nil
}

// Authenticate implements acpsdk.Agent. The runtime logs in by itself.
func (*agent) Authenticate(context.Context, acpsdk.AuthenticateRequest) (acpsdk.AuthenticateResponse, error) {
	return acpsdk.AuthenticateResponse{}, acpsdk.NewMethodNotFound(acpsdk.AgentMethodAuthenticate)
}

// NewSession implements acpsdk.Agent.
func (a *agent) NewSession(ctx context.Context, p acpsdk.NewSessionRequest) (acpsdk.NewSessionResponse, error) {
	s, err := a.open(ctx, p.Cwd, "", p.McpServers)
	if err != nil {
		return acpsdk.NewSessionResponse{}, err
	}
	return acpsdk.NewSessionResponse{SessionId: s.id, Modes: a.modeState(modeID(a.mode()))}, nil
}

// ResumeSession implements acpsdk.Agent.
func (a *agent) ResumeSession(ctx context.Context, p acpsdk.ResumeSessionRequest) (acpsdk.ResumeSessionResponse, error) {
	if _, err := a.open(ctx, p.Cwd, string(p.SessionId), p.McpServers); err != nil {
		return acpsdk.ResumeSessionResponse{}, err
	}
	return acpsdk.ResumeSessionResponse{Modes: a.modeState(modeID(a.mode()))}, nil
}

// mode returns the mode in which sessions are opened.
func (a *agent) mode() string { return cmp.Or(a.c.Options.Mode, adapters.ModeAsk) }

// readyLimit is how long a session may take to name its id, which some runtimes do with the
// first message only.
const readyLimit = 2 * time.Second

// open opens a session.
func (a *agent) open(ctx context.Context, dir, resume string, servers []acpsdk.McpServer) (*session, error) {
	o := a.c.Options
	o.Dir, o.Resume, o.Mode = dir, resume, a.mode()
	for _, m := range servers {
		o.MCP = append(slices.Clip(o.MCP), serverOf(m))
	}
	opened, err := a.c.Adapter.Open(context.WithoutCancel(ctx), o)
	if err != nil {
		return nil, openError(err)
	}
	s := &session{agent: a, Session: opened, translator: translator{mode: modeID(o.Mode)}, ready: make(chan string, 1), named: make(chan struct{}), ended: make(chan struct{}), asked: map[string]context.CancelFunc{}}
	go s.follow()
	id := resume
	select {
	case named := <-s.ready:
		if id == "" {
			id = named
		}
	case <-time.After(readyLimit):
	case <-s.ended:
	}
	if id == "" {
		id = fmt.Sprintf("session-%d", time.Now().UnixNano())
	}
	s.id = acpsdk.SessionId(id)
	close(s.named)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.id] = s
	return s, nil
}

// openError returns the error of an Open as the protocol has it.
func openError(err error) error {
	if e, is := errors.AsType[*adapters.OpenError](err); is {
		switch e.Code {
		case event.ErrorAuth:
			return acpsdk.NewAuthRequired(map[string]any{"error": err.Error()})
		case event.ErrorInvalid:
			return acpsdk.NewInvalidParams(map[string]any{"error": err.Error()})
		}
	}
	if errors.Is(err, adapters.ErrUnsupported) {
		return acpsdk.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	return acpsdk.NewInternalError(map[string]any{"error": err.Error()})
}

// serverOf returns an MCP server of the client.
func serverOf(m acpsdk.McpServer) adapters.MCPServer {
	headers := func(all []acpsdk.HttpHeader) map[string]string {
		out := map[string]string{}
		for _, h := range all {
			out[h.Name] = h.Value
		}
		return out
	}
	switch {
	case m.Http != nil:
		return adapters.MCPServer{Name: m.Http.Name, URL: m.Http.Url, Headers: headers(m.Http.Headers)}
	case m.Sse != nil:
		return adapters.MCPServer{Name: m.Sse.Name, URL: m.Sse.Url, SSE: true, Headers: headers(m.Sse.Headers)}
	case m.Stdio != nil:
		env := map[string]string{}
		for _, v := range m.Stdio.Env {
			env[v.Name] = v.Value
		}
		return adapters.MCPServer{Name: m.Stdio.Name, Command: m.Stdio.Command, Args: m.Stdio.Args, Env: env}
	}
	return adapters.MCPServer{}
}

// find returns a session that is open.
func (a *agent) find(id acpsdk.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, acpsdk.NewInvalidParams(map[string]any{"error": "there is no session " + string(id)})
}

// SetSessionMode implements acpsdk.Agent.
func (a *agent) SetSessionMode(ctx context.Context, p acpsdk.SetSessionModeRequest) (acpsdk.SetSessionModeResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acpsdk.SetSessionModeResponse{}, err
	}
	i := slices.IndexFunc(modes, func(m struct{ id, mode, name string }) bool { return m.id == string(p.ModeId) })
	if i < 0 || !adapters.CanDo(s.Session, op.SetMode.Name) {
		return acpsdk.SetSessionModeResponse{}, acpsdk.NewInvalidParams(map[string]any{"error": "there is no mode " + string(p.ModeId)})
	}
	s.mu.Lock()
	before := s.translator.mode
	s.translator.mode = modes[i].id
	s.mu.Unlock()
	if _, err := adapters.Do(ctx, s.Session, op.Call{Do: op.SetMode.Name, Mode: modes[i].mode}); err != nil {
		s.mu.Lock()
		s.translator.mode = before
		s.mu.Unlock()
		return acpsdk.SetSessionModeResponse{}, openError(err)
	}
	return acpsdk.SetSessionModeResponse{}, nil
}

// Prompt implements acpsdk.Agent.
func (a *agent) Prompt(ctx context.Context, p acpsdk.PromptRequest) (acpsdk.PromptResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acpsdk.PromptResponse{}, err
	}
	text, err := promptText(p.Prompt)
	if err != nil {
		return acpsdk.PromptResponse{}, acpsdk.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	return s.prompt(context.WithoutCancel(ctx), text) // session/cancel ends ctx, but the turn has an end too
}

// Cancel implements acpsdk.Agent.
func (a *agent) Cancel(ctx context.Context, p acpsdk.CancelNotification) error {
	s, err := a.find(p.SessionId)
	if err != nil {
		return err
	}
	return s.Stop(ctx)
}

// CloseSession implements acpsdk.Agent.
func (a *agent) CloseSession(ctx context.Context, p acpsdk.CloseSessionRequest) (acpsdk.CloseSessionResponse, error) {
	s, err := a.find(p.SessionId)
	if err != nil {
		return acpsdk.CloseSessionResponse{}, err
	}
	a.mu.Lock()
	delete(a.sessions, p.SessionId)
	a.mu.Unlock()
	return acpsdk.CloseSessionResponse{}, s.close(ctx)
}

// ListSessions implements acpsdk.Agent. It is not declared.
func (*agent) ListSessions(context.Context, acpsdk.ListSessionsRequest) (acpsdk.ListSessionsResponse, error) {
	return acpsdk.ListSessionsResponse{}, acpsdk.NewMethodNotFound(acpsdk.AgentMethodSessionList)
}

// SetSessionConfigOption implements acpsdk.Agent. No option is offered.
func (*agent) SetSessionConfigOption(context.Context, acpsdk.SetSessionConfigOptionRequest) (acpsdk.SetSessionConfigOptionResponse, error) {
	return acpsdk.SetSessionConfigOptionResponse{}, acpsdk.NewMethodNotFound(acpsdk.AgentMethodSessionSetConfigOption)
}
