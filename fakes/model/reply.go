package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// api is one of the model APIs.
type api interface {
	// read parses a request.
	read(h http.Header, body []byte) (*ask, error)
	// calls translates the tool calls of a reply into what is offered.
	calls(parts []fixtures.Part, o offer, dir string) ([]wireCall, error)
	// fail is the body of an HTTP answer that is not 200.
	fail(f *fixtures.Fail) []byte
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
	begin() error
	open(think bool) error // a block of text or reasoning
	delta(text string) error
	shut() error // the open block
	call(c wireCall) error
	fail(f *fixtures.Fail) error // in mid-stream
	end() error
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
	whole(v any) error
	streams() bool
}

var errCut = errors.New("cut")

// reply says a line.
func (s *Server) reply(ctx context.Context, w http.ResponseWriter, a api, q *ask, x *exchange, l *line, calls []wireCall) {
	h := w.Header()
	h.Set("request-id", fmt.Sprintf("req_%d", x.Req))
	if f := l.Parts[0].Fail; f != nil {
		for k, v := range f.Headers {
			h.Set(k, v)
		}
		s.ended(x, fixtures.EndedFailed, f.Status)
		_ = writeJSON(w, f.Status, a.fail(f)) // a client that hung up needs no answer
		return
	}
	v := a.voice(voiceOptions{id: s.id, model: q.model, sink: newSink(w, q.stream)})
	switch err := s.say(ctx, v, x, l.Parts, calls); {
	case err == nil:
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

// say says the parts. Its error says how it came to an end before the end.
func (s *Server) say(ctx context.Context, v voice, x *exchange, parts []fixtures.Part, calls []wireCall) error {
	if err := v.begin(); err != nil {
		return err
	}
	var cur *part // the open block
	shut := func() error {
		if cur == nil {
			return nil
		}
		cur = nil
		return v.shut()
	}
	held := false
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch {
		case p.Text != nil || p.Think != nil:
			think := p.Think != nil
			// After a hold, more of the same goes on in the same block.
			if !held || cur == nil || cur.think != think {
				if err = shut(); err == nil {
					err = v.open(think)
				}
				cur = &part{think: think}
				s.add(x, cur)
			}
			held = false
			deltas := p.Text
			if think {
				deltas = p.Think
			}
			for _, d := range deltas {
				if err == nil {
					err = ctx.Err()
				}
				if err == nil {
					err = v.delta(d)
				}
				if err != nil {
					return err
				}
				s.mu.Lock()
				cur.text.WriteString(d)
				s.mu.Unlock()
			}
		case p.Tool != nil:
			held = false
			if err = shut(); err != nil {
				return err
			}
			c := calls[0]
			calls = calls[1:]
			if err = v.call(c); err != nil {
				return err
			}
			s.add(x, &part{Said: fixtures.Said{Tool: p.Tool.Tool, Name: c.full(), ID: p.Tool.ID, Input: p.Tool.Input}})
		case p.Hold != "":
			held = true
			err = s.stand(ctx, x, p.Hold)
		case p.Cut:
			return errCut
		case p.Stall:
			s.mu.Lock()
			s.change()
			s.mu.Unlock()
			<-ctx.Done()
			return ctx.Err()
		case p.Fail != nil:
			if err = v.fail(p.Fail); err == nil {
				err = errFailed
			}
		}
		if err != nil {
			return err
		}
	}
	if err := shut(); err != nil {
		return err
	}
	// The client may ask again, or read the witness, as soon as it has the last byte.
	s.ended(x, fixtures.EndedComplete, 0)
	return v.end()
}

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

func newSink(w http.ResponseWriter, stream bool) sink {
	if stream {
		return &eventSink{w: w, c: http.NewResponseController(w)}
	}
	return wholeSink{w}
}

// eventSink writes server-sent events, each flushed.
type eventSink struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	started bool
	buf     []byte
}

func (s *eventSink) streams() bool   { return true }
func (s *eventSink) whole(any) error { return nil }
func (s *eventSink) event(name string, v any) error {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-cache")
		s.w.WriteHeader(http.StatusOK)
	}
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	s.buf = append(append(append(append(append(s.buf[:0], "event: "...), name...), "\ndata: "...), b...), "\n\n"...)
	if _, err := s.w.Write(s.buf); err != nil {
		return err
	}
	return s.c.Flush()
}

// wholeSink writes the reply at its end.
type wholeSink struct{ w http.ResponseWriter }

func (s wholeSink) streams() bool           { return false }
func (s wholeSink) event(string, any) error { return nil }
func (s wholeSink) whole(v any) error {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	return writeJSON(s.w, http.StatusOK, b)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body) //nolint:gosec // JSON to a client on loopback, no page
	return err
}

// failBody is an error body that the clients of both APIs can read.
func failBody(status int, kind, msg string) []byte {
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    string `json:"code"`
	}
	b, err := json.Marshal(struct {
		Type  string `json:"type"`
		Error inner  `json:"error"`
	}{"error", inner{kind, msg, strconv.Itoa(status)}})
	if err != nil {
		return []byte(`{}`)
	}
	return b
}
