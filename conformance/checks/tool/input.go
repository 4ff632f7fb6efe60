package tool

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// InputStreamed is the check tool.input-streamed.
var InputStreamed = &conformance.Check{
	ID: "tool.input-streamed", Source: "adapters that show a file only when the model has written all of it", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:     []string{"tool_input", "tool_input.text"},
	Needs:      []string{"tool_input"},
	NeedsLines: true,
	Mend:       "Emit each piece of a tool's input as tool_input when its line arrives, once, in the order of the lines. If Open was not asked for pieces, or the runtime sends an input whole, emit none.",
	Sentence:   "If the session was opened with stream_tool_input, each piece of a tool's input is emitted at once, in order; without it none is.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		switch {
		case inputsAsked(t.Run):
			judgeInputPieces(t, f)
			return
		case t.Scenario.Opening.StreamToolInput:
			return // session.capabilities judges events that are not declared
		}
		for e := range runindex.EventsOf[event.ToolStart](t.Run) {
			if e.SubagentID == "" {
				f.Asserted(1) // each call could have had pieces
			}
		}
		for e, d := range runindex.EventsOf[event.ToolInput](t.Run) {
			f.At(e, "a piece of the input of tool %s, and the session was opened without stream_tool_input", d.ToolUseID)
			return
		}
	},
}

// inputsAsked reports whether the subject was asked for the inputs of tools in pieces and can
// emit them.
func inputsAsked(r *conformance.Run) bool {
	return r.Scenario.Opening.StreamToolInput && r.Supports(string(event.TypeToolInput)) && (r.Declared == nil || r.Declared.Can.Names("stream_tool_input"))
}

// judgeInputPieces demands that the pieces of events and those of the wire make the same text,
// and that each is out when its line has been played.
func judgeInputPieces(t *conformance.Trial, f *conformance.Finding) {
	var onWire, emitted strings.Builder
	var events []conformance.Event
	for e := range runindex.EventsOf[event.ToolInput](t.Run) {
		events = append(events, e)
	}
	i := 0
	add := func() {
		d, _ := events[i].Data.(event.ToolInput)
		emitted.WriteString(d.Text)
		i++
	}
	lines := runindex.Of(t.Run).Lines()
	late := false
	for n := range lines {
		l := &lines[n]
		for i < len(events) && events[i].Line <= n+1 {
			add()
		}
		if l.Other || l.Agent != "" || l.Piece.Kind != wire.Input || l.Piece.Text == "" {
			continue
		}
		f.Asserted(1)
		onWire.WriteString(l.Piece.Text)
		if !late && emitted.Len() < onWire.Len() {
			late = true
			f.Problems = append(f.Problems, conformance.Problem{Line: t.Played[n].Line.Line,
				Text: "a piece of a tool's input is on the wire, but no event holds it after the line was played"})
		}
	}
	for i < len(events) {
		add()
	}
	if got, want := emitted.String(), onWire.String(); got != want {
		f.Failf("the pieces of inputs make %q, and those of the wire %q", runindex.Clip(got), runindex.Clip(want))
	}
}

// InputWhole is the check tool.input-whole.
var InputWhole = &conformance.Check{
	ID: "tool.input-whole", Source: "user interfaces that keep the card of a call that never came", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{"tool_input.tool_use_id", "tool_input.tool", "tool_input.dropped"},
	Needs:  []string{"tool_input", "tool_start"},
	Mend: "Emit the tool's name with the first piece, and all pieces before the tool_start of the same id. If the call does not come, " +
		"because its message was cut off or taken back, emit tool_input with dropped, at the latest before the end of the turn.",
	Sentence: "The first piece of an input has the tool's name. The pieces make the input of the tool_start that follows, or the call is dropped before its turn ends.",
	Faults:   []string{"kill"},
	Judge:    func(t *conformance.Trial, f *conformance.Finding) { judgeInputWhole(t.Run, f) },
	JudgeFault: func(_, faulted *conformance.Run, f *conformance.Finding) {
		if faulted.Hang == "" { // turn.crash-ends judges that
			judgeInputWhole(faulted, f)
		}
	},
}

// writtenInput is the input of a call whose pieces arrive.
type writtenInput struct {
	tool string
	text strings.Builder
	turn int
	at   conformance.Event // its first piece
}

func judgeInputWhole(r *conformance.Run, f *conformance.Finding) {
	type call struct{ agent, id string }
	open, started := map[call]*writtenInput{}, map[call]bool{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.ToolInput:
			f.Asserted(1)
			k := call{e.SubagentID, d.ToolUseID}
			in := open[k]
			switch {
			case started[k]:
				f.At(e, "a piece of the input of tool %s after its tool_start", d.ToolUseID)
			case d.Dropped && in == nil:
				f.At(e, "the input of tool %s is dropped and has not begun", d.ToolUseID)
			case d.Dropped:
				delete(open, k)
			case (in == nil) != (d.Tool != ""):
				f.At(e, "the first piece of the input of tool %s, and no other, has the name of a tool", d.ToolUseID)
				return
			case in == nil:
				in = &writtenInput{tool: d.Tool, turn: e.Turn, at: e}
				in.text.WriteString(d.Text)
				open[k] = in
			default:
				in.text.WriteString(d.Text)
			}
		case event.ToolStart:
			k := call{e.SubagentID, d.ToolUseID}
			if in := open[k]; in != nil {
				judgeWrittenInput(e, d, in, f)
			}
			delete(open, k)
			started[k] = true
		case event.Done, event.Error:
			for k, in := range open {
				if e.SubagentID == "" && e.Turn == in.turn {
					f.At(in.at, "the input of tool %s has begun, and when its turn ends the call has neither started nor been dropped", k.id)
					delete(open, k)
				}
			}
		}
	}
}

// judgeWrittenInput compares an input with its pieces. A runtime that takes no input as an
// empty object sends no text for it, and an input that is no JSON is a string.
func judgeWrittenInput(e conformance.Event, d event.ToolStart, in *writtenInput, f *conformance.Finding) {
	if in.tool != d.Tool {
		f.At(e, "tool %s is %q, and its input began as that of %q", d.ToolUseID, d.Tool, in.tool)
	}
	text := in.text.String()
	want := event.Raw(text)
	switch {
	case strings.TrimSpace(text) == "":
		want = event.Raw("{}")
	case !want.IsValid():
		want, _ = jsontext.AppendQuote(nil, text) // the error only reports replaced characters
	}
	if !wire.SameJSON(d.Input, want) {
		f.At(e, "the input of tool %s is %s, and its pieces make %s", d.ToolUseID, runindex.Clip(string(d.Input)), runindex.Clip(text))
	}
}
