package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// judgeCrash: the process died at some line of the wire. What the subject then
// says is exact: the events of the plain run for the lines before, then the
// closings, then one error if a turn ran, then session_end, within the limit and
// without being asked.
func judgeCrash(plain, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	if hangs(r, f) {
		return
	}
	died, ok := exitOf(r)
	if !ok {
		return // the run had ended before the place of the harm
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, fail)
	switch {
	case !ok:
	case len(r.Opens) > 0 && r.Opens[len(r.Opens)-1].Err != nil:
		judgeOpenError(plain, r, n, fail, event.ErrorStartFailure, event.ErrorCrash)
	default:
		judgeEnd(r, n, died, fail)
	}
}

// hangs notes that a run with a harm came to no end.
func hangs(r *conformance.Run, f *conformance.Finding) bool {
	if r.Hang == "" {
		return false
	}
	f.Asserted(1)
	failer(r, f)("the subject hangs: %s", r.Hang)
	return true
}

// failer notes problems of a run with a harm.
func failer(r *conformance.Run, f *conformance.Finding) func(format string, args ...any) {
	return func(format string, args ...any) {
		f.Problems = append(f.Problems, conformance.Problem{Text: r.Fault.String() + ": " + fmt.Sprintf(format, args...), Fault: r.Fault})
	}
}

// sameBefore demands that every act returned, and that what was told for the
// lines before the harm, n events, is what is told without it.
func sameBefore(plain, r *conformance.Run, fail func(string, ...any)) (n int, ok bool) {
	ok = true
	for _, a := range r.Steps {
		if perform.Unfinished(a.Err) {
			fail("%v", a.Err)
			ok = false
		}
	}
	told, got := plain.Canonical(), r.Canonical()
	n = before(plain, r)
	if r.Tier == conformance.TierProcess {
		n = beforeInRealTime(plain, r, told, got)
	}
	for lines := linesBefore(plain, r); n > 0 && plain.Events[n-1].Line == lines && beside(plain.Scenario, plain.Events[n-1]) && (len(got) < n || got[n-1] != told[n-1]); {
		n-- // the runtime died at the call, or the question, that it comes of
	}
	same := 0
	for same < min(n, len(got)) && got[same] == told[same] {
		same++
	}
	switch {
	case same < n && same < len(got):
		fail("what was said for the lines before is not what it is without the harm: event %d is %s, want %s", same+1, clip(got[same]), clip(told[same]))
	case same < n:
		fail("what was said for the lines before is lost: event %d, %s", same+1, clip(told[same]))
	}
	return n, ok && same >= n
}

// exitOf returns when the process died, as the play had it.
func exitOf(r *conformance.Run) (conformance.PlayedLine, bool) {
	for _, p := range r.Played {
		if r.Fault.EndsProcess(p.Line) {
			return p, true
		}
	}
	return conformance.PlayedLine{}, false
}

// before counts the events of the plain run that were caused by what happened
// in the harmed run too.
func before(plain, harmed *conformance.Run) int {
	lines := linesBefore(plain, harmed)
	n := 0
	for n < len(plain.Events) && plain.Events[n].Line <= lines && plain.Events[n].Steps <= len(harmed.Steps) {
		n++
	}
	return n
}

// beside reports whether an event is what a tool of the client's, or its policy,
// does beside the runtime, which has said nothing of it.
func beside(s *fixtures.Scenario, e conformance.Event) bool {
	switch e.Data.(type) {
	case event.ComponentUpdate, event.ComponentRemove, event.Interrupt, event.InterruptResolved:
		return s.Components != nil
	case event.PermissionResolved:
		return s.Policy != nil
	}
	return false
}

func linesBefore(plain, harmed *conformance.Run) int {
	lines := 0
	for _, p := range plain.Played {
		if p.Line.Line > harmed.Fault.Line || p.Line.Line == harmed.Fault.Line && harmed.Fault.CutsLine {
			if p.Line.Dir == fixtures.Out {
				break // an act that is recorded before it may come behind it
			}
			continue
		}
		lines++
	}
	return lines
}

// beforeInRealTime is before where nobody knows which line an event came of: what
// both runs begin with, and at least what was said when the last act began.
func beforeInRealTime(plain, harmed *conformance.Run, want, got []string) int {
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	acts := len(harmed.Steps)
	if acts > 0 && harmed.Steps[acts-1].Step.Verb == fixtures.VerbClose {
		acts-- // it is the suite's own, at the end
	}
	least := 0
	for least < len(plain.Events) && plain.Events[least].Steps < acts {
		least++
	}
	return max(n, least)
}

// judgeOpenError: the runtime died, or went silent, before the session was ready,
// and Open said so by one of the codes. Where it is refused anyway, that may be
// said instead.
func judgeOpenError(plain, r *conformance.Run, n int, fail func(string, ...any), codes ...event.ErrorCode) {
	if len(r.Events) > n {
		fail("Open failed, but then came %s", r.Events[n].Type())
	}
	last := len(r.Opens) - 1
	err := r.Opens[last].Err
	var typed *adapters.OpenError
	switch {
	case perform.Unfinished(err): // another check's
	case !errors.As(err, &typed) || typed.Code == "":
		fail("the error of Open is not an *adapters.OpenError with a code: %v", err)
	case slices.Contains(codes, typed.Code):
	case last >= len(plain.Opens) || plain.Opens[last].Err == nil:
		fail("the error of Open has code %q, want one of %q: %v", typed.Code, codes, err)
	}
}

// state is what is open after some events.
type state struct {
	running int // the turn
	open    map[string]event.Type
	ended   bool
}

// add follows the events. What has no id of its own is one thing.
func (s *state) add(e conformance.Event) {
	set := func(kind event.Type, id string, open bool) {
		k := e.SubagentID + " " + string(kind) + " " + id
		if delete(s.open, k); open {
			s.open[k] = kind
		}
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.running = e.Turn
	case event.Delta:
		set(event.TypeBlockEnd, d.BlockID, true)
	case event.BlockEnd:
		set(event.TypeBlockEnd, d.BlockID, false)
	case event.Thinking:
		if d.BlockID != "" {
			set(event.TypeThinking, d.BlockID, !d.Done)
		}
	case event.ToolStart:
		set(event.TypeToolResult, d.ToolUseID, true)
	case event.ToolResult:
		set(event.TypeToolResult, d.ToolUseID, false)
	case event.Task:
		set(event.TypeTask, d.TaskID, d.Status == event.TaskRunning)
	case event.PermissionRequest:
		set(event.TypePermissionResolved, d.RequestID, true)
	case event.PermissionResolved:
		set(event.TypePermissionResolved, d.RequestID, false)
	case event.Interrupt:
		set(event.TypeInterruptResolved, d.InterruptID, true)
	case event.InterruptResolved:
		set(event.TypeInterruptResolved, d.InterruptID, false)
	case event.SessionReady:
		s.ended = false
	case event.SessionEnd:
		s.ended = true
	}
	if e.Terminal() && e.SubagentID == "" && e.Turn == s.running {
		s.running = 0
	}
}

// forget drops what a turn that has ended left open: that is another check's. A
// sub-agent may outlive the turn.
func (s *state) forget() {
	for k, kind := range s.open {
		if s.running == 0 && kind != event.TypeTask && strings.HasPrefix(k, " ") {
			delete(s.open, k)
		}
	}
}

// judgeEnd: after the first n events only closings of what is open, one error
// if a turn runs, and session_end.
func judgeEnd(r *conformance.Run, n int, died conformance.PlayedLine, fail func(string, ...any)) {
	s := state{open: map[string]event.Type{}}
	for _, e := range r.Events[:n] {
		s.add(e)
		s.forget()
	}
	if s.ended && n == len(r.Events) {
		return // it was closed, or had ended by itself, before
	}
	waiting := ""
	if s.running == 0 {
		waiting = untaken(r, n)
	}
	asked := len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Step.Verb == fixtures.VerbClose && r.Steps[len(r.Steps)-1].At <= died.At
	for _, e := range r.Events[n:] {
		was, running := len(s.open), s.running
		s.add(e)
		if late := e.At - died.At; late > perform.EndLimit {
			fail("%s comes %v after the runtime died, the limit is %v", e.Type(), late, perform.EndLimit)
			return
		}
		switch d := e.Data.(type) {
		case event.Error:
			switch {
			case running == 0 && e.Turn == 0 && waiting != "":
				waiting = "" // no turn has taken the message: the error is the session's
			case running == 0 || e.Turn != running || e.SubagentID != "":
				fail("an error (turn %d) when no such turn runs: %s", e.Turn, describe(d))
			case d.Code != event.ErrorCrash:
				fail("turn %d ends in error %q, want %q", e.Turn, d.Code, event.ErrorCrash)
			case d.Message == "":
				fail("the error of turn %d says nothing", e.Turn)
			}
		case event.Done:
			if !asked {
				fail("turn %d ran when the runtime died, and ends in %s", e.Turn, describe(d))
			}
		case event.SessionEnd, event.Queue:
		case event.Notice:
			if !r.Fault.NoticeAllowed {
				fail("a notice follows the death of the runtime: %s", d.Text)
			}
		default:
			if !closing(e.Data) || len(s.open) >= was {
				fail("%s follows the death of the runtime, and closes nothing", e.Type())
			}
		}
	}
	if s.running != 0 {
		fail("turn %d has no end", s.running)
	}
	if waiting != "" && !asked {
		fail("message %s was accepted and no turn had taken it: no error tells that it is lost", waiting)
	}
	for k, kind := range s.open {
		if !r.Supports(string(kind)) {
			continue
		}
		fail("still open at the end: %s", k)
	}
	if !s.ended {
		fail("the runtime died, and there is no session_end")
	} else if last := r.Events[len(r.Events)-1]; last.Type() != event.TypeSessionEnd {
		fail("%s follows session_end", last.Type())
	}
}

// untaken is a message that the subject accepted and that no turn had taken in
// the first n events, or "".
func untaken(r *conformance.Run, n int) string {
	taken := map[string]bool{}
	for _, e := range r.Events[:n] {
		switch d := e.Data.(type) {
		case event.TurnStart:
			for _, id := range d.MessageIDs {
				taken[id] = true
			}
		case event.UserMessage:
			taken[d.MessageID] = true
		}
	}
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbWithdraw && a.Err == nil {
			taken[a.Step.ID] = true // the user took it back
		}
	}
	for i, a := range r.Steps {
		for _, before := range r.Steps[:i] {
			if a.Step.What == fixtures.StopAll && a.Err == nil {
				taken[before.Step.ID] = true // likewise
			}
		}
	}
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbSend && a.Err == nil && !taken[a.Step.ID] {
			return a.Step.ID
		}
	}
	return ""
}

// closing reports whether an event may stand between the last line of a dead
// runtime and the end of the session.
func closing(d event.Data) bool {
	switch d := d.(type) {
	case event.BlockEnd:
		return d.Status == event.BlockInterrupted
	case event.Thinking:
		return d.Done && d.Text == ""
	case event.ToolResult:
		return d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded
	case event.Task:
		return d.Status != event.TaskRunning && d.Status != event.TaskCompleted
	case event.PermissionResolved:
		return !d.Allowed
	case event.InterruptResolved:
		return true
	}
	return false
}
