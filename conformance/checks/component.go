package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func componentChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "component.tool-linked", Severity: conformance.Must, Source: "generative interfaces: a tool's component that spins for ever", Tiers: both,
			Sentence: "A tool with a registered component shows loading, then ready or error with the parsed output merged in.",
			Judge:    judgeLinked,
		},
		{
			ID: "component.update", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "component_update creates, replaces or merges by id on its surface; an unregistered name or surface changes nothing.",
			Judge:    judgeShown,
		},
		{
			ID: "component.remove", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "component_remove removes what the agent removed, and nothing else; removing twice is harmless.",
			Judge:    judgeRemoved,
		},
		{
			ID: "replay.components", Severity: conformance.Must, Source: "surfaces that are empty when a session is loaded again", Tiers: both,
			Sentence: "Component blocks, surfaces and interrupts are in the stored chat as the agent left them.",
			Judge:    judgeStoredComponents,
		},
	}
}

// ofComponents reports whether a client's tool is one by which the agent shows
// components: then it is the subject's, not the scenario's.
func ofComponents(s *fixtures.Scenario, tool string) bool {
	return s.Components != nil && component.IsTool(tool)
}

// kinds is what a scenario's components say, read apart from what subjects use.
type kinds struct {
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

// told reports whether the id is not the agent's to show: the state's, or a
// projection's.
func (k *kinds) told(id string) bool {
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

func (k *kinds) has(name, surface string) bool {
	for _, c := range k.Components {
		if c.Name == name {
			return slices.Contains(c.Surfaces, surface)
		}
	}
	return false
}

// board is what is shown, and how it came to that.
type board struct {
	now   map[string]string // id → what
	props map[string]jsontext.Value
	order []string // of what is shown, by when it came
	steps []string // each change: what is shown, or that it is gone
	tried int      // calls that show
	took  int      // calls that remove
	asks  []string
}

func newBoard() *board {
	return &board{now: map[string]string{}, props: map[string]jsontext.Value{}}
}

func (b *board) show(id, name, surface string, props jsontext.Value, merge bool) {
	if merge {
		props = laidOver(b.props[id], props)
	}
	if _, there := b.now[id]; !there {
		b.order = append(b.order, id)
	}
	b.props[id] = props
	b.now[id] = fmt.Sprintf("%s: %s on %s: %s", id, name, surface, oneForm(props))
	b.steps = append(b.steps, b.now[id])
}

func (b *board) remove(id string) {
	if _, there := b.now[id]; !there {
		return
	}
	delete(b.now, id)
	delete(b.props, id)
	b.order = slices.DeleteFunc(b.order, func(x string) bool { return x == id })
	b.steps = append(b.steps, id+" is gone")
}

func laidOver(base, add jsontext.Value) jsontext.Value {
	under, over := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if !decodeLine(add, &over) || base != nil && !decodeLine(base, &under) {
		return add
	}
	maps.Copy(under, over)
	b, err := json.Marshal(under, json.Deterministic(true))
	if err != nil {
		return add
	}
	return b
}

// asked is what the model's calls come to: the rules of the seed, by the
// scenario's own list of components.
func (k *kinds) asked(r *conformance.Run) *board {
	b := newBoard()
	for _, call := range saidTools(r) {
		in, ok := clientCall(call.Said)
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
		if !decodeLine(in.Arguments, &x) {
			continue
		}
		switch in.Tool {
		case component.ToolShow:
			b.tried++
			if k.has(x.Component, x.Surface) {
				b.show(x.ID, x.Component, x.Surface, x.Props, x.Merge)
			}
		case component.ToolRemove:
			b.took++
			b.remove(x.ID)
		case component.ToolAsk:
			if k.has(x.Component, x.Surface) {
				b.asks = append(b.asks, fmt.Sprintf("%s on %s: %s", x.Component, x.Surface, oneForm(x.Props)))
			}
		}
	}
	return b
}

// emitted is what the subject's events come to.
func (k *kinds) emitted(r *conformance.Run) *board {
	b := newBoard()
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ComponentUpdate:
			if !k.told(d.ComponentID) {
				b.show(d.ComponentID, d.ComponentName, d.Surface, d.Props, d.Merge)
			}
		case event.ComponentRemove:
			if !k.told(d.ComponentID) {
				b.remove(d.ComponentID)
			}
		}
	}
	return b
}

func kindsOf(s *fixtures.Scenario) (k kinds, ok bool) {
	ok = s.Components != nil && decodeLine(s.Components, &k)
	return k, ok
}

func judgeShown(t *conformance.Trial, f *conformance.Finding) {
	k, ok := kindsOf(t.Scenario)
	if !ok {
		return
	}
	want, got := k.asked(t.Run), k.emitted(t.Run)
	f.Asserted(want.tried)
	shows := func(steps []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(steps), gone), "\n") + "\n"
	}
	if w, g := shows(want.steps), shows(got.steps); w != g {
		f.Diff("what was shown is not what the model showed", w, g)
	}
}

func gone(step string) bool { return strings.HasSuffix(step, " is gone") }

func judgeRemoved(t *conformance.Trial, f *conformance.Finding) {
	k, ok := kindsOf(t.Scenario)
	if !ok {
		return
	}
	want, got := k.asked(t.Run), k.emitted(t.Run)
	f.Asserted(want.took)
	// What stands between removals is component.update's: here it is by id alone.
	ids := func(steps []string) string {
		var out []string
		for _, s := range steps {
			if !gone(s) {
				s, _, _ = strings.Cut(s, ":")
				s += " is there"
			}
			out = append(out, s)
		}
		return strings.Join(slices.Compact(out), "\n") + "\n"
	}
	if strings.Count(ids(want.steps), " is gone\n")+strings.Count(ids(got.steps), " is gone\n") == 0 {
		return
	}
	if w, g := ids(want.steps), ids(got.steps); w != g {
		f.Diff("what was removed is not what the model removed", w, g)
	}
}

func judgeStoredComponents(t *conformance.Trial, f *conformance.Finding) {
	k, ok := kindsOf(t.Scenario)
	if !ok {
		return
	}
	want := k.asked(t.Run)
	f.Asserted(want.tried + want.took + len(want.asks))
	if want.tried+want.took+len(want.asks) == 0 {
		return
	}
	stored, err := judge.Chat(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	var beside, within, asks []string
	for _, c := range stored.Components {
		if !k.told(c.ID) {
			beside = append(beside, fmt.Sprintf("%s: %s on %s: %s", c.ID, c.Name, c.Surface, oneForm(c.Props)))
		}
	}
	for _, m := range stored.Messages {
		eachBlock(m.Blocks, func(b *replay.Block) {
			switch {
			case b.Kind == replay.KindComponent:
				within = append(within, fmt.Sprintf("%s: %s on %s: %s", b.ID, b.Component.Name, b.Component.Surface, oneForm(b.Component.Props)))
			case b.Kind == replay.KindInterrupt && b.Status != replay.Pending:
				asks = append(asks, fmt.Sprintf("%s on %s: %s", b.Interrupt.Component, b.Interrupt.Surface, oneForm(b.Interrupt.Props)))
			}
		})
	}
	var all, chat []string
	for _, id := range want.order {
		if strings.Contains(want.now[id], " on "+replay.SurfaceChat+": ") {
			chat = append(chat, want.now[id])
		} else {
			all = append(all, want.now[id])
		}
	}
	for _, x := range []struct {
		what      string
		want, got []string
	}{{"the surfaces of the stored chat", all, beside}, {"the components in the messages of the stored chat", chat, within}, {"the questions of the stored chat", want.asks, asks}} {
		if w, g := strings.Join(x.want, "\n")+"\n", strings.Join(x.got, "\n")+"\n"; w != g {
			f.Diff(x.what+" are not as the model left them", w, g)
		}
	}
}

func eachBlock(blocks []replay.Block, do func(*replay.Block)) {
	for i := range blocks {
		do(&blocks[i])
		eachBlock(blocks[i].Blocks, do)
	}
}

// judgeLinked reduces the events as a user interface that has the scenario's
// components does.
func judgeLinked(t *conformance.Trial, f *conformance.Finding) {
	k, ok := kindsOf(t.Scenario)
	if !ok || len(k.Tools) == 0 {
		return
	}
	reg, err := component.Parse(t.Scenario.Components)
	if err != nil {
		f.Failf("the components of the scenario: %v", err)
		return
	}
	events := make([]event.Event, 0, len(t.Events))
	for _, e := range t.Events {
		events = append(events, e.Event)
	}
	for _, call := range saidTools(t.Run) {
		in, ok := clientCall(call.Said)
		i := slices.IndexFunc(t.Scenario.Tools, func(x fixtures.Tool) bool { return x.Name == in.Tool })
		if !ok || i < 0 {
			continue
		}
		for _, l := range k.Tools {
			if l.Tool != in.Tool {
				continue
			}
			f.Asserted(1)
			tool := &t.Scenario.Tools[i]
			props, status := in.Arguments, "ready"
			if tool.IsError || tool.Fail != "" {
				status = "error"
			}
			if out := jsontext.Value(toolResults(t.Run)[call.ID]); out.Kind() == '{' && out.IsValid() {
				props = laidOver(props, out) // a runtime may wrap what failed: then it is no object
			}
			begun := slices.IndexFunc(events, func(e event.Event) bool {
				d, ok := e.Data.(event.ToolStart)
				return ok && isTool(d.ToolUseID, call.ID)
			})
			w := fmt.Sprintf("%s loading %s\n%s %s %s\n", l.Component, oneForm(in.Arguments), l.Component, status, oneForm(props))
			g := linkedTo(events[:begun+1], reg, call.ID) + linkedTo(events, reg, call.ID)
			if w != g {
				f.Diff("the component of the call "+call.ID+" does not show it", w, g)
			}
		}
	}
}

// linkedTo is what shows a call: name, status and props.
func linkedTo(events []event.Event, reg *component.Registry, call string) string {
	chat := replay.Reduce(events, replay.WithRegistry(reg))
	out := ""
	add := func(c *replay.Component, status replay.Status) {
		if c.ToolUseID != "" && isTool(c.ToolUseID, call) {
			out += fmt.Sprintf("%s %s %s\n", c.Name, status, oneForm(c.Props))
		}
	}
	for i := range chat.Components {
		add(&chat.Components[i], chat.Components[i].Status)
	}
	for _, m := range chat.Messages {
		eachBlock(m.Blocks, func(b *replay.Block) {
			if b.Kind == replay.KindComponent {
				add(b.Component, b.Status)
			}
		})
	}
	return out
}
