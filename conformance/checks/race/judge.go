package race

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// judgeRaced judges what must hold whichever of a moved call and a line comes first. It judges
// nothing if the call was not made, or if the stand-in does not know what the runtime does then.
func judgeRaced(plain, r *conformance.Run, f *conformance.Finding) {
	if !slices.ContainsFunc(r.Steps, isRaced) || len(r.Unrecorded) > 0 || plain.Unfinished() != "" {
		return
	}
	judgeCalls(plain, r, f)
	if len(f.Problems) > 0 || r.Hang != "" {
		if r.Hang != "" {
			f.Hungf("the run did not end: %s", r.Hang)
		}
		return
	}
	judgeTurns(plain, r, f)
	judgeMessages(plain, r, f)
	judgeText(plain, r, f)
	judgeOpen(plain, r, f)
	judgeReplies(r, f)
	faulted.JudgeOrphans(r, f)
}

func isRaced(a conformance.StepResult) bool { return a.Raced && !perform.NotStarted(a.Err) }

// typed are the errors that a client can act on. A program may name no error that it refuses a
// call with, so that its errors are judged less strictly.
var typed = []error{adapters.ErrClosed, adapters.ErrNoTurn, adapters.ErrUnknownID, adapters.ErrUnsupported, adapters.ErrRefused, context.Canceled}

// judgeCalls judges the results of the calls: each returns, with nil or a typed error. The session
// goes on, so that later calls succeed as they did before, unless it has ended.
func judgeCalls(plain, r *conformance.Run, f *conformance.Finding) {
	failed := map[int]error{} // by the line of the step
	for _, a := range plain.Steps {
		failed[a.Step.Line] = a.Err
	}
	for i, a := range r.Steps {
		f.Asserted(1)
		name := runindex.StepName(a.Step)
		switch isTyped := slices.ContainsFunc(typed, func(err error) bool { return errors.Is(a.Err, err) }); {
		case perform.Unfinished(a.Err):
			f.Hungf("%s: %v", name, a.Err)
		case a.Err == nil || perform.NotStarted(a.Err) || failed[a.Step.Line] != nil:
		case a.Raced && r.Tier == conformance.TierProcess:
		case a.Raced && !isTyped:
			f.Failf("%s returned an error that is none of package adapters: %v", name, a.Err)
		case !a.Raced && !closes(r) && !endedBefore(r, i):
			f.Failf("%s returned an error, although the session has not ended: %v", name, a.Err)
		}
	}
}

// endedBefore reports whether the session had ended when a step began.
func endedBefore(r *conformance.Run, step int) bool {
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool {
		return e.Type() == event.TypeSessionEnd && e.Steps <= step+1
	})
}

// closes reports whether the race closes the session.
func closes(r *conformance.Run) bool {
	return slices.ContainsFunc(r.Fault.Race.Calls, func(s fixtures.Step) bool { return s.Verb == fixtures.VerbClose })
}

// judgeTurns demands one end of each turn that began, and none of others, before the client
// closed the session at the end.
func judgeTurns(plain, r *conformance.Run, f *conformance.Finding) {
	begun := map[int]bool{}
	for e := range runindex.EventsOf[event.TurnStart](r) {
		if e.SubagentID == "" {
			begun[e.Turn] = true
		}
	}
	waits := !closes(r) && !slices.ContainsFunc(runindex.Of(plain).Turns(), func(t *runindex.Turn) bool { return endedByClose(plain, t) })
	for _, turn := range runindex.Of(r).Turns() {
		f.Asserted(1)
		switch n := len(turn.Ends); {
		case n != 1:
			f.Failf("turn %d has %d terminal events", turn.N, n)
		case !begun[turn.N]:
			f.At(turn.Ends[0], "turn %d ends in %s, but no turn_start began it", turn.N, turn.Ends[0].Type())
		case waits && endedByClose(r, turn):
			f.At(turn.Ends[0], "turn %d did not end before the client closed the session", turn.N)
		}
	}
}

// endedByClose reports whether a turn ended only when the client closed the session.
func endedByClose(r *conformance.Run, turn *runindex.Turn) bool {
	end, ended := turn.End()
	return ended && end.Steps > 0 && end.Steps <= len(r.Steps) && r.Steps[end.Steps-1].Step.Verb == fixtures.VerbClose
}

// turnsOfMessages returns the turns that took the messages of a run, and those that were queued:
// they have turn 0.
func turnsOfMessages(r *conformance.Run) map[string]int {
	out := map[string]int{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.Queue:
			for _, id := range d.MessageIDs {
				out[id] = max(out[id], 0)
			}
		case event.TurnStart:
			for _, id := range d.MessageIDs {
				out[id] = e.Turn
			}
		case event.UserMessage:
			if e.SubagentID == "" {
				out[d.MessageID] = max(out[d.MessageID], e.Turn)
			}
		}
	}
	return out
}

// judgeMessages demands that each message that Send accepted is in a turn or in the queue, unless
// the session was closed.
func judgeMessages(plain, r *conformance.Run, f *conformance.Finding) {
	if closes(r) {
		return
	}
	reported, got := turnsOfMessages(plain), turnsOfMessages(r)
	for _, a := range r.Steps {
		id := a.Step.ID
		if _, is := reported[id]; a.Step.Verb != fixtures.VerbSend || a.Err != nil || !is {
			continue
		}
		f.Asserted(1)
		if _, is := got[id]; !is && !refused(r, id) {
			f.Failf("Send accepted message %s, but it is in no turn, and no queue event names it", id)
		}
	}
}

// refused reports whether a notice reports that the runtime did not take a message.
func refused(r *conformance.Run, message string) bool {
	for _, d := range runindex.EventsOf[event.Notice](r) {
		if d.Code == event.NoticeRefused && strings.Contains(d.Text, message) {
			return true
		}
	}
	return false
}

// judgeText demands that turns which no raced call stops are as they were: with the same text, and
// stopped if they were stopped before.
func judgeText(plain, r *conformance.Run, f *conformance.Finding) {
	if closes(r) {
		return
	}
	was, is := turnsOfMessages(plain), turnsOfMessages(r)
	mayStop := stoppable(r)
	for _, a := range r.Steps {
		before, after := was[a.Step.ID], is[a.Step.ID]
		if a.Step.Verb != fixtures.VerbSend || a.Err != nil || before == 0 || after == 0 || mayStop[after] || merged(was, before) || merged(is, after) {
			continue
		}
		f.Asserted(1)
		wasStopped, isStopped := stopped(plain, before), stopped(r, after)
		if want, got := runindex.Of(plain).TextOf(before), runindex.Of(r).TextOf(after); wasStopped != isStopped {
			f.Failf("turn %d, of message %s, has stopped: %v, but with the recorded moments of the calls %v", after, a.Step.ID, isStopped, wasStopped)
		} else if !isStopped && plain.Recorded(want) != r.Recorded(got) {
			f.Diff("the text of the turn of message "+a.Step.ID+" is not what it is with the recorded moments of the calls", plain.Recorded(want), r.Recorded(got))
		}
	}
}

// stoppable returns the turns that a raced stop may stop: those of the messages that were sent
// before it, and that had not ended.
func stoppable(r *conformance.Run) map[int]bool {
	out, is := map[int]bool{}, turnsOfMessages(r)
	for i, stop := range r.Steps {
		if !stop.Raced || stop.Step.Verb != fixtures.VerbStop {
			continue
		}
		for _, a := range r.Steps[:i] {
			if end, ended := runindex.Of(r).Turn(is[a.Step.ID]).End(); a.Step.Verb == fixtures.VerbSend && (!ended || end.Steps > i) {
				out[is[a.Step.ID]] = true
			}
		}
	}
	return out
}

// merged reports whether a turn took several messages.
func merged(turns map[string]int, turn int) bool {
	n := 0
	for _, t := range turns {
		if t == turn {
			n++
		}
	}
	return n > 1
}

// stopped reports whether a turn ended as stopped.
func stopped(r *conformance.Run, turn int) bool {
	end, _ := runindex.Of(r).Turn(turn).End()
	d, is := end.Data.(event.Done)
	return is && d.Stopped
}

// judgeOpen demands that nothing is open at the end of the session, of the kinds that end in the
// plain run: a tool, a block of text, a question.
func judgeOpen(plain, r *conformance.Run, f *conformance.Finding) {
	before := openAtEnd(plain)
	for kind, ids := range openAtEnd(r) {
		f.Asserted(1)
		if len(before[kind]) == 0 && len(ids) > 0 {
			f.Failf("at the end of the session a %s is open: %s", kind, ids[0])
		}
	}
}

// openAtEnd returns the ids of what is open at the end of a run, by its kind.
func openAtEnd(r *conformance.Run) map[string][]string {
	x := runindex.Of(r)
	ended := map[string]bool{}
	for _, d := range runindex.EventsOf[event.BlockEnd](r) {
		ended[d.BlockID] = true
	}
	out := map[string][]string{"tool": nil, "block": nil, "question": nil}
	for _, t := range x.Tools() {
		if len(t.Starts) > 0 && len(t.Results) == 0 {
			out["tool"] = append(out["tool"], t.ID)
		}
	}
	for _, b := range x.Blocks() {
		if !ended[b.ID] && !b.Retracted {
			out["block"] = append(out["block"], b.ID)
		}
	}
	for _, q := range x.Questions() {
		if len(q.Resolved) == 0 {
			out["question"] = append(out["question"], q.ID)
		}
	}
	return out
}

// judgeReplies demands that no question of the runtime got two replies.
func judgeReplies(r *conformance.Run, f *conformance.Finding) {
	replies := map[string]int{}
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindAnswer && !w.Calls {
			f.Asserted(1)
			if replies[w.RequestID]++; replies[w.RequestID] == 2 {
				f.Failf("question %s got a second reply", w.RequestID)
			}
		}
	}
}
