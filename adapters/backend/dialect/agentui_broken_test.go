package dialect_test

import (
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agentui"
)

var goodAgentUI = strings.Split(strings.TrimSpace(`
{"type":"session.opened","sequence":1,"sessionId":"s","owner":"session","scope":"session"}
{"type":"run.started","sequence":2,"runId":"r","owner":"runtime","scope":"run","phase":"accepted"}
{"type":"reasoning.delta","sequence":3,"runId":"r","partId":"h","payload":{"text":"Hm."}}
{"type":"reasoning.summary","sequence":4,"runId":"r","partId":"h","payload":{"text":"Hm."}}
{"type":"text.delta","sequence":5,"runId":"r","partId":"b","payload":{"text":"I look."}}
{"type":"text.final","sequence":6,"runId":"r","partId":"b","payload":{"text":"I look."}}
{"type":"tool.started","sequence":7,"runId":"r","toolCallId":"t"}
{"type":"tool.args","sequence":8,"runId":"r","toolCallId":"t","payload":{"input":{}}}
{"type":"action.required","sequence":9,"runId":"r","actionId":"q","toolCallId":"t"}
{"type":"action.resolved","sequence":10,"runId":"r","actionId":"q","payload":{"allowed":true}}
{"type":"agent.spawned","sequence":11,"runId":"r","agentId":"a"}
{"type":"agent.completed","sequence":12,"runId":"r","agentId":"a"}
{"type":"tool.result","sequence":13,"runId":"r","toolCallId":"t","payload":{"output":"x"}}
{"type":"run.finished","sequence":14,"runId":"r","phase":"completed"}
{"type":"session.closed","sequence":15,"sessionId":"s"}`), "\n")

// renumbered numbers the events again after an edit, so that only the defect is found.
func renumbered(edit func([]string) []string) func([]string) []string {
	return func(lines []string) []string {
		lines = edit(lines)
		for i, l := range lines {
			before, after, ok := strings.Cut(l, `"sequence":`)
			if j := strings.IndexByte(after, ','); ok && j >= 0 {
				lines[i] = before + `"sequence":` + strings.Repeat("1", i+1) + after[j:]
			}
		}
		return lines
	}
}

func TestBrokenAgentUIStreams(t *testing.T) {
	testBroken(t, goodAgentUI, func() checker { return new(agentui.Checker) }, agentui.Rules(), []broken{
		{"writes no JSON", replaced(`{"type":"session.opened"`, `"type":"session.opened"`), "not-json"},
		{"writes an unknown class", replaced("agent.spawned", "agent.born"), "unknown-type agent-unknown"},
		{"names no part", replaced(`"partId":"b","payload":{"text":"I look."}`, `"payload":{}`), "missing-member text-open"},
		{"has an unknown owner", replaced(`"owner":"runtime"`, `"owner":"adapter"`), "wrong-member"},
		{"repeats a sequence", replaced(`"sequence":6`, `"sequence":5`), "sequence"},
		{"counts backwards", replaced(`"sequence":14`, `"sequence":1`), "sequence"},
		{"starts no run", without("run.started"), "run-missing"},
		{"starts a run twice", renumbered(twice("run.started")), "run-again"},
		{"finishes a run twice", renumbered(twice("run.finished")), "run-ended"},
		{"goes on after the run", renumbered(before("session.closed", `{"type":"text.delta","sequence":1,"runId":"r","partId":"z","payload":{"text":"x"}}`)), "run-ended"},
		{"closes the session within a run", without("run.finished"), "run-open"},
		{"is cut off", func(l []string) []string { return l[:5] }, "unfinished"},
		{"writes nothing", func([]string) []string { return nil }, "unfinished"},
		{"writes a delta after the final text", swapped("text.delta", "text.final"), "sequence text-after-final"},
		{"has two final texts", renumbered(twice("text.final")), "final-again"},
		{"appends the final text", replaced(`"sequence":6,"runId":"r","partId":"b","payload":{"text":"I look."}`, `"sequence":6,"runId":"r","partId":"b","payload":{"text":"I look.I look."}`), "final-differs"},
		{"has no final text", without("text.final"), "text-open"},
		{"starts a tool twice", renumbered(twice("tool.started")), "tool-again"},
		{"starts no tool", without("tool.started"), "tool-unknown tool-unknown"},
		{"has two results", renumbered(twice("tool.result")), "tool-ended"},
		{"has no result", without("tool.result"), "tool-open"},
		{"has a result of a rejected tool", replaced(`"allowed":true`, `"allowed":false`), "tool-denied"},
		{"asks twice", renumbered(twice("action.required")), "action-again"},
		{"answers what was not asked", without("action.required"), "action-unknown"},
		{"answers twice", renumbered(twice("action.resolved")), "action-resolved"},
		{"leaves a request open", without("action.resolved"), "action-open"},
		{"spawns an agent twice", renumbered(twice("agent.spawned")), "agent-again"},
		{"spawns no agent", without("agent.spawned"), "agent-unknown"},
	})
}
