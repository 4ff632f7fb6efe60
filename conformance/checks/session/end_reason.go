package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// EndReason is the check session.end-reason.
var EndReason = &conformance.Check{
	ID: "session.end-reason", Source: "the event contract (adapters/event): session_end", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"session_end.exit_code"},
	Needs:    []string{"session_end.reason"},
	Mend:     "Set the reason closed only if Close was called before the process ended, and copy the exit code of the process.",
	Sentence: "session_end has the reason closed only if the client closed the session. Its exit code is that of the process; after a signal it is missing, -1, 128 and the signal's number, or that number negated.",
	Judge:    judgeEndReason,
}

func judgeEndReason(t *conformance.Trial, f *conformance.Finding) {
	opened := 0
	for _, o := range t.Opens {
		if o.Err != nil {
			return // which process a session had is not known
		}
		opened++
	}
	var exits []conformance.PlayedLine
	for _, p := range t.Played {
		if p.Line.Dir == fixtures.Exit {
			exits = append(exits, p)
		}
	}
	n := 0
	for e, d := range runindex.EventsOf[event.SessionEnd](t.Run) {
		n++
		f.Asserted(1)
		closed := t.ClosedAfterKill || e.Steps > 0 && endsSession(t.Steps[:e.Steps])
		switch {
		case !closed && d.Reason == "closed":
			f.At(e, "the reason is closed, but the client has not closed the session")
		case d.Reason == "":
			f.At(e, "there is no reason")
		case closed && d.Reason != "closed" && !t.ClosedAfterKill && t.Signalled == nil && !endedBefore(t.Run, e):
			f.At(e, "the client has closed the session before the process ended, but the reason is %q", d.Reason)
		}
		if opened != len(exits) || n > opened {
			continue
		}
		switch exit := exits[n-1].Line; {
		case d.ExitCode == nil && exit.Signal == "" && t.Supports("session_end.exit_code"):
			f.At(e, "the process ended with code %d, but there is no exit_code", exit.Code)
		case d.ExitCode == nil:
		case exit.Signal == "" && exit.Code != *d.ExitCode:
			f.At(e, "the process ended with code %d, but exit_code is %d", exit.Code, *d.ExitCode)
		case exit.Signal != "" && !isSignalCode(proc.Signal(exit.Signal), *d.ExitCode):
			f.At(e, "%s ended the process, but exit_code is %d: leave it out, or set -1, 128 and the signal's number, or that number negated", exit.Signal, *d.ExitCode)
		}
	}
	if n < opened && opened == len(exits) && t.Unfinished() == "" && t.Supports("session_end") {
		f.Failf("%d sessions ended, but only %d have a session_end: emit it, or declare that you leave it out", opened, n)
	}
}

// endedBefore reports whether a process of the runtime ended before the last step before an
// event, or because of a signal. A runtime of which a process takes one message ends them
// as it should.
func endedBefore(r *conformance.Run, e conformance.Event) bool {
	perMessage := runindex.Runtime(r).Process.Message != nil
	closes := r.Steps[e.Steps-1]
	open := 0
	for _, a := range r.Steps[:e.Steps-1] {
		if a.Step.Verb == fixtures.VerbOpen {
			open = a.Line
		}
	}
	for i, p := range r.Played {
		if i >= open && p.Line.Dir == fixtures.Exit && (p.Line.Signal != "" || p.At <= closes.At && !perMessage) {
			return true
		}
	}
	return false
}

// signalNumbers are the numbers of the signals that a case sends.
var signalNumbers = map[proc.Signal]int{proc.SIGHUP: 1, proc.SIGINT: 2, proc.SIGKILL: 9, proc.SIGTERM: 15}

// isSignalCode reports whether a library may give a process that a signal ended this exit
// code: Go gives -1, a shell 137 for SIGKILL, and Python -9.
func isSignalCode(signal proc.Signal, code int) bool {
	n, known := signalNumbers[signal]
	return code == -1 || known && (code == 128+n || code == -n) || !known && code != 0
}

// endsSession reports whether the last steps close the session, or open another one.
func endsSession(steps []conformance.StepResult) bool {
	switch steps[len(steps)-1].Step.Verb {
	case fixtures.VerbClose, fixtures.VerbArchive, fixtures.VerbOpen:
		return true
	}
	return false
}
