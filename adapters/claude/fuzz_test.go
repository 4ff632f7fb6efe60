package claude_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
)

// For any input, nothing panics, seq has no gap, each turn ends once, and the
// strict decoder accepts every event.
func FuzzLines(f *testing.F) {
	tool := func(name, input string) []byte {
		return []byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"` + name + `","input":` + input + `}]},"parent_tool_use_id":null}`)
	}
	f.Add(tool("TodoWrite", `{"todos":[{"content":"a","status":"blocked"},{"content":"b","status":"in_progress"}]}`))
	f.Add(tool("Edit", `{"file_path":"/a","old_string":"x"}`))
	f.Add(append(append(tool("Bash", `{"command":"ls"}`), '\n'), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]},"tool_use_result":{"filePath":"/a","structuredPatch":[{"lines":["+a"]}],"type":"rename"}}`...))
	for _, s := range []string{
		`{"type":"system","subtype":"task_started","task_id":"b","tool_use_id":"t","task_type":"local_bash","is_backgrounded":true}` + "\n" + `{"type":"system","subtype":"task_notification","task_id":"b","status":"vanished"}`,
		`{"type":"system","subtype":"status","status":"compacting"}` + "\n" + `{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto"}}`,
		`{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[{"type":"odd"}]}}`,
		`{"type":"result","subtype":"success","is_error":true,"result":"x","terminal_reason":"odd"}`,
		`{"type":"rate_limit_event","x":1}`,
		`{"type":"system","subtype":"init","session_id":"s"}` + "\n" + `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}` + "\n" +
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}` + "\n" +
			`{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"api_message_id":"m","from_block_index":0}}`,
		`{"type":"result","subtype":"success","result":"x","permission_denials":[{"tool_name":"Bash","tool_use_id":"t"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		seq, ended := int64(0), map[int]bool{}
		n := claude.New().Transcribe("s", func(e event.Event) {
			line, err := e.AppendJSON(nil)
			if err != nil {
				t.Errorf("%s: %v", e.Type(), err)
			} else if _, err := event.Decode(line); err != nil {
				t.Errorf("the strict decoder refuses %s: %v", line, err)
			}
			if seq++; e.Seq != seq {
				t.Errorf("event %d has seq %d", seq, e.Seq)
			}
			if e.Turn > 0 && e.SubagentID == "" && ended[e.Turn] {
				t.Errorf("%s follows the end of turn %d", e.Type(), e.Turn)
			}
			if e.Terminal() && e.SubagentID == "" {
				ended[e.Turn] = e.Turn > 0
			}
		})
		for l := range bytes.SplitSeq(b, []byte("\n")) {
			n.Line(time.Unix(0, 0), l)
		}
		n.End()
	})
}
