package codex_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
)

func readOlder(t *testing.T, lines string) (text map[string]string, evs []event.Event) {
	t.Helper()
	text = map[string]string{}
	n := codex.New().Transcribe("s", func(e event.Event) {
		evs = append(evs, e)
		switch d := e.Data.(type) {
		case event.Delta:
			text[e.SubagentID] += d.Text
		case event.Notice:
			t.Errorf("notice %s: %s %s", d.Code, d.Text, d.Raw)
		}
	})
	for l := range strings.Lines(lines) {
		n.Line(time.Unix(0, 0), []byte(strings.TrimSuffix(l, "\n")))
	}
	n.End()
	return text, evs
}

// 0.98 also sends each event in an old form, and text even twice; only the new
// form counts. Its turns are numbers, and the handshake has only a userAgent.
func TestOldestVersionRepeatsText(t *testing.T) {
	g := NewWithT(t)
	text, evs := readOlder(t, `{"id":1,"result":{"userAgent":"turnspec/0.98.0 (Debian 12.0.0; x86_64) dumb (turnspec; 1)"}}
{"id":2,"result":{"thread":{"id":"T","preview":"","modelProvider":"fake","createdAt":1,"updatedAt":1,"path":"/p","cwd":"/w","cliVersion":"0.98.0","source":"vscode","gitInfo":null,"turns":[]},"model":"m","cwd":"/w"}}
{"method":"thread/started","params":{"thread":{"id":"T"}}}
{"method":"codex/event/mcp_startup_complete","params":{"id":"","msg":{"type":"mcp_startup_complete","ready":[],"failed":[],"cancelled":[]},"conversationId":"T"}}
{"id":3,"result":{"turn":{"id":"0","items":[],"status":"inProgress","error":null}}}
{"method":"turn/started","params":{"threadId":"T","turn":{"id":"0","items":[],"status":"inProgress","error":null}}}
{"method":"codex/event/task_started","params":{"id":"0","msg":{"type":"task_started","model_context_window":1},"conversationId":"T"}}
{"method":"codex/event/user_message","params":{"id":"0","msg":{"type":"user_message","message":"hi"},"conversationId":"T"}}
{"method":"item/started","params":{"item":{"type":"userMessage","id":"u1","content":[{"type":"text","text":"hi","text_elements":[]}]},"threadId":"T","turnId":"0"}}
{"method":"item/completed","params":{"item":{"type":"userMessage","id":"u1","content":[{"type":"text","text":"hi","text_elements":[]}]},"threadId":"T","turnId":"0"}}
{"method":"codex/event/item_started","params":{"id":"0","msg":{"type":"item_started","thread_id":"T","turn_id":"0","item":{"type":"AgentMessage","id":"m1","content":[]}},"conversationId":"T"}}
{"method":"item/started","params":{"item":{"type":"agentMessage","id":"m1","text":""},"threadId":"T","turnId":"0"}}
{"method":"codex/event/agent_message_content_delta","params":{"id":"0","msg":{"type":"agent_message_content_delta","thread_id":"T","turn_id":"0","item_id":"m1","delta":"one "},"conversationId":"T"}}
{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"0","itemId":"m1","delta":"one "}}
{"method":"codex/event/agent_message_delta","params":{"id":"0","msg":{"type":"agent_message_delta","delta":"one "},"conversationId":"T"}}
{"method":"codex/event/agent_message_content_delta","params":{"id":"0","msg":{"type":"agent_message_content_delta","thread_id":"T","turn_id":"0","item_id":"m1","delta":"two"},"conversationId":"T"}}
{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"0","itemId":"m1","delta":"two"}}
{"method":"codex/event/agent_message_delta","params":{"id":"0","msg":{"type":"agent_message_delta","delta":"two"},"conversationId":"T"}}
{"method":"codex/event/agent_message","params":{"id":"0","msg":{"type":"agent_message","message":"one two"},"conversationId":"T"}}
{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m1","text":"one two"},"threadId":"T","turnId":"0"}}
{"method":"codex/event/token_count","params":{"id":"0","msg":{"type":"token_count","info":null},"conversationId":"T"}}
{"method":"codex/event/task_complete","params":{"id":"0","msg":{"type":"task_complete","last_agent_message":"one two"},"conversationId":"T"}}
{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"0","items":[],"status":"completed","error":null}}}
`)
	g.Expect(text).To(Equal(map[string]string{"": "one two"}))
	g.Expect(evs[0].Data).To(HaveField("RuntimeVersion", "0.98.0"))
	var types []event.Type
	for _, e := range evs {
		types = append(types, e.Type())
	}
	g.Expect(types).To(Equal([]event.Type{"session_ready", "turn_start", "thinking", "user_message", "delta", "delta",
		"block_end", "result", "done", "session_end"}))
}

// 0.98 and 0.120 start sub-agents by a call whose receivers are known at its
// end. The child's first line may arrive before that, and its last one after
// the turn.
func TestOlderVersionNamesASubagentAtTheEndOfItsCall(t *testing.T) {
	g := NewWithT(t)
	text, evs := readOlder(t, `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"0"}}}
{"method":"item/started","params":{"item":{"type":"collabAgentToolCall","id":"c1","tool":"spawnAgent","status":"inProgress","senderThreadId":"T","receiverThreadIds":[],"prompt":"Count.","agentsStates":{}},"threadId":"T","turnId":"0"}}
{"method":"turn/started","params":{"threadId":"C","turn":{"id":"0"}}}
{"method":"item/completed","params":{"item":{"type":"collabAgentToolCall","id":"c1","tool":"spawnAgent","status":"completed","senderThreadId":"T","receiverThreadIds":["C"],"prompt":"Count.","agentsStates":{"C":{"status":"pendingInit","message":null}}},"threadId":"T","turnId":"0"}}
{"method":"item/started","params":{"item":{"type":"agentMessage","id":"m1","text":""},"threadId":"C","turnId":"0"}}
{"method":"item/agentMessage/delta","params":{"threadId":"C","turnId":"0","itemId":"m1","delta":"I "}}
{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"0","itemId":"m1","delta":"Mine."}}
{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m1","text":"Mine."},"threadId":"T","turnId":"0"}}
{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"0","items":[],"status":"completed","error":null}}}
{"method":"item/agentMessage/delta","params":{"threadId":"C","turnId":"0","itemId":"m1","delta":"count."}}
{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m1","text":"I count."},"threadId":"C","turnId":"0"}}
{"method":"turn/completed","params":{"threadId":"C","turn":{"id":"0","items":[],"status":"completed","error":null}}}
`)
	g.Expect(text).To(Equal(map[string]string{"": "Mine.", "C": "I count."}))
	g.Expect(evs[len(evs)-2].Data).To(Equal(event.Task{TaskID: "C", Kind: event.TaskSubagent, ToolUseID: "c1", Name: "Count.",
		Status: event.TaskCompleted, Text: "I count."}))
}

// A wire of the old notifications alone is not read, and one notice says so.
func TestOldFormAloneIsReported(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	for _, l := range []string{
		`{"type":"task_started","model_context_window":1}`, `{"type":"user_message","message":"hi"}`,
		`{"type":"agent_message_delta","delta":"one"}`, `{"type":"agent_message","message":"one"}`, `{"type":"task_complete","last_agent_message":"one"}`,
	} {
		name := strings.Split(l, `"`)[3]
		lines = append(lines, `{"method":"codex/event/`+name+`","params":{"id":"0","msg":`+l+`,"conversationId":"T"}}`)
	}
	lines = append(lines, lines...)
	var notices []event.Notice
	n := codex.New().Transcribe("s", func(e event.Event) {
		if d, ok := e.Data.(event.Notice); ok {
			notices = append(notices, d)
		}
	})
	for _, l := range lines {
		n.Line(time.Unix(0, 0), []byte(l))
	}
	n.End()
	g.Expect(notices).To(HaveLen(1))
	g.Expect(notices[0].Text).To(ContainSubstring("codex/event notifications only"))
}
