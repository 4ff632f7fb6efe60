package turn

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Queue is the check turn.queue.
var Queue = &conformance.Check{
	ID: "turn.queue", Source: "the event contract (adapters/event): queue", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"queue", "queue.message_ids"},
	Needs:    []string{"queue", "user_message"},
	Mend:     "Add a message to the queue when it is sent during a turn, and remove it when a turn takes it or the client withdraws it. Emit queue after each change.",
	Sentence: "queue lists the messages that wait, each once: sent by the client and neither taken by a turn nor withdrawn. A message that begins a later turn than the one in which it was sent is listed before.",
	Judge:    judgeQueue,
}

func judgeQueue(t *conformance.Trial, f *conformance.Finding) {
	taken, listed := map[string]bool{}, map[string]bool{}
	var list []string // as last reported
	for _, e := range t.Events {
		if e.SubagentID != "" {
			continue
		}
		if e.Terminal() {
			for _, id := range list {
				if taken[id] {
					f.At(e, "at the end of turn %d the queue still lists %s, which a turn has taken", e.Turn, id)
				}
			}
		}
		switch d := e.Data.(type) {
		case event.UserMessage:
			taken[d.MessageID] = true
		case event.Queue:
			f.Asserted(1)
			judgeList(t, f, e, d, taken)
			list = d.MessageIDs
			for _, id := range d.MessageIDs {
				listed[id] = true
			}
		}
	}
	for i, a := range t.Steps {
		running := runindex.Of(t.Run).TurnAt(i)
		if a.Step.Verb != fixtures.VerbSend || a.Err != nil || running == nil || endedBefore(t.Run, running, a.At) {
			continue
		}
		if !taken[a.Step.ID] {
			f.Asserted(1)
			if !listed[a.Step.ID] {
				f.Failf("message %s was sent during turn %d and no turn took it, but no queue event lists it", a.Step.ID, running.N)
			}
			continue
		}
		for _, m := range runindex.Of(t.Run).Messages() {
			if m.Data.MessageID == a.Step.ID && m.Turn > running.N {
				f.Asserted(1)
				if !listed[a.Step.ID] {
					f.At(m.Event, "message %s was sent during turn %d and began turn %d, but no queue event lists it", a.Step.ID, running.N, m.Turn)
				}
			}
		}
	}
}

// lateList is how late a list may be that was made before a message was withdrawn.
const lateList = time.Second

// judgeList judges the list of one event.
func judgeList(t *conformance.Trial, f *conformance.Finding, e conformance.Event, d event.Queue, taken map[string]bool) {
	sent, withdrawn := map[string]bool{}, map[string]bool{}
	for _, a := range t.Steps[:min(e.Steps, len(t.Steps))] {
		switch {
		case a.Step.Verb == fixtures.VerbSend || a.Step.Verb == fixtures.VerbSteer:
			sent[a.Step.ID] = true
		case a.Step.Verb == fixtures.VerbWithdraw && a.Err == nil && a.At+a.For+lateList < e.At:
			withdrawn[a.Step.ID] = true
		}
	}
	for i, id := range d.MessageIDs {
		switch {
		case !sent[id]:
			f.At(e, "the queue lists %s, which the client has not sent", id)
		case taken[id]:
			f.At(e, "the queue lists %s, which a turn has taken", id)
		case withdrawn[id]:
			f.At(e, "the queue lists %s, which was withdrawn", id)
		case slices.Contains(d.MessageIDs[:i], id):
			f.At(e, "the queue lists %s twice", id)
		}
	}
}

// endedBefore reports whether a turn had ended by its own time when a step began, though its end
// reached the listener later.
func endedBefore(r *conformance.Run, turn *runindex.Turn, at time.Duration) bool {
	end, ok := turn.End()
	return ok && !end.TS.IsZero() && end.TS.Sub(r.Began) <= at
}
