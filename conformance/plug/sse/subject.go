package sse

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// Program says how the program under test is started.
type Program = plug.Program

// Mapping translates another vocabulary; package mapping reads them from files.
type Mapping = mapping.Mapping

// Subject is a sidecar. If it has a Command, it is started for each session and
// ended with it. Otherwise it is running already, in an environment in which it
// finds the stand-in.
type Subject struct {
	Program           // in the Command, {port} is replaced with the port
	URL        string // its address with a prefix of the routes; with a Command, port 0 is a free one; ws:// if its streams are read over WebSocket
	StandinDir string // without a Command: the folder in which it finds the stand-in

	// Dialect is the vocabulary of its streams; nil: that of package event.
	Dialect *Mapping
}

// DeclareOmission implements conformance.OmissionDeclarer. A dialect leaves out what it
// has no message for, so a server that writes one declares nothing.
func (s *Subject) DeclareOmission(what string) string {
	if s.Dialect != nil {
		return ""
	}
	return plug.DeclareOmission(what) + " in the reply to GET /health"
}

// Standin implements conformance.PlacedStandin.
func (s *Subject) Standin() string { return s.StandinDir }

// Alone reports whether it can hold only one session at a time, because all have
// the same address.
func (s *Subject) Alone() bool {
	u, err := url.Parse(s.URL)
	return err != nil || len(s.Command) == 0 || u.Port() != "0"
}

// Check returns what is wrong with the address, or nil.
func (s *Subject) Check() error {
	_, err := s.parseURL()
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
	WorkingDir     string           `json:"workingDir"`
	PermissionMode string           `json:"permissionMode"`
	MCPServers     []plug.MCPServer `json:"mcpServers,omitempty"`
	Limits         *plug.Limits     `json:"limits,omitempty"`
	Heartbeat      int64            `json:"heartbeat_ms,omitempty"`
	Schema         jsontext.Value   `json:"schema,omitzero"`
	Components     jsontext.Value   `json:"components,omitzero"`

	Tools      []plug.ClientTool `json:"tools,omitempty"`
	Hooks      []plug.ClientHook `json:"hooks,omitempty"`
	op.Opening                   // what the server declares, without notInParams
}

// opened is the answer.
type opened struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Provider  string `json:"provider_session_id"`
}

// Open implements conformance.Subject: it starts the sidecar if there is a command,
// creates a session and reads its events.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if option := withoutPlace(o); option != "" {
		return nil, plug.Unsupported("there is no route for " + option)
	}
	x := &session{Session: plug.NewSession(&s.Program, o), s: s, id: sessionName(o), http: newClient(), streamEnded: make(chan struct{}), left: make(chan struct{}), probes: newProbes()}
	x.plain = plain.New(x.Session, nil)
	x.returningContext, x.stopReturning = context.WithCancel(context.Background())
	if err := x.open(ctx, o); err != nil {
		x.abandon()
		return nil, x.openError(err)
	}
	return x, nil
}

// sessionName returns the name of a session for the sidecar. All runs call their
// first session s1, and a sidecar may serve several runs.
func sessionName(o conformance.Open) string {
	if o.Command == nil {
		return o.SessionID
	}
	return filepath.Base(filepath.Dir(o.Dir)) + "-" + o.SessionID
}

func (x *session) open(ctx context.Context, o conformance.Open) (err error) {
	if len(x.s.Command) > 0 {
		if x.Process, x.base, err = x.startProgram(ctx, o); err != nil {
			return err
		}
		x.opened = o
	} else {
		u, err := x.s.parseURL()
		if err != nil {
			return err
		}
		x.base = u.Scheme + "://" + u.Host + u.EscapedPath()
	}
	x.base = strings.TrimRight(x.base, "/")
	if err := x.connect(ctx); err != nil {
		return err
	}
	if s := x.s.Dialect; s != nil {
		x.plain.Dialect = plain.NewDialect(s)
		x.foreign = newForeign(x.plain.Dialect)
		x.adaptHealth()
	}
	if x.health.Events == nil {
		x.health.Events = plainTypes
	}
	in := opening{SessionID: x.id, Runtime: x.s.Of, Provider: o.Resume, Params: params{WorkingDir: o.Dir, MCPServers: plug.MCPServers(o)}}
	if err := x.takeOptions(&in.Params, o); err != nil {
		return err
	}
	mode, err := x.permissionMode(o)
	if err != nil {
		return err
	}
	if x.repliesWithStreams() {
		x.openReplies(o)
		return nil
	}
	in.Params.PermissionMode = mode
	if x.TakesLimits() {
		in.Params.Limits = plug.LimitsOf(o)
	}
	if x.health.Require(plug.CanHeartbeat) == nil {
		in.Params.Heartbeat = heartbeatTime.Milliseconds()
	}
	x.listenForCalls(o)
	path := "/sessions"
	if o.Resume != "" && !o.Fork {
		path = x.path("resume")
	}
	if o.After != (event.Position{}) {
		in.After = &o.After
	}
	var out opened
	if err := x.request(ctx, http.MethodPost, path, in, &out); err != nil {
		return err
	}
	x.id = cmp.Or(out.ID, out.SessionID, x.id)
	if !x.isWhole() {
		x.plain.HoldReady(event.SessionReady{
			SessionID: o.SessionID, Runtime: x.s.Of, ProviderSessionID: out.Provider, Resumed: o.Resume != "", Mode: mode,
		})
	}
	if x.foreign != nil {
		x.listenForeign()
		return nil
	}
	return x.openStream("")
}

// openError adds a code to an error of Open.
func (x *session) openError(err error) error {
	if e, is := asError(err); is {
		code := event.ErrorProtocol
		if x.base == "" {
			code = event.ErrorStartFailure
		}
		return &adapters.OpenError{Code: code, Op: "open the sidecar", Err: e}
	}
	r, is := errors.AsType[*plug.RefusalError](err)
	if !is || errors.Is(err, conformance.ErrDeclaredUnsupported) {
		return err
	}
	code := r.EventCode()
	switch {
	case code != "":
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		code = event.ErrorAuth
	case r.Status < http.StatusInternalServerError:
		code = event.ErrorInvalid
	default:
		code = event.ErrorUnknown
	}
	return &adapters.OpenError{Code: code, Op: "open", Stderr: x.Process.Output(), Err: err}
}
