package drive

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// RawRequests holds the ids of requests among the raw lines of a scenario that
// have no reply yet.
type RawRequests map[string]bool

// Answered removes an id and reports whether it was there.
func (r RawRequests) Answered(id string) bool {
	id = strings.Trim(id, `"`)
	open := r[id]
	delete(r, id)
	return open
}

// WriteRequest writes a raw line and, if it is a request, waits for its reply.
func (d *Driver) WriteRequest(open RawRequests, line string) error {
	var v struct {
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
		ReqID   string         `json:"request_id"`
		Request jsontext.Value `json:"request"`
	}
	id := ""
	if wire.Decode([]byte(line), &v) == nil {
		switch {
		case v.Method != "" && (v.ID.Kind() == '"' || v.ID.Kind() == '0' && !strings.Contains(string(v.ID), ".")):
			id = strings.Trim(string(v.ID), `"`)
		case v.Request != nil:
			id = v.ReqID
		}
	}
	if id != "" {
		open[id] = true
	}
	if err := d.writeBytes([]byte(line)); err != nil || id == "" {
		return err
	}
	return d.Until("the reply to "+line, func() bool { return !open[id] })
}
