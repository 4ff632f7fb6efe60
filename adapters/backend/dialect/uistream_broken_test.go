package dialect_test

import (
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect/uistream"
)

var goodUI = strings.Split(strings.TrimSpace(`
{"type":"start","messageId":"s/1"}
{"type":"start-step"}
{"type":"reasoning-start","id":"r1"}
{"type":"reasoning-delta","id":"r1","delta":"Hm."}
{"type":"reasoning-end","id":"r1"}
{"type":"text-start","id":"b1"}
{"type":"text-delta","id":"b1","delta":"I look."}
{"type":"text-end","id":"b1"}
{"type":"tool-input-start","toolCallId":"t1","toolName":"Bash","dynamic":true}
{"type":"tool-input-delta","toolCallId":"t1","inputTextDelta":"{}"}
{"type":"tool-input-available","toolCallId":"t1","toolName":"Bash","input":{},"dynamic":true}
{"type":"tool-approval-request","toolCallId":"t1","approvalId":"q1"}
{"type":"tool-approval-response","approvalId":"q1","approved":true}
{"type":"tool-output-available","toolCallId":"t1","output":"a","preliminary":true}
{"type":"tool-output-available","toolCallId":"t1","output":"ab"}
{"type":"finish-step"}
{"type":"data-plan","id":"p","data":{}}
{"type":"finish","finishReason":"stop"}`), "\n")

func TestBrokenUIStreams(t *testing.T) {
	testBroken(t, goodUI, func() checker { return new(uistream.Checker) }, uistream.Rules(), []broken{
		{"writes no JSON", replaced(`{"type":"start"`, `"type":"start"`), "not-json start-missing"},
		{"writes a type of its own", replaced("data-plan", "plan"), "unknown-type"},
		{"writes no delta", replaced(`,"delta":"I look."`, ""), "missing-member"},
		{"writes a number for a text", replaced(`"data-plan","id":"p","data":{}`, `"file","url":"u","mediaType":7`), "wrong-member"},
		{"names the runtime's reason", replaced(`"stop"`, `"end_turn"`), "wrong-member"},
		{"does not start", without(`"start"`), "start-missing"},
		{"starts twice", twice(`"start"`), "start-twice message-id-again"},
		{"reuses a message's id", func(l []string) []string { return append(l, l...) }, "message-id-again"},
		{"begins no text", without("text-start"), "part-not-open part-not-open"},
		{"does not end text", without("text-end"), "part-open"},
		{"does not end text before other text", before("text-end", `{"type":"text-start","id":"b2"}`), "part-overlaps part-open"},
		{"does not end reasoning before text", swapped(`reasoning-end`, `text-start`), "part-overlaps"},
		{"ends text twice", twice("text-end"), "part-not-open"},
		{"goes on under an old id", before(`tool-input-start`, `{"type":"text-start","id":"b1"}`), "part-again part-open"},
		{"writes a delta under another id", replaced(`"id":"b1","delta"`, `"id":"b2","delta"`), "part-not-open"},
		{"starts a tool twice", twice("tool-input-start"), "tool-again"},
		{"completes the input twice", twice("tool-input-available"), "tool-again"},
		{"renames a tool", replaced(`"Bash","dynamic"`, `"Shell","dynamic"`), "tool-renamed"},
		{"ends an unknown tool", replaced(`"t1","output":"ab"`, `"t2","output":"ab"`), "tool-unknown tool-open"},
		{"writes input after the whole", swapped("tool-input-delta", "tool-input-available"), "tool-order"},
		{"writes output before the input", before("tool-input-delta", `{"type":"tool-output-available","toolCallId":"t1","output":"a","preliminary":true}`), "tool-order"},
		{"ends a tool twice", twice(`"output":"ab"`), "tool-ended"},
		{"writes output after the end", swapped(`"output":"a",`, `"output":"ab"`), "tool-ended"},
		{"does not end a tool", without(`"output":"ab"`), "tool-open"},
		{"answers another request", replaced(`"approvalId":"q1","approved"`, `"approvalId":"q2","approved"`), "approval-unknown"},
		{"answers twice", twice("tool-approval-response"), "approval-unknown"},
		{"asks twice", twice("tool-approval-request"), "approval-again"},
		{"nests steps", twice("start-step"), "step-order"},
		{"ends no step", without("finish-step"), "step-order"},
		{"ends a step within text", before("text-end", `{"type":"finish-step"}`), "part-open part-not-open step-order"},
		{"goes on after an error", before("data-plan", `{"type":"error","errorText":"x"}`), "after-error"},
		{"ends the step after an error", func(l []string) []string {
			return append(l[:at(l, "finish-step")], `{"type":"error","errorText":"x"}`, `{"type":"finish-step"}`, `{"type":"finish","finishReason":"error"}`)
		}, ""},
		{"goes on after an abort", before("data-plan", `{"type":"abort"}`), "after-abort"},
		{"finishes twice", twice(`"finish"`), "start-missing"},
		{"writes after finish", followed(`{"type":"data-x","data":1}`, `{"type":"finish"}`), "start-missing"},
		{"is cut off", func(l []string) []string { return l[:7] }, "unfinished part-open step-order"},
		{"writes nothing", func([]string) []string { return nil }, "unfinished"},
	})
}
