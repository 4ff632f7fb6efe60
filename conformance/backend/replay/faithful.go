package replay

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Faithful is the check replay.faithful.
var Faithful = &conformance.Check{
	ID: "replay.faithful", Source: "chats whose spinner never ends because one event was lost", Tiers: []conformance.Tier{conformance.TierGolden},
	Mend:     "Match events by id, not by their position. Ignore repeated ones, and let the end of a turn close what was left open.",
	Sentence: "The chat shows what the events hold, each item in its place and with its final status, also if events are lost, late or repeated.",
	Judge:    judgeFaithful,
	Faults:   []string{"kill"}, JudgeFault: judgeFaithfulFaulted,
}

// tried is the number of alterations per case. Which one comes first depends on the
// case.
const tried = 2

// judgeFaithful judges the chat of the events, and of altered events such as a
// connection or a store may deliver: some lost, late, repeated or out of order.
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

// judgeFaithfulFaulted judges the chat of a run with a fault.
func judgeFaithfulFaulted(_, r *conformance.Run, f *conformance.Finding) {
	emitted := make([]event.Event, 0, len(r.Events))
	for _, e := range r.Events {
		emitted = append(emitted, e.Event)
	}
	for _, events := range sessions(emitted) {
		faithful(f, "", events, false)
	}
}

// sessions returns the events of each session, in order.
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

// faithful reduces events and compares the chat with an account of them at some
// moments. If closely is set, it also compares status and activity after each event
// and, if the events are altered, restores the chat from a snapshot in the middle. It
// returns false if it found a problem.
func faithful(f *conformance.Finding, how string, events []event.Event, closely bool) bool {
	r, a := replay.New(), newAccount()
	whole := moments(events, closely && how == "")
	for i, e := range events {
		if closely && how != "" && i == len(events)/2 {
			data, err := r.Snapshot(len(events))
			if err == nil {
				r, err = replay.Restore(data)
			}
			if err != nil {
				f.Failf("%sthe chat cannot be restored from its snapshot: %v", how, err)
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
			problems = append(problems, fmt.Sprintf("the status of the chat is %s, the events give %s", got, want))
		}
		if want, got := a.activity(), seen.Activity; want != got {
			problems = append(problems, fmt.Sprintf("the activity of the chat is %q, the events give %q", got, want))
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

// moments returns the indexes of the events after which the whole chat is compared:
// the last event and the end of the first turn; with more, also the middle and the end
// of the next turn.
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

// ways demands that each way through a view gives the messages and figures of the
// chat.
func ways(v *replay.View, c *replay.Chat) (problems []string) {
	n := len(c.Messages)
	for m := range v.Backward() {
		if n--; n < 0 || m != v.Message(c.Messages[n].Number) {
			return []string{fmt.Sprintf("Backward yields message %d in the wrong place", m.Number)}
		}
	}
	if n != 0 {
		problems = append(problems, fmt.Sprintf("Backward leaves out %d messages", n))
	}
	newest := v.Last(2)
	for i, m := range newest {
		if want := c.Messages[len(c.Messages)-len(newest)+i].Number; m.Number != want {
			problems = append(problems, fmt.Sprintf("Last(2) returns message %d, want %d", m.Number, want))
		}
	}
	if len(newest) != min(2, len(c.Messages)) {
		problems = append(problems, fmt.Sprintf("Last(2) returns %d messages", len(newest)))
	}
	for _, m := range newest {
		if f := c.Stats(m.Turn).Figures; m.Figures != nil && m.Turn > 0 && !reflect.DeepEqual(f, m.Figures) {
			problems = append(problems, fmt.Sprintf("the figures of turn %d are %+v, but its message has %+v", m.Turn, f, m.Figures))
		}
		problems = append(problems, flat(m)...)
		if want, got := c.Stats(m.Turn), v.Stats(m.Turn); !reflect.DeepEqual(want, got) {
			problems = append(problems, fmt.Sprintf("the figures of turn %d are %+v in the chat and %+v in the view", m.Turn, want, got))
		}
	}
	return problems
}

// flat demands that Message.Flat agrees with the blocks of the message.
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
		problems = append(problems, fmt.Sprintf("the question of the flat message %d is not that of its blocks", m.Number))
	}
	if f.Thinking.Content != "" && f.Thinking.Done == thinking {
		problems = append(problems, fmt.Sprintf("the thinking of the flat message %d is not that of its blocks", m.Number))
	}
	if len(f.Tools) != calls || f.Done != (m.Status != replay.Running) {
		problems = append(problems, fmt.Sprintf("the calls or the status of the flat message %d are not those of its blocks", m.Number))
	}
	return problems
}
