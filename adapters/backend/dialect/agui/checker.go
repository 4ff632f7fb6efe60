package agui

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

const common = " timestamp?:number metadata?:object subagentRunId?:id"

var vocabulary = dialect.NewVocabulary(map[string]string{
	"RUN_STARTED":               "threadId:id runId:id protocolVersion?:text parentRunId?:id input?:object timestamp?:number metadata?:object",
	"RUN_FINISHED":              "threadId:id runId:id outcome?:object timestamp?:number metadata?:object",
	"RUN_ERROR":                 "message:text code?:text timestamp?:number metadata?:object",
	"STEP_STARTED":              "stepName:id" + common,
	"STEP_FINISHED":             "stepName:id" + common,
	"TEXT_MESSAGE_START":        "messageId:id role?:developer|system|assistant|user name?:text" + common,
	"TEXT_MESSAGE_CONTENT":      "messageId:id delta:text" + common,
	"TEXT_MESSAGE_END":          "messageId:id" + common,
	"TEXT_MESSAGE_CHUNK":        "messageId?:id role?:developer|system|assistant|user delta?:text" + common,
	"TOOL_CALL_START":           "toolCallId:id toolCallName:id parentMessageId?:id" + common,
	"TOOL_CALL_ARGS":            "toolCallId:id delta:text" + common,
	"TOOL_CALL_END":             "toolCallId:id" + common,
	"TOOL_CALL_CHUNK":           "toolCallId?:id toolCallName?:id parentMessageId?:id delta?:text" + common,
	"TOOL_CALL_RESULT":          "messageId:id toolCallId:id content:any role?:text" + common,
	"STATE_SNAPSHOT":            "snapshot:any" + common,
	"STATE_DELTA":               "delta:list" + common,
	"MESSAGES_SNAPSHOT":         "messages:list timestamp?:number metadata?:object",
	"ACTIVITY_SNAPSHOT":         "messageId:id activityType:id content:object replace?:flag" + common,
	"ACTIVITY_DELTA":            "messageId:id activityType:id patch:list" + common,
	"RAW":                       "event:any source?:text" + common,
	"CUSTOM":                    "name:id value:any" + common,
	"REASONING_START":           "messageId:id" + common,
	"REASONING_END":             "messageId:id" + common,
	"REASONING_MESSAGE_START":   "messageId:id role:text" + common,
	"REASONING_MESSAGE_CONTENT": "messageId:id delta:text" + common,
	"REASONING_MESSAGE_END":     "messageId:id" + common,
	"REASONING_MESSAGE_CHUNK":   "messageId?:id delta?:text" + common,
	"REASONING_ENCRYPTED_VALUE": "subtype:text entityId:id encryptedValue:text" + common,
	"SUBAGENT_STARTED":          "subagentRunId:id name:id parentSubagentRunId?:id parentToolCallId?:id parentMessageId?:id timestamp?:number metadata?:object",
	"SUBAGENT_FINISHED":         "subagentRunId:id outcome?:object timestamp?:number metadata?:object",
	"SUBAGENT_ERROR":            "subagentRunId:id message:text code?:text timestamp?:number metadata?:object",
})

// Rules lists the rules of a Checker.
func Rules() []string {
	return []string{
		"not-json", "unknown-type", "missing-member", "wrong-member", "run-missing", "run-twice", "run-again", "run-other",
		"part-again", "part-not-open", "part-open", "tool-unknown", "tool-order", "tool-result-twice", "tool-open",
		"agent-again", "agent-not-open", "agent-unknown", "agent-open", "owner", "state", "unfinished",
	}
}

// Checker reads streams of AG-UI events and reports each rule that they break. The zero value is ready
// for use. Several runs may follow each other.
//
// The rules are:
//
//	not-json, unknown-type, missing-member, wrong-member
//	run-missing        an event comes before RUN_STARTED, or after the end of the run
//	run-twice          a run starts before the last one has ended
//	run-again          two runs have the same id
//	run-other          RUN_FINISHED names another run or thread
//	part-again         a message, a reasoning span, a step or a tool call starts with a used id
//	part-not-open      a content or an end has the id of nothing that is open
//	part-open          a message, a span, a step or a tool call has no end when its run ends
//	tool-unknown       a result is of no tool call of the run
//	tool-order         a result comes before TOOL_CALL_END
//	tool-result-twice  a tool call has two results
//	tool-open          a tool call has no result when its run ends, and is not pending
//	agent-again        a sub-agent starts twice in a run
//	agent-not-open     a sub-agent ends that has not started, or has ended
//	agent-unknown      an event names a sub-agent that has not started
//	agent-open         a sub-agent has no end when its run ends
//	owner              an event names another sub-agent than the one that began its part
//	state              a patch is malformed or does not apply
//	unfinished         the stream ends within a run
type Checker struct {
	began   bool
	running bool
	runs    map[string]bool
	thread  string
	id      string
	parts   map[string]*part // by kind and id
	tools   map[string]*call
	agents  map[string]bool // true: it runs
	state   any
	found   dialect.Findings
}

type part struct {
	open  bool
	owner string
}

type call struct {
	ended, result bool
}

// Add checks the next event, which is a JSON object.
func (c *Checker) Add(event []byte) []dialect.Problem {
	if m, ok := c.found.Read(vocabulary, event); ok {
		c.check(m)
	}
	return c.found.Take()
}

// End checks that the stream may end here.
func (c *Checker) End() []dialect.Problem {
	if c.running || !c.began {
		c.found.Fail("unfinished", "the stream ends without RUN_FINISHED or RUN_ERROR")
	}
	return c.found.Take()
}

func (c *Checker) check(m dialect.Message) {
	if m.Type == "RUN_STARTED" {
		c.start(m)
		return
	}
	if !c.running {
		c.found.Fail("run-missing", "%s outside of a run", m.Type)
		if c.began && len(c.runs) > 0 || m.Type == "RUN_ERROR" || m.Type == "RUN_FINISHED" {
			c.began = true
			return
		}
		c.begin("", "") // so that this is reported once
	}
	agent := m.String("subagentRunId")
	if _, known := c.agents[agent]; agent != "" && !known && m.Type != "SUBAGENT_STARTED" && m.Type != "SUBAGENT_FINISHED" && m.Type != "SUBAGENT_ERROR" {
		c.found.Fail("agent-unknown", "%s of %q", m.Type, agent)
	}
	switch m.Type {
	case "RUN_FINISHED":
		c.finish(m)
	case "RUN_ERROR":
		c.running = false
	case "SUBAGENT_STARTED":
		if _, known := c.agents[agent]; known {
			c.found.Fail("agent-again", "%q", agent)
		}
		c.agents[agent] = true
	case "SUBAGENT_FINISHED", "SUBAGENT_ERROR":
		if !c.agents[agent] {
			c.found.Fail("agent-not-open", "%q", agent)
		}
		c.agents[agent] = false
	case "STATE_SNAPSHOT":
		_ = json.Unmarshal(m.Raw("snapshot"), &c.state)
	case "STATE_DELTA":
		next, err := dialect.Patch(c.state, m.Raw("delta"))
		if err != nil {
			c.found.Fail("state", "%v", err)
			return
		}
		c.state = next
	case "TOOL_CALL_CHUNK":
		if id := m.String("toolCallId"); id != "" && c.tools[id] == nil {
			c.tools[id] = &call{ended: true} // readers end it before the next event of another kind
		}
	case "TOOL_CALL_RESULT":
		c.checkResult(m.String("toolCallId"))
	default:
		c.checkPart(m, agent)
	}
}

func (c *Checker) begin(thread, id string) {
	c.began, c.running, c.thread, c.id = true, true, thread, id
	c.parts, c.tools, c.agents = map[string]*part{}, map[string]*call{}, map[string]bool{}
	if c.state == nil {
		c.state = map[string]any{}
	}
}

func (c *Checker) start(m dialect.Message) {
	if c.running {
		c.found.Fail("run-twice", "RUN_STARTED within a run")
	}
	id := m.String("runId")
	if c.runs[id] {
		c.found.Fail("run-again", "runId %q", id)
	}
	if c.runs == nil {
		c.runs = map[string]bool{}
	}
	c.runs[id] = true
	c.begin(m.String("threadId"), id)
}

func (c *Checker) finish(m dialect.Message) {
	if c.id != "" && (m.String("runId") != c.id || m.String("threadId") != c.thread) {
		c.found.Fail("run-other", "RUN_FINISHED of %q", m.String("runId"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.parts)) {
		if c.parts[name].open {
			c.found.Fail("part-open", "%s", name)
		}
	}
	var outcome struct {
		Type               string   `json:"type"`
		PendingToolCallIDs []string `json:"pendingToolCallIds"`
	}
	_ = json.Unmarshal(m.Raw("outcome"), &outcome)
	for _, id := range slices.Sorted(maps.Keys(c.tools)) {
		if !c.tools[id].result && outcome.Type != "interrupt" && !slices.Contains(outcome.PendingToolCallIDs, id) {
			c.found.Fail("tool-open", "%q has no result", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.agents)) {
		if c.agents[id] {
			c.found.Fail("agent-open", "%q", id)
		}
	}
	c.running = false
}

// parts are the types of events that belong to something with a start and an end: its kind, and the
// member with its id.
var parts = map[string]struct{ kind, id, what string }{
	"TEXT_MESSAGE_START":        {"message", "messageId", "start"},
	"TEXT_MESSAGE_CONTENT":      {"message", "messageId", "content"},
	"TEXT_MESSAGE_END":          {"message", "messageId", "end"},
	"TOOL_CALL_START":           {"tool call", "toolCallId", "start"},
	"TOOL_CALL_ARGS":            {"tool call", "toolCallId", "content"},
	"TOOL_CALL_END":             {"tool call", "toolCallId", "end"},
	"REASONING_START":           {"span", "messageId", "start"},
	"REASONING_END":             {"span", "messageId", "end"},
	"REASONING_MESSAGE_START":   {"reasoning", "messageId", "start"},
	"REASONING_MESSAGE_CONTENT": {"reasoning", "messageId", "content"},
	"REASONING_MESSAGE_END":     {"reasoning", "messageId", "end"},
	"STEP_STARTED":              {"step", "stepName", "start"},
	"STEP_FINISHED":             {"step", "stepName", "end"},
}

func (c *Checker) checkPart(m dialect.Message, agent string) {
	of, ok := parts[m.Type]
	if !ok {
		return
	}
	id := m.String(of.id)
	name := of.kind + " " + strconv.Quote(id)
	p := c.parts[name]
	if of.what == "start" {
		if p != nil && (of.kind != "step" || p.open) { // a step may be repeated
			c.found.Fail("part-again", "%s", name)
		}
		c.parts[name] = &part{true, agent}
		if of.kind == "tool call" && c.tools[id] == nil {
			c.tools[id] = &call{}
		}
		return
	}
	if p == nil || !p.open {
		c.found.Fail("part-not-open", "%s of %s", m.Type, name)
		return
	}
	if agent != "" && agent != p.owner {
		c.found.Fail("owner", "%s of %q, but %s began with %q", m.Type, agent, name, p.owner)
	}
	if of.what == "end" {
		p.open = false
		if of.kind == "tool call" {
			c.tools[id].ended = true
		}
	}
}

func (c *Checker) checkResult(id string) {
	t := c.tools[id]
	switch {
	case t == nil:
		c.found.Fail("tool-unknown", "result of %q", id)
		return
	case t.result:
		c.found.Fail("tool-result-twice", "%q", id)
	case !t.ended:
		c.found.Fail("tool-order", "result of %q before TOOL_CALL_END", id)
	}
	t.result = true
}

// State returns the state after the events so far.
func (c *Checker) State() event.Raw { return dialect.Marshal(c.state) }
