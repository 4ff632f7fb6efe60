// Package httplines carries HTTP requests and replies as lines of JSON. It is not part of
// the stable interface.
//
// A Transport is an http.RoundTripper that writes requests as lines and reads replies from
// lines, so that ordinary net/http code can talk to a stand-in or a recording. A Relay is the
// other end: it reads request lines, sends them to a real server, and writes the replies.
//
// A client writes
//
//	{"id":1,"method":"POST","path":"/v1/x?y=z","headers":{…},"body":…}   a request; the id is new
//	{"id":1,"abort":true}                                               it no longer wants the reply
//
// and a server writes, for each request, either a plain reply
//
//	{"id":1,"status":200,"headers":{…},"body":…}
//
// or a stream of server-sent events
//
//	{"id":1,"status":200,"headers":{…},"stream":true}
//	{"id":1,"event":"name","data":…}       an event; event is absent if the event has no name
//	{"id":1,"comment":"ping"}              a line that begins with a colon
//	{"id":1,"end":true}                    the stream is complete
//
// A reply is a stream if its content type says so, or if its body begins with a line of an event.
//
// A body and data are JSON, as written but without insignificant space. If they are not JSON,
// the member is text, a string: {"id":1,"text":"[DONE]"}. An empty body has neither member.
// The fields id and retry of server-sent events are not carried.
//
// {"id":1,"error":"…"} ends a request that failed: before the status, because there was no
// connection, or within a stream that was cut.
//
// Headers are carried if they are listed: Transport.Headers for requests, ReplyHeaders for
// replies. Credentials are never carried, whatever the list holds; Relay.Header adds them.
//
// The package imports the standard library, adapters/lines and adapters/proc only. It can be used within a
// bubble of testing/synctest.
package httplines

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// ReplyHeaders are the headers of replies that a line carries. Content-Type is carried only
// if it is neither that of JSON nor that of server-sent events.
var ReplyHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry"}

// secretHeaders are headers that are never carried.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// Errors of a line that was read.
var (
	// ErrLine is returned for a line that is not a JSON object of the form above.
	ErrLine = errors.New("not a line of HTTP")
	// ErrUnknownID is returned for a reply to a request that was never sent.
	ErrUnknownID = errors.New("no request has this id")
)

const (
	mimeJSON   = "application/json"
	mimeEvents = "text/event-stream"
)

// maxBody is the longest plain body that is read, in bytes.
const maxBody = 64 << 20

// line is any line, of either side.
type line struct {
	ID int64 `json:"id,omitempty"`

	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Abort  bool   `json:"abort,omitempty"`

	Status int    `json:"status,omitempty"`
	Stream bool   `json:"stream,omitempty"`
	End    bool   `json:"end,omitempty"`
	Error  string `json:"error,omitempty"`

	Headers map[string]string `json:"headers,omitempty"`
	Event   string            `json:"event,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
	Text    *string           `json:"text,omitempty"`
	Comment *string           `json:"comment,omitempty"`
}

// encode returns the line with its line end. Raw members are valid JSON.
func encode(l *line) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		panic(err) // the caller has checked the raw members; the others can be encoded
	}
	return b.Bytes()
}

// decodeLine reads a line. If it returns an error, the id is that of the line if it has
// one, else 0.
func decodeLine(b []byte) (l line, err error) {
	if err := json.Unmarshal(b, &l); err != nil {
		var head struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(b, &head) // without an id no request is concerned
		return line{ID: head.ID}, errors.Join(ErrLine, err)
	}
	return l, nil
}

// isJSON reports whether b is JSON that a line can hold as it is.
func isJSON(b []byte) bool { return len(b) > 0 && utf8.Valid(b) && json.Valid(b) }

// carried returns the listed headers, or nil.
func carried(h http.Header, list []string) map[string]string {
	var out map[string]string
	for _, name := range list {
		name = http.CanonicalHeaderKey(name)
		v := h.Get(name)
		if v == "" || slices.Contains(secretHeaders, name) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = v
	}
	return out
}

// mediaType is a content type without its parameters.
func mediaType(h http.Header) string {
	t, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}
