package component_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

func TestAgentTools(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls [][2]string // tool, input
		texts []string
		want  []string
	}{
		{"shows", [][2]string{{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"title":"x"}}`}},
			[]string{"shown"}, []string{`component_update a {"title":"x"}`}},
		{"changes by members", [][2]string{
			{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"title":"x"}}`},
			{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"n":1},"merge":true}`},
		}, []string{"shown", "shown"}, []string{`component_update a {"title":"x"}`, `component_update a {"n":1}`}},
		{"members that do not match its schema what is there", [][2]string{
			{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"title":"x"}}`},
			{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"n":"x"},"merge":true}`},
		}, []string{"shown", "!the props of card do not match its schema"}, []string{`component_update a {"title":"x"}`}},
		{"merges into nothing", [][2]string{{"show_component", `{"id":"a","component":"card","surface":"panel","props":{"n":1},"merge":true}`}},
			[]string{"!the props of card do not match its schema"}, nil},
		{"an unregistered name", [][2]string{{"show_component", `{"id":"a","component":"map","surface":"panel","props":{}}`}},
			[]string{`!no component "map" is registered; there are: board, card, weather`}, nil},
		{"an unregistered surface", [][2]string{{"show_component", `{"id":"a","component":"card","surface":"canvas","props":{"title":"x"}}`}},
			[]string{`!no surface "canvas"`}, nil},
		{"no id", [][2]string{{"show_component", `{"component":"card","surface":"panel","props":{"title":"x"}}`}}, []string{"!the id is missing"}, nil},
		{"another shape", [][2]string{{"show_component", `{"id":5}`}}, []string{"!the input does not match its schema"}, nil},
		{"no input", [][2]string{{"show_component", ``}}, []string{"!the id is missing"}, nil},
		{"the state's own id", [][2]string{{"show_component", `{"id":"state","component":"card","surface":"panel","props":{"title":"x"}}`}}, []string{"!the id, name and surface"}, nil},
		{"the state itself", [][2]string{{"show_component", `{"id":"state","component":"state","surface":"state","props":{"version":9}}`}}, []string{"!only patches change the state"}, nil},
		{"removes twice", [][2]string{
			{"show_component", `{"id":"a","component":"card","surface":"chat","props":{"title":"x"}}`},
			{"remove_component", `{"id":"a"}`}, {"remove_component", `{"id":"a"}`},
		}, []string{"shown", "removed", "removed"}, []string{`component_update a {"title":"x"}`, "component_remove a"}},
		{"removes the state", [][2]string{{"update_state", `{"merge":{"count":1}}`}, {"remove_component", `{"id":"state"}`}, {"read_state", ``}},
			[]string{`updated`, "removed", `{"version":1,"state":{"count":1}}`}, []string{`component_update state {"version":1,"state":{"count":1},"by":"agent"}`}},
		{"changes the state", [][2]string{
			{"read_state", `{}`}, {"update_state", `{"merge":{"count":1}}`}, {"update_state", `{"version":1,"patch":[{"op":"test","path":"/count","value":1},{"op":"replace","path":"/count","value":2}]}`},
			{"update_state", `{"version":1,"merge":{"count":9}}`}, {"update_state", `{"merge":{"count":"many"}}`}, {"update_state", `{"merge":{"count":2}}`}, {"read_state", `{}`},
		}, []string{`{"version":0,"state":{}}`, `updated`, `updated`, `!the change was made from version 1, and the state is at version 2: {"count":2}`, "!the state does not match its schema", `updated`, `{"version":2,"state":{"count":2}}`},
			[]string{`component_update state {"version":1,"state":{"count":1},"by":"agent"}`, `component_update state {"version":2,"state":{"count":2},"by":"agent"}`}},
		{"a projection follows", [][2]string{
			{"update_state", `{"merge":{"plan":{"steps":["a","b"]}}}`}, {"update_state", `{"merge":{"count":1}}`},
			{"update_state", `{"patch":[{"op":"remove","path":"/plan/steps/0"}]}`}, {"update_state", `{"merge":{"plan":{"steps":"none"}}}`}, {"update_state", `{"merge":{"plan":null}}`},
		}, []string{`updated`, `updated`, `updated`, "!projection plan: the props of board do not match its schema", `updated`},
			[]string{
				`component_update state {"version":1,"state":{"plan":{"steps":["a","b"]}},"by":"agent"}`, `component_update plan {"first":"a","steps":["a","b"]}`,
				`component_update state {"version":2,"state":{"count":1,"plan":{"steps":["a","b"]}},"by":"agent"}`,
				`component_update state {"version":3,"state":{"count":1,"plan":{"steps":["b"]}},"by":"agent"}`, `component_update plan {"first":"b","steps":["b"]}`,
				`component_update state {"version":4,"state":{"count":1},"by":"agent"}`, "component_remove plan",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []event.Event
			var texts []string
			synctest.Test(t, func(t *testing.T) {
				a, s, r := openSession(t, adapters.Options{})
				for _, call := range c.calls {
					texts = append(texts, a.call(call[0], "t1", call[1]).text())
				}
				a.emit(tool("t1"), event.Done{}, event.SessionEnd{Reason: "closed"})
				_ = s.Close(context.Background())
				got = r.events()
			})
			g := NewWithT(t)
			expectOrdered(g, got, 0)
			g.Expect(texts).To(HaveLen(len(c.texts)))
			for i := range texts {
				g.Expect(texts[i]).To(HavePrefix(c.texts[i]))
			}
			put := got[begun : len(got)-3]
			for _, e := range put {
				g.Expect(e.Turn).To(Equal(1))
			}
			g.Expect(eventLines(put)).To(Equal(c.want))
			if c.want != nil {
				back := component.NewStage(registry(t))
				for _, e := range got {
					back.Add(e)
				}
				chat := replay.Reduce(got, replay.WithRegistry(registry(t)))
				beside := 0
				for _, x := range back.Shown() {
					if x.Surface == replay.SurfaceChat {
						continue
					}
					beside++
					g.Expect(chat.Components).To(ContainElement(replay.Component{ID: x.ComponentID, Name: x.ComponentName, Surface: x.Surface, Status: replay.Ready, Props: x.Props}))
				}
				g.Expect(chat.Components).To(HaveLen(beside))
			}
		})
	}
}

func TestInterrupts(t *testing.T) {
	const ask = `{"component":"card","surface":"panel","props":{"title":"x"}}`
	for _, c := range []struct {
		name  string
		act   func(a *agent, s component.Session, c *called) error
		text  string
		want  []string
		stops int
	}{
		{"answered", func(_ *agent, s component.Session, _ *called) error {
			return s.Answer(context.Background(), "component-t1", adapters.Answer{Value: event.Raw(`{"x":1}`)})
		}, `{"x":1}`, []string{`interrupt_resolved component-t1 {"x":1} user`}, 0},
		{"allowed", func(_ *agent, s component.Session, _ *called) error {
			return s.Answer(context.Background(), "component-t1", adapters.Answer{Decision: event.DecisionAllow, By: event.ByPolicy})
		}, `{"approved":true}`, []string{`interrupt_resolved component-t1 {"approved":true} policy`}, 0},
		{"denied", func(_ *agent, s component.Session, _ *called) error {
			return s.Answer(context.Background(), "component-t1", adapters.Answer{Decision: event.DecisionDeny, Message: "no"})
		}, `{"approved":false,"message":"no"}`, []string{`interrupt_resolved component-t1 {"approved":false,"message":"no"} user`}, 0},
		{"cancelled", func(_ *agent, s component.Session, _ *called) error {
			return s.Answer(context.Background(), "component-t1", adapters.Answer{Decision: event.DecisionCancel})
		}, `{"approved":false}`, []string{`interrupt_resolved component-t1 {"approved":false} user`}, 1},
		{"by a callback", func(_ *agent, s component.Session, _ *called) error {
			return s.Callback(context.Background(), "m9", component.Callback{ComponentID: "interrupt-component-t1", Action: "pick", Payload: event.Raw(`{"which":2}`)})
		}, `{"action":"pick","payload":{"which":2}}`, []string{`interrupt_resolved component-t1 {"action":"pick","payload":{"which":2}} user`}, 0},
		{"the tool ends", func(a *agent, _ component.Session, _ *called) error { a.emit(tool("t1")); return nil },
			"!the question was withdrawn", []string{"interrupt_resolved component-t1 null withdrawn", "tool_result t1"}, 0},
		{"the turn ends", func(a *agent, _ component.Session, _ *called) error {
			a.emit(event.Done{Stopped: true})
			return nil
		},
			"!the question was withdrawn", []string{"interrupt_resolved component-t1 null withdrawn", "done"}, 0},
		{"the session ends", func(a *agent, _ component.Session, _ *called) error {
			a.emit(event.SessionEnd{Reason: "crash"})
			return nil
		}, "!the question was withdrawn", []string{"interrupt_resolved component-t1 null withdrawn", "session_end"}, 0},
		{"the events end", func(_ *agent, s component.Session, _ *called) error { return s.Close(context.Background()) },
			"!", []string{"interrupt_resolved component-t1 null withdrawn"}, 0},
		{"given up", func(_ *agent, _ component.Session, c *called) error { c.cancel(); return nil },
			"!!context canceled", []string{"interrupt_resolved component-t1 null withdrawn"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []event.Event
			var text string
			var stops int
			var err, again error
			synctest.Test(t, func(t *testing.T) {
				a, s, r := openSession(t, adapters.Options{})
				call := a.call("ask_component", "t1", ask)
				synctest.Wait()
				err = c.act(a, s, call)
				text = call.text()
				again = s.Answer(context.Background(), "component-t1", adapters.Answer{})
				_ = s.Close(context.Background())
				got, stops = r.events(), a.stops
				if again == nil && len(a.answered) != 1 {
					t.Errorf("what is not open any more is the inner session's to answer: %v", a.answered)
				}
			})
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(HavePrefix(c.text))
			expectOrdered(g, got, 0)
			g.Expect(eventLines(got)[begun]).To(Equal("interrupt component-t1"))
			g.Expect(eventLines(got)[begun+1:]).To(Equal(c.want))
			g.Expect(stops).To(Equal(c.stops))
		})
	}
}

func TestHostMethods(t *testing.T) {
	var got []event.Event
	var texts []string
	var errs []error
	var sent []adapters.Message
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		a, s, r := openSession(t, adapters.Options{})
		show := func(name string) error {
			return s.Show(ctx, event.ComponentUpdate{ComponentID: "h", ComponentName: name, Surface: "panel", Props: event.Raw(`{"title":"x"}`)})
		}
		errs = append(errs, show("card"), show("map"))
		st, err := s.UpdateState(ctx, merge(`{"count":1}`))
		errs = append(errs, err)
		texts = append(texts, fmt.Sprint(st.Version), a.call("update_state", "t1", `{"version":0,"merge":{"count":5}}`).text())
		errs = append(errs,
			s.Callback(ctx, "m2", component.Callback{ComponentID: "h", Action: "pick", Payload: event.Raw(`{"which":1}`)}),
			s.Callback(ctx, "m3", component.Callback{ComponentID: "h", Action: "burn"}),
			s.Callback(ctx, "m4", component.Callback{ComponentID: "gone", Action: "pick"}),
			s.Remove(ctx, "h"), s.Remove(ctx, "h"))
		a.emit(event.Done{})
		_, err = s.UpdateState(ctx, merge(`{"count":2}`))
		errs = append(errs, err)
		a.emit(event.SessionEnd{Reason: "closed"})
		errs = append(errs, show("card"))
		_ = s.Close(ctx)
		errs = append(errs, show("card"))
		sent = a.sent
		got = r.events()
	})
	g := NewWithT(t)
	expectOrdered(g, got, 0)
	g.Expect(eventLines(got)[begun:]).To(Equal([]string{
		`component_update h {"title":"x"}`, `component_update state {"version":1,"state":{"count":1},"by":"user"}`, "component_remove h",
		"done", `component_update state {"version":2,"state":{"count":2},"by":"user"}`, "session_end",
	}))
	g.Expect(got[begun].Turn).To(Equal(1), "of the turn that runs")
	g.Expect(got[begun+4].Turn).To(Equal(0), "of the session")
	g.Expect(texts).To(Equal([]string{"1", `!the change was made from version 0, and the state is at version 1: {"count":1}`}))
	ok, unknown, closed := BeNil(), MatchError(ContainSubstring("registered")), MatchError(adapters.ErrClosed)
	g.Expect(errs).To(HaveExactElements(ok, unknown, ok, ok, unknown, MatchError(adapters.ErrUnknownID), ok, ok, ok, closed, closed))
	g.Expect(sent).To(Equal([]adapters.Message{{ID: "m2", Text: `{"type":"component_callback","component_id":"h","action":"pick","payload":{"which":1}}`}}))
}
