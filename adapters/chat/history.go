package chat

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// params returns the request that brings the whole history.
func (c *client) params() openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model: c.model, Messages: c.history,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if c.o.Instructions != "" { // the model has no others
		p.Messages = slices.Concat([]openai.ChatCompletionMessageParamUnion{openai.SystemMessage(c.o.Instructions)}, c.history)
	}
	for _, t := range c.o.Tools {
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		if len(t.Schema) > 0 {
			schema = map[string]any{}
			_ = json.Unmarshal(t.Schema, &schema) // Open has checked it
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: schema,
		}))
	}
	return p
}

// contentOf returns the parts of a message: its text and its pictures. The API takes no
// other files.
func contentOf(m adapters.Message) (out []openai.ChatCompletionContentPartUnionParam, err error) {
	if m.Text != "" || len(m.Attachments) == 0 {
		out = append(out, openai.TextContentPart(m.Text))
	}
	for i, a := range m.Attachments {
		url := a.URL
		switch {
		case a.Kind != "image" && !strings.HasPrefix(a.MIME, "image/"):
			return nil, fmt.Errorf("attachments[%d]: not a picture: %w", i, adapters.ErrUnsupported)
		case a.Path != "":
			b, err := os.ReadFile(a.Path)
			if err != nil {
				return nil, fmt.Errorf("attachments[%d]: %w", i, err)
			}
			url = "data:" + mediaType(a) + ";base64," + base64.StdEncoding.EncodeToString(b)
		case url == "":
			return nil, fmt.Errorf("attachments[%d]: needs a path or a URL: %w", i, adapters.ErrUnsupported)
		}
		out = append(out, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}))
	}
	return out, nil
}

func mediaType(a event.Attachment) string {
	if a.MIME != "" {
		return a.MIME
	}
	switch ext := strings.ToLower(a.Path[strings.LastIndexByte(a.Path, '.')+1:]); ext {
	case "jpg", "jpeg":
		return "image/jpeg"
	case "gif", "webp":
		return "image/" + ext
	}
	return "image/png"
}

// appendReply adds a reply of the model to the history, with its calls. The reasoning goes
// back in the member that it came in, because some models want it there.
func (c *client) appendReply(r *reply, calls []*call) {
	if r.text == "" && r.reasoning == "" && len(calls) == 0 {
		return
	}
	m := openai.ChatCompletionAssistantMessageParam{}
	m.Content.OfString = param.NewOpt(r.text)
	for _, k := range calls {
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: k.id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: k.name, Arguments: k.arguments},
			},
		})
	}
	if r.reasoning != "" {
		m.SetExtraFields(map[string]any{r.reasoningField: r.reasoning})
	}
	c.history = append(c.history, openai.ChatCompletionMessageParamUnion{OfAssistant: &m})
}

// keepPartial adds what the model said before it was stopped. Its calls never ran, and are
// left out.
func (c *client) keepPartial() {
	r := c.t.reply
	r.reasoning = ""
	c.appendReply(&r, nil)
}

// appendResults adds the results of all calls to the history, in the order of the calls.
func (c *client) appendResults() {
	for _, k := range c.calls {
		c.history = append(c.history, openai.ToolMessage(k.result, k.id))
	}
	c.calls = nil
}
