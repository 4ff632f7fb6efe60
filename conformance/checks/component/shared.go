package component

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Kinds holds the components of a scenario. It is decoded here, not by package
// component, because subjects may use that one.
type Kinds struct {
	Components []struct {
		Name     string   `json:"name"`
		Surfaces []string `json:"surfaces"`
	} `json:"components"`
	Tools []struct {
		Tool      string `json:"tool"`
		Component string `json:"component"`
		Surface   string `json:"surface"`
	} `json:"tools"`
	Projections []struct {
		ID string `json:"id"`
	} `json:"projections"`
}

// Reserved reports whether an id is that of the state or of a projection, which the agent
// does not show itself.
func (k *Kinds) Reserved(id string) bool {
	if id == adapters.StateComponentID {
		return true
	}
	for _, p := range k.Projections {
		if p.ID == id {
			return true
		}
	}
	return false
}

// Has reports whether a component is registered for a surface.
func (k *Kinds) Has(name, surface string) bool {
	for _, c := range k.Components {
		if c.Name == name {
			return slices.Contains(c.Surfaces, surface)
		}
	}
	return false
}

// Board holds the shown components and the changes that led to them.
type Board struct {
	Now   map[string]string // id → its text: name, surface and props
	props map[string]jsontext.Value
	Order []string // ids of the shown components, oldest first
	steps []string // one for each change: the text of a component, or its removal
	Tried int      // number of calls that show a component
	Took  int      // number of calls that remove one
	Asks  []string

	merged map[string]bool // ids of components that an update merged into
}

func newBoard() *Board {
	return &Board{Now: map[string]string{}, props: map[string]jsontext.Value{}, merged: map[string]bool{}}
}

func (b *Board) show(id, name, surface string, props jsontext.Value, merge bool) {
	if merge {
		b.merged[id] = true
		props = MergeProps(b.props[id], props)
	}
	if _, there := b.Now[id]; !there {
		b.Order = append(b.Order, id)
	}
	b.props[id] = props
	b.Now[id] = fmt.Sprintf("%s: %s on %s: %s", id, name, surface, runindex.Canonical(props))
	b.steps = append(b.steps, b.Now[id])
}

func (b *Board) remove(id string) {
	if _, there := b.Now[id]; !there {
		return
	}
	delete(b.Now, id)
	delete(b.props, id)
	b.Order = slices.DeleteFunc(b.Order, func(x string) bool { return x == id })
	b.steps = append(b.steps, id+" is gone")
}

// MergeProps returns base with the members of add. If one of them is no object, it
// returns add.
func MergeProps(base, add jsontext.Value) jsontext.Value {
	under, over := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if !runindex.Decode(add, &over) || base != nil && !runindex.Decode(base, &under) {
		return add
	}
	maps.Copy(under, over)
	b, err := json.Marshal(under, json.Deterministic(true))
	if err != nil {
		return add
	}
	return b
}

// Asked returns the board after all calls of the model. A call for a component or a
// surface that the scenario does not register changes nothing.
func (k *Kinds) Asked(r *conformance.Run) *Board {
	b := newBoard()
	for _, call := range completeCalls(r) {
		in, ok := runindex.ClientCall(call)
		if !ok {
			continue
		}
		var x struct {
			ID        string         `json:"id"`
			Component string         `json:"component"`
			Surface   string         `json:"surface"`
			Props     jsontext.Value `json:"props"`
			Merge     bool           `json:"merge"`
		}
		if !runindex.Decode(in.Arguments, &x) {
			continue
		}
		switch in.Tool {
		case adapters.ToolShowComponent:
			b.Tried++
			if k.Has(x.Component, x.Surface) {
				b.show(x.ID, x.Component, x.Surface, x.Props, x.Merge)
			}
		case adapters.ToolRemoveComponent:
			b.Took++
			b.remove(x.ID)
		case adapters.ToolAskComponent:
			if k.Has(x.Component, x.Surface) {
				b.Asks = append(b.Asks, fmt.Sprintf("%s on %s: %s", x.Component, x.Surface, runindex.Canonical(x.Props)))
			}
		}
	}
	return b
}

// completeCalls returns the calls of the model and of its sub-agents, in their order,
// without those of replies that failed or were abandoned.
func completeCalls(r *conformance.Run) []fixtures.OutputPart {
	main := map[string]bool{}
	for _, call := range runindex.Calls(r) {
		main[call.ID] = true
	}
	var out []fixtures.OutputPart
	for _, q := range r.Witness {
		for _, call := range q.Output {
			if call.Tool != "" && (q.Agent == "" && main[call.ID] || q.Agent != "" && q.Ended != fixtures.EndedFailed) {
				out = append(out, call)
			}
		}
	}
	return out
}

// emitted returns the board after all events of the subject.
func (k *Kinds) emitted(r *conformance.Run) *Board {
	b := newBoard()
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ComponentUpdate:
			if !k.Reserved(d.ComponentID) {
				b.show(d.ComponentID, d.ComponentName, d.Surface, d.Props, d.Merge)
			}
		case event.ComponentRemove:
			if !k.Reserved(d.ComponentID) {
				b.remove(d.ComponentID)
			}
		}
	}
	return b
}

// KindsOf decodes the components of a scenario; ok is false if it has none.
func KindsOf(s *fixtures.Scenario) (k Kinds, ok bool) {
	ok = s.Components != nil && runindex.Decode(s.Components, &k)
	return k, ok
}

func gone(step string) bool { return strings.HasSuffix(step, " is gone") }
