package model

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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

func (s *eventSink) whole(any) error { return nil }
func (s *eventSink) event(name string, v any) error {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	s.buf = s.buf[:0]
	if name != "" { // chat completions have no names of events
		s.buf = append(append(append(s.buf, "event: "...), name...), '\n')
	}
	s.buf = append(append(append(s.buf, "data: "...), b...), "\n\n"...)
	return s.write(s.buf)
}

func (s *eventSink) raw(text string) error { return s.write([]byte(text)) }

func (s *eventSink) write(b []byte) error {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-cache")
		s.w.WriteHeader(http.StatusOK)
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.c.Flush()
}

// wholeSink writes the reply as one value at its end.
type wholeSink struct{ w http.ResponseWriter }

func (s wholeSink) event(string, any) error { return nil }
func (s wholeSink) raw(string) error        { return nil }
func (s wholeSink) whole(v any) error {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	return writeJSON(s.w, http.StatusOK, b)
}
