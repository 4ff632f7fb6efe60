package sse

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// members are the members of an event's data.
type members map[string]jsontext.Value

func parseMembers(b jsontext.Value) (members, error) {
	var m members
	if err := json.Unmarshal(b, &m, plug.Lenient); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if m == nil {
		return nil, errors.New("data: missing")
	}
	return m, nil
}

func (m members) setMember(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // v is a constant or a string
	}
	m[name] = b
}

// setMissing sets a member if it is missing, and reports whether it was.
func (m members) setMissing(name string, v any) bool {
	if m[name] != nil {
		return false
	}
	m.setMember(name, v)
	return true
}

// stringMember returns a member that is a string, or "".
func (m members) stringMember(name string) (s string) {
	_ = json.Unmarshal(m[name], &s, plug.Lenient)
	return s
}

// dropUnknown deletes the members that are null or that an event of this type does
// not have.
func (m members) dropUnknown(t event.Type) {
	known := eventMembers()[t]
	for name, v := range m {
		_, is := known[name]
		switch {
		case name == "subagent_id", name == "name" && t == event.TypeComponentUpdate:
		case !is, v.Kind() == 'n':
			delete(m, name)
		}
	}
}

// eventMembers returns the members of each event's data, from its schema.
var eventMembers = sync.OnceValue(func() map[event.Type]map[string]jsontext.Value {
	var schema struct {
		OneOf []struct {
			Properties struct {
				Type struct {
					Const event.Type `json:"const"`
				} `json:"type"`
				Data struct {
					Ref string `json:"$ref"`
				} `json:"data"`
			} `json:"properties"`
		} `json:"oneOf"`
		Defs map[string]struct {
			Properties map[string]jsontext.Value `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(event.Schema, &schema); err != nil {
		panic(err) // the schema is embedded
	}
	out := map[event.Type]map[string]jsontext.Value{}
	for _, one := range schema.OneOf {
		out[one.Properties.Type.Const] = schema.Defs[strings.TrimPrefix(one.Properties.Data.Ref, "#/$defs/")].Properties
	}
	return out
})
