package component

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// Stage holds the components that a session currently shows, and its shared state. It
// is derived from events alone, so stored events restore it. It is not safe for
// concurrent use.
type Stage struct {
	reg   *Registry
	shown []*event.ComponentUpdate // in order of arrival; none has Merge
	calls map[string]string        // tool call → name of the component that shows it
	state State
}

// NewStage returns an empty stage.
func NewStage(reg *Registry) *Stage { return &Stage{reg: reg, calls: map[string]string{}} }

// Add applies the next event. It ignores events that the registry rejects.
func (s *Stage) Add(e event.Event) {
	switch d := e.Data.(type) {
	case event.ComponentUpdate:
		next, err := s.updated(d)
		if err != nil {
			return
		}
		if next.ComponentID == adapters.StateComponentID {
			s.setState(next.Props)
		}
		if old := s.component(d.ComponentID); old != nil {
			*old = next
		} else {
			s.shown = append(s.shown, &next)
		}
	case event.ComponentRemove:
		s.shown = slices.DeleteFunc(s.shown, func(x *event.ComponentUpdate) bool { return x.ComponentID == d.ComponentID })
	case event.ToolStart:
		if name, _, ok := s.reg.Linked(d.Tool); ok {
			s.calls[d.ToolUseID] = name
		}
	}
}

// Shown returns the shown components as whole updates, in order of arrival.
func (s *Stage) Shown() []event.ComponentUpdate {
	out := make([]event.ComponentUpdate, 0, len(s.shown))
	for _, x := range s.shown {
		out = append(out, *x)
	}
	return out
}

// State returns the shared state.
func (s *Stage) State() State { return s.state }

func (s *Stage) component(id string) *event.ComponentUpdate {
	for _, x := range s.shown {
		if x.ComponentID == id {
			return x
		}
	}
	return nil
}

// componentName returns the name of a shown component, including those that show a
// tool call, or "".
func (s *Stage) componentName(id string) string {
	if x := s.component(id); x != nil {
		return x.ComponentName
	}
	return s.calls[id]
}

// updated returns a component as it is after an update.
func (s *Stage) updated(d event.ComponentUpdate) (event.ComponentUpdate, error) {
	old := s.component(d.ComponentID)
	if d.Merge && old != nil {
		d.Props = replay.MergeProps(old.Props, d.Props)
	} else {
		d.Props = d.Props.Clone()
	}
	d.Merge = false
	if (d.ComponentID == adapters.StateComponentID) != (d.ComponentName == StateName && d.Surface == StateSurface) {
		return d, fmt.Errorf("the id, name and surface %q are those of the shared state", adapters.StateComponentID)
	}
	return d, s.reg.Check(d.ComponentName, d.Surface, d.Props)
}

// stateProps are the props of the component that holds the shared state.
type stateProps struct {
	State
	By Author `json:"by"`
}

// Author is who changed the shared state.
type Author string

// The authors of changes.
const (
	ByAgent Author = "agent"
	ByUser  Author = "user"
)

func (s *Stage) setState(props event.Raw) {
	var p stateProps
	if err := json.Unmarshal(props, &p); err != nil {
		return
	}
	s.state = State{p.Version, p.Doc.Clone()}
}

// planChange returns the state after a change, with the events that report it. It
// changes nothing itself.
func (s *Stage) planChange(c Change, by Author) (State, []event.Data, error) {
	next, err := s.state.Apply(c)
	if err != nil || next.Version == s.state.Version {
		return s.state, nil, err
	}
	if err := validateJSON(s.reg.state, next.Doc); err != nil {
		return s.state, nil, fmt.Errorf("the state does not match its schema: %w", err)
	}
	props, err := json.Marshal(stateProps{next, by}, json.Deterministic(true))
	if err != nil {
		return s.state, nil, err
	}
	out := []event.Data{event.ComponentUpdate{ComponentID: adapters.StateComponentID, ComponentName: StateName, Surface: StateSurface, Props: props}}
	for i := range s.reg.def.Projections {
		p := &s.reg.def.Projections[i]
		props, there := p.propsOf(next.Doc)
		old := s.component(p.ID)
		switch {
		case !there && old != nil:
			out = append(out, event.ComponentRemove{ComponentID: p.ID})
		case there && (old == nil || string(old.Props) != string(props)):
			d := event.ComponentUpdate{ComponentID: p.ID, ComponentName: p.Component, Surface: p.Surface, Props: props}
			if _, err := s.updated(d); err != nil {
				return s.state, nil, fmt.Errorf("projection %s: %w", p.ID, err)
			}
			out = append(out, d)
		}
	}
	return next, out, nil
}
