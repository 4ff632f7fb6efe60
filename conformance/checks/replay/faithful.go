package replay

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
)

// Faithful is the check replay.faithful.
var Faithful = &conformance.Check{
	ID: "replay.faithful", Source: "chats whose spinner never ends because one event was lost", Tiers: []conformance.Tier{conformance.TierGolden},
	Sentence: "The chat shows what the events hold, each item in its place and with its final status, also if events are lost, late or repeated.",
	Judge:    judgeFaithful,
	Faults:   []string{"kill"}, JudgeFault: judgeFaithfulFaulted,
}

// tried is how many of the alterations a case is tried with; the next case begins
// with another one.
const tried = 2

// judgeFaithful: as the events are, and as they may come when a connection or a
// store has lost some, or kept no order.
func judgeFaithful(t *conformance.Trial, f *conformance.Finding) {
	stored, err := t.Stored()
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	for _, events := range sessions(stored) {
		if !faithful(f, "", events, true) {
			return
		}
		at := fnv.New32a()
		_, _ = at.Write([]byte(t.Scenario.ID + t.Version)) // it never fails
		from, n := int(at.Sum32()%uint32(len(alterations))), 0
		for i := range alterations {
			x := alterations[(from+i)%len(alterations)]
			altered := x.alter(slices.Clone(events))
			if altered == nil {
				continue
			}
			if n++; n > tried || !faithful(f, x.name, renumbered(altered), n == 1) {
				break
			}
		}
	}
}

// judgeFaithfulFaulted: as they are when the wire was harmed.
func judgeFaithfulFaulted(_, r *conformance.Run, f *conformance.Finding) {
	told := make([]event.Event, 0, len(r.Events))
	for _, e := range r.Events {
		told = append(told, e.Event)
	}
	before := len(f.Problems)
	for _, events := range sessions(told) {
		faithful(f, r.Fault.String()+": ", events, false)
	}
	for i := range f.Problems[before:] {
		f.Problems[before+i].Fault = r.Fault
	}
}

// sessions are the events of each session, in its order.
func sessions(events []event.Event) [][]event.Event {
	var ids []string
	of := map[string][]event.Event{}
	for _, e := range events {
		if of[e.SessionID] == nil {
			ids = append(ids, e.SessionID)
		}
		of[e.SessionID] = append(of[e.SessionID], e)
	}
	out := make([][]event.Event, 0, len(ids))
	for _, id := range ids {
		out = append(out, of[id])
	}
	return out
}

func renumbered(events []event.Event) []event.Event {
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events
}

// faithful reduces events and lets them be accounted for at some moments. Closely
// is also to look at what the chat is at after each event and, where the events are
// altered, to put it away amid them and open it again.
func faithful(f *conformance.Finding, how string, events []event.Event, closely bool) bool {
	r, a := replay.New(), newAccount()
	whole := moments(events, how == "")
	for i, e := range events {
		if closely && how != "" && i == len(events)/2 {
			data, err := r.Snapshot(len(events))
			if err == nil {
				r, err = replay.Restore(data)
			}
			if err != nil {
				f.Failf("%sno snapshot of the chat can be restored: %v", how, err)
				return false
			}
		}
		r.Add(e)
		a.add(e)
		at := slices.Contains(whole, i)
		if !at && !closely {
			continue
		}
		v := r.View()
		seen := v.Head()
		var problems []string
		if want, got := a.status(), seen.Status; want != got {
			problems = append(problems, fmt.Sprintf("the chat is %s, by the events it is %s", got, want))
		}
		if want, got := a.activity(), seen.Activity; want != got {
			problems = append(problems, fmt.Sprintf("the chat is at %q, by the events at %q", got, want))
		}
		if len(problems) == 0 && at {
			chat := v.Chat()
			more, looked := a.unfaithful(chat, events)
			f.Asserted(looked)
			problems = slices.Concat(more, ways(v, chat))
		}
		for _, p := range problems {
			f.Failf("%safter event %d (%s) %s", how, e.Seq, e.Type(), p)
		}
		if len(problems) > 0 {
			return false
		}
	}
	return true
}

// moments are when all of a chat is looked at: at the end, as the first turn has
// ended, and of events as they are also amid them and as the next turn ends.
func moments(events []event.Event, more bool) []int {
	last := len(events) - 1
	out, most := []int{last}, 2
	if more {
		out, most = append(out, last/2), 4
	}
	for i, e := range events {
		if len(out) < most && e.Terminal() && e.SubagentID == "" && e.Turn > 0 {
			out = append(out, i)
		}
	}
	return out
}

// ways: whichever way one goes through a view, it is the same chat.
func ways(v *replay.View, c *replay.Chat) (problems []string) {
	n := len(c.Messages)
	for m := range v.Backward() {
		if n--; n < 0 || m != v.Message(c.Messages[n].Number) {
			return []string{fmt.Sprintf("message %d is not where it is for who goes backward", m.Number)}
		}
	}
	if n != 0 {
		problems = append(problems, fmt.Sprintf("%d messages are not there for who goes backward", n))
	}
	newest := v.Last(2)
	for i, m := range newest {
		if want := c.Messages[len(c.Messages)-len(newest)+i].Number; m.Number != want {
			problems = append(problems, fmt.Sprintf("among the newest is message %d and not %d", m.Number, want))
		}
	}
	if len(newest) != min(2, len(c.Messages)) {
		problems = append(problems, fmt.Sprintf("the newest two messages are %d", len(newest)))
	}
	for _, m := range newest {
		if f := c.Stats(m.Turn).Figures; m.Figures != nil && m.Turn > 0 && !reflect.DeepEqual(f, m.Figures) {
			problems = append(problems, fmt.Sprintf("the figures of turn %d are %+v, and its message has %+v", m.Turn, f, m.Figures))
		}
		problems = append(problems, flat(m)...)
		if want, got := c.Stats(m.Turn), v.Stats(m.Turn); !reflect.DeepEqual(want, got) {
			problems = append(problems, fmt.Sprintf("the figures of turn %d are %+v, and of the view %+v", m.Turn, want, got))
		}
	}
	return problems
}

// flat: what a message has without its blocks is what is in them.
func flat(m *replay.Message) (problems []string) {
	var permission, question *replay.Block
	thinking, calls := false, 0
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch {
		case b.Kind == replay.KindPermission && b.Status == replay.Pending && permission == nil:
			permission = b
		case b.Kind == replay.KindInterrupt && b.Status == replay.Pending && question == nil:
			question = b
		case b.Kind == replay.KindThinking:
			thinking = b.Status == replay.Running
		case b.Kind == replay.KindTool:
			calls++
		}
	}
	f := m.Flat()
	if f.Permission != permission || f.Question != question {
		problems = append(problems, fmt.Sprintf("message %d has another question without its blocks", m.Number))
	}
	if f.Thinking.Content != "" && f.Thinking.Done == thinking {
		problems = append(problems, fmt.Sprintf("message %d thinks otherwise without its blocks", m.Number))
	}
	if len(f.Tools) != calls || f.Done != (m.Status != replay.Running) {
		problems = append(problems, fmt.Sprintf("message %d has other calls or another end without its blocks", m.Number))
	}
	return problems
}
