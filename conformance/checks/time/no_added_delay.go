package time

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// NoAddedDelay is the check time.no-added-delay.
var NoAddedDelay = &conformance.Check{
	ID: "time.no-added-delay", Source: "the event contract (adapters/event): ts is the time of reception", Tiers: []conformance.Tier{conformance.TierTiming},
	Mend:     "Emit the events of a line when it is read. Remove timers, batches and debouncing from the path of events.",
	Sentence: "In virtual time an event is emitted at the time of the wire line that caused it, to the nanosecond.",
	Judge:    judgeDelay,
}

func judgeDelay(t *conformance.Trial, f *conformance.Finding) {
	judgeMoments(t, f)
	judgeCauses(t, f)
}

// addsDelay reports whether the subject delays events.
func addsDelay(t *conformance.Trial) bool {
	var f conformance.Finding
	judgeDelay(t, &f)
	return len(f.Problems) > 0
}

// judgeMoments demands that events are emitted when a line is played, the client makes
// a call, or the subject writes to the runtime: virtual time moves only in between, so
// an event at any other time was held back.
func judgeMoments(t *conformance.Trial, f *conformance.Finding) {
	moments := runindex.Moments(t.Run)
	for _, e := range t.Events {
		f.Asserted(1)
		if !moments.Contain(e.At) && !endsWhileClosing(t.Run, e) {
			f.At(e, "%s reached the listener at %v, when nothing happened on the wire", e.Type(), e.At)
		}
	}
}

// endsWhileClosing reports whether an event is the end of a session during the call that closes
// it: nothing happens on the wire if no process runs.
func endsWhileClosing(r *conformance.Run, e conformance.Event) bool {
	if e.Type() != event.TypeSessionEnd || e.Steps == 0 || e.Steps > len(r.Steps) {
		return false
	}
	a := r.Steps[e.Steps-1]
	return a.Step.Verb == fixtures.VerbClose && e.At <= a.At+a.For
}

// tally counts what the events hold, or what the wire has delivered.
type tally struct {
	text, thinking int
	ends           int
	tools          map[string]bool // "start ID", "result ID"
}

// judgeCauses demands that an event is out when the line that caused it has been
// played. An adapter that holds an event back until something else happens cannot
// be found by time alone.
func judgeCauses(t *conformance.Trial, f *conformance.Finding) {
	wire, out := tally{tools: map[string]bool{}}, tally{tools: map[string]bool{}}
	var calls []string
	for _, c := range runindex.Calls(t.Run) {
		calls = append(calls, c.ID)
	}
	// A missing event is not late: other checks report it.
	all := tally{tools: map[string]bool{}}
	i, lines := 0, runindex.Of(t.Run).Lines()
	wholeSubagents := !slices.ContainsFunc(lines, func(l runindex.Line) bool { return l.Piece.Text != "" && (l.Agent != "" || !l.Main) })
	for _, e := range t.Events {
		all.count(wholeSubagents, e)
	}
	for n, p := range t.Played {
		l := &lines[n]
		if l.Other {
			continue
		}
		wire.text += len(l.Text())
		wire.thinking += len(l.Thinking())
		if l.EndsTurn() && l.Main && !runindex.OpenFailed(t.Run, p.Line.Line) {
			wire.ends++
		}
		for ; i < len(t.Events) && t.Events[i].Line <= n+1; i++ {
			out.count(wholeSubagents, t.Events[i])
		}
		late := ""
		switch {
		case out.text < min(wire.text, all.text):
			late = "text"
		case out.thinking < min(wire.thinking, all.thinking):
			late = "thinking"
		case out.ends < min(wire.ends, all.ends):
			late = "the end of the turn"
		}
		for _, tool := range l.Tools {
			what := toolStart
			if tool.Ends {
				what = toolResult
			}
			mark := what + " " + tool.ID
			if !tool.Unnamed && isCall(t.Run, tool.ID, calls) && all.tools[mark] && !out.tools[mark] {
				late = "the " + what + " of tool " + tool.ID
			}
		}
		if late != "" {
			f.Problems = append(f.Problems, conformance.Problem{Line: p.Line.Line,
				Text: late + " is on the wire, but no event holds it after the line was played"})
			return
		}
	}
}

const toolStart, toolResult = "start", "result"

// count adds an event. wholeSubagents leaves out those of sub-agents, whose text the
// wire delivers in whole blocks.
func (o *tally) count(wholeSubagents bool, e conformance.Event) {
	if e.SubagentID != "" && wholeSubagents {
		return
	}
	switch d := e.Data.(type) {
	case event.Delta:
		o.text += len(d.Text)
	case event.Thinking:
		o.thinking += len(d.Text)
	case event.ToolStart:
		o.tools[toolStart+" "+d.ToolUseID] = true
	case event.ToolResult:
		o.tools[toolResult+" "+d.ToolUseID] = true
	}
	if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
		o.ends++
	}
}

func isCall(r *conformance.Run, id string, calls []string) bool {
	return slices.ContainsFunc(calls, func(call string) bool { return runindex.SameCall(r, id, call) })
}
