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
	read(h http.Header, body []byte) (*ask, error)
	// calls translates the tool calls of a reply into what is offered.
	calls(parts []fixtures.Part, o offer, dir string) ([]wireCall, error)
	// fail is an HTTP answer that is not 200.
	fail(f *fixtures.Fail) (status int, body []byte)
	// voice begins a reply.
	voice(v voiceOptions) voice
}

type voiceOptions struct {
	id    func(prefix string) string // the next id of that prefix
	model string
	sink  sink
}

// voice says a reply in the words of an API. Blocks do not nest.
type voice interface {
	begin(u *fixtures.Usage) error
	open(think bool, how fixtures.How) error // a block of text or reasoning
	delta(text string) error
	shut() error // the open block
	redacted(data string) error
	search(s *fixtures.Search) error
	call(c wireCall) error       // the whole of it, or its start where the scenario leaves it open
	fail(f *fixtures.Fail) error // in mid-stream
	end(why string) error        // "" or the scenario's word for an end that comes too early
}

// wireCall is a tool call as a runtime wants it.
type wireCall struct {
	scenario  *fixtures.ToolCall
	kind      string // function, custom, web
	namespace string
	name      string
	input     []byte // JSON, or the text of a custom call
}

// sink is where a voice speaks: a stream, or one JSON value at the end.
type sink interface {
	event(name string, v any) error
	raw(s string) error // on a stream, as it is
	whole(v any) error
	streams() bool
}

var (
	errCut   = errors.New("cut")
	errClose = errors.New("close")
)

// reply says a line.
func (s *Server) reply(ctx context.Context, w http.ResponseWriter, a api, q *ask, x *exchange, l *line, calls []wireCall) {
	h := w.Header()
	h.Set("request-id", fmt.Sprintf("req_%d", x.Req))
	f := l.Parts[0].Fail
	if f == nil && !q.stream { // there is no stream to fail amid
		f = l.Parts[len(l.Parts)-1].Fail
	}
	if f != nil {
		for k, v := range f.Headers {
			h.Set(k, v)
		}
		status, body := a.fail(f)
		s.ended(x, fixtures.EndedFailed, status)
		_ = writeJSON(w, status, body) // a client that hung up needs no answer
		return
	}
	id := s.id
	if x.aside {
		id = func(prefix string) string { return s.id("aside_" + prefix) }
	}
	k := newSink(w, q.stream)
	v := a.voice(voiceOptions{id: id, model: q.model, sink: k})
	switch err := s.say(ctx, v, k, x, l.Parts, calls); {
	case err == nil, errors.Is(err, errClose):
	case errors.Is(err, errCut):
		s.ended(x, fixtures.EndedCut, 0)
		panic(http.ErrAbortHandler)
	case errors.Is(err, errFailed):
		s.ended(x, fixtures.EndedFailed, 0)
	default:
		s.ended(x, fixtures.EndedClosed, 0)
		panic(http.ErrAbortHandler)
	}
}

var errFailed = errors.New("failed")

// full is the name as the runtime knows it.
func (c wireCall) full() string {
	if c.namespace != "" {
		return c.namespace + "." + c.name
	}
	return c.name
}

// stand waits at a hold.
func (s *Server) stand(ctx context.Context, x *exchange, name string) error {
	s.mu.Lock()
	h := s.hold(name)
	h.at = x
	s.change()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.at == x {
			h.at = nil
		}
		s.change()
	}()
	select {
	case <-h.gate:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// add enters a part into the witness.
func (s *Server) add(x *exchange, p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.said = append(x.said, p)
}

// ended says how a reply ended. It comes before the connection's end, so that the client's
// next request finds it.
func (s *Server) ended(x *exchange, how fixtures.Ended, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Ended, x.Status = how, status
	if !x.Stream && how != fixtures.EndedComplete {
		x.said = nil // a whole reply is written at its end or not at all
	}
	s.change()
}

// id gives out the ids of replies and items: msg_1, msg_2 ….
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

// failure is what an API says of a kind of failure.
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
