package permission

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// AnsweredOnce is the check permission.answered-once.
var AnsweredOnce = &conformance.Check{
	ID: "permission.answered-once", Source: "claude-agent-sdk-python#1105", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:           "Reply to each request id exactly once. When a turn stops or the session closes, reply to the open questions with a denial, except to those that were withdrawn.",
	Sentence:       "Each question gets exactly one reply on the wire, also after a timeout, a stop or a close, unless the runtime withdrew it.",
	JudgesWritten:  true,
	AlternateSteps: closeWhenAsked,
	Judge:          judgeAnsweredOnce,
}

func judgeAnsweredOnce(t *conformance.Trial, f *conformance.Finding) {
	if runindex.Runtime(t.Run).ClientRunsTurns {
		return // the subject asks by itself, and replies to nobody
	}
	judgeClosedWhenAsked(t, f)
	replies, want := repliesOf(t.Run), 0
	for _, q := range questions(t.Run) {
		if q.Expected {
			want++
		}
	}
	f.Asserted(max(want, len(replies)))
	for id, n := range replies {
		if n != 1 {
			f.Failf("question %s got %d replies", id, n)
		}
	}
	for _, q := range questions(t.Run) {
		if q.Expected && !q.Answered && !q.Withdrawn {
			f.Failf("question %s (%s) of process %d got no reply", q.ID, q.Method, q.Process)
		}
	}
	if answers := len(runindex.Answers(t.Run)); len(replies) < answers {
		f.Missingf("the user answered %d questions, and the runtime got replies to %d", answers, len(replies))
	}
}

func repliesOf(r *conformance.Run) map[string]int {
	replies := map[string]int{}
	for _, w := range r.ClientActions {
		switch {
		case w.Kind != standin.KindAnswer:
		case w.Calls:
		default:
			replies[w.RequestID]++
		}
	}
	return replies
}

// closeWhenAsked returns the steps up to the first answer, and then a close.
func closeWhenAsked(s *fixtures.Scenario) []fixtures.Step {
	for i, a := range s.Client {
		if a.Verb == fixtures.VerbAnswer && !a.Late {
			return append(slices.Clone(s.Client[:i]), fixtures.Step{Verb: fixtures.VerbClose, Line: a.Line})
		}
	}
	return nil
}

// askedBeforeClose reports whether a question was asked before the session was closed:
// later ones cannot be answered.
func askedBeforeClose(r *conformance.Run, q standin.RuntimeRequest) bool {
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbClose {
			return slices.ContainsFunc(r.Played[:a.Line], func(p conformance.PlayedLine) bool { return p.Line.Line == q.Line.Line })
		}
	}
	return true
}

// judgeClosedWhenAsked judges a session that was closed with a question open. The
// question must get one reply, which allows nothing, before stdin is closed.
func judgeClosedWhenAsked(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil || !t.Supports("session_end") {
		return // the subject cannot report the end of a session with an open question
	}
	f.Asserted(1)
	replies := repliesOf(t.Alternate)
	if len(replies) == 0 {
		f.Failf("the session was closed while a question was open, and no question got a reply")
	}
	for _, q := range questions(t.Alternate) {
		if !q.Answered && !q.Withdrawn && askedBeforeClose(t.Alternate, q) {
			f.Failf("the session was closed while question %s (%s) was open, and it got no reply", q.ID, q.Method)
		}
	}
	for id, n := range replies {
		if n != 1 {
			f.Failf("the session was closed while question %s was open: it got %d replies", id, n)
		}
	}
	for _, d := range decisions(t.Alternate) {
		if d == standin.Allow {
			f.Failf("the session was closed while a question was open, and the subject sent allow")
		}
	}
}
