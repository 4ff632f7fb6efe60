package checks

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
)

func timeChecks() []*conformance.Check {
	return []*conformance.Check{{
		ID: "time.no-added-delay", Severity: conformance.Must, Source: "the event contract (adapters/event): ts is the time of reception", Tiers: []conformance.Tier{conformance.TierTiming},
		Sentence: "In virtual time an event is emitted at the time of the wire line that caused it, to the nanosecond.",
		Judge: func(t *conformance.Trial, f *conformance.Finding) {
			judgeMoments(t, f)
			judgeCauses(t, f)
		},
	}, {
		ID: "time.first-delta", Severity: conformance.Must, Source: "adapters that wait for a sentence before they say a word", Tiers: []conformance.Tier{conformance.TierTiming},
		Sentence: "The first delta of the wire is at once the first delta of the stream.",
		Judge:    judgeFirstDelta,
	}}
}

// judgeMoments: time moves only between the lines of the recording and the
// client's acts, so an event at any other time was held back.
func judgeMoments(t *conformance.Trial, f *conformance.Finding) {
	moments := []time.Duration{}
	for _, p := range t.Played {
		moments = append(moments, p.At)
	}
	for _, a := range t.Steps {
		moments = append(moments, a.At)
	}
	slices.Sort(moments)
	for _, e := range t.Events {
		f.Asserted(1)
		if _, ok := slices.BinarySearch(moments, e.At); !ok {
			f.At(e, "%s reached the listener at %v, when nothing happened on the wire", e.Type(), e.At)
		}
	}
}

// judgeFirstDelta looks at the first words of the session.
func judgeFirstDelta(t *conformance.Trial, f *conformance.Finding) {
	first := slices.IndexFunc(t.Events, func(e conformance.Event) bool {
		d, ok := e.Data.(event.Delta)
		return ok && d.Text != "" && e.SubagentID == ""
	})
	thread, others := "", map[string]bool{}
	for i, p := range t.Played {
		brought := readLine(t.Runtime, p.Line)
		if brought.opens != "" {
			others[brought.opens] = len(others) > 0
		}
		if thread == "" && !others[brought.thread] {
			thread = brought.thread
		}
		if standin.TextDelta(t.Runtime, p.Line.Bytes) == "" || brought.thread != thread {
			continue
		}
		f.Asserted(1)
		switch {
		case first < 0: // what never comes is not late
		case t.Events[first].Line > i+1:
			f.At(t.Events[first], "the first delta comes %v and %d lines after that of the wire", t.Events[first].At-p.At, t.Events[first].Line-i-1)
		case t.Events[first].At > p.At:
			f.At(t.Events[first], "the first delta comes %v after that of the wire", t.Events[first].At-p.At)
		}
		return
	}
}

// tally is how much came of each kind.
type tally struct {
	text, thinking int
	ends           int
	tools          map[string]bool // "start ID", "result ID"
}

// judgeCauses: when a line has been played, what it brought is out. Else an
// event was held back until something else happened, which no clock shows.
func judgeCauses(t *conformance.Trial, f *conformance.Finding) {
	wire, out := tally{tools: map[string]bool{}}, tally{tools: map[string]bool{}}
	var calls []string
	for _, c := range saidTools(t.Run) {
		calls = append(calls, c.ID)
	}
	// What never comes is not late: other checks say so.
	all := tally{tools: map[string]bool{}}
	for _, e := range t.Events {
		all.add(t.Runtime, e)
	}
	i, thread := 0, "" // Codex: the main agent's, which is named first
	others := map[string]bool{}
	for n, p := range t.Played {
		brought := readLine(t.Runtime, p.Line)
		if brought.opens != "" {
			others[brought.opens] = len(others) > 0 // sub-agents' are not told of so
		}
		if others[brought.thread] {
			continue
		}
		wire.text += len(standin.TextDelta(t.Runtime, p.Line.Bytes))
		wire.thinking += len(brought.thinking)
		if thread == "" {
			thread = brought.thread
		}
		if brought.end && brought.thread == thread && !refusedAt(t.Run, p.Line.Line) {
			wire.ends++
		}
		for ; i < len(t.Events) && t.Events[i].Line <= n+1; i++ {
			out.add(t.Runtime, t.Events[i])
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
		for _, tool := range brought.tools {
			mark := tool.what + " " + tool.id
			if isCall(tool.id, calls) && all.tools[mark] && !out.tools[mark] {
				late = "the " + tool.what + " of tool " + tool.id
			}
		}
		if late != "" {
			f.Problems = append(f.Problems, conformance.Problem{Line: p.Line.Line,
				Text: late + " is on the wire, and not out when the line has been played"})
			return
		}
	}
}

func (o *tally) add(runtime string, e conformance.Event) {
	if e.SubagentID != "" && runtime == "claude" {
		return // it tells a sub-agent's blocks whole; Codex streams them too
	}
	switch d := e.Data.(type) {
	case event.Delta:
		o.text += len(d.Text)
	case event.Thinking:
		o.thinking += len(d.Text)
	case event.ToolStart:
		o.tools[toolStarts+" "+d.ToolUseID] = true
	case event.ToolResult:
		o.tools[toolEnds+" "+d.ToolUseID] = true
	}
	if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
		o.ends++
	}
}

func isCall(id string, calls []string) bool {
	return slices.ContainsFunc(calls, func(call string) bool { return isTool(id, call) })
}
