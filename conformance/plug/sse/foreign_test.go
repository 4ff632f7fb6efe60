package sse_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// inDialect returns one of servers as a subject that is read in a dialect.
func inDialect(t *testing.T, name, dialect string) *sse.Subject {
	t.Helper()
	s := of(t, name, "claude")
	m, err := mapping.Builtin(dialect)
	if err != nil {
		t.Fatal(err)
	}
	s.Dialect = backend.Strict(m)
	return s
}

// TestReferenceInDialects reads what the sidecar of this module sends in each dialect back. The
// checks that the dialect can express must pass.
func TestReferenceInDialects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agentui", "agui", "uistream", "wsmessages"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			cases := []string{"claude/newest/tool/text-tool-text-three-rounds", "claude/newest/thinking/then-text", "claude/newest/stop/mid-text"}
			if racesample.Whole() {
				cases = claudeCases
			}
			failed, passed := judged(t, inDialect(t, "served", name), noFaults, append(racesample.Sample(cases, 4), "claude/newest/text/plain")...)
			g.Expect(failed).To(BeEmpty())
			for _, id := range append(mapping.Checks(), "text.once", "text.order", "turn.one-terminal") {
				g.Expect(passed).To(HaveKey(id), "it has given no verdict")
			}
			for _, id := range []string{"order.seq", "text.block-end", "session.provider-id"} {
				if name == "agentui" && id == "text.block-end" {
					g.Expect(passed).To(HaveKey(id), "its final texts express it")
					continue
				}
				g.Expect(passed).NotTo(HaveKey(id), "the dialect does not express it")
			}
		})
	}
}

// changeMessages changes the first message of a stream that contains a text.
func changeMessages(contains string, change func(frame string) string) *brokenWriter {
	return &brokenWriter{contains, change}
}

type brokenWriter struct {
	contains string
	change   func(frame string) string
}

func doubleFrame(frame string) string { return frame + frame }

func dropFrame(string) string { return "" }

// brokenWriters are the sidecar of this module with one defect each in a dialect, the check that
// must fail, and those that may fail too.
var brokenWriters = map[string]struct {
	dialect string
	writer  *brokenWriter
	fails   string
	too     []string
}{
	"uistream without an input": {"uistream", changeMessages(`"tool-input-available"`, func(f string) string {
		return strings.Replace(f, `,"input":`, `,"inputs":`, 1)
	}), "dialect.form", []string{"tool.known"}},
	"uistream without start":                  {"uistream", changeMessages(`"type":"start"`, dropFrame), "dialect.order", nil},
	"uistream ends another part":              {"uistream", changeMessages(`"type":"text-end"`, func(f string) string { return strings.Replace(f, `"id":"`, `"id":"x`, 1) }), "dialect.ids", []string{"dialect.open", "dialect.advice"}},
	"uistream starts twice":                   {"uistream", changeMessages(`"type":"start"`, doubleFrame), "dialect.advice", nil},
	"uistream leaves a part open":             {"uistream", changeMessages(`"type":"text-end"`, dropFrame), "dialect.open", []string{"dialect.advice"}},
	"agui runs without RUN_STARTED":           {"agui", changeMessages(`"RUN_STARTED"`, dropFrame), "dialect.order", nil},
	"agui begins a message twice":             {"agui", changeMessages(`"TEXT_MESSAGE_START"`, doubleFrame), "dialect.once", nil},
	"agui leaves a message open":              {"agui", changeMessages(`"TEXT_MESSAGE_END"`, dropFrame), "dialect.open", nil},
	"agui has a result of no call":            {"agui", changeMessages(`"TOOL_CALL_RESULT"`, func(f string) string { return strings.Replace(f, `"toolCallId":"`, `"toolCallId":"x`, 1) }), "dialect.advice", []string{"tool.paired", "tool.output", "tool.interrupted"}},
	"agentui finishes another run":            {"agentui", changeMessages(`"run.finished"`, func(f string) string { return strings.Replace(f, `"runId":"`, `"runId":"x`, 1) }), "dialect.order", []string{"dialect.open"}},
	"agentui starts a run twice":              {"agentui", changeMessages(`"run.started"`, func(f string) string { return f + strings.Replace(f, `"sequence":`, `"sequence":1`, 1) }), "dialect.once", []string{"dialect.order"}},
	"agentui numbers no event":                {"agentui", changeMessages(`"text.delta"`, func(f string) string { return strings.Replace(f, `"sequence":`, `"sequence":-`, 1) }), "dialect.order", nil},
	"agentui has a result of no call":         {"agentui", changeMessages(`"tool.result"`, func(f string) string { return strings.Replace(f, `"toolCallId":"`, `"toolCallId":"x`, 1) }), "dialect.ids", []string{"dialect.open", "tool.paired", "tool.output", "tool.interrupted"}},
	"agentui leaves a part open":              {"agentui", changeMessages(`"text.final"`, dropFrame), "dialect.open", []string{"text.block-end"}},
	"agentui adds the final text":             {"agentui", changeMessages(`"text.final"`, func(f string) string { return strings.Replace(f, `{"text":"`, `{"text":"And: `, 1) }), "dialect.form", nil},
	"wsmessages writes half of the arguments": {"wsmessages", changeMessages(`"tool_call_start"`, func(f string) string { return strings.Replace(f, `"arguments":"{`, `"arguments":"`, 1) }), "dialect.form", []string{"tool.known"}},
	"wsmessages thinks on beside the text": {"wsmessages", changeMessages(`"text_delta"`, func(f string) string {
		_, rest, _ := strings.Cut(f, `"responseId":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return strings.Replace(f, "data: {", `data: {"type":"thinking_start","responseId":"`+id+"\"}\n\ndata: {", 1)
	}), "dialect.order", nil},
	"wsmessages has a result of no call": {"wsmessages", changeMessages(`"tool_result"`, func(f string) string { return strings.Replace(f, `"callId":"`, `"callId":"x`, 1) }), "dialect.ids", []string{"dialect.open", "tool.paired", "tool.output", "tool.interrupted"}},
	"wsmessages goes on after the end": {"wsmessages", changeMessages(`"text_done"`, func(f string) string {
		return f + strings.Replace(strings.Replace(f, `"text_done"`, `"text_delta"`, 1), `"text":`, `"delta":`, 1)
	}), "dialect.once", []string{"turn.nothing-after-terminal", "text.once", "text.order"}},
	"wsmessages leaves a call open":        {"wsmessages", changeMessages(`"tool_result"`, dropFrame), "dialect.open", []string{"tool.paired", "tool.output", "tool.interrupted"}},
	"uistream loses a call of a sub-agent": {"uistream", changeMessages(`"data-subagent-tool"`, dropFrame), "tool.paired", []string{"tool.known", "tool.output", "subagent.attributed", "subagent.parallel"}},
	"agui loses the result of a sub-agent": {"agui", changeMessages(`"toolCallId":"toolu_s1","content"`, dropFrame), "tool.paired", []string{"dialect.advice", "tool.output", "tool.whole-result"}},
	"agui has a content with no text":      {"agui", changeMessages(`"TOOL_CALL_ARGS"`, func(f string) string { return strings.Replace(f, `"delta":`, `"deltas":`, 1) }), "dialect.form", []string{"tool.known"}},
}

// TestBrokenWritersFailDialectChecks proves the checks of the dialect topic.
func TestBrokenWritersFailDialectChecks(t *testing.T) {
	t.Parallel()
	for name, b := range brokenWriters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			on := "tool/text-tool-text-three-rounds"
			if strings.Contains(name, " of a sub-agent") {
				on = "subagent/in-the-foreground"
			}
			failed, _ := judged(t, inDialect(t, name, b.dialect), noFaults, "claude/newest/"+on)
			g.Expect(failed).To(HaveKey(b.fails))
			delete(failed, b.fails)
			for _, id := range b.too {
				delete(failed, id)
			}
			g.Expect(failed).To(BeEmpty(), "it has one defect")
		})
	}
}

// beyondText are cases whose facts the vocabularies of front ends have no message for: uistream
// has them in data-* and metadata, agui in CUSTOM and metadata.
var beyondText = []string{
	"subagent/in-the-foreground", "subagent/two-in-parallel", "subagent/outlives-the-turn", "subagent/asks-for-permission", "question/one", "permission/deny-then-stop",
	"plan/steps-are-ticked-off", "model/cut-in-mid-text-then-retried", "model/error-ends-the-turn", "tool/fails", "stop/mid-tool", "stop/two-parallel-tools",
}

// someBeyondText are those of beyondText that are performed unless TURNSPEC_MATRIX is whole: one
// for each check that must give a verdict.
var someBeyondText = []string{"subagent/two-in-parallel", "subagent/asks-for-permission", "model/error-ends-the-turn", "stop/mid-tool"}

// TestDialectsBringBack reads back what is beyond text, and names the checks that could not judge it
// if it were lost.
func TestDialectsBringBack(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("it looks for no races: the server is another program")
	}
	scenarios := someBeyondText
	if racesample.Whole() {
		scenarios = beyondText
	}
	var all []string
	for _, id := range scenarios {
		all = append(all, "claude/newest/"+id)
	}
	for _, name := range []string{"uistream", "agui"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			failed, passed := judged(t, inDialect(t, "served", name), noFaults, all...)
			g.Expect(failed).To(BeEmpty())
			for _, id := range []string{
				"subagent.parallel", "permission.asked", "permission.resolved", "tool.interrupted", "turn.error-words",
			} {
				g.Expect(passed).To(HaveKey(id), "it has given no verdict")
			}
		})
	}
}
