package claude_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
)

const sessionFile = `{"type":"file-history-snapshot","messageId":"u1","snapshot":{},"sessionId":"s-7"}
{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"s-7","version":"2.1.300","type":"user","message":{"role":"user","content":"Greet the sea."},"uuid":"u1","timestamp":"2026-11-01T10:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"isMeta":true,"sessionId":"s-7","type":"user","message":{"role":"user","content":"Caveat."},"uuid":"u1b"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/w","sessionId":"s-7","version":"2.1.300","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"A wave.","signature":"x"}],"usage":{"input_tokens":3,"output_tokens":1}},"type":"assistant","uuid":"u2"}
{"parentUuid":"u2","isSidechain":false,"sessionId":"s-7","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":3,"output_tokens":1}},"type":"assistant","uuid":"u3"}
{"parentUuid":"u3","isSidechain":true,"sessionId":"s-7","message":{"id":"msg_9","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"From below."}]},"type":"assistant","uuid":"u9"}
{"parentUuid":"u3","isSidechain":false,"sessionId":"s-7","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"shells","is_error":false}]},"uuid":"u4","toolUseResult":{"stdout":"shells"}}
{"parentUuid":"u4","isSidechain":false,"sessionId":"s-7","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Good morning, sea."}],"stop_reason":"end_turn"},"type":"assistant","uuid":"u5"}
{"parentUuid":"u5","isSidechain":false,"sessionId":"s-7","type":"user","message":{"role":"user","content":[{"type":"text","text":"And the land?"}]},"uuid":"u6"}
{"parentUuid":"u6","isSidechain":false,"sessionId":"s-7","message":{"id":"msg_3","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Good evening, land."}],"stop_reason":"end_turn"},"type":"assistant","uuid":"u7"}`

// A session file has no lines for the beginning and the end of a turn.
func TestSessionFile(t *testing.T) {
	lines := strings.Split(sessionFile, "\n")
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"whole":           {lines, []string{"ready s-7 2.1.300 /w", "turn", "user u1 Greet the sea.", "thinking A wave.", "tool Bash", "notice", "result shells", "text Good morning, sea.", "done", "turn", "user u6 And the land?", "text Good evening, land.", "done"}},
		"from the middle": {lines[6:], []string{"ready s-7  ", "turn", "notice", "text Good morning, sea.", "done", "turn", "user u6 And the land?", "text Good evening, land.", "done"}},
		"commands of the user": {[]string{
			`{"sessionId":"s-7","type":"user","message":{"role":"user","content":"<bash-input>ls</bash-input>"},"uuid":"u1"}`,
			`{"sessionId":"s-7","type":"user","message":{"role":"user","content":"<bash-stdout>shells</bash-stdout><bash-stderr></bash-stderr>"},"uuid":"u2"}`,
			`{"sessionId":"s-7","type":"system","subtype":"local_command","content":"<command-name>/cost</command-name><command-args>all</command-args>","uuid":"u3"}`,
			`{"sessionId":"s-7","type":"system","subtype":"local_command","content":"<local-command-stdout>Nothing.</local-command-stdout>","uuid":"u4"}`,
		}, []string{"ready s-7  ", "turn", "user u1 ! ls", "text shells", "done", "turn", "user u3 /cost all", "text Nothing.", "done"}},
		"members of other forms": {[]string{
			`{"sessionId":"s-7","type":"user","origin":"x","toolUseResult":[1],"message":{"role":"user","content":[{"type":"text","text":"Hello."},{"type":"image","source":7}]},"uuid":"u1"}`,
			`{"sessionId":"s-7","type":"tomorrow"}`,
		}, []string{"ready s-7  ", "turn", "user u1 Hello.", "notice", "done"}},
		"cut in a call": {lines[:5], []string{"ready s-7 2.1.300 /w", "turn", "user u1 Greet the sea.", "thinking A wave.", "tool Bash", "result ", "error"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var got []string
			n := claude.New().Transcribe("s1", func(e event.Event) {
				switch d := e.Data.(type) {
				case event.SessionReady:
					got = append(got, "ready "+d.ProviderSessionID+" "+d.RuntimeVersion+" "+d.Cwd)
				case event.TurnStart:
					got = append(got, "turn")
				case event.UserMessage:
					got = append(got, "user "+d.MessageID+" "+d.Text)
				case event.Thinking:
					if d.Text != "" {
						got = append(got, "thinking "+d.Text)
					}
				case event.Delta:
					got = append(got, "text "+d.Text)
				case event.ToolStart:
					got = append(got, "tool "+d.Tool)
				case event.ToolResult:
					got = append(got, "result "+d.Output)
				case event.Notice:
					got = append(got, "notice")
				case event.Done:
					got = append(got, "done")
				case event.Error:
					got = append(got, "error")
				}
			})
			for _, l := range c.lines {
				n.Line(time.Unix(0, 0), []byte(l))
			}
			n.End()
			g.Expect(got).To(Equal(c.want))
		})
	}
}
