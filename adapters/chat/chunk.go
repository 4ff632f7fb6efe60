package chat

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// chunk is an event of a stream, or the whole body of a reply that is not streamed.
type chunk struct {
	ID      lenient.Str    `json:"id"`
	Object  lenient.Str    `json:"object"`
	Choices []choice       `json:"choices"` // nil if the event has none
	Usage   reported       `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Groq    struct {
		Usage reported `json:"usage"`
	} `json:"x_groq"`
}

// whole reports whether the chunk has the form of a reply that is not streamed. Some servers
// send one as the last event of a stream.
func (c *chunk) whole() bool { return c.Object == "chat.completion" }

type choice struct {
	Index        lenient.Num    `json:"index"`
	Delta        delta          `json:"delta"`
	Message      *delta         `json:"message"` // in place of the delta, or after it
	Text         content        `json:"text"`    // of servers of the older API of completions
	FinishReason lenient.Str    `json:"finish_reason"`
	Usage        reported       `json:"usage"` // of Moonshot
	Error        jsontext.Value `json:"error"`
}

// delta is what a chunk adds to a message, or a whole message.
type delta struct {
	Content          content        `json:"content"`
	Refusal          content        `json:"refusal"`
	ReasoningContent content        `json:"reasoning_content"`
	Reasoning        content        `json:"reasoning"`
	ReasoningText    content        `json:"reasoning_text"`
	ReasoningDetails content        `json:"reasoning_details"` // of OpenRouter, which repeats them in reasoning
	ToolCalls        pieces         `json:"tool_calls"`
	FunctionCall     *piece         `json:"function_call"` // of the older API; it has no id
	Audio            audio          `json:"audio"`
	Images           jsontext.Value `json:"images"`

	Role        ignored        `json:"role"`          // the assistant's
	Annotations ignored        `json:"annotations"`   // they point into the text
	Extra       ignored        `json:"extra_content"` // signatures of Gemini; those of calls are in the calls
	Other       jsontext.Value `json:",embed"`
}

// audio is speech of the model. Its transcript is the text of the reply.
type audio struct {
	Data       jsontext.Value `json:"data"`
	Transcript content        `json:"transcript"`
}

// thoughts returns the reasoning of a delta, and the member that it goes back in. Reasoning
// that came without a separate member is not sent back.
func (d *delta) thoughts() (content, reasoning) {
	switch {
	case d.ReasoningContent.text() != "":
		return d.ReasoningContent, reasoning{ReasoningContent: d.ReasoningContent.text()}
	case d.Reasoning.text() != "":
		return d.Reasoning, reasoning{Reasoning: d.Reasoning.text()}
	case d.ReasoningText.text() != "":
		return d.ReasoningText, reasoning{ReasoningText: d.ReasoningText.text()}
	}
	return d.ReasoningDetails, reasoning{}
}

// calls returns the pieces of calls.
func (d *delta) calls() []piece {
	if f := d.FunctionCall; f != nil && (f.Name != "" || f.Arguments != "") {
		return append(d.ToolCalls.list, piece{Function: f.function()})
	}
	return d.ToolCalls.list
}

// unreadParts returns the types of the parts and calls that this adapter cannot read.
func (d *delta) unreadParts() (out []string) {
	for _, c := range []content{d.Content, d.Refusal, d.ReasoningContent, d.Reasoning, d.ReasoningText, d.ReasoningDetails} {
		for _, p := range c.parts {
			if p.unread {
				out = append(out, p.kind)
			}
		}
	}
	if d.ToolCalls.unread {
		out = append(out, "tool_calls")
	}
	return out
}

// opens reports whether a delta has the form of the first one of a reply, which has a role.
func (d *delta) opens() bool { return d.Role.given && d.Content.given }

// hasOther reports whether a member that this adapter does not know has a value.
func (d *delta) hasOther() bool {
	var members map[string]jsontext.Value
	_ = json.Unmarshal(d.Other, &members, lenient.Options) // without members it has none
	for _, v := range members {
		if hasValue(v) {
			return true
		}
	}
	return false
}

// hasValue reports whether a member holds more than the absence of a value.
func hasValue(v jsontext.Value) bool {
	switch v.Kind() {
	case 'n', 'f', jsontext.KindInvalid:
		return false
	case '"':
		return len(v) > len(`""`)
	case '{', '[':
		return len(bytes.Trim(v[1:len(v)-1], " \t\r\n")) > 0
	}
	return true
}

// content is what the model says: a string, or a list of parts. The text of a string is in
// plain.
type content struct {
	given bool
	plain string
	parts []contentPart
}

// contentPart is a part of content, flat: Mistral nests the texts of a thought.
type contentPart struct {
	kind     string // as the server names it
	text     string
	thinking bool
	unread   bool // this adapter cannot read it
}

// text returns all text of the content, also that of thoughts.
func (c *content) text() string {
	if len(c.parts) == 0 {
		return c.plain
	}
	var b strings.Builder
	for _, p := range c.parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// each calls f with each text, in order.
func (c *content) each(f func(text string, thinking bool)) {
	if c.plain != "" {
		f(c.plain, false)
	}
	for _, p := range c.parts {
		if p.text != "" {
			f(p.text, p.thinking)
		}
	}
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *content) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = content{given: true}
	if d.PeekKind() == '"' {
		return json.UnmarshalDecode(d, &c.plain)
	}
	v, err := d.ReadValue()
	if err == nil {
		c.addParts(v, false)
	}
	return err
}

// partMembers are the members in which servers put the text of a part.
type partMembers struct {
	Type      lenient.Str    `json:"type"`
	Text      jsontext.Value `json:"text"`
	Thinking  jsontext.Value `json:"thinking"`
	Reasoning jsontext.Value `json:"reasoning"`
	Summary   jsontext.Value `json:"summary"`
	Content   jsontext.Value `json:"content"`
	Refusal   jsontext.Value `json:"refusal"`
	Value     jsontext.Value `json:"value"`
}

// addParts adds the parts of a value: a string, a part, or a list of either.
func (c *content) addParts(v jsontext.Value, thinking bool) {
	switch v.Kind() {
	case 'n':
		return
	case '"':
		b, _ := jsontext.AppendUnquote(nil, v) // the error only reports replaced characters
		c.parts = append(c.parts, contentPart{kind: "text", text: string(b), thinking: thinking})
		return
	case '[':
		var list []jsontext.Value
		_ = json.Unmarshal(v, &list, lenient.Options) // the decoder has checked the list
		for _, x := range list {
			c.addParts(x, thinking)
		}
		return
	case '{':
		var m partMembers
		_ = json.Unmarshal(v, &m, lenient.Options) // each member takes any value
		switch m.Type {
		case "reasoning.encrypted", "redacted_thinking":
			return // only the server can read it
		case "thinking", "reasoning", "reasoning_text", "reasoning.text", "reasoning.summary", "summary_text":
			thinking = true
		case "text", "output_text", "refusal", "":
		default:
			c.parts = append(c.parts, contentPart{kind: string(m.Type), unread: true})
			return
		}
		for _, x := range []jsontext.Value{m.Text, m.Thinking, m.Reasoning, m.Summary, m.Content, m.Refusal, m.Value} {
			if x != nil {
				c.addParts(x, thinking)
				return
			}
		}
	}
	c.parts = append(c.parts, contentPart{kind: "without a text", unread: true})
}

// pieces are the pieces of calls in a delta: a list, or a piece alone.
type pieces struct {
	list   []piece
	unread bool // this adapter cannot read a piece
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *pieces) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*p = pieces{}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	list := []jsontext.Value{v}
	switch v.Kind() {
	case 'n':
		return nil
	case '[':
		_ = json.Unmarshal(v, &list, lenient.Options) // the decoder has checked the list
	}
	for _, x := range list {
		var one piece
		if x.Kind() != '{' || json.Unmarshal(x, &one, lenient.Options) != nil {
			p.unread = true
			continue
		}
		p.list = append(p.list, one)
	}
	return nil
}

// piece is a piece of a call of a tool, or the whole call.
type piece struct {
	Index    position       `json:"index"`
	ID       lenient.Str    `json:"id"`
	Function calledPiece    `json:"function"`
	Extra    jsontext.Value `json:"extra_content"`
	calledPiece
}

// calledPiece is what a piece adds to the name and the arguments.
type calledPiece struct {
	Name      lenient.Str `json:"name"`
	Arguments arguments   `json:"arguments"`
}

// function returns the members of the function, which some servers do not nest.
func (p *piece) function() calledPiece {
	if p.Function == (calledPiece{}) {
		return p.calledPiece
	}
	return p.Function
}

// position is the index of a call, as a number or a string of digits.
type position struct {
	n     int64
	given bool
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *position) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var s lenient.Str
	if err := s.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	*p = position{n, err == nil}
	return nil
}

// arguments are those of a call, or a piece of them. Some servers send an object in place of
// a string that holds it; one without members reads as "", because a string may follow it.
type arguments string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (a *arguments) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*a = ""
	switch d.PeekKind() {
	case '"', 'n':
		return json.UnmarshalDecode(d, (*string)(a))
	}
	v, err := d.ReadValue()
	if err == nil && (v.Kind() != '{' || hasValue(v)) {
		*a = arguments(v)
	}
	return err
}

// ignored is a member whose value is not read.
type ignored struct{ given bool }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (i *ignored) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	i.given = true
	return d.SkipValue()
}

// reported is the usage of a reply; nil if the chunk has none.
type reported struct{ *usage }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (r *reported) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r.usage = nil
	v, err := d.ReadValue()
	if err != nil || v.Kind() != '{' {
		return err
	}
	var u usage
	if json.Unmarshal(v, &u, lenient.Options) == nil {
		r.usage = &u
	}
	return nil
}

// usage counts the tokens of a reply.
type usage struct {
	PromptTokens        lenient.Num `json:"prompt_tokens"`
	CompletionTokens    lenient.Num `json:"completion_tokens"`
	TotalTokens         lenient.Num `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens lenient.Num `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens lenient.Num `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// tokens returns the counts as events hold them.
func (u *usage) tokens() event.Tokens {
	return event.Tokens{
		Input: int64(u.PromptTokens), Cached: int64(u.PromptTokensDetails.CachedTokens), Output: int64(u.CompletionTokens),
		Reasoning: int64(u.CompletionTokensDetails.ReasoningTokens), Total: int64(u.TotalTokens),
	}
}
