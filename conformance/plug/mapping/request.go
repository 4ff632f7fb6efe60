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
	var inPath, inBody []string
	for _, name := range values {
		inPath = append(inPath, "{"+name+"}", url.PathEscape(with[name]))
		inBody = append(inBody, "{"+name+"}", with[name])
	}
	var v any
	if err := json.Unmarshal(r.Body, &v, plug.Lenient); err != nil {
		return "", nil, err
	}
	body, err = json.Marshal(filled(v, strings.NewReplacer(inBody...)), plug.Lenient, json.Deterministic(true))
	return strings.NewReplacer(inPath...).Replace(r.Path), body, err
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
