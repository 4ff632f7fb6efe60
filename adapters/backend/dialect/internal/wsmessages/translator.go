package wsmessages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Message is a message of the vocabulary. Which members it has depends on Type.
type Message struct {
	Type       string  `json:"type"`
	ResponseID string  `json:"responseId,omitempty"`
	CallID     string  `json:"callId,omitempty"`
	ToolName   string  `json:"toolName,omitempty"`
	Arguments  string  `json:"arguments,omitempty"`
	Delta      string  `json:"delta,omitempty"`
	Text       *string `json:"text,omitzero"`
	Separator  bool    `json:"separator,omitzero"`
	Replaces   bool    `json:"replaces,omitzero"`
	Cancelled  bool    `json:"cancelled,omitzero"`
	OK         *bool   `json:"ok,omitzero"`
	Result     *string `json:"result,omitzero"`
	Error      *Error  `json:"error,omitzero"`

	Backgrounded bool `json:"backgrounded,omitzero"` // of a result whose call runs on
}

// Error is why a tool or a response failed.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Encode returns a message as JSON on one line, without a line end.
func (m Message) Encode() []byte { return dialect.Marshal(m) }

// Translator makes messages from the events of a session, in order. The zero value is ready for
// use. It is not safe for concurrent use.
type Translator struct {
	response *response
}

// response is the turn that is running.
type response struct {
	turn     int
	id       string
	sent     strings.Builder // the deltas
	last     *block          // that of the last delta
	blocks   []*block
	thinking *block
	tools    map[string]*tool
	order    []string // of tools
}

type block struct {
	id   string
	text strings.Builder
}

// separator is between two blocks of text.
const separator = "\n\n"

type tool struct {
	name   string
	output strings.Builder
	ended  bool
}

// LeftOut lists the types of events that no message is made of, each with the reason.
func LeftOut() map[event.Type]string {
	out := map[event.Type]string{}
	for _, t := range event.Types() {
		if !slices.Contains(translated, t) {
			out[t] = cmp.Or(why[t], "the vocabulary has no message for it")
		}
	}
	return out
}

// translated are the types that have a case in Translate.
var translated = []event.Type{
	event.TypeDelta, event.TypeThinking, event.TypeBlockEnd, event.TypeToolStart, event.TypeToolOutput, event.TypeToolResult,
	event.TypeTask, event.TypeResult, event.TypeError, event.TypeDone,
}

// why are the reasons why types are left out that a response shows in another way.
var why = map[event.Type]string{
	event.TypeSessionEnd:  "a response is a turn; it cancels the response of a turn that has no end",
	event.TypeTurnStart:   "a response begins with its first message",
	event.TypeUserMessage: "the client that sent it shows it",
	event.TypeToolInput:   "a call is announced with its arguments",
}

// Translate returns the messages that an event becomes.
func (t *Translator) Translate(e event.Event) []Message {
	switch d := e.Data.(type) {
	case event.TurnStart:
		if e.SubagentID != "" {
			return nil
		}
		out := t.cancel(nil)
		t.response = &response{turn: e.Turn, id: fmt.Sprintf("%s/%d", e.SessionID, e.Turn), tools: map[string]*tool{}}
		return out
	case event.SessionEnd:
		return t.cancel(nil)
	case event.Task: // also after its turn
		if d.Kind == event.TaskSubagent && d.Status == event.TaskCompleted && d.Text != "" && e.Turn != 0 {
			return []Message{{Type: "agent_callback_result", ResponseID: fmt.Sprintf("%s/%d", e.SessionID, e.Turn), Result: &d.Text}}
		}
	}
	if t.response == nil || e.SubagentID != "" || e.Turn != t.response.turn {
		return nil
	}
	return t.inTurn(e)
}

func (t *Translator) inTurn(e event.Event) []Message {
	r := t.response
	switch d := e.Data.(type) {
	case event.Delta:
		return r.addText(d.BlockID, d.Text)
	case event.Thinking:
		return r.think(d)
	case event.BlockEnd:
		return r.endBlock(d)
	case event.ToolStart:
		return r.startTool(d.ToolUseID, d.Tool, d.Input)
	case event.ToolOutput:
		return r.addOutput(d)
	case event.ToolResult:
		return r.endTool(d)
	case event.Result:
		if r.text() == "" {
			return r.addText("result", d.Text) // else it repeats the text
		}
	case event.Error:
		return t.cancel(&Error{string(d.Code), d.Message})
	case event.Done:
		if d.Stopped {
			return t.cancel(nil)
		}
		out := append(r.closeAll(), r.doneMessage())
		t.response = nil
		return out
	}
	return nil
}

// cancel ends a response that is not complete.
func (t *Translator) cancel(why *Error) []Message {
	r := t.response
	if r == nil {
		return nil
	}
	t.response = nil
	out := r.closeAll()
	if m := r.doneMessage(); m.Replaces {
		m.Cancelled = true
		out = append(out, m)
	}
	return append(out, Message{Type: "output_cancelled", ResponseID: r.id, Error: why})
}

// closeAll ends what is open at the end of a turn.
func (r *response) closeAll() []Message {
	out := r.endThinking()
	for _, id := range r.order {
		if !r.tools[id].ended {
			out = append(out, r.endTool(event.ToolResult{ToolUseID: id, Status: event.ToolInterrupted})...)
		}
	}
	return out
}

func (r *response) doneMessage() Message {
	text := r.text()
	return Message{Type: "text_done", ResponseID: r.id, Text: &text, Replaces: text != r.sent.String()}
}

// text returns the text of the response.
func (r *response) text() string {
	var all []string
	for _, b := range r.blocks {
		if b.text.Len() > 0 {
			all = append(all, b.text.String())
		}
	}
	return strings.Join(all, separator)
}

func (r *response) find(id string) *block {
	for _, b := range r.blocks {
		if b.id == id {
			return b
		}
	}
	return nil
}

func (r *response) addText(id, text string) []Message {
	if text == "" {
		return nil
	}
	out := r.endThinking()
	b := r.find(id)
	if b == nil {
		b = &block{id: id}
		r.blocks = append(r.blocks, b)
	}
	if r.last != b && r.sent.Len() > 0 {
		r.sent.WriteString(separator)
		out = append(out, Message{Type: "text_delta", ResponseID: r.id, Delta: separator, Separator: true})
	}
	r.last = b
	b.text.WriteString(text)
	r.sent.WriteString(text)
	return append(out, Message{Type: "text_delta", ResponseID: r.id, Delta: text})
}

func (r *response) endBlock(d event.BlockEnd) []Message {
	b := r.find(d.BlockID)
	switch {
	case d.Status == event.BlockReplaced && d.Text != "":
		if b == nil {
			return r.addText(d.BlockID, d.Text)
		}
		if rest, ok := strings.CutPrefix(d.Text, b.text.String()); ok && r.last == b {
			return r.addText(d.BlockID, rest)
		}
		b.text.Reset()
		b.text.WriteString(d.Text)
	case b != nil && (d.Status == event.BlockRetracted || d.Status == event.BlockReplaced):
		r.blocks = slices.DeleteFunc(r.blocks, func(x *block) bool { return x == b })
	}
	return nil
}

func (r *response) think(d event.Thinking) []Message {
	var out []Message
	if d.Text != "" {
		if r.thinking == nil || r.thinking.id != d.BlockID {
			out = append(r.endThinking(), Message{Type: "thinking_start", ResponseID: r.id})
			r.thinking = &block{id: d.BlockID}
		}
		r.thinking.text.WriteString(d.Text)
		out = append(out, Message{Type: "thinking_delta", ResponseID: r.id, Delta: d.Text})
	}
	if d.Done {
		out = append(out, r.endThinking()...)
	}
	return out
}

func (r *response) endThinking() []Message {
	if r.thinking == nil {
		return nil
	}
	text := r.thinking.text.String()
	r.thinking = nil
	return []Message{{Type: "thinking_done", ResponseID: r.id, Text: &text}}
}

func (r *response) startTool(id, name string, input event.Raw) []Message {
	out := r.endThinking()
	if r.tools[id] != nil {
		return out
	}
	t := &tool{name: cmp.Or(name, "unknown")}
	r.tools[id] = t
	r.order = append(r.order, id)
	return append(out, Message{Type: "tool_call_start", CallID: id, ToolName: t.name, Arguments: cmp.Or(string(input), "{}")})
}

func (r *response) addOutput(d event.ToolOutput) []Message {
	t := r.tools[d.ToolUseID]
	if t == nil || t.ended || d.Text == "" {
		return nil
	}
	t.output.WriteString(d.Text)
	return []Message{{Type: "tool_output_delta", CallID: d.ToolUseID, ToolName: t.name, Delta: d.Text}}
}

// codes are the error codes of tools.
var codes = map[event.ToolStatus]string{
	event.ToolError: "tool_error", event.ToolInterrupted: "tool_interrupted", event.ToolDenied: "tool_denied",
}

func (r *response) endTool(d event.ToolResult) []Message {
	out := r.startTool(d.ToolUseID, "", nil)
	t := r.tools[d.ToolUseID]
	if t.ended {
		return nil
	}
	t.ended = true
	text := cmp.Or(d.Output, t.output.String())
	code := codes[d.Status]
	ok := code == ""
	m := Message{Type: "tool_result", CallID: d.ToolUseID, ToolName: t.name, OK: &ok}
	if ok {
		m.Result, m.Backgrounded = &text, d.Status == event.ToolBackgrounded
	} else {
		m.Error = &Error{code, text}
	}
	return append(out, m)
}
