package sidecar_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// scripted is an adapter whose sessions answer "N" with N deltas, "wait" with a turn
// that runs until it is stopped, "fail" with an error of Send, and "give TYPE" with a tool
// that gives a medium of the type, whose bytes are the type.
type scripted struct {
	openErr error
	hold    chan struct{} // if it is set, session_ready waits until it is closed

	mu     sync.Mutex
	opened []adapters.Options
}

func (*scripted) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "scripted", Can: op.SetOf().And(
		"resume", "fork", "fork_at", "rewind", "instructions", "effort", "judge", "mcp", "tools", "max_requests", "max_cost", "extra_dirs", "setting_sources", "stream_tool_input", "schema")}
}

func (a *scripted) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	if a.openErr != nil {
		return nil, a.openErr
	}
	if err := a.Capabilities().Refuse(o); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.opened = append(a.opened, o)
	a.mu.Unlock()
	s := &session{id: o.SessionID, media: o.Media, pos: o.After, events: make(chan event.Event), commands: make(chan func()), closed: make(chan struct{})}
	go func() {
		if a.hold != nil {
			<-a.hold
		}
		s.run(o)
	}()
	return s, nil
}

// session is a session of scripted. One goroutine runs its commands.
type session struct {
	id       string
	media    func(event.Media, []byte)
	pos      event.Position
	events   chan event.Event
	commands chan func()
	closed   chan struct{}
	once     sync.Once
	running  bool
}

func (s *session) run(o adapters.Options) {
	defer close(s.events)
	s.emit(event.SessionReady{SessionID: s.id, Runtime: "scripted", ProviderSessionID: "p-" + s.id, Resumed: o.Resume != "", Cwd: o.Dir, Mode: o.Mode})
	for {
		select {
		case command := <-s.commands:
			command()
		case <-s.closed:
			if s.running {
				s.emit(event.Done{Stopped: true})
			}
			s.pos.Turn = 0
			s.emit(event.SessionEnd{Reason: "closed"})
			return
		}
	}
}

func (s *session) emit(d event.Data) {
	s.pos.Seq++
	e := event.Event{Data: d, TS: time.Now().UTC(), Seq: s.pos.Seq, SessionID: s.id}
	if d.EventType() != event.TypeSessionReady && d.EventType() != event.TypeSessionEnd {
		e.Turn = s.pos.Turn
	}
	s.events <- e
}

func (s *session) do(ctx context.Context, command func()) error {
	select {
	case s.commands <- command:
		return nil
	case <-s.closed:
		return adapters.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) Send(ctx context.Context, m adapters.Message) error {
	if m.Text == "fail" {
		return fmt.Errorf("send: %w", adapters.ErrRefused)
	}
	return s.do(ctx, func() {
		s.pos.Turn++
		s.running = true
		s.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
		s.emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn})
		if m.Text == "wait" {
			s.emit(event.Delta{Text: "I wait.", MessageID: "m", BlockID: "b" + strconv.Itoa(s.pos.Turn)})
			s.emit(event.ToolStart{ToolUseID: "t1", Tool: "Bash", Input: event.Raw(`{}`)})
			return
		}
		if kind, gives := strings.CutPrefix(m.Text, "give "); gives {
			given := mediumOf(kind)
			s.emit(event.ToolStart{ToolUseID: kind, Tool: "Read", Input: event.Raw(`{}`)})
			s.media(given, []byte(kind))
			s.emit(event.ToolResult{ToolUseID: kind, Status: event.ToolOK, Media: []event.Media{given}})
		}
		n, _ := strconv.Atoi(m.Text)
		block := "b" + strconv.Itoa(s.pos.Turn)
		for i := range n {
			s.emit(event.Delta{Text: fmt.Sprintf("%d ", i), MessageID: "m", BlockID: block})
		}
		if n > 0 {
			s.emit(event.BlockEnd{BlockID: block, Status: event.BlockComplete})
		}
		s.running = false
		s.emit(event.Done{})
	})
}

// mediumOf returns the medium of a type that scripted gives.
func mediumOf(kind string) event.Media {
	of := event.MediaDocument
	switch top, _, _ := strings.Cut(kind, "/"); top {
	case "image":
		of = event.MediaImage
	case "audio":
		of = event.MediaAudio
	}
	return event.MediaOf(of, kind, []byte(kind))
}

func (s *session) Events() <-chan event.Event { return s.events }

func (s *session) Stop(ctx context.Context) error {
	return s.do(ctx, func() {
		if s.running {
			s.running = false
			s.emit(event.Done{Stopped: true})
		}
	})
}

func (s *session) Answer(context.Context, string, adapters.Answer) error {
	return adapters.ErrUnknownID
}

func (s *session) Close(context.Context) error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// server is a server under test.
type server struct {
	t       *testing.T
	adapter *scripted
	log     eventlog.Log
	s       *sidecar.Server
	http    *httptest.Server
	given   []string // media, by give
	// overtaken reports that another server takes over its sessions: what it emits before it
	// notices is refused by the log.
	overtaken bool
}

func newServer(t *testing.T, c sidecar.Config) *server {
	t.Helper()
	x := &server{t: t, adapter: &scripted{}, log: c.Log}
	if x.log == nil {
		x.log = &eventlog.Memory{}
	}
	c.Log, c.Adapters = x.log, map[string]adapters.Adapter{"scripted": x.adapter}
	x.s = sidecar.New(c)
	x.start()
	return x
}

// serverOf returns a server with other adapters.
func serverOf(t *testing.T, s *sidecar.Server, log eventlog.Log) *server {
	t.Helper()
	x := &server{t: t, log: log, s: s}
	x.start()
	return x
}

// start lets the server listen until the test ends.
func (x *server) start() {
	t := x.t
	x.http = httptest.NewServer(x.s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		x.http.CloseClientConnections()
		var conflict *eventlog.ConflictError
		if err := x.s.Shutdown(ctx); err != nil && (!x.overtaken || !errors.As(err, &conflict)) {
			t.Errorf("shutdown: %v", err)
		}
		x.http.Close()
	})
}

// call sends a request and returns the status and the decoded answer.
func (x *server) call(method, path, body string, header ...string) (int, map[string]any) {
	x.t.Helper()
	r, err := http.NewRequest(method, x.http.URL+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	var out map[string]any
	if len(bytes.TrimSpace(b)) > 0 {
		if err := json.Unmarshal(b, &out); err != nil {
			x.t.Fatalf("%s %s: %d %q: %v", method, path, res.StatusCode, b, err)
		}
	}
	return res.StatusCode, out
}

// code returns the code of a refusal.
func code(answer map[string]any) any {
	refusal, _ := answer["error"].(map[string]any)
	return refusal["code"]
}

// listener is an open stream.
type listener struct {
	t      *testing.T
	res    *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

// listen opens a stream. Close it, or read it to its end.
func (x *server) listen(path string, header ...string) *listener {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	x.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.listenBy(r, cancel, header...)
}

// listenBy opens a stream by a request.
func (x *server) listenBy(r *http.Request, cancel context.CancelFunc, header ...string) *listener {
	x.t.Helper()
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		x.t.Fatalf("listen: %s", res.Status)
	}
	return &listener{x.t, res, bufio.NewScanner(res.Body), cancel}
}

func (l *listener) close() {
	l.cancel()
	_ = l.res.Body.Close()
}

// frame is one server-sent event.
type frame struct{ id, name, data string }

// next returns the next event, or false if the stream ended.
func (l *listener) next() (f frame, more bool) {
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data = value
		case "":
			if f.name != "" || f.data != "" {
				return f, true
			}
		}
	}
	return f, false
}

// until returns the events up to the first with a name, or to the end of the stream
// if the name is "".
func (l *listener) until(name string) (out []frame) {
	l.t.Helper()
	for {
		f, more := l.next()
		if !more {
			if name != "" {
				l.t.Fatalf("the stream ended before %s: %v", name, out)
			}
			return out
		}
		out = append(out, f)
		if name != "" && f.name == name {
			return out
		}
	}
}
