package claude_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// Other tools leave lines and members out of the transcripts that they write.

const (
	elsewhereInit   = `{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w"}`
	elsewhereResult = `{"type":"result","subtype":"success","is_error":false,"session_id":"s"}`
)

func turnTexts(events []event.Event) (turns []string) {
	retracted := map[string]bool{}
	for _, e := range events {
		if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockRetracted {
			retracted[d.BlockID] = true
		}
	}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			turns = append(turns, "")
		case event.Delta:
			if !retracted[d.BlockID] {
				turns[len(turns)-1] += d.Text
			}
		case event.ToolStart:
			turns[len(turns)-1] += " | "
		}
	}
	return turns
}

func elsewhereLines(lines ...string) (out [][]byte) {
	for _, l := range lines {
		out = append(out, []byte(l))
	}
	return out
}

// A transcript without an init line for each turn loses no text. A line of the last
// turn is still late.
func TestTextBetweenTurnsBeginsTurn(t *testing.T) {
	g := NewWithT(t)
	say := func(id, text string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"session_id":"s"}`
	}
	start := `{"type":"stream_event","event":{"type":"message_start","message":{"id":"c"}},"session_id":"s"}`
	block := `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"three"}},"session_id":"s"}`
	events := normalize(elsewhereLines(elsewhereInit, say("a", "one"), elsewhereResult, say("a", "late"), say("b", "two"), elsewhereResult,
		start, block, `{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s"}`, elsewhereResult))
	g.Expect(turnTexts(events)).To(Equal([]string{"one", "two", "three"}))
	g.Expect(checkStream(events)).To(Succeed())
}

// Messages without ids are different messages if a tool ran between them, however
// much of their streams is missing.
func TestMessagesWithoutIDsKeepTheirText(t *testing.T) {
	stream := func(event string) string { return `{"type":"stream_event","event":` + event + `,"session_id":"s"}` }
	message := func(text string, ends ...string) []string {
		lines := []string{
			stream(`{"type":"message_start","message":{"role":"assistant"}}`),
			stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
			stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}`),
		}
		for _, end := range ends {
			lines = append(lines, stream(end))
		}
		return lines
	}
	const blockStop, messageStop = `{"type":"content_block_stop","index":0}`, `{"type":"message_stop"}`
	for name, ends := range map[string][]string{"whole": {blockStop, messageStop}, "no end of the message": {blockStop}, "no end": nil} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lines := append([]string{elsewhereInit}, message("first", ends...)...)
			lines = append(lines,
				`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"session_id":"s"}`,
				`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"session_id":"s"}`)
			lines = append(append(lines, message("second", ends...)...), elsewhereResult)
			events := normalize(elsewhereLines(lines...))
			g.Expect(turnTexts(events)).To(Equal([]string{"first | second"}))
			g.Expect(checkStream(events)).To(Succeed())
		})
	}
}
