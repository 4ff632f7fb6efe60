package component_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// TestEventsFollowToolStart: a call returns after its events were read. They follow its
// tool_start and have the same turn and sub-agent.
func TestEventsFollowToolStart(t *testing.T) {
	const show = `{"id":"a","component":"card","surface":"chat","props":{"title":"x"}}`
	t.Run("waits for its tool_start", func(t *testing.T) {
		var got []event.Event
		var early, late bool
		synctest.Test(t, func(t *testing.T) {
			a, s, r := openSession(t, adapters.Options{})
			c := a.call("show_component", "t2", show)
			synctest.Wait()
			early = c.returned()
			a.seq++
			a.events <- event.Event{Data: event.ToolStart{ToolUseID: "t2"}, Seq: a.seq, SessionID: "s", Turn: 1, SubagentID: "k"}
			synctest.Wait()
			late = c.returned()
			a.emit(tool("t2"))
			_ = s.Close(context.Background())
			got = r.events()
		})
		g := NewWithT(t)
		g.Expect(early).To(BeFalse())
		g.Expect(late).To(BeTrue())
		g.Expect(eventLines(got)[begun:]).To(Equal([]string{"tool_start t2", `component_update a {"title":"x"}`, "tool_result t2"}))
		g.Expect(got[begun+1].SubagentID).To(Equal("k"))
		expectOrdered(g, got, 0)
	})
	t.Run("waits for its reader", func(t *testing.T) {
		var before, after bool
		synctest.Test(t, func(t *testing.T) {
			a := &agent{able: able}
			sess, err := component.Adapter(a, registry(t)).Open(context.Background(), adapters.Options{})
			if err != nil {
				t.Fatal(err)
			}
			go a.emit(event.SessionReady{SessionID: "s"}, event.ToolStart{ToolUseID: "t1"})
			<-sess.Events()
			<-sess.Events()
			c := a.call("show_component", "t1", show)
			synctest.Wait()
			before = c.returned()
			said := make(chan struct{})
			go func() { a.emit(tool("t1")); close(said) }()
			synctest.Wait()
			select {
			case <-said:
				t.Error("the runtime goes on while nobody reads")
			default:
			}
			if e := <-sess.Events(); e.Type() != event.TypeComponentUpdate {
				t.Errorf("first comes %s", e.Type())
			}
			synctest.Wait()
			after = c.returned()
			<-sess.Events()
			_ = sess.Close(context.Background())
		})
		g := NewWithT(t)
		g.Expect(before).To(BeFalse())
		g.Expect(after).To(BeTrue())
	})
	t.Run("a call whose tool is never told", func(t *testing.T) {
		var text string
		synctest.Test(t, func(t *testing.T) {
			a, s, _ := openSession(t, adapters.Options{})
			c := a.call("show_component", "t2", show)
			synctest.Wait()
			a.emit(event.Done{})
			text = c.text()
			_ = s.Close(context.Background())
		})
		NewWithT(t).Expect(text).To(Equal("!the call has ended"))
	})
	t.Run("a call without an id", func(t *testing.T) {
		var got []event.Event
		synctest.Test(t, func(t *testing.T) {
			a, s, r := openSession(t, adapters.Options{})
			a.call("show_component", "", show).text()
			_ = s.Close(context.Background())
			got = r.events()
		})
		g := NewWithT(t)
		g.Expect(eventLines(got)[begun:]).To(Equal([]string{`component_update a {"title":"x"}`}))
		g.Expect(got[begun].Turn).To(Equal(1))
	})
	t.Run("a call that is given up", func(t *testing.T) {
		var got []event.Event
		synctest.Test(t, func(t *testing.T) {
			a, s, r := openSession(t, adapters.Options{})
			c := a.call("show_component", "t2", show)
			synctest.Wait()
			c.cancel()
			c.text()
			a.emit(event.ToolStart{ToolUseID: "t2"})
			_ = s.Close(context.Background())
			got = r.events()
		})
		NewWithT(t).Expect(eventLines(got)[begun:]).To(Equal([]string{"tool_start t2"}), "nothing is shown for it")
	})
}

func TestTime(t *testing.T) {
	var got []event.Event
	synctest.Test(t, func(t *testing.T) {
		a, s, r := openSession(t, adapters.Options{})
		old := time.Now().UTC().Round(0)
		time.Sleep(time.Hour)
		if err := s.Show(context.Background(), event.ComponentUpdate{ComponentID: "a", ComponentName: "card", Surface: "chat", Props: event.Raw(`{"title":"x"}`)}); err != nil {
			t.Error(err)
		}
		a.seq++
		a.events <- event.Event{Data: event.Delta{Text: "x"}, TS: old, Seq: a.seq, SessionID: "s", Turn: 1} // it had waited
		_ = s.Close(context.Background())
		got = r.events()
	})
	g := NewWithT(t)
	expectOrdered(g, got, 0)
	g.Expect(got[begun].TS.Sub(got[begun-1].TS)).To(Equal(time.Hour))
}

// TestReaderMayChangeState: the reader itself may call methods without a deadlock.
func TestReaderMayChangeState(t *testing.T) {
	n := 0
	var refused error
	synctest.Test(t, func(t *testing.T) {
		a := &agent{able: able}
		sess, err := component.Adapter(a, registry(t)).Open(context.Background(), adapters.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := sess.(component.Session)
		go a.emit(event.SessionReady{SessionID: "s"})
		<-s.Events()
		for refused == nil && n < 5000 {
			n++
			_, refused = s.UpdateState(context.Background(), merge(fmt.Sprintf(`{"count":%d}`, n)))
		}
		_ = s.Close(context.Background()) // drops the unread events
	})
	g := NewWithT(t)
	g.Expect(refused).To(MatchError(component.ErrBacklog))
	g.Expect(n).To(BeNumerically(">", 1000))
}

func TestCloseWithoutReader(t *testing.T) {
	for name, c := range map[string]struct {
		limit time.Duration // of the context; 0: none
		want  time.Duration
	}{"no context": {0, 5 * time.Second}, "a context": {time.Minute, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			var took time.Duration
			synctest.Test(t, func(t *testing.T) {
				a := &agent{able: able}
				s, err := component.Adapter(a, registry(t)).Open(context.Background(), adapters.Options{})
				if err != nil {
					t.Fatal(err)
				}
				go a.emit(event.SessionReady{SessionID: "s"}, event.TurnStart{}, event.ToolStart{ToolUseID: "t1"})
				for range 3 {
					<-s.Events()
				}
				call := a.call("show_component", "t1", `{"id":"a","component":"card","surface":"chat","props":{"title":"x"}}`)
				synctest.Wait()
				ctx := context.Background()
				if c.limit > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				began := time.Now()
				_ = s.Close(ctx)
				took = time.Since(began)
				if text := call.text(); !strings.Contains(text, "closed") {
					t.Errorf("the call has %q", text)
				}
				_ = s.Close(context.Background()) // again
			}) // no goroutine is left, or the bubble says so
			NewWithT(t).Expect(took).To(Equal(c.want))
		})
	}
}

func TestResume(t *testing.T) {
	history := []event.Event{
		{Seq: 1, SessionID: "s", Data: event.SessionReady{}},
		{Seq: 2, SessionID: "s", Data: event.ComponentUpdate{ComponentID: "a", ComponentName: "card", Surface: "panel", Props: event.Raw(`{"title":"x"}`)}},
		{Seq: 3, SessionID: "s", Data: event.ComponentUpdate{ComponentID: "state", ComponentName: "state", Surface: "state", Props: event.Raw(`{"by":"user","state":{"count":4},"version":6}`)}},
	}
	var got []event.Event
	var texts []string
	synctest.Test(t, func(t *testing.T) {
		with := component.WithHistory(func(context.Context, adapters.Options) ([]event.Event, error) { return history, nil })
		a, s, r := openSession(t, adapters.Options{Opening: op.Opening{Resume: "p"}, After: event.Position{Seq: 3}}, with)
		texts = append(texts, a.call("show_component", "t1", `{"id":"a","component":"card","surface":"panel","props":{"n":2},"merge":true}`).text(),
			a.call("update_state", "t1", `{"version":6,"merge":{"count":5}}`).text())
		a.emit(tool("t1"))
		_ = s.Close(context.Background())
		got = r.events()
	})
	g := NewWithT(t)
	g.Expect(texts).To(Equal([]string{"shown", `updated`}))
	expectOrdered(g, got, 3)
	g.Expect(replay.Reduce(append(history, got...)).Components[0].Props).To(MatchJSON(`{"title":"x","n":2}`))
}

func TestOpenErrors(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	_, err := component.Adapter(&agent{}, registry(t)).Open(ctx, adapters.Options{})
	g.Expect(err).To(MatchError(adapters.ErrUnsupported))
	_, err = component.Adapter(&agent{able: able}, registry(t)).Open(ctx, adapters.Options{Tools: []adapters.Tool{{Name: "read_state"}}})
	g.Expect(err).To(MatchError(ContainSubstring("read_state is offered twice")))
	bad := component.WithHistory(func(context.Context, adapters.Options) ([]event.Event, error) { return nil, errors.New("disk") })
	_, err = component.Adapter(&agent{able: able}, registry(t), bad).Open(ctx, adapters.Options{Opening: op.Opening{Resume: "p"}})
	var open *adapters.OpenError
	g.Expect(errors.As(err, &open)).To(BeTrue())
}

// TestConcurrentChanges: in any order of events and calls, seq has no gap, no event of
// the inner session is lost or changed, and the stored events give the same chat.
func TestConcurrentChanges(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			var got []event.Event
			said := 0
			reg := registry(t)
			live := replay.New(replay.WithRegistry(reg))
			synctest.Test(t, func(t *testing.T) {
				a := &agent{able: able}
				sess, err := component.Adapter(a, reg).Open(context.Background(), adapters.Options{})
				if err != nil {
					t.Fatal(err)
				}
				s := sess.(component.Session)
				r := startReader(s)
				a.emit(event.SessionReady{SessionID: "s"}, event.TurnStart{})
				said = 2
				var calls []*called
				for i := range 60 {
					id := fmt.Sprintf("t%d", rnd.IntN(5))
					switch rnd.IntN(9) {
					case 0:
						a.emit(event.Delta{Text: fmt.Sprint(i), BlockID: "b"})
					case 1:
						a.emit(event.ToolStart{ToolUseID: id, Tool: []string{"weather", "plan"}[rnd.IntN(2)], Input: event.Raw(`{}`)})
					case 2:
						a.emit(event.ToolResult{ToolUseID: id, Output: `{"n":1}`, Status: event.ToolOK})
					case 3:
						said--
						calls = append(calls, a.call("show_component", id, fmt.Sprintf(`{"id":"%s","component":"card","surface":%q,"props":{"title":"%d"},"merge":%v}`,
							id, []string{"chat", "panel"}[rnd.IntN(2)], i, rnd.IntN(2) == 0)))
					case 4:
						said--
						calls = append(calls, a.call("remove_component", id, `{"id":"`+id+`"}`))
					case 5:
						said--
						calls = append(calls, a.call("ask_component", id, `{"component":"card","surface":"chat","props":{"title":"?"}}`))
					case 6:
						said--
						n := rnd.IntN(i + 3)
						go func() {
							_ = s.Answer(context.Background(), fmt.Sprintf([]string{"component-%d", "component-t%d"}[n%2], n/2), adapters.Answer{Value: event.Raw(`1`)})
						}()
					case 7:
						said--
						go func() { _, _ = s.UpdateState(context.Background(), merge(fmt.Sprintf(`{"plan":{"steps":[%d]}}`, i))) }()
					case 8:
						said--
						if len(calls) > 0 {
							calls[rnd.IntN(len(calls))].cancel()
						}
					}
					said++
					if rnd.IntN(3) == 0 {
						synctest.Wait()
					}
				}
				a.emit(event.Done{}, event.SessionEnd{})
				said += 2
				_ = s.Close(context.Background())
				for _, c := range calls {
					c.cancel()
					<-c.done
				}
				got = r.events()
			})
			g := NewWithT(t)
			expectOrdered(g, got, 0)
			inner := 0
			asks := map[string]int{}
			for i, e := range got {
				live.Add(e)
				switch d := e.Data.(type) {
				case event.ComponentUpdate, event.ComponentRemove:
				case event.Interrupt:
					asks[d.InterruptID]++
				case event.InterruptResolved:
					asks[d.InterruptID]--
				default:
					inner++
				}
				if i%9 == 0 {
					g.Expect(live.Chat()).To(Equal(replay.Reduce(got[:i+1], replay.WithRegistry(reg))))
				}
			}
			g.Expect(inner).To(Equal(said))
			for id, n := range asks {
				g.Expect(n).To(Equal(0), "%s is resolved", id)
			}
			g.Expect(got[len(got)-1].Type()).To(Equal(event.TypeSessionEnd))
			var shown, kept []string
			stage := component.NewStage(reg)
			for _, e := range got {
				stage.Add(e)
			}
			for _, x := range stage.Shown() {
				if x.Surface != replay.SurfaceChat {
					kept = append(kept, x.ComponentID+string(x.Props))
				}
			}
			for _, x := range live.Chat().Components {
				if x.ToolUseID == "" {
					shown = append(shown, x.ID+string(x.Props))
				}
			}
			g.Expect(shown).To(Equal(kept))
		})
	}
}

// TestInnerAbilitiesAreFound: adapters.As reaches what the inner session can do,
// and the wrapper claims nothing that the inner session lacks.
func TestInnerAbilitiesAreFound(t *testing.T) {
	var renames, steers, ownBacklog bool
	var sent []adapters.Message
	synctest.Test(t, func(t *testing.T) {
		a, s, r := openSession(t, adapters.Options{})
		var inner adapters.Renamer
		if inner, renames = adapters.As[adapters.Renamer](s); renames {
			_ = inner.Rename(context.Background(), "n")
		}
		_, steers = adapters.As[adapters.Steerer](s)
		b, _ := adapters.As[adapters.Backlogger](s)
		ownBacklog = b == s.(adapters.Backlogger)
		_ = s.Close(context.Background())
		<-r.done
		sent = a.sent
	})
	g := NewWithT(t)
	g.Expect(renames).To(BeTrue())
	g.Expect(sent).To(Equal([]adapters.Message{{Text: "n"}}))
	g.Expect(steers).To(BeFalse())
	g.Expect(ownBacklog).To(BeTrue())
}
