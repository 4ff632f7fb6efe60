package tool

import (
	"slices"
	"strings"
	"unicode"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// WholeResult is the check tool.whole-result.
var WholeResult = &conformance.Check{
	ID: "tool.whole-result", Source: "chats that show the first text of a result only, or the first thousand bytes", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"tool_result.output", "tool_result.is_error", "tool_result.status", "tool_result.exit_code"},
	Needs:    []string{"tool_result.output", "tool_result.is_error"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Join all content blocks of a result, and do not cut it.",
	Sentence: "A tool_result holds all of the output that the runtime's line holds, white space aside, and its error flag and exit code.",
	Judge:    judgeWholeResult,
}

func judgeWholeResult(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		want := runindex.StatedResult(t.Run, e, d.ToolUseID)
		if want == nil {
			continue
		}
		final := d.Status == event.ToolOK || d.Status == event.ToolError
		if want.Outputs != nil && (final || d.Output != "") {
			f.Asserted(1)
			judgeWholeOutput(t, e, d, want, f)
		}
		if final && want.Failed != nil {
			f.Asserted(1)
			if d.IsError != *want.Failed {
				f.At(e, "tool %s: is_error is %v, but the runtime reports %v", d.ToolUseID, d.IsError, *want.Failed)
			}
			if (d.Status == event.ToolError) != *want.Failed {
				f.At(e, "tool %s: status is %s, but the runtime reports that it failed: %v", d.ToolUseID, d.Status, *want.Failed)
			}
		}
		if !final && want.Failed != nil && t.Supports("tool_result.status") {
			f.Asserted(1)
			switch {
			case d.Status == "":
				f.At(e, "tool %s has no status", d.ToolUseID)
			case d.Status == event.ToolInterrupted && runindex.StopsTurn(t.Run): // the runtime may end a stopped call as any other
			case !*want.Failed && d.Status != event.ToolBackgrounded, d.Status == event.ToolBackgrounded && !inBackground(t.Run, d.ToolUseID):
				f.At(e, "tool %s: status is %s, but the runtime reports its result, failed: %v", d.ToolUseID, d.Status, *want.Failed)
			}
		}
		if d.ExitCode == nil && want.ExitCode != nil && final && t.Supports("tool_result.exit_code") {
			f.Asserted(1)
			f.At(e, "tool %s has no exit_code, but the runtime reports %d", d.ToolUseID, *want.ExitCode)
		}
		if d.ExitCode != nil && want.ExitCode != nil {
			f.Asserted(1)
			if *d.ExitCode != *want.ExitCode {
				f.At(e, "tool %s: exit_code is %d, but the runtime reports %d", d.ToolUseID, *d.ExitCode, *want.ExitCode)
			}
		}
	}
}

// inBackground reports whether the events show a call as one that continues without its
// turn.
func inBackground(r *conformance.Run, call string) bool {
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ToolStart:
			if d.ToolUseID == call && d.Background {
				return true
			}
		case event.Task:
			if d.ToolUseID == call {
				return true
			}
		}
	}
	return false
}

func judgeWholeOutput(t *conformance.Trial, e conformance.Event, d event.ToolResult, want *wire.ToolResult, f *conformance.Finding) {
	got := withoutSpace(t.Recorded(d.Output))
	texts := want.Outputs
	for id, sent := range runindex.ToolResults(t.Run) {
		if runindex.SameCall(t.Run, d.ToolUseID, id) {
			texts = append(slices.Clip(texts), plainText(sent)) // what the model received is whole too
		}
	}
	for _, text := range texts {
		if got == withoutSpace(t.Recorded(text)) {
			return
		}
	}
	if t.Case != nil && slices.ContainsFunc(t.ClientActions, func(a standin.ClientAction) bool {
		return a.Kind == standin.KindAnswer && runindex.Holds(a.Bytes, d.Output)
	}) {
		return // the words of a denial are the subject's own
	}
	f.At(e, "tool %s: the output of %d bytes is %q, but the runtime's line holds %d bytes: %q", d.ToolUseID, len(d.Output), runindex.Clip(d.Output), len(want.Outputs[0]), runindex.Clip(want.Outputs[0]))
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
