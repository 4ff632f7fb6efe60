package component

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// State is the check component.state.
var State = &conformance.Check{
	ID: "component.state", Source: "RFC 7396; RFC 6902; the event contract (adapters/backend/component)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"component_update", "component_update.props", "component_update.surface", "component_remove", "component_remove.component_id"},
	Needs:    []string{"component_update", "component_remove"},
	Mend:     "Apply changes as RFC 7396 or RFC 6902 says to the stored state, and emit the whole state. Emit component_remove for a projection without a value.",
	Sentence: "After each change by the model the state component holds the whole state: a null of a merge removes a member. A projection is shown with the values it names, and removed if its value is gone.",
	Judge:    judgeState,
}

// judgeState compares the states and projections that the subject emits with the
// changes of the model.
func judgeState(t *conformance.Trial, f *conformance.Finding) {
	var def struct {
		Projections []struct {
			ID        string            `json:"id"`
			Component string            `json:"component"`
			Surface   string            `json:"surface"`
			Path      string            `json:"path"`
			Props     map[string]string `json:"props"`
		} `json:"projections"`
	}
	if t.Scenario.Components == nil || !runindex.Decode(t.Scenario.Components, &def) {
		return
	}
	want, got := map[string][]string{}, map[string][]string{}
	state := map[string]any{}
	for _, call := range runindex.Calls(t.Run) {
		in, ok := runindex.ClientCall(call.OutputPart)
		if !ok || in.Tool != adapters.ToolUpdateState || !changeState(state, in.Arguments) {
			continue
		}
		f.Asserted(1)
		want[adapters.StateComponentID] = append(want[adapters.StateComponentID], text(state))
		for _, p := range def.Projections {
			step := "gone"
			if _, there := valueAt(state, p.Path); there {
				props := map[string]any{}
				for name, at := range p.Props {
					if v, ok := valueAt(state, at); ok {
						props[name] = v
					}
				}
				step = p.Component + " on " + p.Surface + ": " + text(props)
			}
			want[p.ID] = append(want[p.ID], step)
		}
	}
	if len(want) == 0 {
		return
	}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.ComponentUpdate:
			step := d.ComponentName + " on " + d.Surface + ": " + runindex.Canonical(d.Props)
			if d.ComponentID == adapters.StateComponentID {
				var props struct {
					State jsontext.Value `json:"state"`
				}
				_ = json.Unmarshal(d.Props, &props) // props of another form hold no state
				step = runindex.Canonical(props.State)
			}
			got[d.ComponentID] = append(got[d.ComponentID], step)
		case event.ComponentRemove:
			got[d.ComponentID] = append(got[d.ComponentID], "gone")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		w := slices.Compact(want[id])
		if len(w) > 0 && w[0] == "gone" {
			w = w[1:] // it has not been shown
		}
		if g := slices.Compact(got[id]); !slices.Equal(w, g) {
			f.Diff("the component "+id+" does not follow the state", strings.Join(w, "\n")+"\n", strings.Join(g, "\n")+"\n")
		}
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return runindex.Canonical(b)
}

// changeState applies a call of the model to the state, and returns false if the call
// has another form.
func changeState(state map[string]any, arguments jsontext.Value) bool {
	var in struct {
		Merge map[string]any `json:"merge"`
		Patch []struct {
			Op    string `json:"op"`
			Path  string `json:"path"`
			Value any    `json:"value"`
		} `json:"patch"`
	}
	if json.Unmarshal(arguments, &in) != nil {
		return false
	}
	mergeInto(state, in.Merge)
	for _, op := range in.Patch {
		parent, name := parentOf(state, op.Path)
		switch {
		case parent == nil:
			return false
		case op.Op == "add" || op.Op == "replace":
			parent[name] = op.Value
		case op.Op == "remove":
			delete(parent, name)
		default:
			return false
		}
	}
	return in.Merge != nil || in.Patch != nil
}

// mergeInto applies a merge patch (RFC 7396).
func mergeInto(state, patch map[string]any) {
	for name, v := range patch {
		members, isObject := v.(map[string]any)
		under, overObject := state[name].(map[string]any)
		switch {
		case v == nil:
			delete(state, name)
		case isObject:
			if !overObject {
				under = map[string]any{}
			}
			mergeInto(under, members)
			state[name] = under
		default:
			state[name] = v
		}
	}
}

// parentOf returns the object that holds the member at a JSON pointer, and its name.
func parentOf(state map[string]any, pointer string) (parent map[string]any, name string) {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for _, p := range path[:len(path)-1] {
		state, _ = state[p].(map[string]any)
	}
	return state, path[len(path)-1]
}

func valueAt(state map[string]any, pointer string) (v any, there bool) {
	parent, name := parentOf(state, pointer)
	v, there = parent[name]
	return v, there
}
