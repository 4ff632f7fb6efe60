package chat

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
)

// body returns the request that brings the whole history.
func (c *client) body() *body {
	b := &body{Model: c.model, Effort: c.o.Effort, Messages: c.history, StreamOptions: streamOptions{IncludeUsage: true}, Stream: true}
	if c.o.Instructions != "" { // the model has no others
		b.Messages = slices.Concat([]entry{{Role: "system", Content: c.o.Instructions}}, c.history)
	}
	for _, t := range c.tools {
		schema := jsontext.Value(`{"type":"object","properties":{}}`)
		if len(t.Schema) > 0 {
			schema = t.Schema // Open has checked it
		}
		b.Tools = append(b.Tools, offered{Type: "function", Function: offeredFunction{Name: t.offered, Description: t.Description, Parameters: schema}})
	}
	return b
}

// contentOf returns the parts of a message: its text and its pictures. The API takes no
// other files.
func contentOf(m adapters.Message) (out []part, err error) {
	if m.Text != "" || len(m.Attachments) == 0 {
		out = append(out, part{Type: "text", Text: &m.Text})
	}
	for i, a := range m.Attachments {
		url := a.URL
		switch {
		case !attachment.IsPicture(a):
			return nil, fmt.Errorf("attachments[%d]: not a picture: %w", i, adapters.ErrUnsupported)
		case a.Path != "":
			mime, data, err := attachment.Data(a)
			if err != nil {
				return nil, fmt.Errorf("attachments[%d]: %w", i, err)
			}
			url = "data:" + mime + ";base64," + data
		case url == "":
			return nil, fmt.Errorf("attachments[%d]: needs a path or a URL: %w", i, adapters.ErrUnsupported)
		}
		out = append(out, part{Type: "image_url", ImageURL: &imageURL{url}})
	}
	return out, nil
}

// appendReply adds a reply of the model to the history, with its calls. The reasoning goes
// back in the member that it came in, because some models want it there.
func (c *client) appendReply(r *reply, calls []*call) {
	if r.text == "" && r.reasoning == (reasoning{}) && len(calls) == 0 {
		return
	}
	m := entry{Role: "assistant", Content: r.text, reasoning: r.reasoning}
	for _, k := range calls {
		m.ToolCalls = append(m.ToolCalls, called{ID: k.id, Type: "function", Extra: k.extra, Function: calledFunction{Arguments: cmp.Or(k.arguments, "{}"), Name: k.name}})
	}
	c.history = append(c.history, m)
}

// keepPartial adds what the model said before it was stopped. Its calls never ran, and are
// left out.
func (c *client) keepPartial() {
	r := c.t.reply
	r.reasoning = reasoning{}
	c.appendReply(&r, nil)
}

// appendResults adds the results of all calls to the history, in the order of the calls.
func (c *client) appendResults() {
	for _, k := range c.calls {
		c.history = append(c.history, entry{Role: "tool", Content: k.result, ToolCallID: k.id})
	}
	c.calls = nil
}
