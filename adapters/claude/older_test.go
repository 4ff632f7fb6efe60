package claude_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
)

// Lines in which 2.1.197 differs from 2.1.329.
const (
	olderInit = `{"type":"system","subtype":"init","cwd":"/w","session_id":"S","model":"x","permissionMode":"bypassPermissions","claude_code_version":"2.1.197","uuid":"i"}`
	olderOpen = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}},"session_id":"S","parent_tool_use_id":null,"uuid":"1"}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"S","parent_tool_use_id":null,"uuid":"2"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Still waters "}},"session_id":"S","parent_tool_use_id":null,"uuid":"3"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"run"}},"session_id":"S","parent_tool_use_id":null,"uuid":"4"}`
	olderEnd = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x","session_id":"S","uuid":"r"}`
)

func readOlder(t *testing.T, lines ...string) (text map[string]string, evs []event.Event) {
	t.Helper()
	text = map[string]string{}
	block := map[string]string{}
	n := claude.New().Transcribe("s", func(e event.Event) {
		evs = append(evs, e)
		switch d := e.Data.(type) {
		case event.Delta:
			block[d.BlockID] += d.Text
		case event.BlockEnd:
			if d.Status != event.BlockRetracted {
				text[e.SubagentID] += block[d.BlockID] + "|" + string(d.Status) + ";"
			}
		case event.Notice:
			t.Errorf("notice %s: %s %s", d.Code, d.Text, d.Raw)
		}
	})
	for l := range strings.Lines(strings.Join(lines, "\n")) {
		n.Line(time.Unix(0, 0), []byte(strings.TrimSuffix(l, "\n")))
	}
	n.End()
	return text, evs
}

// A cut stream is left unclosed, and the answer arrives without streaming.
func TestOlderVersionLeavesACutStreamUnclosed(t *testing.T) {
	g := gomega.NewWithT(t)
	text, _ := readOlder(t, olderInit, olderOpen,
		`{"type":"assistant","message":{"id":"m2","model":"x","content":[{"type":"text","text":"Still waters run deep."}]},"parent_tool_use_id":null,"session_id":"S","uuid":"5"}`,
		olderEnd)
	g.Expect(text).To(gomega.Equal(map[string]string{"": "Still waters run deep.|complete;"}))
}

// A stopped block has an assistant line without a mark, and no
// content_block_stop.
func TestOlderVersionDoesNotMarkStoppedBlocks(t *testing.T) {
	g := gomega.NewWithT(t)
	text, evs := readOlder(t, olderInit, olderOpen,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"text","text":"Still waters run"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"5"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"6"}`,
		`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":2,"session_id":"S","terminal_reason":"aborted_streaming","uuid":"r"}`)
	g.Expect(text).To(gomega.Equal(map[string]string{"": "Still waters run|interrupted;"}))
	g.Expect(evs).To(gomega.ContainElement(gomega.HaveField("Data", event.Done{Stopped: true, Reason: "aborted_streaming"})))
}

// A sub-agent's lines name only the call that started it: no agent_id, no
// task_updated.
func TestOlderVersionNamesASubagentByItsCall(t *testing.T) {
	g := gomega.NewWithT(t)
	text, _ := readOlder(t, olderInit,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"text","text":"I send a scout."}]},"parent_tool_use_id":null,"session_id":"S","uuid":"1"}`,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"t1","name":"Agent","input":{"prompt":"go","subagent_type":"general-purpose"}}]},"parent_tool_use_id":null,"session_id":"S","uuid":"2"}`,
		`{"type":"system","subtype":"task_started","task_id":"k1","tool_use_id":"t1","description":"scout","task_type":"local_agent","session_id":"S","uuid":"3"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"parent_tool_use_id":"t1","session_id":"S","uuid":"4"}`,
		`{"type":"assistant","message":{"id":"m2","model":"x","content":[{"type":"text","text":"I look."}]},"parent_tool_use_id":"t1","session_id":"S","uuid":"5"}`,
		`{"type":"assistant","message":{"id":"m2","model":"x","content":[{"type":"tool_use","id":"s1","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":"t1","session_id":"S","uuid":"6"}`,
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"s1","type":"tool_result","content":"x","is_error":false}]},"parent_tool_use_id":"t1","session_id":"S","uuid":"7"}`,
		`{"type":"system","subtype":"task_notification","task_id":"k1","tool_use_id":"t1","status":"completed","output_file":"","summary":"scout","session_id":"S","uuid":"8"}`,
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"Two."}]}]},"parent_tool_use_id":null,"session_id":"S","uuid":"9"}`,
		`{"type":"assistant","message":{"id":"m3","model":"x","content":[{"type":"text","text":"Two birds."}]},"parent_tool_use_id":null,"session_id":"S","uuid":"10"}`,
		olderEnd)
	g.Expect(text).To(gomega.Equal(map[string]string{
		"": "I send a scout.|complete;Two birds.|complete;", "k1": "I look.|complete;"}))
}

// A stopped turn ends in an error without a reason, or in a result with
// is_error false. Only the user line before it reports the stop.
func TestOlderVersionOmitsTheReasonOfAStop(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, isError := range []string{"true", "false"} {
		_, evs := readOlder(t, olderInit, olderOpen,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"6"}`,
			`{"type":"result","subtype":"error_during_execution","is_error":`+isError+`,"num_turns":2,"session_id":"S","uuid":"r"}`)
		g.Expect(evs).To(gomega.ContainElement(gomega.HaveField("Data", event.Done{Stopped: true})), "is_error %s", isError)
	}
	_, evs := readOlder(t, olderInit, olderOpen, `{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":2,"session_id":"S","uuid":"r"}`)
	g.Expect(dataOf[event.Error](evs)).To(gomega.ConsistOf(gomega.HaveField("Code", event.ErrorLimit)))
}

// The schema allows a sub-agent to stream. Its messages arrive whole
// nevertheless.
func TestSubagentStreamIsIgnored(t *testing.T) {
	g := gomega.NewWithT(t)
	child := func(event string) string {
		return `{"type":"stream_event","event":` + event + `,"session_id":"S","parent_tool_use_id":"t1","uuid":"c"}`
	}
	text, _ := readOlder(t, olderInit,
		`{"type":"assistant","message":{"id":"m0","model":"x","content":[{"type":"tool_use","id":"t1","name":"Agent","input":{"prompt":"go","subagent_type":"scout"}}]},"parent_tool_use_id":null,"session_id":"S","uuid":"0"}`,
		olderOpen,
		child(`{"type":"message_start","message":{"id":"c1","content":[]}}`),
		child(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		child(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}`),
		`{"type":"assistant","message":{"id":"c1","model":"x","content":[{"type":"text","text":"I look."}]},"parent_tool_use_id":"t1","session_id":"S","uuid":"5"}`,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"text","text":"Still waters run"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"6"}`,
		`{"type":"stream_event","event":{"type":"content_block_stop","index":0},"session_id":"S","parent_tool_use_id":null,"uuid":"7"}`,
		olderEnd)
	g.Expect(text).To(gomega.Equal(map[string]string{"": "Still waters run|complete;", "t1": "I look.|complete;"}))
}

// An init may be repeated within a turn. It does not end the turn.
func TestRepeatedInitDoesNotEndTheTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	text, evs := readOlder(t, olderInit, olderOpen, olderInit,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"text","text":"Still waters run"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"5"}`,
		`{"type":"stream_event","event":{"type":"content_block_stop","index":0},"session_id":"S","parent_tool_use_id":null,"uuid":"6"}`,
		`{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":null,"session_id":"S","uuid":"7"}`,
		`{"type":"stream_event","event":{"type":"message_stop"},"session_id":"S","parent_tool_use_id":null,"uuid":"8"}`,
		olderInit, olderEnd)
	g.Expect(text).To(gomega.Equal(map[string]string{"": "Still waters run|complete;"}))
	g.Expect(dataOf[event.TurnStart](evs)).To(gomega.HaveLen(1))
	g.Expect(dataOf[event.Error](evs)).To(gomega.BeEmpty())
}
