package agentui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

const (
	owners   = "=runtime|model|tool|action|artifact|evidence|context|policy|task|agent|team|session|diagnostics|ui_projection|unknown"
	scopes   = "=application|workspace|team|session|thread|run|turn|message|part|task|agent|tool_call|action_request|artifact|evidence|unknown"
	phases   = "=draft|submitted|accepted|routing|preparing|planning|reasoning|acting|waiting|reviewing|producing|reconciling|completed|failed|cancelled|interrupted|archived|hydrating|unknown"
	stores   = "=ephemeral_live|transcript|snapshot|archive|artifact_store|evidence_pack|diagnostics_log|ui_local|unknown"
	controls = "=send|queue|steer|interrupt|approve|reject|answer|edit|retry|rollback|export|open_detail|delegate|assign|continue_agent|wait|stop|close|request_review|none|unknown"
	entities = "=agent_turn|subagent_turn|automation_job|external_task|work_item|unknown"
	statuses = "=idle|queued|submitted|accepted|preparing|running|waiting|needs_input|plan_ready|completed|failed|aborted|cancelled|closed|not_found|unknown"
	envelope = " sequence?:number timestamp?:text sessionId?:id threadId?:id runId?:id turnId?:id owner?:" + owners + " scope?:" + scopes + " phase?:" + phases +
		" persistence?:" + stores + " control?:" + controls + " runtimeEntity?:" + entities + " runtimeStatus?:" + statuses +
		" messageId?:id taskId?:id agentId?:id surface?:text"
)

// classes are the event classes, with the members that a class needs besides the envelope.
var classes = map[string]string{
	"session.opened": "", "session.hydrated": "", "session.updated": "", "session.closed": "",
	"run.started": "runId:id", "run.status": "", "run.finished": "runId:id", "run.failed": "",
	"plan.delta": "", "plan.final": "",
	"text.delta": "partId:id", "text.final": "partId:id", "reasoning.delta": "partId:id", "reasoning.summary": "",
	"tool.started": "toolCallId:id", "tool.args": "toolCallId:id", "tool.progress": "toolCallId:id", "tool.output.delta": "toolCallId:id",
	"tool.result": "toolCallId:id", "tool.failed": "toolCallId:id",
	"action.required": "actionId:id", "action.resolved": "actionId:id",
	"queue.changed": "", "task.changed": "taskId:id", "agent.changed": "agentId:id", "context.changed": "",
	"context.compaction.started": "", "context.compaction.completed": "", "permission.changed": "",
	"artifact.created": "artifactId:id", "artifact.updated": "artifactId:id", "artifact.preview.ready": "artifactId:id",
	"artifact.version.created": "artifactId:id artifactVersionId:id", "artifact.diff.ready": "artifactId:id", "artifact.export.started": "artifactId:id",
	"artifact.export.completed": "artifactId:id", "artifact.failed": "artifactId:id", "artifact.deleted": "artifactId:id", "artifact.changed": "artifactId:id",
	"evidence.changed": "", "state.snapshot": "", "state.delta": "", "messages.snapshot": "", "diagnostic.changed": "", "metric.changed": "",
	"agent.spawned": "agentId:id", "agent.completed": "agentId:id", "agent.handoff": "agentId:id", "team.changed": "", "worker.notification": "",
	"review.requested": "", "review.completed": "",
	"data.*": "", // no class of the draft: the Translator writes them
}

var vocabulary = func() dialect.Vocabulary {
	table := map[string]string{}
	for class, members := range classes {
		table[class] = members + envelope
	}
	return dialect.NewVocabulary(table)
}()

// Rules lists the rules of a Checker.
func Rules() []string {
	return []string{
		"not-json", "unknown-type", "missing-member", "wrong-member", "sequence", "run-missing", "run-again", "run-ended", "run-open",
		"text-after-final", "final-again", "final-differs", "text-open", "tool-again", "tool-unknown", "tool-ended", "tool-open", "tool-denied",
		"action-again", "action-unknown", "action-resolved", "action-open", "agent-again", "agent-unknown", "unfinished",
	}
}

// Checker reads streams of Agent UI events and reports each rule that they break. The zero value is
// ready for use. The list of classes is open; the Checker accepts those of the draft and data.NAME.
//
// The rules are:
//
//	not-json, unknown-type, missing-member, wrong-member
//	sequence          sequence does not increase
//	run-missing       text, reasoning or a tool is of a run that has not started
//	run-again         a run starts twice
//	run-ended         text, reasoning, a tool or an end is of a run that has ended; sub-agents may go on
//	run-open          the stream ends within a run, but not the session
//	text-after-final  a delta comes after the final text of its part
//	final-again       a part has two final texts that are not corrections
//	final-differs     the final text is not that of the deltas, and states no status that explains it
//	text-open         a part has no final text when its run ends
//	tool-again        a tool starts twice
//	tool-unknown      an event is of a tool that has not started
//	tool-ended        an event is of a tool that has a result
//	tool-open         a tool has no result when its run ends
//	tool-denied       a tool has a result although it was rejected
//	action-again      two requests have the same id
//	action-unknown    an answer is to no request
//	action-resolved   a request is resolved twice
//	action-open       a request is not resolved when its run ends
//	agent-again       a sub-agent is spawned while it runs
//	agent-unknown     a sub-agent ends that was not spawned
//	unfinished        the stream ends within a run, or is empty
type Checker struct {
	last    int64
	runs    map[string]bool // true: it runs
	parts   map[string]*part
	tools   map[string]*call
	actions map[string]*request
	agents  map[string]bool // true: it runs
	found   dialect.Findings
}

type part struct {
	run, agent, text string
	final            bool
}

type call struct {
	run, agent    string
	ended, denied bool
}

type request struct {
	run, agent, tool string
	resolved         bool
}

// Add checks the next event, which is a JSON object.
func (c *Checker) Add(event []byte) []dialect.Problem {
	if c.runs == nil {
		c.runs, c.parts, c.tools = map[string]bool{}, map[string]*part{}, map[string]*call{}
		c.actions, c.agents = map[string]*request{}, map[string]bool{}
	}
	if m, ok := c.found.Read(vocabulary, event); ok {
		c.check(m)
	}
	return c.found.Take()
}

// End checks that the stream may end here.
func (c *Checker) End() []dialect.Problem {
	if c.found.Empty() {
		c.found.Fail("unfinished", "the stream is empty")
	}
	for _, id := range slices.Sorted(maps.Keys(c.runs)) {
		if c.runs[id] {
			c.found.Fail("unfinished", "run %q has no end", id)
		}
	}
	return c.found.Take()
}

func (c *Checker) check(m dialect.Message) {
	if m.Has("sequence") {
		n, err := strconv.ParseInt(string(m.Raw("sequence")), 10, 64)
		if err != nil || n <= c.last {
			c.found.Fail("sequence", "%s after %d", m.Raw("sequence"), c.last)
		}
		c.last = max(c.last, n)
	}
	run, agent := m.String("runId"), m.String("agentId")
	head, _, _ := strings.Cut(m.Type, ".")
	switch head {
	case "run":
		c.checkRun(m, run, agent)
	case "text", "reasoning":
		c.inRun(m, run, agent)
		c.checkPart(m, head, run, agent)
	case "tool":
		c.inRun(m, run, agent)
		c.checkTool(m, run, agent)
	case "action":
		c.checkAction(m, run, agent)
	case "agent":
		c.checkAgent(m.Type, agent)
	case "session":
		for _, id := range slices.Sorted(maps.Keys(c.runs)) {
			if m.Type == "session.closed" && c.runs[id] {
				c.found.Fail("run-open", "run %q has no end when the session closes", id)
				c.runs[id] = false
			}
		}
	}
}

// inRun checks that an event of the main agent belongs to a run that goes on.
func (c *Checker) inRun(m dialect.Message, run, agent string) {
	running, known := c.runs[run]
	switch {
	case run == "" || agent != "":
	case !known:
		c.found.Fail("run-missing", "%s of run %q", m.Type, run)
		c.runs[run] = true // so that this is reported once
	case !running:
		c.found.Fail("run-ended", "%s of run %q", m.Type, run)
	}
}

func (c *Checker) checkRun(m dialect.Message, run, agent string) {
	switch m.Type {
	case "run.started":
		if _, known := c.runs[run]; known {
			c.found.Fail("run-again", "run %q", run)
		}
		c.runs[run] = true
	case "run.status":
		c.inRun(m, run, agent)
	case "run.finished", "run.failed":
		c.inRun(m, run, agent)
		if c.runs[run] {
			c.checkOpen(run)
		}
		if run != "" {
			c.runs[run] = false
		}
	}
}

// checkOpen checks that nothing of the main agent is open at the end of a run.
func (c *Checker) checkOpen(run string) {
	for _, id := range slices.Sorted(maps.Keys(c.parts)) {
		if p := c.parts[id]; p.run == run && p.agent == "" && !p.final && strings.HasPrefix(id, "text") {
			c.found.Fail("text-open", "%s has no final text", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.tools)) {
		if t := c.tools[id]; t.run == run && t.agent == "" && !t.ended {
			c.found.Fail("tool-open", "%q has no result", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.actions)) {
		if a := c.actions[id]; a.run == run && a.agent == "" && !a.resolved {
			c.found.Fail("action-open", "%q is not resolved", id)
		}
	}
}

// payload is the part of a payload that the rules need.
type payload struct {
	Text    *string `json:"text"`
	Status  string  `json:"status"`
	Allowed *bool   `json:"allowed"`
	By      string  `json:"by"`
}

func payloadOf(m dialect.Message) (p payload) {
	_ = json.Unmarshal(m.Raw("payload"), &p) // others have other forms
	return p
}

func (c *Checker) checkPart(m dialect.Message, head, run, agent string) {
	id := fmt.Sprintf("%s %q of %q in run %q", head, m.String("partId"), agent, run)
	p := c.parts[id]
	if p == nil {
		p = &part{run: run, agent: agent}
		c.parts[id] = p
	}
	data := payloadOf(m)
	if strings.HasSuffix(m.Type, ".delta") {
		if p.final {
			c.found.Fail("text-after-final", "%s", id)
		}
		if data.Text != nil {
			p.text += *data.Text
		}
		return
	}
	corrected := data.Status == "retracted" || data.Status == "replaced"
	switch {
	case p.final && !corrected:
		c.found.Fail("final-again", "%s", id)
	case !corrected && data.Text != nil && p.text != "" && *data.Text != p.text && head == "text":
		c.found.Fail("final-differs", "%s is %q, its deltas %q", id, *data.Text, p.text)
	}
	p.final = true
	if data.Status == "retracted" {
		delete(c.parts, id)
	}
}

func (c *Checker) checkTool(m dialect.Message, run, agent string) {
	id := m.String("toolCallId")
	key := agent + "/" + id
	t := c.tools[key]
	switch {
	case m.Type == "tool.started" && t != nil && t.run == run:
		c.found.Fail("tool-again", "%q", id)
		return
	case m.Type == "tool.started":
		c.tools[key] = &call{run: run, agent: agent}
		return
	case t == nil:
		c.found.Fail("tool-unknown", "%s of %q", m.Type, id)
		return
	case t.ended:
		c.found.Fail("tool-ended", "%s of %q", m.Type, id)
		return
	case m.Type == "tool.result" && t.denied:
		c.found.Fail("tool-denied", "%q", id)
	}
	t.ended = m.Type == "tool.result" || m.Type == "tool.failed"
}

func (c *Checker) checkAction(m dialect.Message, run, agent string) {
	id := m.String("actionId")
	a := c.actions[id]
	if m.Type == "action.required" {
		if a != nil {
			c.found.Fail("action-again", "%q", id)
		}
		c.actions[id] = &request{run: run, agent: agent, tool: agent + "/" + m.String("toolCallId")}
		return
	}
	switch {
	case a == nil:
		c.found.Fail("action-unknown", "%q", id)
		return
	case a.resolved:
		c.found.Fail("action-resolved", "%q", id)
	}
	a.resolved = true
	answer := payloadOf(m)
	if t := c.tools[a.tool]; t != nil && answer.Allowed != nil && !*answer.Allowed && answer.By != "withdrawn" {
		t.denied = true
	}
}

func (c *Checker) checkAgent(class, id string) {
	running, known := c.agents[id]
	switch class {
	case "agent.spawned":
		if running {
			c.found.Fail("agent-again", "%q", id)
		}
		c.agents[id] = true
	case "agent.completed":
		if !known {
			c.found.Fail("agent-unknown", "%q", id)
		}
		c.agents[id] = false
	}
}
