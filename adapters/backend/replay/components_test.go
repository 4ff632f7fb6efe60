package replay

import (
	"bytes"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// testRegistry has the component Card on chat and panel, linked to the tool weather,
// and Board on panel, linked to the tool plan. It rejects props with a member bad.
type testRegistry struct{}

func (testRegistry) Check(name, surface string, props event.Raw) error {
	switch {
	case name != "Card" && name != "Board":
		return errors.New("there is no component " + name)
	case surface != "panel" && (surface != SurfaceChat || name != "Card"):
		return errors.New("not on " + surface)
	case bytes.Contains(props, []byte(`"bad"`)):
		return errors.New("bad props")
	}
	return nil
}

func (testRegistry) Linked(tool string) (name, surface string, ok bool) {
	switch tool {
	case "weather":
		return "Card", SurfaceChat, true
	case "plan":
		return "Board", "panel", true
	}
	return "", "", false
}

func cardUpdate(id, surface, props string, merge bool) event.ComponentUpdate {
	return event.ComponentUpdate{ComponentID: id, ComponentName: "Card", Surface: surface, Props: event.Raw(props), Merge: merge}
}

func toolCall(id, tool, input string) event.ToolStart {
	return event.ToolStart{ToolUseID: id, Tool: tool, Input: event.Raw(input)}
}

// componentShapes writes blocks as kind, and components as kind:id:status:props.
func componentShapes(blocks []Block) []string {
	var out []string
	for _, b := range blocks {
		s := string(b.Kind)
		if b.Component != nil {
			s += ":" + b.ID + ":" + string(b.Status) + ":" + string(b.Component.Props)
			if b.Component.Error != "" {
				s += ":" + b.Component.Error
			}
		}
		out = append(out, s)
	}
	return out
}

func TestComponentsInChat(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []any
		blocks []string
		beside []Component
	}{
		{"a block where it came", []any{delta("1", "a"), cardUpdate("c", "chat", `{"x":1}`, false), delta("2", "b")},
			[]string{"text", `component:c:ready:{"x":1}`, "text"}, nil},
		{"replaced in its place", []any{cardUpdate("c", "chat", `{"x":1}`, false), delta("1", "a"), cardUpdate("c", "chat", `{"y":1}`, false)},
			[]string{`component:c:ready:{"y":1}`, "text"}, nil},
		{"merged by members", []any{cardUpdate("c", "chat", `{"x":1,"y":{"a":1}}`, false), cardUpdate("c", "chat", `{"y":{"b":1},"z":null}`, true)},
			[]string{`component:c:ready:{"x":1,"y":{"b":1},"z":null}`}, nil},
		{"merged into nothing", []any{cardUpdate("c", "chat", `{"x":1}`, true)}, []string{`component:c:ready:{"x":1}`}, nil},
		{"removed, twice", []any{delta("1", "a"), cardUpdate("c", "chat", `{}`, false), event.ComponentRemove{ComponentID: "c"}, event.ComponentRemove{ComponentID: "c"}},
			[]string{"text"}, nil},
		{"removed and shown again", []any{cardUpdate("c", "chat", `{"x":1}`, false), event.ComponentRemove{ComponentID: "c"}, delta("1", "a"), cardUpdate("c", "chat", `{"y":1}`, true)},
			[]string{"text", `component:c:ready:{"y":1}`}, nil},
		{"moved out of the chat", []any{delta("1", "a"), cardUpdate("c", "chat", `{"x":1}`, false), cardUpdate("c", "panel", `{"y":1}`, true)},
			[]string{"text"}, []Component{{ID: "c", Name: "Card", Surface: "panel", Status: Ready, Props: event.Raw(`{"x":1,"y":1}`)}}},
		{"moved into the chat", []any{cardUpdate("c", "panel", `{"x":1}`, false), delta("1", "a"), cardUpdate("c", "chat", `{}`, true)},
			[]string{"text", `component:c:ready:{"x":1}`}, nil},
		{"a tool of the same id", []any{bashStart("c"), cardUpdate("c", "chat", `{}`, false), toolOK("c", "done")}, []string{"tool", `component:c:ready:{}`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			chat := Reduce(numbered(c.events...))
			var blocks []Block
			for _, m := range chat.Messages {
				blocks = append(blocks, m.Blocks...)
			}
			g.Expect(componentShapes(blocks)).To(Equal(c.blocks))
			g.Expect(chat.Components).To(Equal(c.beside))
		})
	}
}

func TestLinkedTools(t *testing.T) {
	start := toolCall("t", "weather", `{"city":"Bern"}`)
	result := func(status event.ToolStatus, output string) event.ToolResult {
		return event.ToolResult{ToolUseID: "t", Status: status, IsError: status != event.ToolOK && status != event.ToolBackgrounded, Output: output}
	}
	task := func(s event.TaskStatus) event.Task {
		return event.Task{TaskID: "b", Kind: event.TaskCommand, ToolUseID: "t", Status: s}
	}
	for _, c := range []struct {
		name   string
		events []any
		want   string
	}{
		{"runs", []any{start}, `component:t:loading:{"city":"Bern"}`},
		{"runs with output", []any{start, event.ToolOutput{ToolUseID: "t", Text: `{"temp":1}`}}, `component:t:loading:{"city":"Bern"}`},
		{"ends well", []any{start, result(event.ToolOK, `{"temp":21}`)}, `component:t:ready:{"city":"Bern","temp":21}`},
		{"output that was streamed", []any{start, event.ToolOutput{ToolUseID: "t", Text: `{"temp":1}`}, result(event.ToolOK, "")}, `component:t:ready:{"city":"Bern","temp":1}`},
		{"output overrides input", []any{start, result(event.ToolOK, `{"city":"Basel"}`)}, `component:t:ready:{"city":"Basel"}`},
		{"no object", []any{start, result(event.ToolOK, `[1]`)}, `component:t:ready:{"city":"Bern"}`},
		{"no JSON", []any{start, result(event.ToolOK, `{sunny`)}, `component:t:ready:{"city":"Bern"}`},
		{"fails", []any{start, result(event.ToolError, `{"why":"fog"}`)}, `component:t:error:{"city":"Bern","why":"fog"}`},
		{"denied", []any{start, result(event.ToolDenied, "no")}, `component:t:error:{"city":"Bern"}`},
		{"does not fit", []any{start, result(event.ToolOK, `{"bad":1}`)}, `component:t:error:{"bad":1,"city":"Bern"}:bad props`},
		{"turn stopped", []any{start, event.Done{Stopped: true}}, `component:t:error:{"city":"Bern"}`},
		{"in the background", []any{start, result(event.ToolBackgrounded, "job 1")}, `component:t:loading:{"city":"Bern"}`},
		{"to its end", []any{start, result(event.ToolBackgrounded, ""), task("running"), task("completed")}, `component:t:ready:{"city":"Bern"}`},
		{"to a bad end", []any{start, result(event.ToolBackgrounded, ""), event.Done{}, task("failed")}, `component:t:error:{"city":"Bern"}`},
		{"input later", []any{toolCall("t", "weather", ""), start, result(event.ToolOK, "")}, `component:t:ready:{"city":"Bern"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			chat := Reduce(numbered(c.events...), WithRegistry(testRegistry{}))
			g.Expect(componentShapes(chat.Messages[0].Blocks)).To(Equal([]string{c.want, "tool"}))
			b := chat.Messages[0].Blocks[0]
			g.Expect(b.Component).To(HaveField("Name", "Card"))
			g.Expect(b.Component.ToolUseID).To(Equal("t"))
			plain := Reduce(numbered(c.events...))
			g.Expect(componentShapes(plain.Messages[0].Blocks)).To(Equal([]string{"tool"}), "without a registry")
		})
	}
	t.Run("on another surface", func(t *testing.T) {
		g := NewWithT(t)
		r := New(WithRegistry(testRegistry{}))
		for _, e := range numbered(toolCall("p", "plan", `{"n":1}`)) {
			r.Add(e)
		}
		before := r.Chat()
		r.Add(event.Event{Data: toolOK("p", `{"n":2}`), SessionID: "s", Turn: 1, Seq: 2})
		g.Expect(before.Components).To(Equal([]Component{{ID: "p", Name: "Board", Surface: "panel", Status: Loading, Props: event.Raw(`{"n":1}`), ToolUseID: "p"}}))
		g.Expect(r.Chat().Components).To(Equal([]Component{{ID: "p", Name: "Board", Surface: "panel", Status: Ready, Props: event.Raw(`{"n":2}`), ToolUseID: "p"}}))
	})
	t.Run("of a sub-agent", func(t *testing.T) {
		g := NewWithT(t)
		chat := Reduce(numbered(fromAgent("k", start), fromAgent("k", result(event.ToolOK, `{"temp":1}`))), WithRegistry(testRegistry{}))
		g.Expect(componentShapes(chat.Messages[0].Blocks[0].Blocks)).To(Equal([]string{`component:t:ready:{"city":"Bern","temp":1}`, "tool"}))
	})
	t.Run("in another turn than its call", func(t *testing.T) {
		g := NewWithT(t)
		chat := Reduce(numbered(
			event.TurnStart{}, toolCall("t", "Bash", ""), result(event.ToolBackgrounded, ""), event.Done{},
			inTurn(2, event.TurnStart{}), inTurn(2, start), inTurn(2, event.Done{}),
			inTurn(3, event.TurnStart{}), inTurn(3, result(event.ToolOK, `{"temp":1}`)), inTurn(3, event.Done{}),
		), WithRegistry(testRegistry{}))
		var shapes []string
		for _, m := range chat.Messages {
			shapes = append(shapes, componentShapes(m.Blocks)...)
		}
		g.Expect(shapes).To(Equal([]string{"tool", `component:t:ready:{"city":"Bern","temp":1}`}))
	})
}

func TestRegistryRejectsComponents(t *testing.T) {
	for name, bad := range map[string]event.ComponentUpdate{
		"name":    {ComponentID: "c", ComponentName: "Map", Surface: "panel", Props: event.Raw(`{}`)},
		"surface": cardUpdate("c", "canvas", `{"y":1}`, true),
		"props":   cardUpdate("c", "panel", `{"bad":1}`, true),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			chat := Reduce(numbered(cardUpdate("c", "panel", `{"x":1}`, false), bad), WithRegistry(testRegistry{}))
			g.Expect(chat.Components).To(Equal([]Component{{ID: "c", Name: "Card", Surface: "panel", Status: Ready, Props: event.Raw(`{"x":1}`)}}))
			notice := chat.Messages[0].Blocks[0]
			g.Expect(notice.Notice).To(Equal(&Notice{event.LevelWarning, event.NoticeRefused}))
			g.Expect(notice.Text).To(HavePrefix("component c: "))
		})
	}
}

func TestSurfaces(t *testing.T) {
	g := NewWithT(t)
	chat := Reduce(numbered(
		cardUpdate("a", "panel", `{}`, false), cardUpdate("x", "chat", `{}`, false), cardUpdate("b", "side", `{}`, false), cardUpdate("c", "panel", `{}`, false),
		event.Interrupt{InterruptID: "1", ComponentName: "Ask", Surface: "panel", Props: event.Raw(`{"q":1}`)},
		event.Interrupt{InterruptID: "2", ComponentName: "Ask", Surface: "panel"},
		event.InterruptResolved{InterruptID: "2", By: event.ByUser},
		cardUpdate("a", "panel", `{"again":1}`, false),
	))
	var ids []string
	for _, p := range chat.Surface("panel") {
		ids = append(ids, p.ID)
	}
	g.Expect(ids).To(Equal([]string{"a", "c", "interrupt-1"}))
	g.Expect(chat.Surface("side")).To(HaveLen(1))
	g.Expect(chat.Surface(SurfaceChat)).To(BeEmpty())
	g.Expect(chat.Surface("canvas")).To(BeEmpty())
}
