package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/feed"
	"github.com/turnspec/turnspec/conformance/internal/wireonly"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// Subject is a sidecar. With a Command it is started for each session, and ended
// with it; without one it runs already, and was started where it finds the
// stand-in.
type Subject struct {
	Title   string   // shown in reports; the runtime's name when empty
	Of      string   // the runtime that it wraps: codex or claude
	URL     string   // where it listens, a prefix of the routes too; with a Command port 0 is a free one
	Command []string // the program and its arguments; {port} is the port
	Dir     string   // where it is started; "": here
	Place   string   // without a Command: the folder in which it finds the stand-in (conformance.Placed)

	// Watch is called with each request and each answer and event. It may be nil.
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

// Standin implements conformance.Placed.
func (s *Subject) Standin() string { return s.Place }

// Alone reports whether only one session at a time can be held with it: its
// address is the same for all.
func (s *Subject) Alone() bool {
	u, err := url.Parse(s.URL)
	return err != nil || len(s.Command) == 0 || u.Port() != "0"
}

// Check says what is wrong with the address, or nil.
func (s *Subject) Check() error {
	_, err := s.parse()
	return err
}

// opening is the body of POST /sessions and of /sessions/:id/resume.
type opening struct {
	SessionID string          `json:"session_id"`
	Runtime   string          `json:"runtime"`
	Provider  string          `json:"provider_session_id,omitempty"`
	After     *event.Position `json:"after,omitempty"`
	Params    params          `json:"params"`
}

type params struct {
	WorkingDir     string   `json:"workingDir"`
	PermissionMode string   `json:"permissionMode"`
	MCPServers     []server `json:"mcpServers,omitempty"`
}

type server struct {
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// opened is what may stand in the answer.
type opened struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Provider  string `json:"provider_session_id"`
}

// Open implements conformance.Subject: it starts the sidecar, if it is to be
// started, creates a session and listens to it.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if what := wireonly.Beyond(o); what != "" {
		return nil, fmt.Errorf("there is no route for %s: %w", what, conformance.ErrDeclaredUnsupported)
	}
	x := &session{
		s: s, name: o.SessionID, id: nameOf(o), http: newClient(), over: make(chan struct{}), Feed: feed.New(),
		lacks: map[string]bool{}, seq: o.After.Seq,
	}
	x.translator = translator{turn: o.After.Turn, byUser: map[string]bool{}, seen: map[string]bool{}}
	if err := x.open(ctx, o); err != nil {
		x.abandon()
		return nil, x.openError(err)
	}
	return x, nil
}

// nameOf is the name of a session for the sidecar: one that serves several plays
// must tell apart what each calls s1.
func nameOf(o conformance.Open) string {
	if o.Command == nil {
		return o.SessionID
	}
	return filepath.Base(filepath.Dir(o.Dir)) + "-" + o.SessionID
}

func (x *session) open(ctx context.Context, o conformance.Open) (err error) {
	if len(x.s.Command) > 0 {
		if x.p, x.base, err = x.s.started(ctx, o); err != nil {
			return err
		}
	} else {
		u, err := x.s.parse()
		if err != nil {
			return err
		}
		x.base = u.Scheme + "://" + u.Host + u.EscapedPath()
	}
	for len(x.base) > 0 && x.base[len(x.base)-1] == '/' {
		x.base = x.base[:len(x.base)-1]
	}
	if err := x.greet(ctx); err != nil {
		return err
	}
	if len(o.MCP) > 0 {
		if err := x.health.must(jsonl.CanMCP); err != nil {
			return err
		}
	}
	mode, err := x.health.mode(o)
	if err != nil {
		return err
	}
	in := opening{SessionID: x.id, Runtime: x.s.Of, Provider: o.Resume, Params: params{WorkingDir: o.Dir, PermissionMode: mode}}
	for _, m := range o.MCP {
		in.Params.MCPServers = append(in.Params.MCPServers, server{m.Name, m.Command, m.Args, m.Env})
	}
	path := "/sessions"
	if o.Resume != "" {
		path = x.path("resume")
		if o.After != (event.Position{}) {
			in.After = &o.After
		}
	}
	var out opened
	if err := x.do(ctx, http.MethodPost, path, in, &out); err != nil {
		return err
	}
	if out.ID == "" {
		out.ID = out.SessionID
	}
	if out.ID != "" {
		x.id = out.ID
	}
	if !x.health.whole() {
		x.begin(event.SessionReady{
			SessionID: o.SessionID, Runtime: x.s.Of, ProviderSessionID: out.Provider, Resumed: o.Resume != "", Mode: mode,
		})
	}
	return x.listen()
}

// openError is an error of Open with a code.
func (x *session) openError(err error) error {
	var stderr string
	if x.p != nil {
		stderr = x.p.tail.String()
	}
	if m, is := asMistake(err); is {
		code := event.ErrorProtocol
		if x.base == "" {
			code = event.ErrorStartFailure
		}
		return &adapters.OpenError{Code: code, Op: "open the sidecar", Err: m}
	}
	r, is := errors.AsType[*refused](err)
	if !is || errors.Is(err, conformance.ErrDeclaredUnsupported) {
		return err
	}
	code := event.ErrorUnknown
	switch {
	case slices.Contains(event.ErrorCodes(), event.ErrorCode(r.code)):
		code = event.ErrorCode(r.code)
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		code = event.ErrorAuth
	case r.status < http.StatusInternalServerError:
		code = event.ErrorInvalid
	}
	return &adapters.OpenError{Code: code, Op: "open", Stderr: stderr, Err: err}
}
