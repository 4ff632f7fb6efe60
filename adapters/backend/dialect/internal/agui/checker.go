package agui

import (
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Rules lists the rules of a Checker.
func Rules() []string {
	return []string{
		"not-json", "unknown-type", "unknown-member", "unknown-value", "missing-member", "wrong-member", "version", "empty-id",
		"run-missing", "run-twice", "run-again", "run-other", "usage", "cancelled-result", "interrupt-missing", "interrupt-again",
		"part-again", "part-not-open", "part-open", "part-differs", "chunk-incomplete", "chunk-ambiguous",
		"tool-unknown", "tool-order", "tool-result-twice", "tool-open", "tool-pending", "tool-frontend", "agent-again", "agent-late",
		"agent-not-open", "agent-ended", "agent-unknown", "agent-open", "owner", "entity-unknown", "activity-unknown", "activity-content", "state", "unfinished",
	}
}

// Checker reads streams of AG-UI events and reports each rule that they break. The zero value is ready
// for use. Several runs may follow each other.
//
// The rules are those of the specification, 1.1. Those that are marked with + are advice: the
// specification recommends them, or they are ours, because a reader shows something wrong.
//
//	not-json, missing-member, wrong-member
//	unknown-type         an event is of no known type; +, if the producer speaks a newer version
//	unknown-member       a member is not declared; likewise
//	unknown-value        an outcome, a part, a message or an operation is of no known type; likewise
//	version            + RUN_STARTED declares no protocolVersion, or another than 1.0 and 1.1
//	empty-id           + an id or a name is empty
//	run-missing          an event comes before RUN_STARTED, or after the end of the run, and is none that may
//	run-twice            a run starts before the last one has ended
//	run-again          + two runs have the same id
//	run-other            RUN_FINISHED names another run or thread, or a run is on another thread than the one before
//	usage                tokens are counted twice: a part is more than its total, or the total is not the sum
//	cancelled-result   + a cancelled run has a result
//	interrupt-missing    an interrupted run has no interrupt
//	interrupt-again      two interrupts of a run have the same id
//	part-again           a message, a reasoning span, a step or a tool call starts with the id of an open one
//	part-not-open        a content or an end has the id of nothing that is open
//	part-open            a message, a span, a step or a tool call has no end when its run ends
//	part-differs         a start of what was ended, or a chunk, has another role, name or parent than the first one
//	chunk-incomplete     the first chunk has no id, or no name of the tool
//	chunk-ambiguous      a chunk has neither id nor sub-agent, and more than one could go on
//	tool-unknown       + a result is of no tool call of the stream
//	tool-order         + a result comes before TOOL_CALL_END
//	tool-result-twice  + a tool call has two results
//	tool-open          + a tool call has no result when its run ends with success, and no list says that it is pending
//	tool-pending         pendingToolCallIds are not the calls of the run without a result
//	tool-frontend        a tool of the client has a result
//	agent-again          a sub-agent starts twice in a run
//	agent-late           a sub-agent starts after the first of its events
//	agent-not-open       a sub-agent ends that has not started, or has ended
//	agent-ended        + a message, a call or a result is of a sub-agent that has ended
//	agent-unknown        the parent of a sub-agent has not started
//	agent-open           a sub-agent has no end when its run ends
//	owner                an event names another sub-agent than the one that began its part
//	entity-unknown     + an encrypted value is of no message or call of the stream
//	activity-unknown   + a patch is of no activity of the stream
//	activity-content     a patch makes the content of an activity something else than an object
//	state              + a patch does not apply
//	unfinished           the stream ends within a run
type Checker struct {
	began  bool // an event came
	phase  phase
	runs   map[string]bool // the ids of all runs
	thread string
	id     string
	newer  bool // the producer speaks a version that this Checker does not know

	messages   map[string]bool // of all runs
	calls      map[string]*call
	activities map[string]any // their contents
	state      any

	run   *openRun
	found dialect.Findings
}

type phase int

const (
	outside  phase = iota // before the first run
	running               // in a run
	finished              // after RUN_FINISHED
	failed                // after RUN_ERROR
)

// openRun is the state of a run.
type openRun struct {
	parts    map[string]*openPart // by kind and id, also those that were ended
	owners   map[string]owner     // by kind and id
	lanes    map[owner]*lane
	order    []string // the ids of the calls that started in this run
	agents   map[string]agentState
	frontend map[string]bool // the names of the client's tools
}

// agentState is what is known of a sub-agent.
type agentState int

const (
	named      agentState = iota + 1 // an event has its id
	agentRuns                        // it has started
	agentEnded                       // it has ended
)

// owner is who produced an event: a sub-agent, or the main agent if it is not tagged.
type owner struct {
	tagged bool
	id     string
}

func (o owner) String() string {
	if !o.tagged {
		return "the main agent"
	}
	return strconv.Quote(o.id)
}

func ownerOf(m dialect.Message) owner {
	return owner{m.Has("subagentRunId"), m.String("subagentRunId")}
}

// Add checks the next event, which is a JSON object.
func (c *Checker) Add(event []byte) []dialect.Problem {
	if m, ok := c.found.Read(vocabulary, event); ok {
		c.check(m)
	}
	problems := c.found.Take()
	for i, p := range problems {
		problems[i].Advice = p.Advice || c.newer && strings.HasPrefix(p.Rule, "unknown-")
	}
	return problems
}

// End checks that the stream may end here.
func (c *Checker) End() []dialect.Problem {
	if c.phase == running || !c.began {
		c.found.Fail("unfinished", "the stream ends without RUN_FINISHED or RUN_ERROR")
	}
	return c.found.Take()
}

// ids are the members that name something.
var ids = []string{"threadId", "runId", "messageId", "toolCallId", "toolCallName", "parentMessageId", "stepName", "name", "subagentRunId", "entityId", "activityType"}

func (c *Checker) check(m dialect.Message) {
	for _, name := range ids {
		if string(m.Raw(name)) == `""` {
			c.found.Advise("empty-id", "%s: %s is empty", m.Type, name)
		}
	}
	defer func() { c.began = true }()
	switch m.Type {
	case "RUN_STARTED":
		c.start(m)
		return
	case "RUN_ERROR":
		if c.phase == failed {
			c.found.Fail("run-missing", "%s after RUN_ERROR", m.Type)
		}
		c.checkUsage(m)
		c.phase = failed
		return
	}
	if c.phase != running {
		c.found.Fail("run-missing", "%s outside of a run", m.Type)
		if c.began || m.Type == "RUN_FINISHED" {
			return
		}
		c.begin() // so that this is reported once
	}
	c.closeLanes(m)
	c.noteAgent(m)
	switch m.Type {
	case "RUN_FINISHED":
		c.finish(m)
	case "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR":
		c.checkAgent(m)
	case "STATE_SNAPSHOT":
		c.state = valueOf(m.Raw("snapshot"))
	case "STATE_DELTA":
		c.state = c.patch(c.state, m.Raw("delta"))
	case "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA":
		c.checkActivity(m)
	case "MESSAGES_SNAPSHOT":
		c.takeMessages(m.Raw("messages"))
	case "TOOL_CALL_RESULT":
		c.checkResult(m)
	case "REASONING_ENCRYPTED_VALUE":
		c.checkEncrypted(m)
	case "TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK":
		c.checkChunk(m)
	default:
		c.checkPart(m)
	}
}

// patch returns a value after a patch; the value, if that does not apply.
func (c *Checker) patch(value any, operations event.Raw) any {
	next, err := dialect.Patch(value, operations)
	if err != nil {
		c.found.Advise("state", "%v", err)
	}
	return next
}

// State returns the state after the events so far.
func (c *Checker) State() event.Raw { return dialect.Marshal(c.state) }
