package mapping

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance/plug"
)

// Request is a POST that a server takes in place of a route of package sse. In its path and in
// the texts of its body, {session}, {message}, {message_id} and {dir} stand for the values.
type Request struct {
	Path string         `json:"path"`
	Body jsontext.Value `json:"body"`
}

// values are the names of the values.
var values = []string{"session", "message", "message_id", "dir"}

// check returns what is wrong with a request, with the member.
func (r *Request) check() error {
	switch {
	case !strings.HasPrefix(r.Path, "/"):
		return fmt.Errorf(".path: %q does not begin with a slash", r.Path)
	case r.Body.Kind() != '{':
		return errors.New(".body: want a JSON object, as POST sends it")
	}
	return nil
}

// Names reports whether a value is sent in the request.
func (r *Request) Names(value string) bool {
	return strings.Contains(r.Path+string(r.Body), "{"+value+"}")
}

// Fill returns the path and the body with the values of a message.
func (r *Request) Fill(with map[string]string) (path string, body []byte, err error) {
	var inPath []string
	for _, name := range values {
		inPath = append(inPath, "{"+name+"}", url.PathEscape(with[name]))
	}
	body, err = fillJSON(r.Body, with)
	return strings.NewReplacer(inPath...).Replace(r.Path), body, err
}

// FillStdin returns the line of a message.
func (m *Mapping) FillStdin(with map[string]string) ([]byte, error) {
	line, err := fillJSON(m.Stdin, with)
	if err != nil || m.Stdin.Kind() != '"' {
		return line, err
	}
	return []byte(text(line)), nil
}

// FillArgs returns the arguments of a message.
func (m *Mapping) FillArgs(with map[string]string) (out []string) {
	for _, arg := range m.Args {
		out = append(out, replacer(with).Replace(arg))
	}
	return out
}

// NamesDir reports whether a program gets the folder of the session with a message.
func (m *Mapping) NamesDir() bool {
	return strings.Contains(string(m.Stdin)+strings.Join(m.Args, " "), "{dir}")
}

// replacer replaces the names of the values with those of a message.
func replacer(with map[string]string) *strings.Replacer {
	var pairs []string
	for _, name := range values {
		pairs = append(pairs, "{"+name+"}", with[name])
	}
	return strings.NewReplacer(pairs...)
}

func fillJSON(form jsontext.Value, with map[string]string) ([]byte, error) {
	var v any
	if err := json.Unmarshal(form, &v, plug.Lenient); err != nil {
		return nil, err
	}
	return json.Marshal(filled(v, replacer(with)), plug.Lenient, json.Deterministic(true))
}

// filled returns a JSON value with the names in its texts replaced.
func filled(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return names.Replace(v)
	case []any:
		for i := range v {
			v[i] = filled(v[i], names)
		}
	case map[string]any:
		for name := range v {
			v[name] = filled(v[name], names)
		}
	}
	return v
}
