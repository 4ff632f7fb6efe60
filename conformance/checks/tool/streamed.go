package tool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Streamed is the check tool.streamed.
var Streamed = &conformance.Check{
	ID: "tool.streamed", Source: "adapters that append cumulative snapshots", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_output", "tool_output.text"},
	Needs:    []string{"tool_output", "tool_result.output"},
	Mend:     "If the runtime sends the output so far, emit only what is new. If it sends pieces, append each once.",
	Sentence: "What a running command prints is emitted if the runtime shows it. The result holds the pieces in their order, each once. The first ones may be missing, and the newlines at the end.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		for _, tool := range runindex.Of(t.Run).Tools() {
			for _, e := range tool.Results {
				d, _ := e.Data.(event.ToolResult)
				if tool.Agent == "" && (d.Status == event.ToolOK || d.Status == event.ToolError) {
					judgeStreamed(tool, d, f)
					if text := printedBy(t.Run, tool, e); text != "" {
						runindex.Demand(t, f, e, "tool_output", slices.ContainsFunc(tool.Outputs, hasText), "the output so far, "+strconv.Quote(runindex.Clip(text)))
					}
				}
			}
		}
	},
}

func hasText(e conformance.Event) bool {
	d, _ := e.Data.(event.ToolOutput)
	return d.Text != ""
}

// shortOutput is the size up to which runtimes show the whole output of a running command.
const shortOutput = 10 << 10

// printedBy returns what the runtime shows of the output of a command while it runs; "" if it
// shows nothing, or not all from the start.
func printedBy(r *conformance.Run, tool *runindex.Tool, result conformance.Event) string {
	if len(tool.Starts) == 0 || tool.Start().Command == "" {
		return ""
	}
	lines := runindex.Of(r).Lines()
	id := r.Recorded(tool.ID)
	for i := range lines[:min(result.Line, len(lines))] {
		l := &lines[i]
		if l.Item != id || l.Other || slices.ContainsFunc(l.Tools, func(t wire.Tool) bool { return t.Ends }) {
			continue
		}
		if l.Piece.Kind == wire.Output && l.Piece.Text != "" {
			return l.Piece.Text
		}
		for _, text := range l.Printed {
			if text != "" && len(text) < shortOutput {
				return text
			}
		}
	}
	return ""
}

// keptOutput is the size from which a runtime may leave out the middle of an output
// to the client, too.
const keptOutput = 512 << 10

// judgeStreamed looks for the streamed pieces in the result, each behind the one
// before it. The first pieces may be missing.
func judgeStreamed(tool *runindex.Tool, res event.ToolResult, f *conformance.Finding) {
	at := 0
	for _, e := range tool.Events {
		switch d := e.Data.(type) {
		case event.ToolOutput:
			f.Asserted(1)
			i := strings.Index(res.Output[at:], d.Text)
			size := len(d.Text)
			if last := strings.TrimRight(d.Text, "\n"); i < 0 && strings.HasSuffix(res.Output[at:], last) {
				i, size = len(res.Output[at:])-len(last), len(last) // the result has no newline at its end
			}
			if i < 0 && (res.Truncated || len(res.Output) >= keptOutput) {
				continue // it may be in the part that was left out
			}
			if i < 0 {
				f.At(e, "tool %s: the result does not hold the piece %q behind the pieces before it: %q", d.ToolUseID, runindex.Clip(d.Text), runindex.Clip(res.Output))
				return
			}
			at += i + size
		case event.ToolResult:
			return // tool.paired judges pieces after it
		}
	}
}
