package plain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// Members are the members of an event's data.
type Members map[string]jsontext.Value

// ParseMembers reads the data of an event.
func ParseMembers(b jsontext.Value) (Members, error) {
	var m Members
	if err := json.Unmarshal(b, &m, plug.Lenient); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if m == nil {
		return nil, errors.New("data: missing")
	}
	return m, nil
}

// Set sets a member.
func (m Members) Set(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // v is a constant or a string
	}
	m[name] = b
}

// SetMissing sets a member if it is missing, and reports whether it was.
func (m Members) SetMissing(name string, v any) bool {
	if m[name] != nil {
		return false
	}
	m.Set(name, v)
	return true
}

// Text returns a member that is a string, or "".
func (m Members) Text(name string) (s string) {
	_ = json.Unmarshal(m[name], &s, plug.Lenient)
	return s
}

// dropUnknown deletes the members that are null or that an event of this type does
// not have.
func (m Members) dropUnknown(t event.Type) {
	known := event.Members(t)
	for name, v := range m {
		switch {
		case name == "subagent_id", name == "name" && t == event.TypeComponentUpdate:
		case !slices.Contains(known, name), v.Kind() == 'n':
			delete(m, name)
		}
	}
}
