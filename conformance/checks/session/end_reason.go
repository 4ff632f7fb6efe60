package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// EndReason is the check session.end-reason.
var EndReason = &conformance.Check{
	ID: "session.end-reason", Source: "the event contract (adapters/event): session_end", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"session_end.exit_code"},
	Needs:    []string{"session_end.reason"},
	Mend:     "Set the reason closed only if Close was called before the process ended, and copy the exit code of the process.",
	Sentence: "session_end has the reason closed only if the client closed the session. Its exit code is that of the process.",
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
		if !closed && d.Reason == "closed" {
			f.At(e, "the reason is closed, but the client has not closed the session")
		}
		if opened != len(exits) || n > opened || d.ExitCode == nil {
			continue
		}
		if exit := exits[n-1].Line; exit.Signal != "" || exit.Code != *d.ExitCode {
			f.At(e, "the process ended with code %d %s, but exit_code is %d", exit.Code, exit.Signal, *d.ExitCode)
		}
	}
}

// endsSession reports whether the last steps close the session, or open another one.
func endsSession(steps []conformance.StepResult) bool {
	switch steps[len(steps)-1].Step.Verb {
	case fixtures.VerbClose, fixtures.VerbArchive, fixtures.VerbOpen:
		return true
	}
	return false
}
