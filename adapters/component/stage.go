package component

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
)

// Stage is what is shown at a moment of a session, and its shared state. It is
// made of events alone: those that were stored bring it back. It is not safe for
// use by several goroutines at once.
type Stage struct {
	reg   *Registry
	shown []*event.ComponentUpdate // in the order in which they came; none has Merge
	calls map[string]string        // components that show calls of tools: their names
	state State
}

// NewStage returns a stage on which nothing is shown.
func NewStage(reg *Registry) *Stage { return &Stage{reg: reg, calls: map[string]string{}} }

// Add takes the next event; events that the registry refuses change nothing.
func (s *Stage) Add(e event.Event) {
	switch d := e.Data.(type) {
	case event.ComponentUpdate:
		next, err := s.next(d)
		if err != nil {
			return
		}
		if next.ComponentID == StateID {
			s.told(next.Props)
		}
		if old := s.find(d.ComponentID); old != nil {
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

// Shown are the components that are shown, as whole updates, in the order in which
// they came.
func (s *Stage) Shown() []event.ComponentUpdate {
	out := make([]event.ComponentUpdate, 0, len(s.shown))
	for _, x := range s.shown {
		out = append(out, *x)
	}
	return out
}

// State is the shared state.
func (s *Stage) State() State { return s.state }

func (s *Stage) find(id string) *event.ComponentUpdate {
	for _, x := range s.shown {
		if x.ComponentID == id {
			return x
		}
	}
	return nil
}

// name is that of a component that is shown, one of a call too, or "".
func (s *Stage) name(id string) string {
	if x := s.find(id); x != nil {
		return x.ComponentName
	}
	return s.calls[id]
}

// next is what a component comes to by an update.
func (s *Stage) next(d event.ComponentUpdate) (event.ComponentUpdate, error) {
	old := s.find(d.ComponentID)
	if d.Merge && old != nil {
		d.Props = replay.MergeProps(old.Props, d.Props)
	} else {
		d.Props = d.Props.Clone()
	}
	d.Merge = false
	if (d.ComponentID == StateID) != (d.ComponentName == StateName && d.Surface == StateSurface) {
		return d, fmt.Errorf("the id, name and surface %q are those of the shared state", StateID)
	}
	return d, s.reg.Check(d.ComponentName, d.Surface, d.Props)
}

// stateProps are the props of the component that carries the shared state.
type stateProps struct {
	State
	By Author `json:"by"`
}

// Author says who changed the shared state.
type Author string

// Who changes the shared state.
const (
	ByAgent Author = "agent"
	ByUser  Author = "user"
)

func (s *Stage) told(props event.Raw) {
	var p stateProps
	if err := json.Unmarshal(props, &p); err != nil {
		return
	}
	s.state = State{p.Version, p.Doc.Clone()}
}

// change is a changed state with all the events that tell it, or why it is
// refused: then nothing has changed.
func (s *Stage) change(c Change, by Author) (State, []event.Data, error) {
	next, err := s.state.Apply(c)
	if err != nil || next.Version == s.state.Version {
		return s.state, nil, err
	}
	if err := validate(s.reg.state, next.Doc); err != nil {
		return s.state, nil, fmt.Errorf("the state does not fit: %w", err)
	}
	props, err := json.Marshal(stateProps{next, by}, json.Deterministic(true))
	if err != nil {
		return s.state, nil, err
	}
	out := []event.Data{event.ComponentUpdate{ComponentID: StateID, ComponentName: StateName, Surface: StateSurface, Props: props}}
	for i := range s.reg.def.Projections {
		p := &s.reg.def.Projections[i]
		props, there := p.props(next.Doc)
		old := s.find(p.ID)
		switch {
		case !there && old != nil:
			out = append(out, event.ComponentRemove{ComponentID: p.ID})
		case there && (old == nil || string(old.Props) != string(props)):
			d := event.ComponentUpdate{ComponentID: p.ID, ComponentName: p.Component, Surface: p.Surface, Props: props}
			if _, err := s.next(d); err != nil {
				return s.state, nil, fmt.Errorf("projection %s: %w", p.ID, err)
			}
			out = append(out, d)
		}
	}
	return next, out, nil
}
