package uistream

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

const (
	provided = " providerMetadata?:objects"
	ofTool   = " dynamic?:flag title?:text providerExecuted?:flag toolMetadata?:object" + provided // of the input of a tool
	ofOutput = " dynamic?:flag providerExecuted?:flag toolMetadata?:object" + provided
)

// vocabulary has the chunks of uiMessageChunkSchema of ai 7, which accepts other members too.
var vocabulary = dialect.NewVocabulary(map[string]string{
	"start":                  "messageId?:text messageMetadata?:any",
	"finish":                 "finishReason?:=stop|length|content-filter|tool-calls|error|interrupted|other messageMetadata?:any",
	"start-step":             "",
	"finish-step":            "",
	"reset-step":             "",
	"text-start":             "id:text" + provided,
	"text-delta":             "id:text delta:text" + provided,
	"text-end":               "id:text citations?:list" + provided,
	"reasoning-start":        "id:text" + provided,
	"reasoning-delta":        "id:text delta:text" + provided,
	"reasoning-end":          "id:text" + provided,
	"tool-input-start":       "toolCallId:text toolName:text inputEncoding?:=json|text" + ofTool,
	"tool-input-delta":       "toolCallId:text inputTextDelta:text",
	"tool-input-available":   "toolCallId:text toolName:text input:any" + ofTool,
	"tool-input-error":       "toolCallId:text toolName:text input:any errorText:text" + ofTool,
	"tool-approval-request":  "toolCallId:text approvalId:text reason?:text isAutomatic?:flag signature?:text",
	"tool-approval-response": "approvalId:text approved:flag reason?:text providerExecuted?:flag" + provided,
	"tool-output-available":  "toolCallId:text output:any preliminary?:flag" + ofOutput,
	"tool-output-error":      "toolCallId:text errorText:text" + ofOutput,
	"tool-output-denied":     "toolCallId:text",
	"source-url":             "sourceId:text url:text title?:text" + provided,
	"source-document":        "sourceId:text mediaType:text title:text filename?:text" + provided,
	"file":                   "url:text mediaType:text" + provided,
	"reasoning-file":         "url:text mediaType:text" + provided,
	"steering-message":       "id:text parts:[]{part.type}",
	"{part}text":             "text:text" + provided,
	"{part}file":             "mediaType:text url:text filename?:text providerReference?:object" + provided,
	"custom":                 "kind:text" + provided,
	"data-*":                 "data:any id?:text transient?:flag",
	"error":                  "errorText:text",
	"abort":                  "reason?:text",
	"message-metadata":       "messageMetadata:any",
})

// Checker reads streams of chunks and reports each rule that they break. The zero value is ready
// for use. Several messages may follow each other, each from start to finish.
//
// The rules are those of the reader of ai 7, and what leaves its message open or contradicts what it has shown.
// Those that are marked with + are advice: the SDK allows it, because streams may be merged.
//
//	not-json, unknown-type, unknown-value, missing-member, wrong-member
//	empty-id        + an id or a name is empty
//	start-missing     a chunk comes before start, or after finish
//	start-twice     + a message starts before the last one is finished
//	message-id-again  two messages have the same id
//	part-overlaps   + a part starts before another one has ended
//	part-again      + a part starts with the id of an earlier part of the message
//	part-not-open     a delta or an end has the id of no open part
//	part-open         a part has no end when its message ends; +, when its step ends
//	tool-again        the input of a tool starts, or is available, twice
//	tool-renamed      the input of a tool is available under another name than it started with
//	tool-unknown      an output, an answer or a piece of input is of no tool of the message
//	tool-order        a piece of input comes after the whole, or an output before it
//	tool-ended        something of a tool comes after its last output
//	tool-open         a tool has no last output when its message ends
//	approval-unknown  an answer is to no open request
//	approval-again    two requests have the same id
//	step-order      + a step starts within a step, or ends outside of one
//	after-error       something but the ends of the step and the message comes after error
//	after-abort       something but finish comes after abort
//	unfinished        the stream ends within a message
type Checker struct {
	began    bool
	running  bool
	messages map[string]bool
	m        checkedMessage
	found    dialect.Findings
}

// Rules lists the rules of a Checker.
func Rules() []string {
	return []string{
		"not-json",
		"unknown-type",
		"unknown-value",
		"missing-member",
		"wrong-member",
		"empty-id",
		"start-missing",
		"start-twice",
		"message-id-again",
		"part-overlaps",
		"part-again",
		"part-not-open",
		"part-open",
		"tool-again",
		"tool-renamed",
		"tool-unknown",
		"tool-order",
		"tool-ended",
		"tool-open",
		"approval-unknown",
		"approval-again",
		"step-order",
		"after-error",
		"after-abort",
		"unfinished",
	}
}

// checkedMessage is the state of the message that has not finished.
type checkedMessage struct {
	parts     map[string]bool // by type and id; true: open
	ofStep    map[string]bool // the tools of the step that began last
	tools     map[string]*checkedTool
	approvals map[string]string // the tools, by request
	inStep    bool
	ended     string // error or abort
}

type checkedTool struct {
	name      string
	available bool
	ended     bool
	waits     bool // for an answer
}

// ids are the members that name something.
var ids = []string{"messageId", "id", "toolCallId", "toolName", "approvalId", "sourceId"}

// Add checks the next chunk, which is a JSON object.
func (c *Checker) Add(chunk []byte) []dialect.Problem {
	if m, ok := c.found.Read(vocabulary, chunk); ok {
		c.check(m)
	}
	return c.found.Take()
}

// End checks that the stream may end here.
func (c *Checker) End() []dialect.Problem {
	if c.running {
		c.found.Fail("unfinished", "the stream ends without finish")
		c.checkOpen("")
	}
	if !c.began {
		c.found.Fail("unfinished", "the stream is empty")
	}
	return c.found.Take()
}

func (c *Checker) check(m dialect.Message) {
	for _, name := range ids {
		if string(m.Raw(name)) == `""` {
			c.found.Advise("empty-id", "%s: %s is empty", m.Type, name)
		}
	}
	if m.Type == "start" {
		c.start(m)
		return
	}
	if !c.running {
		c.found.Fail("start-missing", "%s without a start before it", m.Type)
		if c.began = true; m.Type == "finish" {
			return
		}
		c.begin() // so that this is reported once
	}
	if m.Type == "finish" {
		c.finish(m)
		return
	}
	if c.m.ended != "" && (c.m.ended != "error" || m.Type != "finish-step") { // the package ai ends the step too
		c.found.Fail("after-"+c.m.ended, "%s after %s", m.Type, c.m.ended)
	}
	kind, action, _ := strings.Cut(m.Type, "-")
	switch {
	case kind == "text" || m.Type == "reasoning-start" || m.Type == "reasoning-delta" || m.Type == "reasoning-end":
		c.checkPart(kind, action, m.String("id"))
	case kind == "tool":
		c.checkTool(m)
	case m.Type == "start-step", m.Type == "finish-step", m.Type == "reset-step":
		c.checkStep(m.Type)
	case m.Type == "error", m.Type == "abort":
		c.m.ended = m.Type
	}
}

func (c *Checker) begin() {
	c.began, c.running = true, true
	c.m = checkedMessage{parts: map[string]bool{}, tools: map[string]*checkedTool{}, approvals: map[string]string{}, ofStep: map[string]bool{}}
}

func (c *Checker) start(m dialect.Message) {
	if c.running {
		c.found.Advise("start-twice", "start within a message")
		return
	}
	c.begin()
	id := m.String("messageId")
	if id == "" {
		return
	}
	if c.messages[id] {
		c.found.Fail("message-id-again", "messageId %q", id)
	}
	if c.messages == nil {
		c.messages = map[string]bool{}
	}
	c.messages[id] = true
}

func (c *Checker) finish(m dialect.Message) {
	c.checkOpen(m.String("finishReason"))
	c.running = false
}

// checkOpen checks that nothing is open at the end of a message. A tool that the client runs,
// and one that waits for an answer, may be.
func (c *Checker) checkOpen(reason string) {
	for _, id := range slices.Sorted(maps.Keys(c.m.parts)) {
		if c.m.parts[id] {
			c.found.Fail("part-open", "%s has no end when the message ends", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.m.tools)) {
		if t := c.m.tools[id]; !t.ended && !t.waits && reason != "tool-calls" {
			c.found.Fail("tool-open", "tool %q has no output", id)
		}
	}
	if c.m.inStep {
		c.found.Advise("step-order", "a step has no end")
	}
}

func (c *Checker) checkPart(kind, action, id string) {
	name := kind + " " + strconv.Quote(id)
	open, known := c.m.parts[name]
	if action != "start" {
		if !open {
			c.found.Fail("part-not-open", "%s of %s", action, name)
		}
		c.m.parts[name] = open && action == "delta"
		return
	}
	if known {
		c.found.Advise("part-again", "%s", name)
	} else {
		for _, other := range slices.Sorted(maps.Keys(c.m.parts)) {
			if c.m.parts[other] {
				c.found.Advise("part-overlaps", "%s starts before the end of %s", name, other)
			}
		}
	}
	c.m.parts[name] = true
}

func (c *Checker) checkStep(kind string) {
	start := kind == "start-step"
	if start == c.m.inStep {
		c.found.Advise("step-order", "%s", kind)
	}
	switch {
	case kind == "reset-step":
		c.resetStep()
		return
	case start:
		clear(c.m.ofStep)
	default:
		for _, id := range slices.Sorted(maps.Keys(c.m.parts)) {
			if c.m.parts[id] {
				c.found.Advise("part-open", "%s has no end when the step ends", id)
			}
		}
	}
	c.m.inStep = start
}

// resetStep drops what the step that began last has written, and ends all parts.
func (c *Checker) resetStep() {
	clear(c.m.parts)
	for id := range c.m.ofStep {
		delete(c.m.tools, id)
	}
	for approval, id := range c.m.approvals {
		if c.m.ofStep[id] {
			delete(c.m.approvals, approval)
		}
	}
	clear(c.m.ofStep)
}
