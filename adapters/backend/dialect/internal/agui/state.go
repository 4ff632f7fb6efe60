package agui

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// state is the state of a session.
type state struct {
	Components map[string]component `json:"components"`
	Plan       []event.PlanStep     `json:"plan"`
}

// component is a component on a surface.
type component struct {
	ComponentName string    `json:"component_name"`
	Props         event.Raw `json:"props"`
	Surface       string    `json:"surface"`
}

// operation is an operation of RFC 6902.
type operation struct {
	Op    string    `json:"op"`
	Path  string    `json:"path"`
	Value event.Raw `json:"value,omitzero"`
}

func (s *state) empty() bool { return len(s.Components) == 0 && len(s.Plan) == 0 }

func (s *state) snapshot() Event { return Event{Type: "STATE_SNAPSHOT", Snapshot: dialect.Marshal(s)} }

// pointer returns a member of an object as a part of a JSON pointer.
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// change applies an event to the state and returns the operations that do the same; nil if the
// event changes nothing.
func (s *state) change(e event.Event) []operation {
	switch d := e.Data.(type) {
	case event.ComponentUpdate:
		c := component{d.ComponentName, d.Props, d.Surface}
		if old, ok := s.Components[d.ComponentID]; ok && d.Merge {
			c.Props = replay.MergeProps(old.Props, d.Props)
		}
		if s.Components == nil {
			s.Components = map[string]component{}
		}
		s.Components[d.ComponentID] = c
		return []operation{{"add", "/components" + pointer(d.ComponentID), dialect.Marshal(c)}}
	case event.ComponentRemove:
		if _, ok := s.Components[d.ComponentID]; ok {
			delete(s.Components, d.ComponentID)
			return []operation{{"remove", "/components" + pointer(d.ComponentID), nil}}
		}
	case event.Plan:
		if e.SubagentID == "" {
			s.Plan = d.Steps
			return []operation{{"add", "/plan", dialect.Marshal(append([]event.PlanStep{}, d.Steps...))}}
		}
	}
	return nil
}
