package turn

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// StallEnds is the check turn.stall-ends.
var StallEnds = &conformance.Check{
	ID: "turn.stall-ends", Source: "claude-code#59243", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:    []string{"time.limits"},
	Needs:      []string{"turn", "error.code"},
	Mend:       "Restart a timer at each line of the runtime and stop it while a tool or question is open. When it fires, end the runtime, emit error with code timeout and fail pending calls.",
	Sentence:   "If the runtime stops writing, the turn ends in an error of code timeout, unless a tool or a question is open. If the subject gives up on the runtime, every pending call returns.",
	Faults:     []string{"stall", "missing-end", "close-stdin", "no-reply"},
	JudgeFault: judgeStall,
}

// judgeStall judges a run in which the runtime stopped writing and did not exit.
// Events before the fault stay. The turn that ran must end in a timeout before the
// session is closed, unless a tool, a question, a summary or an announced retry was
// open: then silence may be work.
func judgeStall(plain, r *conformance.Run, f *conformance.Finding) {
	if hangs(r, f) {
		return
	}
	if !runindex.Played(r, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, f)
	if !ok {
		return
	}
	stalled := runindex.LineOf(r, r.Fault.Line)
	if last := len(r.Opens) - 1; last >= 0 && r.Opens[last].Err != nil && last+1 == stalled.Line.Process {
		judgeOpenError(plain, r, n, f, event.ErrorTimeout)
		return
	}
	if runindex.HasStep(r, fixtures.VerbKill) || closedBefore(r, stalled.At) {
		return // the client ends the runtime
	}
	gaveUp, given := givenUp(r, stalled)
	for _, a := range r.Steps {
		if v := a.Step.Verb; v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen {
			continue
		}
		if given && a.At < gaveUp && a.At+a.For > gaveUp+perform.PromptLimit {
			f.Failf("the subject gave up on the runtime, and %s returns %v later", runindex.StepName(a.Step), a.At+a.For-gaveUp)
		}
	}
	s, paused := stateAfter(r.Events[:n])
	if least, _ := before(plain, r); !paused { // the subject may close what was open at the fault
		_, then := faulted.CommonEvents(plain.Canonical()[:least], r.Canonical())
		_, paused = stateAfter(r.Events[:then])
	}
	paused = paused || runsUnnamed(r, stalled) || withinStep(r, stalled)
	running, waiting := s.running, untaken(r, n)
	closed, reported := closedAfter(r, stalled.At), false
	inClient := runindex.Runtime(r).ClientRunsTurns // a stop ends the turn at once
	for _, e := range r.Events[n:] {
		if e.At >= closed {
			break
		}
		was := len(s.open)
		s.add(e)
		switch d := e.Data.(type) {
		case event.Error:
			reported = true
			if given && gaveUp+perform.PromptLimit < e.At {
				f.Failf("the subject gave up on the runtime, and the error is emitted %v later", e.At-gaveUp)
			}
			// A write to a closed pipe fails before the timeout.
			if d.Code != event.ErrorTimeout && (r.Fault.Operator != "close-stdin" || d.Code == "") {
				f.Failf("the runtime stopped writing, but the error has code %q", d.Code)
			}
		case event.SessionEnd, event.Queue:
		case event.TurnStart:
			if waiting == "" { // the turn of a message that was accepted may begin, to be ended
				f.Failf("the subject emitted %s, but the runtime wrote nothing", e.Type())
			}
		case event.UserMessage, event.Notice, event.ModelChanged, event.ModeChanged, event.PermissionResolved, event.InterruptResolved:
			// Caused by steps of the client.
		case event.Usage:
			if !inClient { // a stop emits what was stated so far
				f.Failf("the subject emitted %s, but the runtime wrote nothing", e.Type())
			}
		case event.Done:
			if !inClient || !d.Stopped {
				f.Failf("the subject emitted %s, but the runtime wrote nothing", e.Type())
				return
			}
			reported = true
		default:
			thinks, begun := e.Data.(event.Thinking)
			if begun && waiting != "" && thinks.Text == "" {
				continue
			}
			if !closing(e.Data) || len(s.open) >= was {
				f.Failf("the subject emitted %s, but the runtime wrote nothing", e.Type())
				return
			}
		}
	}
	if (running != 0 || waiting != "") && !paused && !reported && closed-stalled.At >= r.StallWait {
		f.Failf("turn %d ran (or message %q waited) when the runtime stopped writing, and no error came within %v", running, waiting, r.StallWait)
	}
}

// stateAfter returns the state after some events, and whether silence may then be work:
// a tool, a question, a task, a summary or an announced retry is open.
func stateAfter(events []conformance.Event) (s state, paused bool) {
	s = state{open: map[string]event.Type{}}
	sums := false
	for _, e := range events {
		s.add(e)
		s.forget()
		switch d := e.Data.(type) {
		case event.Notice:
			paused = paused || d.Code == event.NoticeRetry
		case event.Compaction:
			sums = d.Phase == event.PhaseStart
		case event.Delta, event.ToolStart, event.TurnStart, event.Done, event.Error:
			paused = false
		}
	}
	paused = paused || sums
	for _, kind := range s.open {
		paused = paused || kind == event.TypeToolResult || kind == event.TypePermissionResolved || kind == event.TypeInterruptResolved || kind == event.TypeTask
	}
	return s, paused
}

// givenUp returns when the subject began to end the process that had stopped
// writing. If the client closes the session first, the time means nothing.
func givenUp(r *conformance.Run, stalled conformance.PlayedLine) (at time.Duration, ok bool) {
	for _, w := range r.ClientActions {
		if at := w.At.Sub(r.Start); w.Process == stalled.Line.Process && (w.Kind == standin.KindClose || w.Kind == standin.KindSignal) && at >= stalled.At {
			return at, !r.Start.IsZero()
		}
	}
	return 0, false
}

// closedBefore reports whether the session was closed before a moment and not opened
// again. Then it only waits for the end of the process.
func closedBefore(r *conformance.Run, at time.Duration) bool {
	closed := false
	for _, a := range r.Steps {
		switch {
		case a.At >= at:
		case a.Step.Verb == fixtures.VerbOpen:
			closed = false
		case a.Step.Verb == fixtures.VerbClose || a.Step.Verb == fixtures.VerbArchive:
			closed = true
		}
	}
	return closed
}
