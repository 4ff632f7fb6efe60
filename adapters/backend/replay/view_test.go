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

// A view shows the events before it and never changes.
func TestViewsNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := randomEvents(rapidSource{t}, rapid.IntRange(1, 60).Draw(t, "events"))
		r := New()
		var views []*View
		for _, e := range events {
			r.Add(e)
			if rapid.IntRange(0, 3).Draw(t, "view") > 0 {
				views = append(views, r.View())
			}
		}
		for _, v := range views { // first read after the last event
			want := Reduce(events[:v.Seq()])
			if got := v.Chat(); prettyJSON(got) != prettyJSON(want) {
				t.Fatalf("the view at %d is\n%s\nwant\n%s", v.Seq(), prettyJSON(got), prettyJSON(want))
			}
		}
	})
}

// Readers read old views while the reducer goes on: for the race detector.
func TestViewsAreReadConcurrently(t *testing.T) {
	seeds := uint64(60)
	if racesample.Enabled {
		seeds = 10
	}
	for seed := range seeds {
		views := make(chan *View)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for v := range views {
					for range 2 { // two readers may build the same message
						go func() { _ = v.Chat() }()
					}
					c := v.Chat()
					_ = c.Text(1)
					_ = v.Last(2)
				}
			})
		}
		r := New()
		for _, e := range randomEvents(rand.New(rand.NewPCG(seed, 1)), 60) {
			r.Add(e)
			v := r.View()
			views <- v
			views <- v
		}
		close(views)
		wg.Wait()
	}
}

func TestReducerCopiesEvents(t *testing.T) {
	g := NewWithT(t)
	buf := []byte(`{"a":1}`)
	list, steps, options := []string{"m"}, []event.PlanStep{{Text: "a"}}, []string{"o"}
	changes, files, code := []event.FileChange{{Path: "p"}}, []event.Attachment{{Name: "n"}}, 1
	usage := event.Tokens{Input: 1}
	r := New()
	for _, e := range numbered(
		event.UserMessage{MessageID: "m", Attachments: files}, event.Queue{MessageIDs: list},
		event.ToolStart{ToolUseID: "t", Input: buf}, event.ToolResult{ToolUseID: "t", Changes: changes, ExitCode: &code},
		event.PermissionRequest{RequestID: "r", ToolInput: buf, Options: options},
		event.Interrupt{InterruptID: "i", Props: buf}, event.InterruptResolved{InterruptID: "i", Value: buf},
		event.Plan{Steps: steps}, event.ComponentUpdate{ComponentID: "c", Props: buf},
		event.Task{TaskID: "k", Kind: event.TaskSubagent, Usage: &usage},
		event.Done{ExitCode: &code},
	) {
		r.Add(e)
	}
	before := prettyJSON(r.Chat())
	copy(buf, "xxxxxxx")
	list[0], steps[0].Text, options[0], changes[0].Path, files[0].Name, code, usage.Input = "x", "x", "x", "x", "x", 9, 9
	for _, m := range r.open {
		m.blocks.walkNodes((*node).markStale)
		m.markStale()
	}
	g.Expect(prettyJSON(r.Chat())).To(Equal(before))
}

// The cost of a block of many deltas is that of its text: a view does not copy it.
func TestManyDeltasCostTheirText(t *testing.T) {
	g := NewWithT(t)
	const n = 200_000
	r := New()
	for i := range 2000 {
		r.Add(event.Event{Data: bashStart(fmt.Sprint("t", i)), SessionID: "s", Turn: 1 + i})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		r.Add(event.Event{Data: event.Delta{Text: "piece ", MessageID: "m", BlockID: "b"}, Seq: int64(i + 1), SessionID: "s", Turn: 2000})
		if i%1000 == 0 {
			r.View()
		}
	}
	g.Expect(r.Chat().Text(2000)).To(HaveLen(6 * n))
	runtime.ReadMemStats(&after)
	// Copying the text for each view would take 120 MB more; for each delta 120 GB.
	g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 40<<20))
	allocs := testing.AllocsPerRun(100, func() { r.Chat() })
	g.Expect(allocs).To(BeNumerically("<", 10), "unchanged messages are not built again")
}

func TestSessionsDoNotMix(t *testing.T) {
	g := NewWithT(t)
	var both []event.Event
	for _, s := range []string{"b", "a"} {
		for _, e := range numbered(delta("x", s), event.Done{}) {
			e.SessionID = s
			both = append(both, e)
		}
	}
	g.Expect(chatShape(Reduce(both))).To(Equal("assistant/complete[text:complete:a] | assistant/complete[text:complete:b]"))
}

// growingSessions are sessions of any length. Each function returns event i.
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
	"sub-agents across turns": func(i int) event.Event {
		turn := 1 + i/5
		id := fmt.Sprint("k", turn-1)
		switch i % 5 {
		case 0:
			return event.Event{Turn: turn, Data: event.Delta{Text: "word ", MessageID: "m", BlockID: fmt.Sprint("b", i)}}
		case 4:
			return event.Event{Turn: turn, Data: event.Done{}}
		case 1:
			return event.Event{Turn: turn, Data: event.Task{TaskID: fmt.Sprint("k", turn), Kind: event.TaskSubagent, Status: event.TaskRunning}}
		case 2: // the sub-agent of the previous turn emits text and ends
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

func addGrowing(r *Reducer, next func(int) event.Event, from, to int, withView bool) {
	for i := from; i < to; i++ {
		e := next(i)
		e.SessionID, e.Seq = "s", int64(i+1)
		r.Add(e)
		if withView {
			r.View()
		}
	}
}

// An event costs as much in a long session as in a short one, also with a view after
// each event.
func TestEventCostIsIndependentOfLength(t *testing.T) {
	few, many := 2_000, 20_000
	if racesample.Whole() {
		many = 100_000
	}
	for name, next := range growingSessions {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, withView := range []bool{false, true} {
				cost := func(n int) (bytes, allocs float64) {
					var a, b runtime.MemStats
					runtime.ReadMemStats(&a)
					addGrowing(New(), next, 0, n, withView)
					runtime.ReadMemStats(&b)
					return float64(b.TotalAlloc-a.TotalAlloc) / float64(n), float64(b.Mallocs-a.Mallocs) / float64(n)
				}
				fewBytes, fewAllocs := cost(few)
				manyBytes, manyAllocs := cost(many)
				t.Logf("views %v: %.0f B and %.2f allocations an event at %d, %.0f B and %.2f at %d", withView, fewBytes, fewAllocs, few, manyBytes, manyAllocs, many)
				// The depth of the tree adds a little, and growing a map or a
				// text costs more for some events than for others.
				g.Expect(manyBytes).To(BeNumerically("<", 2*fewBytes+200))
				g.Expect(manyAllocs).To(BeNumerically("<", 1.5*fewAllocs+1))
			}
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	for name, next := range growingSessions {
		for _, n := range []int{1_000, 1_000_000} {
			for _, withView := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/after=%d/view=%v", name, n, withView), func(b *testing.B) {
					b.ReportAllocs()
					r := New()
					addGrowing(r, next, 0, n, false)
					r.View()
					b.ResetTimer()
					addGrowing(r, next, n, n+b.N, withView)
				})
			}
		}
	}
}
