package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// Options configures the server.
type Options struct {
	Addr string // default 127.0.0.1:0; any other address than loopback is refused
	Dir  string // the workspace: Claude Code's file tools want absolute paths
	// Aside is the reply to a request for structured output: clients ask for a title
	// with one, outside the session. "": the scenario answers it. Such requests are not
	// in the witness. A chat completion that asks for a title and offers no tool always gets
	// Aside, or a fixed title.
	Aside string
}

// Server is a scripted model.
type Server struct {
	dir  string
	side string // Options.Aside

	scenario *fixtures.Scenario

	http *http.Server
	url  string
	stop context.CancelFunc
	ctx  context.Context
	done chan struct{} // Serve has returned
	wg   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	changed chan struct{}
	err     error
	script  script
	witness []*exchange
	holds   map[string]*hold
	ids     map[string]int // how many ids of each prefix were given out
}

// hold is a point at which the model waits.
type hold struct {
	open bool
	gate chan struct{} // closed when open
	at   *exchange     // the reply that waits there
}

// Start listens and serves until Close.
func Start(s *fixtures.Scenario, o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if err := loopback(o.Addr); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	srv := &Server{
		dir: o.Dir, side: o.Aside, url: "http://" + ln.Addr().String(),
		done: make(chan struct{}), changed: make(chan struct{}),
		script: newScript(s), scenario: s, holds: map[string]*hold{}, ids: map[string]int{},
	}
	srv.ctx, srv.stop = context.WithCancel(context.Background())
	// Clients often hang up within a request: this is not logged.
	srv.http = &http.Server{Handler: http.HandlerFunc(srv.serve), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(srv.done)
		_ = srv.http.Serve(ln)
	}()
	return srv, nil
}

// loopback returns an error for an address that other machines could reach.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("model: address %q: %w", addr, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("model: address %q is not loopback", addr)
	}
	return nil
}

// URL is the base for Claude Code; Codex and clients of chat completions want URL()+"/v1".
func (s *Server) URL() string { return s.url }

// Err returns the first refusal.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Changed is closed at the next change: a hold or stall is reached, a hold is left, a request
// has begun, ended or was refused.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// notifyChange wakes the callers that wait on Changed. The caller holds mu.
func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Holding reports whether a reply waits at a hold, with everything before it flushed, and
// returns the text and the reasoning of that reply so far.
func (s *Server) Holding(name string) (text, reasoning string, holding bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds[name]
	if h == nil || h.at == nil || h.open {
		return "", "", false
	}
	text, reasoning = h.at.soFar()
	return text, reasoning, true
}

// Release releases a hold. It may be called before the hold is reached.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hold(name); !h.open {
		h.open = true
		close(h.gate)
		s.notifyChange()
	}
}

// hold returns the hold of that name. The caller holds mu.
func (s *Server) hold(name string) *hold {
	h := s.holds[name]
	if h == nil {
		h = &hold{gate: make(chan struct{})}
		s.holds[name] = h
	}
	return h
}

// Witness returns the requests and replies so far, in order of arrival. A request that is
// still being answered has no Ended.
func (s *Server) Witness() []fixtures.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]fixtures.Request, len(s.witness))
	for i, x := range s.witness {
		out[i] = x.request()
	}
	return out
}

// Close ends all connections and waits for their handlers.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	err := s.http.Close()
	s.wg.Wait()
	<-s.done
	return err
}

// maxBody bounds a request: a runtime may send whole files and images.
const maxBody = 256 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	var a api
	path, dialect := dialectOf(r.URL.Path)
	switch r.Method + " " + path {
	case "HEAD /", "GET /":
		return
	case "GET /v1/models":
		_ = writeJSON(w, http.StatusOK, []byte(`{"object":"list","data":[{"id":"scripted","object":"model","created":0,"owned_by":"scripted"}]}`))
		return
	case "POST /v1/messages/count_tokens":
		_ = writeJSON(w, http.StatusOK, []byte(`{"input_tokens":100}`))
		return
	case "POST /v1/messages":
		a = messagesAPI{}
	case "POST /v1/responses":
		a = responsesAPI{}
	case "POST /v1/chat/completions":
		a = chatAPI{dialect}
	default:
		if r.Method == http.MethodPost && asksModel(path) {
			s.refuse(fmt.Errorf("model: %s %s is not served", r.Method, r.URL.Path))
		}
		_ = writeJSON(w, http.StatusNotFound, failBody(http.StatusNotFound, "not_found_error", "there is no "+r.Method+" "+r.URL.Path))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, io.ErrUnexpectedEOF) { // the client hung up before the end of its request
			panic(http.ErrAbortHandler)
		}
		s.refuse(fmt.Errorf("model: %s: %w", r.URL.Path, err))
		_ = writeJSON(w, http.StatusBadRequest, failBody(http.StatusBadRequest, "invalid_request_error", err.Error()))
		return
	}
	ask, err := a.read(r.Header, body)
	if err != nil {
		err = fmt.Errorf("model: %s: %w", r.URL.Path, err)
		s.refuse(err)
		_ = writeJSON(w, http.StatusBadRequest, failBody(http.StatusBadRequest, "invalid_request_error", err.Error()))
		return
	}
	s.readOptions(ask, body)
	x, line, calls, err := s.acceptRequest(a, ask)
	if err != nil {
		_ = writeJSON(w, http.StatusBadRequest, failBody(http.StatusBadRequest, "invalid_request_error", err.Error()))
		return
	}
	s.answer(ctx, w, a, ask, x, line, calls)
}

// asksModel reports whether a path is one that asks a model, and not about a model.
func asksModel(path string) bool {
	for _, p := range []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1/completions"} {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// refuse records the first refusal.
func (s *Server) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordRefusal(err)
}

func (s *Server) recordRefusal(err error) {
	if s.err == nil {
		s.err = err
	}
	s.notifyChange()
}

// fixedTitle is the reply to a request for a title if Options has none.
const fixedTitle = "A title"

// acceptRequest adds a request to the witness and chooses the line that answers it.
func (s *Server) acceptRequest(a api, q *request) (*exchange, *line, []wireCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.title || q.form && s.side != "" {
		l := &line{Reply: fixtures.Reply{Parts: []fixtures.Part{{Text: []string{cmp.Or(s.side, fixedTitle)}}}}, used: true}
		return &exchange{line: l, aside: true}, l, nil, nil
	}
	x := s.script.receive(q)
	x.Req = len(s.witness) + 1
	s.witness = append(s.witness, x)
	l, err := s.script.choose(x)
	if x.before != nil && x.before.refusal != nil && slices.Contains(x.New, "retry") {
		err = x.before.refusal
	}
	var calls []wireCall
	if err == nil {
		q.offer.agents = s.script.named
		q.offer.resultTexts = s.script.resultTexts
		if calls, err = a.calls(l.Parts, q.offer, s.dir); err != nil {
			err = fmt.Errorf("model: %s: %w", s.script.position(l), err)
		}
	}
	if err != nil {
		x.Ended, x.Status, x.refusal = fixtures.EndedFailed, http.StatusBadRequest, err
		s.recordRefusal(err)
		return nil, nil, nil, err
	}
	x.line = l
	s.notifyChange()
	return x, l, calls, nil
}
