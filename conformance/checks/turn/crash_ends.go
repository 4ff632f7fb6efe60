package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
	"slices"
)

// CrashEnds is the check turn.crash-ends.
var CrashEnds = &conformance.Check{
	ID: "turn.crash-ends", Source: "adapters whose send hangs when the process dies", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:    []string{"time.limits"},
	Needs:      []string{"error.code"},
	Mend:       "Wait for the exit of the process beside reading stdout. If it exits in a turn, close what is open, emit error with code crash and fail pending calls.",
	Sentence:   "If the runtime exits, the turn ends in error within the limit, earlier events stay, and Send returns.",
	Faults:     []string{"kill", "exit", "exit-without-newline", "cut-line", "close-stdout"},
	JudgeFault: judgeCrash,
}

// judgeCrash judges a run in which the process exited at a line of the wire. Exactly
// these events must follow without a call and within the limit: those of the plain
// run for the lines before, the closings, one error if a turn ran, session_end.
func judgeCrash(plain, r *conformance.Run, f *conformance.Finding) {
	if hangs(r, f) {
		return
	}
	died, ok := exitOf(r)
	if !ok {
		return // the run ended before the fault
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, f)
	switch {
	case !ok:
	case len(r.Opens) > 0 && r.Opens[len(r.Opens)-1].Err != nil:
		judgeOpenError(plain, r, n, f, event.ErrorStartFailure, event.ErrorCrash)
	default:
		judgeEnd(r, n, died, f)
	}
}

// exitOf returns the line at which the process exited.
func exitOf(r *conformance.Run) (conformance.PlayedLine, bool) {
	for _, p := range r.Played {
		if r.Fault.EndsProcess(p.Line) {
			return p, true
		}
	}
	return conformance.PlayedLine{}, false
}

// untilReopened returns the events up to a session_ready that follows a session_end
// after the first n events: the client has opened the session again.
func untilReopened(events []conformance.Event, n int) []conformance.Event {
	for i := max(n, 1); i < len(events); i++ {
		if events[i].Type() == event.TypeSessionReady && events[i-1].Type() == event.TypeSessionEnd {
			return events[:i]
		}
	}
	return events
}

// judgeEnd demands that only closings of open items, one error if a turn runs, and
// session_end follow the first n events.
func judgeEnd(r *conformance.Run, n int, died conformance.PlayedLine, f *conformance.Finding) {
	s := state{open: map[string]event.Type{}}
	for _, e := range r.Events[:n] {
		s.add(e)
		s.forget()
	}
	events := untilReopened(r.Events, n)
	if s.ended && n == len(events) {
		return // it was closed, or ended by itself, before the fault
	}
	waiting := ""
	if s.running == 0 && len(events) == len(r.Events) {
		waiting = untaken(r, n)
	}
	asked := len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Step.Verb == fixtures.VerbClose && r.Steps[len(r.Steps)-1].At <= died.At
	for _, e := range events[n:] {
		was, running := len(s.open), s.running
		s.add(e)
		if late := e.At - died.At; late > perform.EndLimit {
			f.Failf("%s is emitted %v after the runtime exited, the limit is %v", e.Type(), late, perform.EndLimit)
			return
		}
		switch d := e.Data.(type) {
		case event.Error:
			switch {
			case running == 0 && e.Turn == 0 && waiting != "":
				waiting = "" // no turn took the message, so the error is of the session
			case running == 0 || e.Turn != running || e.SubagentID != "":
				f.Failf("an error of turn %d, which does not run: %s", e.Turn, runindex.Describe(d))
			case d.Code != event.ErrorCrash:
				f.Failf("turn %d ends in error %q, want %q", e.Turn, d.Code, event.ErrorCrash)
			case d.Message == "":
				f.Failf("the error of turn %d has no message", e.Turn)
			}
		case event.Done:
			if !asked {
				f.Failf("turn %d ran when the runtime exited, and ends in %s", e.Turn, runindex.Describe(d))
			}
		case event.SessionEnd, event.Queue:
		case event.SessionReady:
			if readyBefore(r.Events[:n]) {
				f.Failf("a second session_ready follows the exit of the runtime")
			}
		case event.Notice:
			if !r.Fault.NoticeAllowed {
				f.Failf("a notice follows the exit of the runtime: %s", d.Text)
			}
		default:
			switch closes := len(s.open) < was; {
			case closes && !closing(e.Data):
				f.Failf("%s closes an item that was open when the runtime exited, but as if it had completed", e.Type())
			case !closes:
				f.Failf("%s follows the exit of the runtime, but closes no open item", e.Type())
			}
		}
	}
	if s.running != 0 {
		f.Failf("turn %d has no end", s.running)
	}
	if waiting != "" && !asked {
		f.Failf("message %s was accepted, but no turn took it and no error reports that it is lost", waiting)
	}
	for k, kind := range s.open {
		if !r.Supports(string(kind)) || kind == event.TypeToolInput { // tool.input-whole judges it
			continue
		}
		f.Failf("still open at the end: %s", k)
	}
	if !s.ended {
		f.Failf("the runtime exited, but there is no session_end")
	} else if last := events[len(events)-1]; last.Type() != event.TypeSessionEnd {
		f.Failf("%s follows session_end", last.Type())
	}
}

// readyBefore reports whether the session is ready after some events. One whose runtime exits
// first is ready only to be ended.
func readyBefore(events []conformance.Event) bool {
	for _, e := range slices.Backward(events) {
		switch e.Type() {
		case event.TypeSessionReady:
			return true
		case event.TypeSessionEnd:
			return false
		}
	}
	return false
}
