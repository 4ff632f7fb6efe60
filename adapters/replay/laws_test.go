package replay

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// invariant is a property of a reducer that takes stored events: an error says how it
// is broken on some stream of that seed.
type invariant func(reduce func([]event.Event) *Chat, seed uint64) error

// Each law holds for Reduce and is seen to be broken by the reducers that are
// named beside it.
func TestLaws(t *testing.T) {
	reducers := map[string]func([]event.Event) *Chat{
		"takes what comes":      reduceChanged(func(e event.Event) event.Event { e.Seq = 0; return e }),
		"orders by time":        reduceByTime,
		"knows no sub-agents":   reduceChanged(func(e event.Event) event.Event { e.SubagentID = ""; return e }),
		"mixes tools of agents": reduceChanged(mixTools),
		"shows what is no JSON": func(events []event.Event) *Chat {
			c := Reduce(events)
			for i := range c.Messages {
				c.Messages[i].ID += "\xff"
			}
			return c
		},
	}
	laws := []struct {
		name   string
		law    invariant
		breaks []string
	}{
		{"events in any order", checkShuffled, []string{"takes what comes", "orders by time"}},
		{"events twice", checkTwice, []string{"takes what comes"}},
		{"a prefix, then all", checkPrefixed, []string{"takes what comes"}},
		{"sub-agents interleaved in any way", checkInterleaved, []string{"knows no sub-agents", "mixes tools of agents"}},
		{"through JSON and back", checkThroughJSON, []string{"shows what is no JSON"}},
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			for seed := range uint64(150) {
				if err := l.law(func(events []event.Event) *Chat { return Reduce(events) }, seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			for _, name := range l.breaks {
				seen := false
				for seed := uint64(0); seed < 150 && !seen; seed++ {
					seen = l.law(reducers[name], seed) != nil
				}
				if !seen {
					t.Errorf("a reducer that %s is not seen", name)
				}
			}
		})
	}
}

// reduceChanged is a reducer that takes events as they are stored, each changed first.
func reduceChanged(change func(event.Event) event.Event) func([]event.Event) *Chat {
	return func(events []event.Event) *Chat {
		r := New()
		for _, e := range events {
			r.Add(change(e))
		}
		return r.Chat()
	}
}

func reduceByTime(events []event.Event) *Chat {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b event.Event) int { return a.TS.Compare(b.TS) })
	return reduceChanged(func(e event.Event) event.Event { return e })(sorted)
}

func mixTools(e event.Event) event.Event {
	switch e.Data.(type) {
	case event.ToolStart, event.ToolOutput, event.ToolResult:
		e.SubagentID = ""
	}
	return e
}

func compareChats(got, want *Chat) error {
	if a, b := prettyJSON(got), prettyJSON(want); a != b {
		return fmt.Errorf("the chat is\n%s\nwant\n%s", a, b)
	}
	return nil
}

func checkShuffled(reduce func([]event.Event) *Chat, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 5))
	events := randomEvents(r, 1+r.IntN(80))
	want := reduceLive(events)
	r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return compareChats(reduce(events), want)
}

func checkTwice(reduce func([]event.Event) *Chat, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 6))
	events := randomEvents(r, 1+r.IntN(80))
	var again []event.Event
	for i, e := range events {
		again = append(again, e)
		if r.IntN(6) == 0 {
			again = append(again, events[r.IntN(i+1):i+1]...)
		}
	}
	return compareChats(reduce(again), reduceLive(events))
}

// checkPrefixed: what was stored when a reader came, and behind it everything.
func checkPrefixed(reduce func([]event.Event) *Chat, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	events := randomEvents(r, 1+r.IntN(80))
	prefix := events[:r.IntN(len(events)+1)]
	if len(prefix) == 0 {
		return nil
	}
	return compareChats(reduce(slices.Concat(prefix, events)), reduceLive(events))
}

func checkThroughJSON(reduce func([]event.Event) *Chat, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 8))
	c := reduce(randomEvents(r, 1+r.IntN(80)))
	b, err := c.JSON()
	if err != nil {
		return err
	}
	var back Chat
	if err := json.Unmarshal(b, &back, snapshotJSON); err != nil {
		return err
	}
	for i, m := range c.Messages {
		if back.Messages[i].ID != m.ID {
			return fmt.Errorf("message %q came back as %q", m.ID, back.Messages[i].ID)
		}
	}
	return compareChats(&back, c)
}

// checkInterleaved: agents that do not wait for each other, in two orders.
func checkInterleaved(reduce func([]event.Event) *Chat, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 9))
	streams := [][]event.Data{randomAgent(r)}
	for range 1 + r.IntN(3) {
		streams = append(streams, randomAgent(r))
	}
	var chats []*Chat
	for range 2 {
		c := reduce(mergeStreams(r, streams))
		sortSubagents(c)
		chats = append(chats, c)
	}
	if len(chats[0].Messages) == 0 {
		return errors.New("nothing was said")
	}
	return compareChats(chats[0], chats[1])
}

// randomAgent is what one agent does; its ids are those of every other.
func randomAgent(r randomSource) []event.Data {
	var out []event.Data
	for i := range 2 + r.IntN(5) {
		block, tool := fmt.Sprint("b", i), fmt.Sprint("t", i)
		switch r.IntN(3) {
		case 0:
			out = append(out, thinking(block, "hm", false), thinking(block, "", true))
		case 1:
			out = append(out, bashStart(tool), event.ToolOutput{ToolUseID: tool, Text: fmt.Sprint("out ", r.IntN(9))}, event.ToolResult{ToolUseID: tool, Status: "ok"})
		default:
			out = append(out, delta(block, fmt.Sprint("one ", r.IntN(9))), delta(block, " two"), blockEnd(block, event.BlockComplete))
		}
	}
	return out
}

// mergeStreams puts the streams of agents into one, the first of them the main one.
func mergeStreams(r randomSource, streams [][]event.Data) []event.Event {
	out := []event.Event{inTurn(1, event.TurnStart{}), inTurn(1, event.UserMessage{MessageID: "m1", Text: "Go."}), inTurn(1, delta("first", "I go."))}
	for k := 1; k < len(streams); k++ { // known in one order; what they do comes in any
		out = append(out, inTurn(1, event.Task{TaskID: fmt.Sprint("k", k), Kind: event.TaskSubagent, Status: "running"}))
	}
	next := make([]int, len(streams))
	for {
		var more []int
		for k := range streams {
			if next[k] < len(streams[k]) {
				more = append(more, k)
			}
		}
		if len(more) == 0 {
			break
		}
		k := more[r.IntN(len(more))]
		e := event.Event{Turn: 1, Data: streams[k][next[k]]}
		if k > 0 {
			e.SubagentID = fmt.Sprint("k", k)
		}
		out = append(out, e)
		next[k]++
	}
	out = append(out, inTurn(1, event.Done{}))
	for i := range out {
		out[i].SessionID, out[i].Seq = "s", int64(i+1)
		out[i].TS = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	}
	return out
}

// sortSubagents puts the sub-agents of each message into one order, behind the rest.
func sortSubagents(c *Chat) {
	for i := range c.Messages {
		m := &c.Messages[i]
		m.Seq, m.Figures = 0, nil
		slices.SortStableFunc(m.Blocks, func(a, b Block) int {
			if a.Kind != KindSubagent || b.Kind != KindSubagent {
				return cmp.Compare(btoi(a.Kind == KindSubagent), btoi(b.Kind == KindSubagent))
			}
			return cmp.Compare(a.ID, b.ID)
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
