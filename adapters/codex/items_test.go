package codex_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// turnOf wraps lines of items into a turn: "+" starts and "-" completes an
// item, "e" ends the turn with a status, "d" is a delta; anything else is a
// line.
func turnOf(lines ...string) [][]byte {
	const at = `"threadId":"T","turnId":"u1"`
	out := [][]byte{[]byte(`{"id":2,"result":{"thread":{"id":"T"}}}`), []byte(`{"id":3,"result":{"turn":{"id":"u1"}}}`),
		[]byte(`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u1"}}}`)}
	for _, l := range lines {
		kind, rest, _ := strings.Cut(l, " ")
		switch kind {
		case "+":
			l = fmt.Sprintf(`{"method":"item/started","params":{%s,"item":{%s}}}`, at, rest)
		case "-":
			l = fmt.Sprintf(`{"method":"item/completed","params":{%s,"item":{%s}}}`, at, rest)
		case "e":
			l = fmt.Sprintf(`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"%s"}}}`, rest)
		case "d":
			m, d, _ := strings.Cut(rest, " ")
			l = fmt.Sprintf(`{"method":"item/%s","params":{%s,"itemId":"i","delta":"%s"}}`, m, at, d)
		}
		out = append(out, []byte(l))
	}
	return out
}

// summary lists the events of the turn in short form.
func threadSettings(lines ...string) []string {
	var out []string
	for _, e := range normalize(turnOf(lines...))[3:] {
		switch d := e.Data.(type) {
		case event.Delta:
			out = append(out, "delta "+d.Text)
		case event.BlockEnd:
			out = append(out, strings.TrimSpace("block_end "+string(d.Status)+" "+d.Text))
		case event.Thinking:
			out = append(out, strings.TrimSpace(fmt.Sprintf("thinking %s %v", d.Text, d.Done)))
		case event.ToolStart:
			out = append(out, strings.TrimSpace("tool_start "+d.Tool+" "+d.Command+d.FilePath))
		case event.ToolProgress:
			out = append(out, "tool_progress "+d.ToolUseID+" "+d.Message)
		case event.ToolResult:
			out = append(out, strings.TrimSpace("tool_result "+string(d.Status)+" "+d.Output))
		case event.Task:
			out = append(out, strings.TrimSpace("task "+string(d.Kind)+" "+string(d.Status)+" "+d.Text))
		case event.SessionEnd, event.Result:
		default:
			out = append(out, kinds([]event.Event{e})[0])
		}
	}
	return out
}

// mcpProgress is what the schema declares for the progress of a tool of an MCP server.
func mcpProgress(message string) string {
	return fmt.Sprintf(`{"method":"item/mcpToolCall/progress","params":{"threadId":"T","turnId":"u1","itemId":"i","message":%q}}`, message)
}

func TestItems(t *testing.T) {
	const cmd = `"type":"commandExecution","id":"i","command":"/bin/bash -lc 'make'"`
	for name, c := range map[string]struct{ in, want []string }{
		"text without deltas": {[]string{`+ "type":"agentMessage","id":"i","text":""`, `- "type":"agentMessage","id":"i","text":"all"`, "e completed"},
			[]string{"delta all", "block_end complete", "done false"}},
		"text whole at the start": {[]string{`+ "type":"agentMessage","id":"i","text":"all"`, `- "type":"agentMessage","id":"i","text":"all"`, "e completed"},
			[]string{"delta all", "block_end complete", "done false"}},
		"text that differs at the end": {[]string{"d agentMessage/delta one", `- "type":"agentMessage","id":"i","text":"two"`, "e completed"},
			[]string{"delta one", "block_end replaced two", "done false"}},
		"an item said again": {[]string{"d agentMessage/delta one", `+ "type":"agentMessage","id":"i","text":""`, "d agentMessage/delta two", `- "type":"agentMessage","id":"i","text":"two"`, "e completed"},
			[]string{"delta one", "block_end retracted", "delta two", "block_end complete", "done false"}},
		"reasoning without deltas": {[]string{`+ "type":"reasoning","id":"i"`, `- "type":"reasoning","id":"i","summary":["a","b"],"content":["b","c"]`, "e completed"},
			[]string{"thinking  false", "thinking a false", "thinking  true", "thinking b false", "thinking  true", "thinking c false", "thinking  true", "done false"}},
		"hidden reasoning": {[]string{`+ "type":"reasoning","id":"i"`, `- "type":"reasoning","id":"i","summary":[],"content":[]`, "e completed"},
			[]string{"thinking  false", "done false"}},
		"reasoning in the old form": {[]string{`{"method":"reasoning/textDelta","params":{"threadId":"T","turnId":"u1","itemId":"i","delta":"x","contentIndex":0}}`, "e completed"},
			[]string{"thinking x false", "thinking  true", "done false"}},
		"a command that runs on": {[]string{`+ ` + cmd + `,"processId":"1","source":"unifiedExecStartup"`, "e interrupted", "d commandExecution/outputDelta more", `- ` + cmd + `,"status":"completed","aggregatedOutput":"all"`},
			[]string{"tool_start Bash make", "tool_result backgrounded", "task command running", "done true", "task command running more", "task command completed all"}},
		"a command of a version that kills it": {[]string{`+ ` + cmd + `,"processId":"1"`, "e interrupted"},
			[]string{"tool_start Bash make", "tool_result interrupted", "done true"}},
		"a command that never ran": {[]string{`+ ` + cmd + `,"source":"agent","processId":null`, "e interrupted"},
			[]string{"tool_start Bash make", "tool_result interrupted", "done true"}},
		"a command that was declined": {[]string{`+ ` + cmd, `- ` + cmd + `,"status":"declined"`, "e completed"},
			[]string{"tool_start Bash make", "tool_result denied", "done false"}},
		"progress of a tool of a server": {[]string{mcpProgress("early"), `+ "type":"mcpToolCall","id":"i","server":"s","tool":"build"`, mcpProgress("half of it"), mcpProgress(""),
			`- "type":"mcpToolCall","id":"i","server":"s","tool":"build","status":"completed","result":{"content":[]}`, mcpProgress("late"), "e completed"},
			[]string{"tool_start mcp__s__build", "tool_progress i half of it", "tool_result ok", "done false"}},
		"a result without a start": {[]string{`- ` + cmd + `,"status":"failed","exitCode":2,"aggregatedOutput":"no"`, "e completed"},
			[]string{"tool_start Bash make", "tool_result error no", "done false"}},
		"a late line while the next turn runs": {[]string{"e completed", `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u2"}}}`, "d agentMessage/delta late",
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u2","status":"completed"}}}`},
			[]string{"done false", "turn_start", "thinking  false", "done false"}},
		"a review, whose items have another id": {[]string{"e completed", `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"x","rootTurnId":"r"}}}`,
			`{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"r","itemId":"a","delta":"seen"}}`,
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"r","status":"completed"}}}`},
			[]string{"done false", "turn_start", "thinking  false", "delta seen", "block_end interrupted", "done false"}},
		"a sub-agent before its name": {[]string{`{"method":"turn/started","params":{"threadId":"C","turn":{"id":"c1"}}}`,
			`{"method":"item/agentMessage/delta","params":{"threadId":"C","turnId":"c1","itemId":"i","delta":"child"}}`,
			`- "type":"collabAgentToolCall","id":"s","tool":"spawnAgent","status":"completed","receiverThreadIds":["C"]`,
			`{"method":"turn/completed","params":{"threadId":"C","turn":{"id":"c1","status":"completed"}}}`, "e completed"},
			[]string{"task subagent running", "delta child", "tool_start Task", "tool_result ok", "task subagent running", "block_end interrupted", "task subagent completed", "done false"}},
		"a failure, reported once": {[]string{`{"method":"error","params":{"threadId":"T","turnId":"u1","willRetry":false,"error":{"message":"m","codexErrorInfo":"unauthorized"}}}`, "e failed"},
			[]string{"error auth"}},
		"a message whose end was lost": {[]string{"d agentMessage/delta one",
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"completed","items":[{"type":"agentMessage","id":"i","text":"one two"}]}}}`},
			[]string{"delta one", "block_end replaced one two", "done false"}},
		"a message that a stop has cut off": {[]string{"d agentMessage/delta one",
			`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"interrupted","items":[{"type":"agentMessage","id":"i","text":"one two"}]}}}`},
			[]string{"delta one", "block_end interrupted", "done true"}},
		"an unknown item of a turn that has ended": {[]string{"e completed", `{"method":"item/completed","params":{"threadId":"T","turnId":"u1","item":{"type":"weather","id":"i"}}}`},
			[]string{"done false", "notice unknown_message"}},
		"a compaction of two kinds": {[]string{`+ "type":"contextCompaction","id":"i"`, `- "type":"contextCompaction","id":"i"`, `{"method":"thread/compacted","params":{"threadId":"T","turnId":"u1"}}`, "e completed"},
			[]string{"compaction", "compaction", "done false"}},
		"old kinds of changes": {[]string{`- "type":"fileChange","id":"i","status":"completed","changes":[{"path":"/a","kind":"add","diff":"x"}]`, "e completed"},
			[]string{"tool_start Write /a", "tool_result ok", "done false"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(threadSettings(c.in...)).To(Equal(c.want))
			checkStream(t, normalize(turnOf(c.in...)))
		})
	}
}

// A repeated echo of a message is the same message.
func TestRepeatedEchoIsIgnored(t *testing.T) {
	NewWithT(t).Expect(threadSettings(`+ "type":"userMessage","id":"m","content":[]`, `- "type":"userMessage","id":"m","content":[]`, `- "type":"userMessage","id":"m","content":[]`,
		"e completed")).To(Equal([]string{"user_message", "done false"}))
}

// A user's message cuts streaming text: the block ends before the message.
func TestSteeredTextEndsBeforeTheMessage(t *testing.T) {
	NewWithT(t).Expect(threadSettings("d agentMessage/delta one", `+ "type":"userMessage","id":"m","content":[]`, "d agentMessage/delta two",
		`- "type":"agentMessage","id":"i","text":"onetwo"`, "e completed")).To(Equal([]string{"delta one", "block_end interrupted", "user_message",
		"delta two", "block_end complete", "done false"}))
}
