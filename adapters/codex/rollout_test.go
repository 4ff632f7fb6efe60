package codex_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
)

const rolloutFile = `{"timestamp":"t","type":"session_meta","payload":{"id":"01a1","cwd":"/w","cli_version":"0.160.0","source":"cli"}}
{"timestamp":"t","type":"turn_context","payload":{"cwd":"/w","model":"m"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"Greet the sea.","images":[]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"agent_reasoning","text":"A wave."}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"A wave."}],"content":null,"encrypted_content":"x"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"shells"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"call_2"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"done"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"agent_message","message":"Good morning, sea."}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Good morning, sea."}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"total_tokens":10}}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"And the land?"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Good evening."}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Good evening."}]}}`

// Rollout files have each text of the model once or twice, and the ends of turns or none.
func TestRolloutFile(t *testing.T) {
	lines := strings.Split(rolloutFile, "\n")
	started := `{"type":"event_msg","payload":{"type":"task_started"}}`
	first := []string{"user Greet the sea.", "thinking A wave.", `tool exec_command {"cmd":"ls"}`, "result shells", `tool apply_patch "*** Begin"`, "result done", "text Good morning, sea."}
	whole := append(append([]string{"ready 01a1 0.160.0 /w", "turn"}, first...), "usage 9", "done", "turn", "user And the land?", "text Good evening.", "text Good evening.", "done")
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"whole":           {lines, whole},
		"from the middle": {lines[11:13], []string{"ready   ", "turn", "text Good morning, sea.", "usage 9", "done"}},
		"with the bounds of turns": {append(append(append([]string{lines[0], started}, lines[3:13]...), lines[13], `{"type":"event_msg","payload":{"type":"task_complete"}}`, started), lines[14], `{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`),
			append(append([]string{"ready 01a1 0.160.0 /w", "turn"}, first...), "usage 9", "notice", "user And the land?", "done", "turn", "text Good evening.", "stopped")},
		"an unknown item":   {[]string{lines[0], `{"type":"response_item","payload":{"type":"hologram"}}`}, []string{"ready 01a1 0.160.0 /w", "notice"}},
		"an error":          {[]string{lines[3], `{"type":"event_msg","payload":{"type":"error","message":"no more"}}`}, []string{"ready   ", "turn", "user Greet the sea.", "notice", "error no more"}},
		"ends within calls": {[]string{lines[3], lines[6]}, []string{"ready   ", "turn", "user Greet the sea.", `tool exec_command {"cmd":"ls"}`, "result ", "error the transcript ends within a turn"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var got []string
			n := codex.New().Transcribe("s1", func(e event.Event) {
				switch d := e.Data.(type) {
				case event.SessionReady:
					got = append(got, "ready "+d.ProviderSessionID+" "+d.RuntimeVersion+" "+d.Cwd)
				case event.TurnStart:
					got = append(got, "turn")
				case event.UserMessage:
					got = append(got, "user "+d.Text)
				case event.Thinking:
					if d.Text != "" {
						got = append(got, "thinking "+d.Text)
					}
				case event.Delta:
					got = append(got, "text "+d.Text)
				case event.ToolStart:
					got = append(got, "tool "+d.Tool+" "+string(d.Input))
				case event.ToolResult:
					got = append(got, "result "+d.Output)
				case event.Usage:
					g.Expect(d.Tokens.Input).To(Equal(int64(9)))
					got = append(got, "usage 9")
				case event.Notice:
					got = append(got, "notice")
				case event.Done:
					if d.Stopped {
						got = append(got, "stopped")
					} else {
						got = append(got, "done")
					}
				case event.Error:
					got = append(got, "error "+d.Message)
				}
			})
			for _, l := range c.lines {
				g.Expect(codex.New().Recognizes([]byte(l))).To(BeTrue())
				n.Line(time.Unix(0, 0), []byte(l))
			}
			n.End()
			g.Expect(got).To(Equal(c.want))
		})
	}
}
