package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// api is one of the model APIs.
type api interface {
	// read parses a request.
	read(h http.Header, body []byte) (*request, error)
	// calls translates the tool calls of a reply for the tools that are offered.
	calls(parts []fixtures.Part, o offer, dir string) ([]wireCall, error)
	// fail is an HTTP response with another status than 200.
	fail(f *fixtures.Fail) (status int, body []byte)
	// voice returns the encoder of a reply.
	voice(v encoderOptions) encoder
}

type encoderOptions struct {
	id    func(prefix string) string // the next id of that prefix
	model string
	usage bool // the client asks for usage in the stream
	sink  sink
}

// encoder writes a reply in the form of an API. Blocks do not nest.
type encoder interface {
	// separatesTexts reports whether the client can see that one text ends and the next begins.
	separatesTexts() bool
	start(u *fixtures.Usage) error
	openBlock(think bool, how fixtures.Form) error // a block of text or reasoning
	addDelta(text string) error
	// nextPart ends a part of the summary of the open reasoning. What follows is the next part. It
	// reports false if the API has no such parts.
	nextPart() (bool, error)
	closeBlock() error // the open block
	addRedacted(data string) error
	addSearch(s *fixtures.Search) error
	addCall(c wireCall) error    // its start alone if the scenario leaves it open
	fail(f *fixtures.Fail) error // within the stream
	finish(why string) error     // "" or the scenario's reason for an early end
}

// wireCall is a tool call as a runtime takes it.
type wireCall struct {
	scenario  *fixtures.ToolCall
	kind      string // function, custom, web
	namespace string
	name      string
	input     []byte // JSON, or the text of a custom call
}

// sink is where an encoder writes: a stream, or one JSON value at the end.
type sink interface {
	event(name string, v any) error
	raw(s string) error // written to a stream as it is
	whole(v any) error
}

var (
	errCut   = errors.New("cut")
	errClose = errors.New("close")
)

// answer writes the reply of a line.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, a api, q *request, x *exchange, l *line, calls []wireCall) {
	h := w.Header()
	h.Set("request-id", fmt.Sprintf("req_%d", x.Req))
	f := l.Parts[0].Fail
	if f == nil && !q.stream { // a failure cannot come within a stream
		f = l.Parts[len(l.Parts)-1].Fail
	}
	if f != nil {
		for k, v := range f.Headers {
			h.Set(k, v)
		}
		status, body := a.fail(f)
		s.recordEnd(x, fixtures.EndedFailed, status)
		_ = writeJSON(w, status, body) // the client may have hung up
		return
	}
	id := s.id
	if x.aside {
		id = func(prefix string) string { return s.id("aside_" + prefix) }
	}
	k := newSink(w, q.stream)
	v := a.voice(encoderOptions{id: id, model: q.model, usage: q.usage, sink: k})
	switch err := s.writeReply(ctx, v, k, x, l.Parts, calls); {
	case err == nil, errors.Is(err, errClose):
	case errors.Is(err, errCut):
		s.recordEnd(x, fixtures.EndedCut, 0)
		panic(http.ErrAbortHandler)
	case errors.Is(err, errFailed):
		s.recordEnd(x, fixtures.EndedFailed, 0)
	default:
		s.recordEnd(x, fixtures.EndedClosed, 0)
		panic(http.ErrAbortHandler)
	}
}

var errFailed = errors.New("failed")

// full is the name that the runtime uses.
func (c wireCall) full() string {
	if c.namespace != "" {
		return c.namespace + "." + c.name
	}
	return c.name
}

// waitAtHold blocks until a hold is released or the request ends.
func (s *Server) waitAtHold(ctx context.Context, x *exchange, name string) error {
	s.mu.Lock()
	h := s.hold(name)
	h.at = x
	s.notifyChange()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.at == x {
			h.at = nil
		}
		s.notifyChange()
	}()
	select {
	case <-h.gate:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// recordPart adds a part to the witness.
func (s *Server) recordPart(x *exchange, p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.said = append(x.said, p)
}

// recordEnd records how a reply ended. It is called before the connection ends, so that the
// client's next request finds it.
func (s *Server) recordEnd(x *exchange, how fixtures.Ended, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Ended, x.Status = how, status
	if !x.Stream && how != fixtures.EndedComplete {
		x.said = nil // a reply that is not streamed is written at its end or not at all
	}
	s.notifyChange()
}

// id makes the ids of replies and items: msg_1, msg_2 ….
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[prefix]++
	return prefix + strconv.Itoa(s.ids[prefix])
}

func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body) //nolint:gosec // JSON to a client on loopback, no page
	return err
}

// failure is the response of an API to a kind of failure.
type failure struct {
	status          int
	kind, code, msg string
}

func (f failure) body() []byte {
	code := f.code
	if code == "" {
		code = strconv.Itoa(f.status)
	}
	return errorBody(f.kind, code, f.msg)
}

// failBody is an error body that the clients of both APIs can read.
func failBody(status int, kind, msg string) []byte {
	return errorBody(kind, strconv.Itoa(status), msg)
}

func errorBody(kind, code, msg string) []byte {
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    string `json:"code"`
	}
	b, err := json.Marshal(struct {
		Type  string `json:"type"`
		Error inner  `json:"error"`
	}{"error", inner{kind, msg, code}})
	if err != nil {
		return []byte(`{}`)
	}
	return b
}
