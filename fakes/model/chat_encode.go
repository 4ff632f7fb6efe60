package model

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// chatEncoder writes a reply in chunks. Its text is one string, whatever comes between the
// pieces of it.
type chatEncoder struct {
	o       encoderOptions
	dialect chatDialect
	id      string
	think   bool
	how     fixtures.Form
	whole   strings.Builder // the text of a block without deltas
	usage   *cUsage
	calls   int        // how many calls were begun
	alter   []wireCall // calls whose deltas alternate with those of the next

	message cDelta // all of it, for a whole reply
}

type (
	cChunk struct {
		ID      string    `json:"id"`
		Object  string    `json:"object"`
		Created int       `json:"created"`
		Model   string    `json:"model"`
		Choices []cChoice `json:"choices"`
		Usage   *cUsage   `json:"usage,omitzero"`
	}
	cChoice struct {
		Index   int       `json:"index"`
		Delta   any       `json:"delta,omitzero"` // *cDelta or *cParts
		Message *cMessage `json:"message,omitzero"`
		Finish  *string   `json:"finish_reason"`
	}
	cDelta struct {
		Role             string    `json:"role,omitzero"`
		Content          *string   `json:"content,omitzero"`
		ReasoningContent *string   `json:"reasoning_content,omitzero"`
		Reasoning        *string   `json:"reasoning,omitzero"`
		ReasoningText    *string   `json:"reasoning_text,omitzero"`
		Details          []cDetail `json:"reasoning_details,omitzero"`
		Calls            []cCall   `json:"tool_calls,omitzero"`
	}
	// cDetail is a piece of reasoning as OpenRouter writes it.
	cDetail struct {
		Type   string  `json:"type"`
		Text   *string `json:"text"`
		Format string  `json:"format"`
		Index  int     `json:"index"`
	}
	// cParts is a delta whose text and reasoning are in a list.
	cParts struct {
		Role    string  `json:"role,omitzero"`
		Content []cPart `json:"content,omitzero"`
		Calls   []cCall `json:"tool_calls,omitzero"`
	}
	cPart struct {
		Type     string  `json:"type"`
		Text     *string `json:"text,omitzero"`
		Thinking []cPart `json:"thinking,omitzero"`
	}
	// cMessage is a delta with all of the reply, whose content may be null.
	cMessage struct {
		Role             string    `json:"role"`
		Content          *string   `json:"content"`
		ReasoningContent *string   `json:"reasoning_content,omitzero"`
		Reasoning        *string   `json:"reasoning,omitzero"`
		ReasoningText    *string   `json:"reasoning_text,omitzero"`
		Details          []cDetail `json:"reasoning_details,omitzero"`
		Calls            []cCall   `json:"tool_calls,omitzero"`
	}
	cCall struct {
		Index    *int      `json:"index,omitzero"`
		ID       string    `json:"id,omitzero"`
		Type     string    `json:"type,omitzero"`
		Function cFunction `json:"function"`
	}
	cFunction struct {
		Name string `json:"name,omitzero"`
		Args any    `json:"arguments"` // a text, or an object
	}
	cUsage struct {
		Prompt        int `json:"prompt_tokens"`
		Completion    int `json:"completion_tokens"`
		Total         int `json:"total_tokens"`
		PromptDetails struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens,omitzero"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
)

func (v *chatEncoder) separatesTexts() bool { return false }

// nextPart is false: the API has no summary in parts.
func (v *chatEncoder) nextPart() (bool, error) { return false, nil }

func (v *chatEncoder) start(u *fixtures.Usage) error {
	if u == nil {
		u = &usualUsage
	}
	v.usage = &cUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	v.usage.PromptDetails.Cached, v.usage.CompletionDetails.Reasoning = u.Cached, u.Reasoning
	v.usage.PromptDetails.Written = u.Written
	v.id = v.o.id("chatcmpl-")
	v.message.Role = "assistant"
	if v.dialect.comments {
		if err := v.o.sink.raw(": processing\n\n"); err != nil {
			return err
		}
	}
	return v.chunk(cDelta{Role: "assistant", Content: new(string)})
}

// chunk writes a chunk of the reply's only choice.
func (v *chatEncoder) chunk(d cDelta) error {
	c := v.reply("chat.completion.chunk", []cChoice{v.choice(&d)})
	if v.dialect.usageInEach {
		c.Usage = v.usage
	}
	return v.o.sink.event("", c)
}

// choice returns the choice that has a delta, as the dialect writes it.
func (v *chatEncoder) choice(d *cDelta) cChoice {
	if t := d.ReasoningContent; t != nil && v.dialect.details {
		d.ReasoningContent, d.Details = nil, []cDetail{{Type: "reasoning.text", Text: t, Format: "unknown"}}
	}
	switch {
	case v.dialect.messages:
		m := cMessage(*d)
		m.Role = "assistant"
		return cChoice{Message: &m}
	case v.dialect.parts:
		return cChoice{Delta: partsOf(d)}
	}
	return cChoice{Delta: d}
}

// partsOf returns a delta whose text and reasoning are in a list.
func partsOf(d *cDelta) *cParts {
	p := &cParts{Role: d.Role, Calls: d.Calls}
	if t := d.ReasoningContent; t != nil {
		p.Content = append(p.Content, cPart{Type: "thinking", Thinking: []cPart{{Type: "text", Text: t}}})
	}
	if t := d.Content; t != nil {
		p.Content = append(p.Content, cPart{Type: "text", Text: t})
	}
	return p
}

func (v *chatEncoder) reply(object string, choices []cChoice) cChunk {
	return cChunk{ID: v.id, Object: object, Model: v.o.model, Choices: choices}
}

func (v *chatEncoder) openBlock(think bool, how fixtures.Form) error {
	v.think, v.how = think, how
	v.whole.Reset()
	return nil
}

func (v *chatEncoder) addDelta(s string) error {
	appendText(v.member(&v.message), s)
	if v.how.Whole {
		v.whole.WriteString(s)
		return nil
	}
	var d cDelta
	appendText(v.member(&d), s)
	return v.chunk(d)
}

// member is where the text of the open block belongs.
func (v *chatEncoder) member(d *cDelta) **string {
	switch {
	case !v.think:
		return &d.Content
	case v.dialect.parts, v.dialect.details:
		return &d.ReasoningContent
	case cmp.Or(v.how.Field, v.dialect.reasoning) == "reasoning":
		return &d.Reasoning
	case v.how.Field == "reasoning_text":
		return &d.ReasoningText
	}
	return &d.ReasoningContent
}

// appendText appends to a member, which it makes present.
func appendText(to **string, s string) {
	if *to != nil {
		s = **to + s
	}
	*to = &s
}

func (v *chatEncoder) closeBlock() error {
	if !v.how.Whole {
		return nil
	}
	var d cDelta
	appendText(v.member(&d), v.whole.String())
	return v.chunk(d)
}

// addRedacted and addSearch are never called: calls refuses both before the reply begins.
func (v *chatEncoder) addRedacted(string) error         { return nil }
func (v *chatEncoder) addSearch(*fixtures.Search) error { return nil }

// addCall writes a call, and with it those before it whose deltas alternate with its own.
func (v *chatEncoder) addCall(c wireCall) error {
	v.alter = append(v.alter, c)
	if c.scenario.Alternates {
		return nil
	}
	calls, first := v.alter, v.calls
	v.alter, v.calls = nil, v.calls+len(v.alter)
	pieces := make([][]string, len(calls))
	for i, c := range calls {
		begin := cCall{Index: v.dialect.index.of(first + i), ID: callPrefix + c.scenario.ID, Type: "function", Function: cFunction{Name: c.name, Args: ""}}
		pieces[i] = c.pieces()
		alone := len(calls) == 1 || v.dialect.index != indexCounts // pieces without an index belong to the last call
		if v.dialect.wholeCalls && alone && !c.scenario.Unfinished {
			begin.Function.Args, pieces[i] = v.arguments(strings.Join(pieces[i], "")), nil
		}
		if err := v.chunk(cDelta{Calls: []cCall{begin}}); err != nil {
			return err
		}
		begin.Index, begin.Function.Args = nil, v.arguments(string(c.input))
		v.message.Calls = append(v.message.Calls, begin)
	}
	for more := true; more; {
		more = false
		for i := range pieces {
			if len(pieces[i]) == 0 {
				continue
			}
			more = true
			d := cCall{Index: v.dialect.index.of(first + i), Function: cFunction{Args: pieces[i][0]}}
			if err := v.chunk(cDelta{Calls: []cCall{d}}); err != nil {
				return err
			}
			pieces[i] = pieces[i][1:]
		}
	}
	return nil
}

// arguments returns the arguments of a whole call as the dialect writes them. Those that are no
// JSON stay a text.
func (v *chatEncoder) arguments(text string) any {
	if raw := jsontext.Value(text); v.dialect.objects && raw.IsValid() && raw.Kind() == '{' {
		return raw
	}
	return text
}

func (v *chatEncoder) fail(f *fixtures.Fail) error {
	status, body := chatAPI{}.fail(f)
	name, data := v.dialect.failing.streamError(status, body)
	return v.o.sink.event(name, jsontext.Value(data))
}

func (v *chatEncoder) finish(why string) error {
	reason := "stop"
	if v.calls > 0 {
		reason = "tool_calls"
	}
	reason = cmp.Or(chatReasons[why], reason)
	end := v.choice(&cDelta{})
	end.Finish = &reason
	last := v.reply("chat.completion.chunk", []cChoice{end})
	if v.dialect.usageAtEnd || v.dialect.usageInEach {
		last.Usage = v.usage
	}
	if !v.dialect.endless {
		if err := v.o.sink.event("", last); err != nil {
			return err
		}
	}
	if v.o.usage && !v.dialect.usageAtEnd && !v.dialect.usageInEach {
		u := v.reply("chat.completion.chunk", []cChoice{})
		u.Usage = v.usage
		if err := v.o.sink.event("", u); err != nil {
			return err
		}
	}
	if !v.dialect.endsSilently {
		if err := v.o.sink.raw("data: [DONE]\n\n"); err != nil {
			return err
		}
	}
	m := cMessage(v.message)
	r := v.reply("chat.completion", []cChoice{{Message: &m, Finish: &reason}})
	r.Usage = v.usage
	return v.o.sink.whole(r)
}
