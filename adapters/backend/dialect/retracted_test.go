package dialect_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestRetractedThenSaidAgain lets a block go on after it was retracted, and after it was
// replaced, which no runtime of the corpus does.
func TestRetractedThenSaidAgain(t *testing.T) {
	delta := func(block, text string) event.Data { return event.Delta{Text: text, MessageID: "a", BlockID: block} }
	end := func(block string, status event.BlockStatus, text string) event.Data {
		return event.BlockEnd{BlockID: block, Status: status, Text: text}
	}
	var events []event.Event
	for _, d := range []event.Data{
		event.TurnStart{Cause: event.CauseUser},
		delta("b", "Wro"), end("b", event.BlockRetracted, ""),
		delta("b", "Ri"), event.ToolStart{ToolUseID: "t", Tool: "Bash"}, delta("b", "ght"), end("b", event.BlockComplete, ""),
		event.ToolOutput{ToolUseID: "t", Text: "one "}, event.ToolOutput{ToolUseID: "t", Text: "two"}, event.ToolResult{ToolUseID: "t", Status: event.ToolOK},
		delta("c", "old"), end("c", event.BlockReplaced, "new"),
		delta("d", "begin"), end("d", event.BlockReplaced, "beginning"),
		end("e", event.BlockReplaced, "never streamed"),
		event.Thinking{Text: "hm", BlockID: "r"}, end("r", event.BlockRetracted, ""),
		event.Done{},
	} {
		events = append(events, event.Event{Data: d, Seq: int64(len(events) + 1), SessionID: "s", Turn: 1})
	}
	chat := replay.Reduce(events)
	for _, v := range vocabularies {
		lines, _ := v.translate(events, map[event.Type]int{})
		for _, problem := range v.problemsOf(lines, events, chat) {
			t.Errorf("%s: %s", v.name, problem)
		}
	}
}
