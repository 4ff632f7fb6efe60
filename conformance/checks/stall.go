package checks

import (
	"errors"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// judgeStall: the runtime said nothing more after some line, and lived on. What
// was told until then stays. The turn that ran ends in a timeout before anybody
// closes the session, unless a tool, a question, a summary or an announced
// retry was open: then nobody can tell silence from work.
func judgeStall(plain, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	if hangs(r, f) {
		return
	}
	if !played(r, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, fail)
	if !ok {
		return
	}
	stalled := lineOf(r, r.Fault.Line)
	if last := len(r.Opens) - 1; last >= 0 && r.Opens[last].Err != nil && last+1 == stalled.Line.Process {
		judgeOpenError(plain, r, n, fail, event.ErrorTimeout)
		return
	}
	if has(r, fixtures.VerbKill) || closedBefore(r, stalled.At) {
		return // somebody ends the runtime anyhow
	}
	gaveUp, given := givenUp(r, stalled)
	for _, a := range r.Steps {
		if v := a.Step.Verb; v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen {
			continue
		}
		if given && a.At < gaveUp && a.At+a.For > gaveUp {
			fail("the runtime is given up, and %s returns %v later", named(a.Step), a.At+a.For-gaveUp)
		}
	}
	s := state{open: map[string]event.Type{}}
	paused, sums := false, false
	for _, e := range r.Events[:n] {
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
	running, waiting := s.running, untaken(r, n)
	closed, told := closedAfter(r, stalled.At), false
	for _, e := range r.Events[n:] {
		if e.At >= closed {
			break
		}
		was := len(s.open)
		s.add(e)
		switch d := e.Data.(type) {
		case event.Error:
			told = true
			if given && gaveUp < e.At {
				fail("the runtime is given up, and the error comes %v later", e.At-gaveUp)
			}
			// Who writes to a runtime that does not hear learns it before.
			if d.Code != event.ErrorTimeout && (r.Fault.Operator != "close-stdin" || d.Code == "") {
				fail("the runtime went silent, and the error says %q", d.Code)
			}
		case event.SessionEnd, event.Queue:
		case event.TurnStart:
			if waiting == "" { // the turn of a message that was accepted may begin, to be ended
				fail("%s comes, and the runtime said nothing", e.Type())
			}
		case event.UserMessage, event.Notice, event.ModelChanged, event.ModeChanged, event.PermissionResolved, event.InterruptResolved:
			// Of what the user did meanwhile.
		default:
			thinks, begun := e.Data.(event.Thinking)
			if begun && waiting != "" && thinks.Text == "" {
				continue
			}
			if !closing(e.Data) || len(s.open) >= was {
				fail("%s comes, and the runtime said nothing", e.Type())
				return
			}
		}
	}
	if (running != 0 || waiting != "") && !paused && !told && closed-stalled.At >= perform.StallLimit {
		fail("turn %d ran (or message %q waited) when the runtime went silent, and no error came within %v", running, waiting, perform.StallLimit)
	}
}

// givenUp is when the subject began to end the process that had gone silent. Where
// the client closes the session, that says nothing.
func givenUp(r *conformance.Run, stalled conformance.PlayedLine) (at time.Duration, ok bool) {
	for _, w := range r.ClientActions {
		if at := w.At.Sub(r.Start); w.Process == stalled.Line.Process && (w.Kind == standin.KindClose || w.Kind == standin.KindSignal) && at >= stalled.At {
			return at, !r.Start.IsZero()
		}
	}
	return 0, false
}

// judgeSlow: the runtime thought for minutes amid its words.
func judgeSlow(plain, r *conformance.Run, f *conformance.Finding) {
	if !has(plain, fixtures.VerbKill) { // what a signal cuts off comes at another time
		judgeHarmless(plain, r, f)
	}
}

// closedAfter is when the session was closed, or another one opened, after some
// moment; without that the end of time.
func closedAfter(r *conformance.Run, at time.Duration) time.Duration {
	for _, a := range r.Steps {
		if v := a.Step.Verb; a.At >= at && (v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen && a.At > at) {
			return a.At
		}
	}
	return 1<<63 - 1
}

// closedBefore reports whether the session was closed by then, and not opened
// again: what it waits for is the end of the process.
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

// lineOf is the play of a line of the case's file.
func lineOf(r *conformance.Run, line int) conformance.PlayedLine {
	for _, p := range r.Played {
		if p.Line.Line == line {
			return p
		}
	}
	return conformance.PlayedLine{}
}

// judgeNoStart: the runtime never said a word, or there is none.
func judgeNoStart(_, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	if r.Hang != "" || len(r.Opens) == 0 {
		f.Asserted(1)
		fail("Open does not return: %s", r.Hang)
		return
	}
	f.Asserted(1)
	var typed *adapters.OpenError
	want := event.ErrorTimeout
	if r.Fault.StartError != nil {
		want = event.ErrorStartFailure
	}
	switch err := r.Opens[0].Err; {
	case err == nil:
		fail("Open succeeded, and the runtime never said a word")
	case perform.Unfinished(err):
		fail("%v", err)
	case !errors.As(err, &typed) || typed.Code != want:
		fail("the error of Open is not an *adapters.OpenError with code %q: %v", want, err)
	case r.Fault.StartError != nil && !strings.Contains(said(err), r.Fault.StartError.Error()):
		fail("the runtime could not be started, and the error does not say why: %q", said(err))
	case r.Fault.StartError == nil && !strings.Contains(typed.Stderr, fault.UnknownMessageText):
		fail("the runtime said something on stderr, and the error does not have it: %q", said(err))
	}
	if len(r.Events) > 0 && r.Events[0].Steps <= 1 {
		fail("%s of a session that was not opened", r.Events[0].Type())
	}
}

// judgeRefused: a request got an error for a reply.
func judgeRefused(plain, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	if hangs(r, f) {
		return
	}
	if !played(r, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, fail)
	if !ok || closedAfter(r, 0) <= lineOf(r, r.Fault.Line).At {
		return
	}
	for _, a := range r.Steps {
		if a.Err == nil {
			continue
		}
		var typed *adapters.OpenError
		if a.Step.Verb == fixtures.VerbOpen && !perform.NotStarted(a.Err) && (!errors.As(a.Err, &typed) || typed.Code == "") {
			fail("the error of Open is not an *adapters.OpenError with a code: %v", a.Err)
		}
		return // it was told
	}
	for _, e := range r.Events[n:] {
		if d, notice := e.Data.(event.Notice); e.Type() == event.TypeError || notice && d.Code == event.NoticeRefused {
			return
		}
	}
	fail("no act fails, and neither an error nor a notice tells of it")
}
