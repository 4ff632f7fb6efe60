package component

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Kinds is what a scenario's components say, read apart from what subjects use.
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

// Told reports whether the id is not the agent's to show: the state's, or a
// projection's.
func (k *Kinds) Told(id string) bool {
	if id == component.StateID {
		return true
	}
	for _, p := range k.Projections {
		if p.ID == id {
			return true
		}
	}
	return false
}

func (k *Kinds) Has(name, surface string) bool {
	for _, c := range k.Components {
		if c.Name == name {
			return slices.Contains(c.Surfaces, surface)
		}
	}
	return false
}

// Board is what is shown, and how it came to that.
type Board struct {
	Now   map[string]string // id → what
	props map[string]jsontext.Value
	Order []string // of what is shown, by when it came
	steps []string // each change: what is shown, or that it is gone
	Tried int      // calls that show
	Took  int      // calls that remove
	Asks  []string
}

func newBoard() *Board {
	return &Board{Now: map[string]string{}, props: map[string]jsontext.Value{}}
}

func (b *Board) show(id, name, surface string, props jsontext.Value, merge bool) {
	if merge {
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

// Asked is what the model's calls come to: the rules of the seed, by the
// scenario's own list of components.
func (k *Kinds) Asked(r *conformance.Run) *Board {
	b := newBoard()
	for _, call := range runindex.Calls(r) {
		in, ok := runindex.ClientCall(call.OutputPart)
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
		case component.ToolShow:
			b.Tried++
			if k.Has(x.Component, x.Surface) {
				b.show(x.ID, x.Component, x.Surface, x.Props, x.Merge)
			}
		case component.ToolRemove:
			b.Took++
			b.remove(x.ID)
		case component.ToolAsk:
			if k.Has(x.Component, x.Surface) {
				b.Asks = append(b.Asks, fmt.Sprintf("%s on %s: %s", x.Component, x.Surface, runindex.Canonical(x.Props)))
			}
		}
	}
	return b
}

// emitted is what the subject's events come to.
func (k *Kinds) emitted(r *conformance.Run) *Board {
	b := newBoard()
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ComponentUpdate:
			if !k.Told(d.ComponentID) {
				b.show(d.ComponentID, d.ComponentName, d.Surface, d.Props, d.Merge)
			}
		case event.ComponentRemove:
			if !k.Told(d.ComponentID) {
				b.remove(d.ComponentID)
			}
		}
	}
	return b
}

func KindsOf(s *fixtures.Scenario) (k Kinds, ok bool) {
	ok = s.Components != nil && runindex.Decode(s.Components, &k)
	return k, ok
}

func gone(step string) bool { return strings.HasSuffix(step, " is gone") }

func EachBlock(blocks []replay.Block, do func(*replay.Block)) {
	for i := range blocks {
		do(&blocks[i])
		EachBlock(blocks[i].Blocks, do)
	}
}
