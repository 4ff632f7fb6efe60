package replay

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// A view is what its prefix makes, and stays so.
func TestViewsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := randomEvents(rapidSource{t}, rapid.IntRange(1, 60).Draw(t, "events"))
		r := New()
		var views []*View
		for _, e := range events {
			r.Add(e)
			if rapid.IntRange(0, 3).Draw(t, "look") > 0 {
				views = append(views, r.View())
			}
		}
		for _, v := range views { // read for the first time when all is over
			want := Reduce(events[:v.Seq()])
			if got := v.Chat(); prettyJSON(got) != prettyJSON(want) {
				t.Fatalf("the view at %d is\n%s\nwant\n%s", v.Seq(), prettyJSON(got), prettyJSON(want))
			}
		}
	})
}

// Readers walk old views while the reducer goes on: for the race detector.
func TestReadersWhileTheReducerGoesOn(t *testing.T) {
	forRandomEvents(t, func(_ Gomega, _ *rand.Rand, events []event.Event) {
		views := make(chan *View)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for v := range views {
					for range 2 { // two of them may put the same message together
						go func() { _ = v.Chat() }()
					}
					c := v.Chat()
					_ = c.Text(1)
					_ = v.Last(2)
				}
			})
		}
		r := New()
		for _, e := range events {
			r.Add(e)
			v := r.View()
			views <- v
			views <- v
		}
		close(views)
		wg.Wait()
	})
}

// growingSessions are sessions that grow without end, each by other means: the event i of
// each.
var growingSessions = map[string]func(i int) event.Event{
	"deltas of a block": func(i int) event.Event {
		return event.Event{Turn: 1, Data: event.Delta{Text: "some words ", MessageID: "m", BlockID: "b"}}
	},
	"blocks of a message": func(i int) event.Event {
		return event.Event{Turn: 1, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: fmt.Sprint("b", i)}}
	},
	"tools of a message": func(i int) event.Event {
		if i%2 == 0 {
			return event.Event{Turn: 1, Data: event.ToolStart{ToolUseID: fmt.Sprint("t", i), Tool: "Bash", Command: "ls"}}
		}
		return event.Event{Turn: 1, Data: event.ToolResult{ToolUseID: fmt.Sprint("t", i-1), Output: "a", Status: event.ToolOK}}
	},
	"turns": func(i int) event.Event {
		turn := 1 + i/4
		switch i % 4 {
		case 0:
			return event.Event{Turn: turn, Data: event.TurnStart{Cause: event.CauseUser}}
		case 1:
			return event.Event{Turn: turn, Data: event.UserMessage{MessageID: fmt.Sprint("m", turn), Text: "and now?"}}
		case 2:
			return event.Event{Turn: turn, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: fmt.Sprint("b", i)}}
		}
		return event.Event{Turn: turn, Data: event.Done{}}
	},
	"sub-agents beside the turns": func(i int) event.Event {
		turn := 1 + i/5
		id := fmt.Sprint("k", turn-1)
		switch i % 5 {
		case 0:
			return event.Event{Turn: turn, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: fmt.Sprint("b", i)}}
		case 4:
			return event.Event{Turn: turn, Data: event.Done{}}
		case 1:
			return event.Event{Turn: turn, Data: event.Task{TaskID: fmt.Sprint("k", turn), Kind: event.TaskSubagent, Status: event.TaskRunning}}
		case 2: // the one of the turn before works and ends
			return event.Event{Turn: turn, SubagentID: id, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: "x"}}
		}
		return event.Event{Turn: turn, Data: event.Task{TaskID: id, Kind: event.TaskSubagent, Status: event.TaskCompleted}}
	},
	"a sub-agent of the first turn": func(i int) event.Event {
		switch {
		case i == 0:
			return event.Event{Turn: 1, Data: event.Task{TaskID: "k", Kind: event.TaskSubagent, Status: event.TaskRunning}}
		case i%3 == 0:
			return event.Event{Turn: 1 + i/3, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: fmt.Sprint("b", i)}}
		case i%3 == 1:
			return event.Event{Turn: 1 + i/3, Data: event.Done{}}
		}
		return event.Event{Turn: 1, SubagentID: "k", Data: event.Delta{Text: "word ", MessageID: "m", BlockID: "x"}}
	},
}

func addGrowing(r *Reducer, next func(int) event.Event, from, to int, look bool) {
	for i := from; i < to; i++ {
		e := next(i)
		e.SessionID, e.Seq = "s", int64(i+1)
		r.Add(e)
		if look {
			r.View()
		}
	}
}

// An event costs as much in a long session as in a short one, also where a view
// is taken after each.
func TestAnEventCostsTheSameHoweverMuchThereIs(t *testing.T) {
	few, many := 2_000, 100_000
	if racesample.Enabled || testing.Short() {
		many = 20_000
	}
	for name, next := range growingSessions {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, look := range []bool{false, true} {
				cost := func(n int) (bytes, allocs float64) {
					var a, b runtime.MemStats
					runtime.ReadMemStats(&a)
					addGrowing(New(), next, 0, n, look)
					runtime.ReadMemStats(&b)
					return float64(b.TotalAlloc-a.TotalAlloc) / float64(n), float64(b.Mallocs-a.Mallocs) / float64(n)
				}
				b1, a1 := cost(few)
				b2, a2 := cost(many)
				t.Logf("look %v: %.0f B and %.2f allocations an event at %d, %.0f B and %.2f at %d", look, b1, a1, few, b2, a2, many)
				// The depth of a tree adds a little, and what it costs to grow a
				// map or a text is not even.
				g.Expect(b2).To(BeNumerically("<", 2*b1+200))
				g.Expect(a2).To(BeNumerically("<", 1.5*a1+1))
			}
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	for name, next := range growingSessions {
		for _, n := range []int{1_000, 1_000_000} {
			for _, look := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/after=%d/view=%v", name, n, look), func(b *testing.B) {
					b.ReportAllocs()
					r := New()
					addGrowing(r, next, 0, n, false)
					r.View()
					b.ResetTimer()
					addGrowing(r, next, n, n+b.N, look)
				})
			}
		}
	}
}
