package tool

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Progress is the check tool.progress.
var Progress = &conformance.Check{
	ID: "tool.progress", Source: "user interfaces that take a tool of ten minutes for one that hangs", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:     []string{"tool_progress", "tool_progress.tool_use_id", "tool_progress.elapsed_ms"},
	Needs:      []string{"tool_progress", "tool_start", "tool_result"},
	NeedsLines: true,
	Mend: "Emit tool_progress when the runtime states how far a tool is, or for how long it runs, with the id of the call and with nothing that is not stated. " +
		"Emit none for a call that has no tool_start yet or that has its tool_result.",
	Sentence: "What the runtime states about a tool that runs is emitted at once as tool_progress of that tool, once, and nothing else is; none comes before its tool_start or after its tool_result.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		judgeProgressOpen(t.Run, f)
		judgeProgressStated(t, f)
	},
}

// judgeProgressOpen demands that the tool of each tool_progress is open.
func judgeProgressOpen(r *conformance.Run, f *conformance.Finding) {
	type call struct{ agent, id string }
	open := map[call]bool{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ToolStart:
			open[call{e.SubagentID, d.ToolUseID}] = true
		case event.ToolProgress:
			f.Asserted(1)
			if !open[call{e.SubagentID, d.ToolUseID}] {
				f.At(e, "tool_progress of %s, which has no tool_start yet or has its tool_result", d.ToolUseID)
			}
		case event.ToolResult:
			delete(open, call{e.SubagentID, d.ToolUseID})
		}
	}
}

// judgeProgressStated compares the tool_progress of the main agent with the lines that state
// progress of a tool that runs.
func judgeProgressStated(t *conformance.Trial, f *conformance.Finding) {
	var events []conformance.Event
	for e := range runindex.EventsOf[event.ToolProgress](t.Run) {
		if e.SubagentID == "" {
			events = append(events, e)
		}
	}
	lines := runindex.Of(t.Run).Lines()
	runs := map[string]bool{}
	next := 0
	for n := range lines {
		l := &lines[n]
		if l.Other {
			continue
		}
		for _, tool := range l.Tools {
			runs[tool.ID] = !tool.Ends
		}
		if l.Kind == wire.TurnEnd {
			clear(runs)
		}
		if l.Progress == nil || l.Agent != "" || !runs[l.Progress.Tool] {
			continue
		}
		f.Asserted(1)
		want := describeStated(l.Progress)
		if next == len(events) || events[next].Line > n+1 {
			f.Problems = append(f.Problems, conformance.Problem{Line: t.Played[n].Line.Line,
				Text: fmt.Sprintf("the runtime states progress: %s, but no tool_progress holds it after the line was played", want)})
			continue
		}
		d, _ := events[next].Data.(event.ToolProgress)
		if got := describeEmitted(t.Run, d); got != want {
			f.At(events[next], "the runtime states progress: %s, but tool_progress holds: %s", want, got)
		}
		next++
	}
	if next < len(events) {
		d, _ := events[next].Data.(event.ToolProgress)
		f.At(events[next], "tool_progress, and the runtime states nothing: %s", describeEmitted(t.Run, d))
	}
}

// describeStated describes what a line states about a tool.
func describeStated(p *wire.Progress) string {
	var elapsed int64
	if p.Elapsed != nil {
		elapsed = int64(*p.Elapsed * 1000)
	}
	return describeProgress(p.Tool, p.Message, p.Done, p.Total, elapsed)
}

// describeEmitted describes what an event holds, with the recorded id of the tool.
func describeEmitted(r *conformance.Run, d event.ToolProgress) string {
	return describeProgress(r.Recorded(d.ToolUseID), d.Message, d.Progress, d.Total, d.ElapsedMS)
}

func describeProgress(tool, message string, done, total *float64, elapsedMS int64) string {
	out := []string{"tool " + tool}
	if message != "" {
		out = append(out, fmt.Sprintf("message %q", runindex.Clip(message)))
	}
	if done != nil {
		out = append(out, fmt.Sprint("progress ", *done))
	}
	if total != nil {
		out = append(out, fmt.Sprint("total ", *total))
	}
	if elapsedMS > 0 {
		out = append(out, fmt.Sprint(elapsedMS, " ms"))
	}
	return strings.Join(out, ", ")
}
