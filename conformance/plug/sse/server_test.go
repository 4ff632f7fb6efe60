package sse_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug"
)

// sidecarServer serves a reference adapter, perhaps with a defect. So if its run
// fails, the mistake is in this package.
type sidecarServer struct {
	runtime string
	plain   bool // it sends the plain form, only to current listeners
	// event replaces what is sent for an event; nil sends the event.
	event func(e event.Event, tell func(event.Event))
	// answer changes an answer of the user.
	answer func(*adapters.Answer)
	cuts   bool // end the stream at the first text

	mu       sync.Mutex
	sessions map[string]*held
}

// held is a session of the server.
type held struct {
	adapters.Session
	mu    sync.Mutex
	told  []string // frames for listeners
	from  int      // where a new listener begins
	grown chan struct{}
	over  bool
	cut   bool
}

func (h *held) tell(frame string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, frame)
	close(h.grown)
	h.grown = make(chan struct{})
}

// run serves until the process is ended.
func (s *sidecarServer) run() {
	s.sessions = map[string]*held{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		h := map[string]any{"ok": true, "can": []string{"answer"}, "without": []string{
			"done.reason", "result.stats", "tool_start.message_id", "tool_result.is_file_read", "tool_result.file_path", "permission_request.options",
		}}
		if !s.plain {
			h = map[string]any{"ok": true, "runtime": s.runtime, "can": []string{"answer", "question", "steer", "mcp", "limits"}, "events": event.Types()}
		}
		say(w, http.StatusOK, h)
	})
	mux.HandleFunc("POST /sessions", s.open)
	mux.HandleFunc("POST /sessions/{id}/resume", s.open)
	mux.HandleFunc("GET /sessions/{id}/events", s.events)
	for path, do := range map[string]func(context.Context, *held, *http.Request, body) error{
		"POST /sessions/{id}/message": s.message,
		"POST /sessions/{id}/steer": func(ctx context.Context, h *held, _ *http.Request, b body) error {
			st, _ := adapters.As[adapters.Steerer](h.Session)
			return st.Steer(ctx, adapters.Message{ID: b.MessageID, Text: b.Message})
		},
		"POST /sessions/{id}/stop": func(ctx context.Context, h *held, _ *http.Request, _ body) error { return h.Stop(ctx) },
		"POST /sessions/{id}/permission/{of}": func(ctx context.Context, h *held, r *http.Request, b body) error {
			a := adapters.Answer{Decision: event.Decision(b.Decision), Message: b.Message, Input: b.Input, Scope: adapters.Scope(b.Scope)}
			if s.answer != nil {
				s.answer(&a)
			}
			return h.Answer(ctx, r.PathValue("of"), a)
		},
		"POST /sessions/{id}/interrupt/{of}": func(ctx context.Context, h *held, r *http.Request, b body) error {
			return h.Answer(ctx, r.PathValue("of"), adapters.Answer{Value: b.Value})
		},
		"DELETE /sessions/{id}": func(ctx context.Context, h *held, _ *http.Request, _ body) error { return h.Close(ctx) },
	} {
		mux.HandleFunc(path, s.act(do))
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(http.Serve(l, mux))
}

// body is the body of a request.
type body struct {
	SessionID string         `json:"session_id"`
	Provider  string         `json:"provider_session_id"`
	After     event.Position `json:"after"`
	Params    struct {
		WorkingDir     string `json:"workingDir"`
		PermissionMode string `json:"permissionMode"`
		MCPServers     []adapters.MCPServer
		Limits         plug.Limits
	} `json:"params"`
	Message   string         `json:"message"`
	MessageID string         `json:"message_id"`
	Decision  string         `json:"decision"`
	Scope     string         `json:"scope"`
	Input     jsontext.Value `json:"input"`
	Value     jsontext.Value `json:"value"`
}

// limits returns the limits of the session that the body asks for.
func (b *body) limits() adapters.Limits {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	l := b.Params.Limits
	return adapters.Limits{Handshake: ms(l.Start), Stop: ms(l.Stop), Idle: ms(l.Stall / 2), Request: ms(l.Stall / 2)}
}

var modes = map[string]string{
	"default": adapters.ModeAsk, "acceptEdits": adapters.ModeAcceptEdits, "plan": adapters.ModePlan,
	"dontAsk": adapters.ModeDontAsk, "bypassPermissions": adapters.ModeNever,
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v)
}

func (s *sidecarServer) refuse(w http.ResponseWriter, err error) {
	code := "refused"
	for name, is := range map[string]error{
		"unsupported": adapters.ErrUnsupported, "unknown_id": adapters.ErrUnknownID, "no_turn": adapters.ErrNoTurn, "closed": adapters.ErrClosed,
	} {
		if errors.Is(err, is) {
			code = name
		}
	}
	if open, is := errors.AsType[*adapters.OpenError](err); is {
		code = string(open.Code)
	}
	say(w, http.StatusConflict, map[string]any{"error": map[string]any{"code": code, "message": err.Error()}})
}

func (s *sidecarServer) open(w http.ResponseWriter, r *http.Request) {
	var b body
	if err := json.UnmarshalRead(r.Body, &b, json.MatchCaseInsensitiveNames(true)); err != nil {
		panic(err)
	}
	if id := r.PathValue("id"); id != "" {
		b.SessionID = id
	}
	subject := backend.Adapter("claude", claude.New())
	if s.runtime == "codex" {
		subject = backend.Adapter("codex", codex.New())
	}
	sess, err := subject.Open(context.WithoutCancel(r.Context()), conformance.Open{
		Opening: op.Opening{SessionID: b.SessionID, Dir: b.Params.WorkingDir, Mode: modes[b.Params.PermissionMode], Resume: b.Provider},
		After:   b.After, MCP: b.Params.MCPServers, Limits: b.limits(),
	})
	if err != nil {
		s.refuse(w, err)
		return
	}
	h := &held{Session: sess, grown: make(chan struct{})}
	s.mu.Lock()
	s.sessions[b.SessionID] = h
	s.mu.Unlock()
	go s.follow(h)
	say(w, http.StatusCreated, map[string]any{"id": b.SessionID})
}

// follow forwards the events of the adapter.
func (s *sidecarServer) follow(h *held) {
	provider := ""
	tell := func(e event.Event) {
		if s.cuts && e.Type() == event.TypeDelta {
			h.mu.Lock()
			h.cut = true
			h.mu.Unlock()
		}
		b, err := json.Marshal(e)
		if s.plain {
			if d, is := e.Data.(event.SessionReady); is {
				provider = d.ProviderSessionID
			}
			if e.Type() == event.TypeTurnStart && provider != "" { // the id is sent with the first message
				h.tell(frame("session_ready", plainly("session_ready", map[string]any{"session_id": "any", "provider_session_id": provider})))
				provider = ""
			}
			b, err = downgrade(e)
		}
		if err != nil {
			panic(err)
		}
		if b != nil {
			h.tell(frame(string(e.Type()), b))
		}
	}
	for e := range h.Events() {
		if s.event != nil {
			s.event(e, tell)
		} else {
			tell(e)
		}
	}
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.tell("")
}

func frame(typ string, b []byte) string { return "event: " + typ + "\ndata: " + string(b) + "\n\n" }

func plainly(typ string, data map[string]any) []byte {
	b, err := json.Marshal(map[string]any{"type": typ, "data": data, "ts": "2026-01-02T03:04:05.678Z"})
	if err != nil {
		panic(err)
	}
	return b
}

// keeps are the members of the plain form.
var keeps = map[event.Type]string{
	event.TypeSessionReady:       "session_id runtime",
	event.TypeDelta:              "text",
	event.TypeThinking:           "text done",
	event.TypeToolStart:          "tool_use_id tool input command file_path pattern search_path is_file_read subagent_spawn subagent_name",
	event.TypeToolResult:         "tool_use_id output is_error exit_code",
	event.TypePermissionRequest:  "request_id tool_use_id tool_name tool_input",
	event.TypePermissionResolved: "tool_name allowed",
	event.TypeResult:             "text",
	event.TypeDone:               "stopped",
	event.TypeError:              "message",
}

// downgrade returns an event in the plain form, or nil.
func downgrade(e event.Event) ([]byte, error) {
	names := keeps[e.Type()]
	if names == "" {
		return nil, nil
	}
	b, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	var all, kept map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	kept = map[string]any{"trace": "of its own"}
	for n := range strings.FieldsSeq(names) {
		if v, is := all[n]; is {
			kept[n] = v
		}
	}
	if e.SubagentID != "" {
		kept["subagent_id"] = e.SubagentID
	}
	return plainly(string(e.Type()), kept), nil
}

// act handles a route of an existing session.
func (s *sidecarServer) act(do func(context.Context, *held, *http.Request, body) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := s.sessions[r.PathValue("id")]
		s.mu.Unlock()
		if h == nil {
			http.NotFound(w, r)
			return
		}
		var b body
		if r.ContentLength > 0 {
			if err := json.UnmarshalRead(r.Body, &b); err != nil {
				panic(err)
			}
		}
		if err := do(context.WithoutCancel(r.Context()), h, r, b); err != nil {
			s.refuse(w, err)
			return
		}
		say(w, http.StatusAccepted, map[string]any{"ok": true})
	}
}

func (s *sidecarServer) message(ctx context.Context, h *held, _ *http.Request, b body) error {
	return h.Send(ctx, adapters.Message{ID: b.MessageID, Text: b.Message})
}

// events handles the stream. In the plain form it sends only new events.
func (s *sidecarServer) events(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h := s.sessions[r.PathValue("id")]
	s.mu.Unlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, ": connected\n\n")
	h.mu.Lock()
	if s.plain {
		h.from = len(h.told)
	}
	h.mu.Unlock()
	out := http.NewResponseController(w)
	for {
		h.mu.Lock()
		frames, grown, over, cut := h.told[h.from:], h.grown, h.over, h.cut
		h.from = len(h.told)
		h.mu.Unlock()
		for _, f := range frames {
			_, _ = fmt.Fprint(w, f)
		}
		if err := out.Flush(); err != nil || cut || over && !s.plain {
			return
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
	}
}
