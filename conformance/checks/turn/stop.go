package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Stop is the check turn.stop.
var Stop = &conformance.Check{
	ID: "turn.stop", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"done.stopped"},
	Aliases:  []string{"time.limits"},
	Needs:    []string{"done.stopped"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Write the runtime's interrupt and wait for its end of the turn, with a limit. Then close open tools as interrupted and emit done with stopped set.",
	Sentence: "Stop reaches the runtime. A stopped turn ends in done with stopped:true within the limit, the partial text stays, and open tools end as interrupted.",
	Judge:    judgeStop,
}

// endsUnreported reports whether the runtime had ended more turns when a step began
// than the subject had reported: a stop then comes too late for the turn.
func endsUnreported(r *conformance.Run, step int) bool {
	ended, reported := 0, 0
	for i, l := range runindex.Of(r).Lines() {
		if l.Main && l.EndsTurn() && i < r.Steps[step].Line {
			ended++
		}
	}
	for _, e := range r.Events {
		if e.Terminal() && e.Turn > 0 && e.SubagentID == "" && e.Steps <= step {
			reported++
		}
	}
	return ended > reported
}

// judgeStop judges the turn that ran when Stop was called.
func judgeStop(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbStop {
			continue
		}
		turn := runindex.Of(t.Run).TurnAt(i)
		if turn == nil || endsUnreported(t.Run, i) {
			continue // no turn ran; turn.stop-idempotent judges that
		}
		f.Asserted(1)
		if a.Err != nil {
			f.Failf("stop failed: %v", a.Err)
		}
		if a.Err == nil && !reachesRuntime(t) {
			f.Failf("the subject wrote no interrupt to the runtime when the turn was stopped")
		}
		end, ended := turn.End()
		open := map[string]bool{}
		for _, e := range turn.Events {
			switch d := e.Data.(type) {
			case event.ToolStart:
				open[d.ToolUseID] = true
			case event.ToolResult:
				// If the subject does not report interrupted calls, a call that ended just
				// before the stop looks the same.
				if e.Steps > i && t.Supports("tool_result.status") && d.Status != event.ToolInterrupted && d.Status != event.ToolBackgrounded {
					f.At(e, "tool %s was open when the turn was stopped, but its status is %s", d.ToolUseID, d.Status)
				}
				delete(open, d.ToolUseID)
			}
		}
		for id := range open {
			f.Failf("tool %s has no result after the stop", id)
		}
		switch {
		case !ended:
			f.Failf("turn %d has no terminal event after the stop", turn.N)
		case end.At-a.At > perform.EndLimit:
			f.At(end, "turn %d ends %v after the stop, the limit is %v", turn.N, end.At-a.At, perform.EndLimit)
		default:
			if d, ok := end.Data.(event.Done); !ok || !d.Stopped {
				f.At(end, "turn %d was stopped, but ends in %s", turn.N, runindex.Describe(end.Data))
			}
		}
	}
	if f.Assertions > 0 {
		got := runindex.Of(t.Run).VisibleText()
		if want := runindex.ExpectedText(t.Run, got); len(got) < len(want) {
			f.Diff("the partial text did not stay", want+"\n", got+"\n")
		}
	}
}

// reachesRuntime reports whether the subject wrote an interrupt, or sent the signal that is one,
// if the recording's client did. With a fault, or live, what the runtime got is not known.
func reachesRuntime(t *conformance.Trial) bool {
	if t.Tier == conformance.TierLive || t.Fault != nil || t.Case == nil {
		return true
	}
	rt := runindex.Runtime(t.Run)
	for _, a := range t.ClientActions {
		if a.Kind == standin.KindStop || a.Kind == standin.KindSignal && rt.IsStop(a.Method) {
			return true
		}
	}
	return !slices.ContainsFunc(t.Case.Wire, func(w fixtures.WireLine) bool {
		return w.Dir == fixtures.In && rt.ReadInput(w.Bytes).Kind == standin.KindStop || w.Dir == fixtures.Signal
	})
}
