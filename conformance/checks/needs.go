package checks

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// needs are the events and members without which a check has nothing to judge
// by: see conformance.Carrier. What is not listed judges what there is.
var needs = map[string][]string{
	"session.ready-first":         {"session_ready"},
	"session.provider-id":         {"session_ready.provider_session_id"},
	"session.fork-independent":    {"session_ready.forked_from"},
	"session.archive-closes":      {"session_end"},
	"process.exit-code":           {"session_end.exit_code"},
	"turn.one-terminal":           {"turn", "done"},
	"turn.nothing-after-terminal": {"turn", "done"},
	"turn.stop":                   {"done.stopped"},
	"turn.after-stop":             {"user_message"},
	"turn.queued":                 {"user_message"},
	"turn.unprompted":             {"turn_start.cause"},
	"text.once":                   {"delta"},
	"text.order":                  {"delta"},
	"text.retracted":              {"delta", "block_end"},
	"text.paragraph-break":        {"delta.block_id"},
	"thinking.delivered":          {"thinking"},
	"tool.known":                  {"tool_start"},
	"tool.paired":                 {"tool_start", "tool_result"},
	"tool.output":                 {"tool_result"},
	"permission.asked":            {"permission_request"},
	"permission.resolved":         {"permission_resolved"},
	"question.answered":           {"interrupt"},
	"mode.told":                   {"mode_changed"},
	"subagent.parallel":           {"subagent_id"},
	"subagent.background":         {"subagent_id", "task"},
	"usage.told":                  {"usage"},
	"time.backlog":                {"delta"},
	"order.seq":                   {"seq"},
	"order.ts":                    {"ts"},
	"turn.stall-ends":             {"turn", "error.code"},
	"turn.lost-end":               {"turn", "error"},
	"turn.refused":                {"error"},
	"turn.error-is-error":         {"turn", "error"},
	"turn.retry-is-not-error":     {"turn", "error"},
	"turn.activity-first":         {"turn_start", "thinking"},
	"turn.steer":                  {"user_message"},
	"wire.no-own-echo":            {"user_message"},
	"text.block-boundary":         {"delta.block_id"},
	"text.result":                 {"result"},
	"text.unicode":                {"delta"},
	"text.not-thinking":           {"delta", "thinking"},
	"thinking.closed":             {"thinking.done"},
	"thinking.hidden":             {"thinking"},
	"tool.streamed":               {"tool_output", "tool_result.output"},
	"tool.fields":                 {"tool_start.input", "tool_start.command"},
	"tool.file-read":              {"tool_start.is_file_read"},
	"tool.interrupted":            {"tool_start", "tool_result", "tool_result.status"},
	"tool.canonical":              {"tool_start.tool"},
	"tool.file-change":            {"tool_result.changes"},
	"tool.web-search":             {"tool_start.input", "tool_result.output"},
	"subagent.attributed":         {"subagent_id"},
	"subagent.spawn":              {"tool_start.subagent_spawn"},
	"subagent.text-apart":         {"subagent_id"},
	"replay.interrupted":          {"done.stopped"},
	"component.tool-linked":       {"tool_start.input", "tool_result.output"},
	"component.update":            {"component_update"},
	"component.remove":            {"component_remove"},
	"replay.components":           {"component_update"},
}

// needing fills in what the checks need.
func needing(all []*conformance.Check) []*conformance.Check {
	for _, c := range all {
		c.Needs = slices.Concat(needs[c.ID], exactly[c.ID])
		c.NeedsFor = needsOf(c.ID)
	}
	return all
}
