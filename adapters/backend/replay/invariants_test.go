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
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// reduceFunc reduces stored events in the order in which they are read.
type reduceFunc func(events []event.Event, options ...Option) *Chat

// Each invariant holds for Reduce, with and without a registry, and is violated by
// the broken reducers that it lists.
func TestInvariants(t *testing.T) {
	reducers := map[string]reduceFunc{
		"ignores seq":           reduceChanged(func(e event.Event) event.Event { e.Seq = 0; return e }),
		"orders by time":        reduceByTime,
		"ignores sub-agents":    reduceChanged(func(e event.Event) event.Event { e.SubagentID = ""; return e }),
		"mixes tools of agents": reduceChanged(mixTools),
		"emits invalid UTF-8": func(events []event.Event, options ...Option) *Chat {
			c := Reduce(events, options...)
			for i := range c.Messages {
				c.Messages[i].ID += "\xff"
			}
			return c
		},
	}
	seeds := uint64(120)
	if racesample.Enabled {
		seeds = 40
	}
	for _, inv := range []struct {
		name   string
		check  func(reduce reduceFunc, r *rand.Rand, options ...Option) error // an error describes the violation
		breaks []string
	}{
		{"stored events in any order", checkShuffled, []string{"ignores seq", "orders by time"}},
		{"events delivered twice", checkTwice, []string{"ignores seq"}},
		{"a prefix, then all", checkPrefixed, []string{"ignores seq"}},
		{"interleaved sub-agents", checkInterleaved, []string{"ignores sub-agents", "mixes tools of agents"}},
		{"chat through JSON and back", checkThroughJSON, []string{"emits invalid UTF-8"}},
	} {
		t.Run(inv.name, func(t *testing.T) {
			check := func(reduce reduceFunc, seed uint64) error {
				var options []Option
				if seed%2 == 1 {
					options = append(options, WithRegistry(testRegistry{}))
				}
				return inv.check(reduce, rand.New(rand.NewPCG(seed, 5)), options...)
			}
			for seed := range seeds {
				if err := check(Reduce, seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			for _, name := range inv.breaks {
				violated := false
				for seed := uint64(0); seed < 200 && !violated; seed++ {
					violated = check(reducers[name], seed) != nil
				}
				if !violated {
					t.Errorf("a reducer that %s does not violate it", name)
				}
			}
		})
	}
}

// reduceChanged returns a reducer that changes each event before it adds it.
func reduceChanged(change func(event.Event) event.Event) reduceFunc {
	return func(events []event.Event, options ...Option) *Chat {
		r := New(options...)
		for _, e := range events {
			r.Add(change(e))
		}
		return r.Chat()
	}
}

var reduceLive = reduceChanged(func(e event.Event) event.Event { return e })

func reduceByTime(events []event.Event, options ...Option) *Chat {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b event.Event) int { return a.TS.Compare(b.TS) })
	return reduceLive(sorted, options...)
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

func checkShuffled(reduce reduceFunc, r *rand.Rand, options ...Option) error {
	events := randomEvents(r, 1+r.IntN(120))
	want := reduceLive(events, options...)
	var stored []event.Event
	for _, e := range events {
		b, err := e.MarshalJSON()
		if err != nil {
			return err
		}
		decoded, err := event.Decode(b)
		if err != nil {
			return err
		}
		stored = append(stored, decoded)
	}
	r.Shuffle(len(stored), func(i, j int) { stored[i], stored[j] = stored[j], stored[i] })
	before := fmt.Sprint(stored)
	err := compareChats(reduce(stored, options...), want)
	if fmt.Sprint(stored) != before {
		return errors.New("the caller's events were changed")
	}
	return err
}

func checkTwice(reduce reduceFunc, r *rand.Rand, options ...Option) error {
	events := randomEvents(r, 1+r.IntN(80))
	var again []event.Event
	for i, e := range events {
		again = append(again, e)
		if r.IntN(6) == 0 {
			again = append(again, events[r.IntN(i+1):i+1]...)
		}
	}
	want := reduceLive(events, options...)
	if err := compareChats(reduceLive(again, options...), want); err != nil {
		return err
	}
	return compareChats(reduce(again, options...), want)
}

// checkPrefixed adds the events that were stored when a reader began, and then all.
func checkPrefixed(reduce reduceFunc, r *rand.Rand, options ...Option) error {
	events := randomEvents(r, 1+r.IntN(80))
	prefix := events[:r.IntN(len(events)+1)]
	return compareChats(reduce(slices.Concat(prefix, events), options...), reduceLive(events, options...))
}

func checkThroughJSON(reduce reduceFunc, r *rand.Rand, options ...Option) error {
	c := reduce(randomEvents(r, 1+r.IntN(80)), options...)
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

// checkInterleaved merges the streams of concurrent agents in two orders.
func checkInterleaved(reduce reduceFunc, r *rand.Rand, options ...Option) error {
	streams := [][]event.Data{randomAgent(r)}
	for range 1 + r.IntN(3) {
		streams = append(streams, randomAgent(r))
	}
	var chats []*Chat
	for range 2 {
		c := reduce(mergeStreams(r, streams), options...)
		sortSubagents(c)
		chats = append(chats, c)
	}
	if len(chats[0].Messages) == 0 {
		return errors.New("the chat is empty")
	}
	return compareChats(chats[0], chats[1])
}

// randomAgent returns what one agent emits. All agents use the same ids.
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

// mergeStreams merges the streams of agents. The first one is the main agent's.
func mergeStreams(r randomSource, streams [][]event.Data) []event.Event {
	out := []event.Event{inTurn(1, event.TurnStart{}), inTurn(1, event.UserMessage{MessageID: "m1", Text: "Go."}), inTurn(1, delta("first", "I go."))}
	for k := 1; k < len(streams); k++ { // tasks in a fixed order, their events in any
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

// sortSubagents sorts the sub-agents of each message behind its other blocks.
func sortSubagents(c *Chat) {
	for i := range c.Messages {
		m := &c.Messages[i]
		m.Seq, m.Figures = 0, nil
		slices.SortStableFunc(m.Blocks, func(a, b Block) int {
			switch agentA, agentB := a.Kind == KindSubagent, b.Kind == KindSubagent; {
			case agentA && agentB:
				return cmp.Compare(a.ID, b.ID)
			case agentA:
				return 1
			case agentB:
				return -1
			}
			return 0
		})
	}
}
