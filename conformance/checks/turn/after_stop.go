package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// AfterStop is the check turn.after-stop.
var AfterStop = &conformance.Check{
	ID: "turn.after-stop", Source: "adapters whose next turn inherits the stop", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"done.stopped"},
	Needs:    []string{"user_message"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Clear the stop, its timer and the state of open blocks and tools when the stopped turn has ended. Drop late lines of the stopped turn.",
	Sentence: "The turn after a stopped one completes, unless the model fails, and holds only its own events.",
	Judge:    judgeAfterStop,
}

func judgeAfterStop(t *conformance.Trial, f *conformance.Finding) {
	stopped := false
	for i, a := range t.Steps {
		switch {
		case a.Step.Verb == fixtures.VerbStop:
			stopped = true
			continue
		case a.Step.Verb != fixtures.VerbSend || a.Step.What != "" || a.Err != nil || !stopped:
			continue
		}
		withdraws := func(x conformance.StepResult) bool {
			return x.Step.Verb == fixtures.VerbWithdraw && x.Step.ID == a.Step.ID && x.Err == nil
		}
		if slices.ContainsFunc(t.Steps[i:], stopsTurn) || slices.ContainsFunc(t.Steps[i:], withdraws) {
			continue
		}
		x := runindex.Of(t.Run)
		m := slices.IndexFunc(x.Messages(), func(m *runindex.Message) bool { return m.Data.MessageID == a.Step.ID })
		if m < 0 || x.Messages()[m].Turn == 0 {
			f.Failf("message %s was sent after the stop, but no turn holds it", a.Step.ID)
			continue
		}
		turn := x.Turn(x.Messages()[m].Turn)
		var text strings.Builder
		for _, e := range turn.Events {
			if d, ok := e.Data.(event.Delta); ok {
				text.WriteString(d.Text)
			}
		}
		for _, e := range turn.Ends {
			f.Asserted(1)
			if _, failed := e.Data.(event.Error); failed && modelFailed(t.Run, turn.N) {
				continue
			}
			if d, ok := e.Data.(event.Done); !ok || d.Stopped {
				f.At(e, "turn %d follows the stop and ends in %s", turn.N, runindex.Describe(e.Data))
			}
		}
		if want := answerTo(t.Run, a.Step.ID); want != "" && !strings.Contains(text.String(), want) {
			f.Diff(fmt.Sprintf("turn %d does not hold its own text", turn.N), want+"\n", text.String()+"\n")
		}
	}
}

// modelFailed reports whether a reply to a request of the turn was not complete.
func modelFailed(r *conformance.Run, turn int) bool {
	turns := runindex.TurnsOfRequests(r)
	return slices.ContainsFunc(runindex.Requests(r), func(q fixtures.Request) bool {
		return turns[q.Req] == turn && (q.Ended == fixtures.EndedFailed || q.Ended == fixtures.EndedCut || q.Ended == fixtures.EndedShort)
	})
}

// answerTo returns the model's reply to the request that holds the message.
func answerTo(r *conformance.Run, message string) string {
	for _, q := range runindex.Requests(r) {
		if slices.Contains(q.New, message) && q.Ended == fixtures.EndedComplete {
			var b strings.Builder
			for _, s := range q.Output {
				b.WriteString(s.Text)
			}
			return b.String()
		}
	}
	return ""
}
