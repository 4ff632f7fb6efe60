package sse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// data are the members of an event's data.
type data map[string]jsontext.Value

func members(b jsontext.Value) (data, error) {
	var m data
	if err := json.Unmarshal(b, &m, lenient); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if m == nil {
		return nil, errors.New("data: missing")
	}
	return m, nil
}

func (m data) set(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // words and flags alone
	}
	m[name] = b
}

// missing sets a member that is not there, and reports whether it was not.
func (m data) missing(name string, v any) bool {
	if m[name] != nil {
		return false
	}
	m.set(name, v)
	return true
}

// text is a member that is a string, or "".
func (m data) text(name string) (s string) {
	_ = json.Unmarshal(m[name], &s, lenient)
	return s
}

// keep drops what is no member of an event of this type, and what is null.
func (m data) keep(t event.Type) {
	own := shapes()[t]
	for name, v := range m {
		_, is := own[name]
		switch {
		case name == "subagent_id", name == "name" && t == event.TypeComponentUpdate:
		case !is, v.Kind() == 'n':
			delete(m, name)
		}
	}
}

// shapes are the members of each event's data, as the schema has them.
var shapes = sync.OnceValue(func() map[event.Type]map[string]jsontext.Value {
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
		panic(err) // it is embedded
	}
	out := map[event.Type]map[string]jsontext.Value{}
	for _, one := range schema.OneOf {
		out[one.Properties.Type.Const] = schema.Defs[strings.TrimPrefix(one.Properties.Data.Ref, "#/$defs/")].Properties
	}
	return out
})

// known reports whether there is such an event.
func known(t event.Type) bool { return slices.Contains(event.Types(), t) }
