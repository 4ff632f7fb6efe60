package wsmessages

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

var vocabulary = dialect.NewVocabulary(map[string]string{
	"text_delta":            "responseId:id delta:text separator?:flag",
	"text_done":             "responseId:id text:text replaces?:flag cancelled?:flag",
	"thinking_start":        "responseId:id",
	"thinking_delta":        "responseId:id delta:text",
	"thinking_done":         "responseId:id text:text",
	"tool_call_start":       "callId:id toolName:id arguments:text",
	"tool_output_delta":     "callId:id toolName:id delta:text",
	"tool_result":           "callId:id toolName:id ok:flag result?:text error?:object backgrounded?:flag",
	"output_cancelled":      "responseId?:id error?:object",
	"agent_callback_result": "responseId:id result:text",
})

// Rules lists the rules of a Checker.
func Rules() []string {
	return []string{
		"not-json", "unknown-type", "missing-member", "wrong-member", "response-open", "response-ended", "text-differs",
		"thinking-again", "thinking-not-open", "thinking-open", "thinking-differs",
		"tool-again", "tool-unknown", "tool-ended", "tool-renamed", "tool-open", "tool-arguments", "result-form", "unfinished",
	}
}

// Checker reads streams of messages and reports each rule that they break. The zero value is ready for
// use. Several responses may follow each other.
//
// The rules are:
//
//	not-json, unknown-type, missing-member, wrong-member
//	response-open      a response begins before the last one has ended
//	response-ended     a message is of a response that has ended; output_cancelled may follow text_done with the member cancelled
//	text-differs       text_done is not the sum of the deltas, and has no member replaces
//	thinking-again     thinking starts before the last one is done
//	thinking-not-open  a delta or an end comes without a start
//	thinking-open      thinking is not done when text begins, a tool starts, or the response ends
//	thinking-differs   thinking_done is not the sum of its deltas
//	tool-again         a call starts twice
//	tool-unknown       output or a result is of no call
//	tool-ended         output or a result comes after the result
//	tool-renamed       output or a result has another name than its call
//	tool-open          a call has no result when its response ends
//	tool-arguments     arguments are not JSON
//	result-form        ok and no result, or not ok and no error with a code
//	unfinished         the stream ends within a response, or before the output_cancelled that text_done announced
type Checker struct {
	response string // that has begun; "" while none is running
	running  bool
	awaited  string // the response whose output_cancelled text_done announced, or ""
	ended    map[string]bool
	text     string
	thinking bool
	thought  string
	tools    map[string]*call
	found    dialect.Findings
}

type call struct {
	name  string
	ended bool
}

// Add checks the next message, which is a JSON object.
func (c *Checker) Add(message []byte) []dialect.Problem {
	if c.tools == nil {
		c.tools, c.ended = map[string]*call{}, map[string]bool{}
	}
	if m, ok := c.found.Read(vocabulary, message); ok {
		c.check(m)
	}
	return c.found.Take()
}

// End checks that the stream may end here.
func (c *Checker) End() []dialect.Problem {
	if c.running || c.awaited != "" || c.found.Empty() {
		c.found.Fail("unfinished", "the stream ends without text_done or output_cancelled")
	}
	return c.found.Take()
}

func (c *Checker) check(m dialect.Message) {
	id := m.String("responseId")
	switch m.Type {
	case "agent_callback_result":
		return
	case "output_cancelled":
		if c.awaited != "" && (id == "" || id == c.awaited) {
			c.awaited = ""
			return
		}
	}
	if c.awaited != "" {
		c.found.Fail("response-open", "%s before the output_cancelled of %q", m.Type, c.awaited)
		c.awaited = ""
	}
	if !c.join(m.Type, id) {
		return
	}
	switch m.Type {
	case "text_delta":
		c.checkThought(m.Type)
		c.text += m.String("delta")
	case "text_done":
		c.checkThought(m.Type)
		if m.String("text") != c.text && !m.True("replaces") {
			c.found.Fail("text-differs", "text_done is %q, the deltas %q", m.String("text"), c.text)
		}
		c.finish()
		if m.True("cancelled") {
			c.awaited = id
		}
	case "output_cancelled":
		c.checkThought(m.Type)
		c.finish()
	case "thinking_start", "thinking_delta", "thinking_done":
		c.checkThinking(m)
	default:
		c.checkTool(m)
	}
}

// join puts a message into the running response, or begins one.
func (c *Checker) join(what, id string) bool {
	switch {
	case id != "" && c.ended[id]:
		c.found.Fail("response-ended", "%s of %q", what, id)
		return false
	case c.running && id != "" && c.response != "" && id != c.response:
		c.found.Fail("response-open", "%s of %q while %q has no end", what, id, c.response)
		c.finish()
	}
	if !c.running {
		c.running, c.response, c.text, c.thinking = true, "", "", false
	}
	if id != "" {
		c.response = id
	}
	return true
}

func (c *Checker) finish() {
	for _, id := range slices.Sorted(maps.Keys(c.tools)) {
		if !c.tools[id].ended {
			c.found.Fail("tool-open", "%q has no result", id)
		}
	}
	clear(c.tools)
	c.running = false
	if c.response != "" {
		c.ended[c.response] = true
	}
	c.response = ""
}

func (c *Checker) checkThought(before string) {
	if c.thinking {
		c.found.Fail("thinking-open", "%s before thinking_done", before)
		c.thinking = false
	}
}

func (c *Checker) checkThinking(m dialect.Message) {
	if m.Type == "thinking_start" {
		if c.thinking {
			c.found.Fail("thinking-again", "thinking_start before thinking_done")
		}
		c.thinking, c.thought = true, ""
		return
	}
	if !c.thinking {
		c.found.Fail("thinking-not-open", "%s without thinking_start", m.Type)
		return
	}
	if m.Type == "thinking_delta" {
		c.thought += m.String("delta")
		return
	}
	if m.String("text") != c.thought {
		c.found.Fail("thinking-differs", "thinking_done is %q, the deltas %q", m.String("text"), c.thought)
	}
	c.thinking = false
}

func (c *Checker) checkTool(m dialect.Message) {
	id, name := m.String("callId"), m.String("toolName")
	t := c.tools[id]
	if m.Type == "tool_call_start" {
		c.checkThought(m.Type)
		if t != nil {
			c.found.Fail("tool-again", "%q", id)
		}
		var arguments any
		if json.Unmarshal([]byte(m.String("arguments")), &arguments) != nil {
			c.found.Fail("tool-arguments", "%q: %s", id, m.String("arguments"))
		}
		c.tools[id] = &call{name: name}
		return
	}
	switch {
	case t == nil:
		c.found.Fail("tool-unknown", "%s of %q", m.Type, id)
		return
	case t.ended:
		c.found.Fail("tool-ended", "%s of %q", m.Type, id)
	case t.name != name:
		c.found.Fail("tool-renamed", "%q is %q, and was %q", id, name, t.name)
	}
	if m.Type != "tool_result" {
		return
	}
	t.ended = true
	var failure Error
	_ = json.Unmarshal(m.Raw("error"), &failure)
	if m.True("ok") != m.Has("result") || m.True("ok") == (failure.Code != "") {
		c.found.Fail("result-form", "%q", id)
	}
}
