package checks

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// brought is what a line of a runtime brings that an adapter can tell at once.
// It is read here anew, in the fewest members, and shares no code with an
// adapter.
type brought struct {
	thinking string
	tools    []toolMark
	end      bool   // of a turn
	thread   string // Codex: whose line it is
	opens    string // Codex: the thread that it tells of as opened
}

// toolMark is a tool call that a line tells in full.
type toolMark struct{ what, id string }

// What a line tells of a tool.
const (
	toolStarts = "start"
	toolEnds   = "result"
)

// readLine reads a line that was played.
func readLine(runtime string, l fixtures.WireLine) brought {
	if l.Dir != fixtures.Out {
		return brought{}
	}
	if runtime == "codex" {
		return readCodex(l.Bytes)
	}
	return readClaude(l.Bytes)
}

func decodeLine(b []byte, to any) bool {
	return json.Unmarshal(b, to, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil
}

func readCodex(b []byte) (out brought) {
	var head struct {
		Method string `json:"method"`
		Params struct {
			ThreadID string `json:"threadId"`
			Delta    any    `json:"delta"`
			Thread   struct {
				ID string `json:"id"`
			} `json:"thread"`
			Item struct {
				ID string `json:"id"`
			} `json:"item"`
		} `json:"params"`
	}
	if !decodeLine(b, &head) {
		return out
	}
	out.thread = head.Params.ThreadID
	switch head.Method {
	case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta":
		out.thinking, _ = head.Params.Delta.(string)
	case "item/started":
		out.tools = []toolMark{{toolStarts, head.Params.Item.ID}}
	case "item/completed":
		out.tools = []toolMark{{toolEnds, head.Params.Item.ID}}
	case "turn/completed":
		out.end = true
	case "thread/started":
		out.opens = head.Params.Thread.ID
	}
	return out
}

func readClaude(b []byte) (out brought) {
	var line struct {
		Type   string `json:"type"`
		Parent string `json:"parent_tool_use_id"`
		Event  struct {
			Delta struct {
				Type     string `json:"type"`
				Thinking string `json:"thinking"`
			} `json:"delta"`
		} `json:"event"`
		Message struct {
			Content jsontext.Value `json:"content"`
		} `json:"message"`
	}
	if !decodeLine(b, &line) {
		return out
	}
	switch line.Type {
	case "stream_event":
		if line.Event.Delta.Type == "thinking_delta" {
			out.thinking = line.Event.Delta.Thinking
		}
	case "result":
		out.end = line.Parent == ""
	case "assistant", "user":
		var blocks []struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			ToolUseID string `json:"tool_use_id"`
		}
		if !decodeLine(line.Message.Content, &blocks) {
			return out // a message of text alone
		}
		for _, x := range blocks {
			switch x.Type {
			case "tool_use":
				out.tools = append(out.tools, toolMark{toolStarts, x.ID})
			case "tool_result":
				out.tools = append(out.tools, toolMark{toolEnds, x.ToolUseID})
			}
		}
	}
	return out
}
