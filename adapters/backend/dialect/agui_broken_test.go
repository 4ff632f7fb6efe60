package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect/agui"
)

var goodAGUI = strings.Split(strings.TrimSpace(`
{"type":"RUN_STARTED","threadId":"s","runId":"s/1"}
{"type":"STATE_SNAPSHOT","snapshot":{"components":{}}}
{"type":"REASONING_START","messageId":"r"}
{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}
{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"Hm."}
{"type":"REASONING_MESSAGE_END","messageId":"r"}
{"type":"REASONING_END","messageId":"r"}
{"type":"TEXT_MESSAGE_START","messageId":"b","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"I look."}
{"type":"TEXT_MESSAGE_END","messageId":"b"}
{"type":"TOOL_CALL_START","toolCallId":"t","toolCallName":"Task"}
{"type":"TOOL_CALL_ARGS","toolCallId":"t","delta":"{}"}
{"type":"TOOL_CALL_END","toolCallId":"t"}
{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"helper","parentToolCallId":"t"}
{"type":"TEXT_MESSAGE_START","messageId":"ab","role":"assistant","subagentRunId":"a"}
{"type":"TEXT_MESSAGE_END","messageId":"ab","subagentRunId":"a"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"a"}
{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"t","content":"done","role":"tool"}
{"type":"STATE_DELTA","delta":[{"op":"add","path":"/components/c","value":{"x":1}}]}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/components/c/x","value":2}]}
{"type":"CUSTOM","name":"usage","value":{}}
{"type":"RUN_FINISHED","threadId":"s","runId":"s/1","outcome":{"type":"success"}}`), "\n")

func TestBrokenAGUIStreams(t *testing.T) {
	testBroken(t, goodAGUI, func() checker { return new(agui.Checker) }, agui.Rules(), []broken{
		{"writes a message and a call in chunks", func(l []string) []string {
			return slices.Insert(l, at(l, "SUBAGENT_STARTED"), `{"type":"TEXT_MESSAGE_CHUNK","messageId":"c","delta":"Hm."}`,
				`{"type":"TOOL_CALL_CHUNK","toolCallId":"u","toolCallName":"ls","delta":"{}"}`, `{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":"u","content":"","role":"tool"}`)
		}, ""},
		{"gives no result of a call in chunks", before("SUBAGENT_STARTED", `{"type":"TOOL_CALL_CHUNK","toolCallId":"u","toolCallName":"ls","delta":"{}"}`), "tool-open"},
		{"writes no JSON", replaced(`{"type":"CUSTOM"`, `"type":"CUSTOM"`), "not-json"},
		{"writes an old type", replaced("REASONING_START", "THINKING_START"), "unknown-type part-not-open"},
		{"writes no delta", replaced(`,"delta":"I look."`, ""), "missing-member"},
		{"has an unknown role", replaced(`"role":"assistant"`, `"role":"bot"`), "wrong-member"},
		{"does not start", without("RUN_STARTED"), "run-missing"},
		{"starts twice", before("STATE_SNAPSHOT", `{"type":"RUN_STARTED","threadId":"s","runId":"s/2"}`), "run-twice run-other"},
		{"uses a run's id again", func(l []string) []string { return append(l, l...) }, "run-again"},
		{"finishes another run", replaced(`"runId":"s/1","outcome"`, `"runId":"s/2","outcome"`), "run-other"},
		{"finishes twice", twice("RUN_FINISHED"), "run-missing"},
		{"writes after the end", followed(goodAGUI[20]), "run-missing"},
		{"begins no text", without(`TEXT_MESSAGE_START","messageId":"b"`), "part-not-open part-not-open"},
		{"does not end text", without(`TEXT_MESSAGE_END","messageId":"b"`), "part-open"},
		{"starts text twice", twice("TEXT_MESSAGE_START"), "part-again"},
		{"ends text twice", twice("TEXT_MESSAGE_END"), "part-not-open"},
		{"writes text under another id", replaced(`"b","delta"`, `"c","delta"`), "part-not-open"},
		{"does not end the reasoning span", without("REASONING_END"), "part-open"},
		{"ends no call", without("TOOL_CALL_END"), "tool-order part-open"},
		{"writes arguments after the call", swapped("TOOL_CALL_ARGS", "TOOL_CALL_END"), "part-not-open"},
		{"has a result of an unknown tool", replaced(`"toolCallId":"t","content"`, `"toolCallId":"u","content"`), "tool-unknown tool-open"},
		{"has two results", twice("TOOL_CALL_RESULT"), "tool-result-twice"},
		{"has no result", without("TOOL_CALL_RESULT"), "tool-open"},
		{"starts a sub-agent twice", twice("SUBAGENT_STARTED"), "agent-again"},
		{"does not start a sub-agent", without("SUBAGENT_STARTED"), "agent-unknown agent-unknown agent-not-open"},
		{"ends a sub-agent twice", twice("SUBAGENT_FINISHED"), "agent-not-open"},
		{"does not end a sub-agent", without("SUBAGENT_FINISHED"), "agent-open"},
		{"gives text to another agent", replaced(`"TEXT_MESSAGE_END","messageId":"b"`, `"TEXT_MESSAGE_END","messageId":"b","subagentRunId":"z"`), "agent-unknown owner"},
		{"changes what is not there", without("STATE_SNAPSHOT"), "state state"},
		{"patches without a path", replaced(`"path":"/components/c/x"`, `"path":"components"`), "state"},
		{"has an unknown operation", replaced(`"op":"replace"`, `"op":"set"`), "state"},
		{"is cut off", func(l []string) []string { return l[:9] }, "unfinished"},
		{"writes nothing", func([]string) []string { return nil }, "unfinished"},
	})
}
