package model

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// messagesAPI is Anthropic's Messages API, as Claude Code speaks it.
type messagesAPI struct{}

// asWritten accepts duplicate names and invalid UTF-8 in what a runtime sends.
var asWritten = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

type messagesRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string       `json:"role"`
		Content textOrBlocks `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tools"`
	OutputConfig struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"output_config"`
}

// textOrBlocks is a content. A string is one block of text.
type textOrBlocks []block

type block struct {
	Type      string       `json:"type"`
	Text      string       `json:"text"`
	ToolUseID string       `json:"tool_use_id"`
	ToolName  string       `json:"tool_name"`
	Content   textOrBlocks `json:"content"`
}

func (t *textOrBlocks) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '"':
		var s string
		if err := json.UnmarshalDecode(d, &s); err != nil {
			return err
		}
		*t = textOrBlocks{{Type: "text", Text: s}}
		return nil
	case '[':
		return json.UnmarshalDecode(d, (*[]block)(t))
	}
	return d.SkipValue()
}

// joined is the text of all blocks.
func (t textOrBlocks) joined() string {
	var out []string
	for _, b := range t {
		if b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}

const toolUsePrefix = "toolu_"

func (messagesAPI) read(h http.Header, body []byte) (*request, error) {
	var m messagesRequest
	if err := json.Unmarshal(body, &m, asWritten); err != nil {
		return nil, err
	}
	q := &request{stream: m.Stream, model: m.Model, prefix: toolUsePrefix, thread: h.Get("X-Claude-Code-Agent-Id")}
	q.sub = q.thread != ""
	q.form = m.OutputConfig.Format.Type == "json_schema" && len(m.Tools) == 0 // a session's has tools
	for _, t := range m.Tools {
		q.offer.tools = append(q.offer.tools, offered{name: t.Name})
		q.search = len(m.Tools) == 1 && strings.HasPrefix(t.Type, "web_search_")
	}
	for i, msg := range m.Messages {
		if msg.Role == "assistant" {
			continue
		}
		for _, b := range msg.Content {
			switch b.Type {
			case "text":
				q.texts = append(q.texts, b.Text)
				if strings.Contains(b.Text, "<task-notification>") {
					q.notes++
				}
				if msg.Role == "system" || strings.HasPrefix(b.Text, "<system-reminder>") {
					q.offer.deferred = append(q.offer.deferred, deferredTools(b.Text)...)
				} else if i == len(m.Messages)-1 && strings.Contains(b.Text, claudeSummary) {
					q.compact = true
				}
			case "image", "document":
				q.files++
			case "tool_result":
				q.results = append(q.results, result{b.ToolUseID, b.Content.joined()})
			}
		}
	}
	return q, nil
}

// claudeSummary is part of a request for a summary of the conversation.
const claudeSummary = "Your task is to create a detailed summary"

// deferredTools reads the list of tools whose schemas the runtime holds back: names alone
// on a line, after an announcement.
func deferredTools(text string) []string {
	_, list, ok := strings.Cut(text, "deferred tools are now available")
	if !ok {
		return nil
	}
	_, list, _ = strings.Cut(list, "\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var out []string
	for l := range strings.Lines(list) {
		if l = strings.TrimSpace(l); l != "" && !strings.ContainsAny(l, " <>") {
			out = append(out, l)
		}
	}
	return out
}

func (messagesAPI) calls(parts []fixtures.Part, o offer, dir string) ([]wireCall, error) {
	for _, p := range parts {
		switch {
		case p.Form.Final != nil:
			return nil, errors.New("final: the Messages API sends a text in deltas only")
		case p.Form.Raw != nil:
			return nil, errors.New("raw: the Messages API has one form of reasoning")
		case p.Tool != nil && p.Tool.Alternates:
			return nil, errAlternates
		}
	}
	return eachCall(parts, func(c *fixtures.ToolCall) (wireCall, error) { return claudeCall(c, o, dir) })
}

// messagesKinds are the API's errors. Clients distinguish some of them by the message
// alone.
var messagesKinds = map[string]failure{
	"auth":       {401, "authentication_error", "", "invalid x-api-key"},
	"billing":    {400, "invalid_request_error", "", "Your credit balance is too low to access the Anthropic API."},
	"context":    {400, "invalid_request_error", "", "prompt is too long: 250000 tokens > 200000 maximum"},
	"overloaded": {529, "overloaded_error", "", "Overloaded"},
	"rate":       {429, "rate_limit_error", "", "This request would exceed your rate limit."},
	"usage":      {429, "rate_limit_error", "", "This request would exceed your account's rate limit."},
}

func (messagesAPI) fail(f *fixtures.Fail) (int, []byte) {
	if k, ok := messagesKinds[f.Kind]; ok {
		return k.status, k.body()
	}
	if f.Body != nil {
		return f.Status, f.Body
	}
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}[f.Status]
	if kind == "" {
		kind = "api_error"
	}
	return f.Status, failBody(f.Status, kind, fmt.Sprintf("scripted failure %d", f.Status))
}

func (messagesAPI) voice(o encoderOptions) encoder { return &messagesEncoder{o: o, stop: "end_turn"} }

// messagesEncoder writes a reply in blocks.
type messagesEncoder struct {
	o      encoderOptions
	index  int
	blocks []any // done, for a whole reply
	think  bool
	text   strings.Builder
	msg    aMessage
	stop   string
	usage  aUsage
}

type (
	aUsage struct {
		Input         int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		Output        int `json:"output_tokens"`
	}
	aMessage struct {
		ID           string  `json:"id"`
		Type         string  `json:"type"`
		Role         string  `json:"role"`
		Model        string  `json:"model"`
		Content      []any   `json:"content"`
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
		Usage        aUsage  `json:"usage"`
	}
	aEvent struct {
		Type    string    `json:"type"`
		Index   *int      `json:"index,omitzero"`
		Message *aMessage `json:"message,omitzero"`
		Block   any       `json:"content_block,omitzero"`
		Delta   any       `json:"delta,omitzero"`
		Usage   *aUsage   `json:"usage,omitzero"`
	}
	aText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	aThinking struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	aRedacted struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	aToolUse struct {
		Type  string         `json:"type"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input jsontext.Value `json:"input"`
	}
	aDelta struct {
		Type      string  `json:"type"`
		Text      *string `json:"text,omitzero"`
		Thinking  *string `json:"thinking,omitzero"`
		Signature *string `json:"signature,omitzero"`
		JSON      *string `json:"partial_json,omitzero"`
	}
	aStop struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
)

const signature = "c2lnbmVk" // opaque to runtimes

// usualUsage is what a reply reports that states no usage. It is fixed, so that each recording is
// the same.
var usualUsage = fixtures.Usage{Input: 100, Output: 10}

func (v *messagesEncoder) event(e aEvent) error { return v.o.sink.event(e.Type, e) }

// usageOf counts cached input separately, as the API does.
func usageOf(u *fixtures.Usage) aUsage {
	if u == nil {
		u = &usualUsage
	}
	return aUsage{Input: u.Input - u.Cached - u.Written, CacheCreation: u.Written, CacheRead: u.Cached, Output: u.Output}
}

func (v *messagesEncoder) separatesTexts() bool { return true }

// nextPart is false: the API has no summary in parts.
func (v *messagesEncoder) nextPart() (bool, error) { return false, nil }

func (v *messagesEncoder) start(u *fixtures.Usage) error {
	v.msg = aMessage{
		ID: v.o.id("msg_"), Type: "message", Role: "assistant", Model: v.o.model, Content: []any{},
		Usage: usageOf(u),
	}
	v.usage = v.msg.Usage
	v.msg.Usage.Output = 1
	return v.event(aEvent{Type: "message_start", Message: &v.msg})
}

func (v *messagesEncoder) openBlock(think bool, _ fixtures.Form) error {
	v.think = think
	v.text.Reset()
	var b any = aText{Type: "text"}
	if think {
		b = aThinking{Type: "thinking"}
	}
	return v.event(aEvent{Type: "content_block_start", Index: &v.index, Block: b})
}

func (v *messagesEncoder) addDelta(s string) error {
	v.text.WriteString(s)
	d := aDelta{Type: "text_delta", Text: &s}
	if v.think {
		d = aDelta{Type: "thinking_delta", Thinking: &s}
	}
	return v.event(aEvent{Type: "content_block_delta", Index: &v.index, Delta: d})
}

func (v *messagesEncoder) closeBlock() error {
	if v.think {
		sig := signature
		if err := v.event(aEvent{Type: "content_block_delta", Index: &v.index, Delta: aDelta{Type: "signature_delta", Signature: &sig}}); err != nil {
			return err
		}
		return v.endBlock(aThinking{"thinking", v.text.String(), signature})
	}
	return v.endBlock(aText{"text", v.text.String()})
}

func (v *messagesEncoder) endBlock(b any) error {
	err := v.event(aEvent{Type: "content_block_stop", Index: &v.index})
	v.blocks = append(v.blocks, b)
	v.index++
	return err
}

func (v *messagesEncoder) addCall(c wireCall) error {
	v.stop = "tool_use"
	b := aToolUse{"tool_use", toolUsePrefix + c.scenario.ID, c.name, jsontext.Value("{}")}
	if err := v.event(aEvent{Type: "content_block_start", Index: &v.index, Block: b}); err != nil {
		return err
	}
	for _, piece := range c.pieces() {
		if err := v.event(aEvent{Type: "content_block_delta", Index: &v.index, Delta: aDelta{Type: "input_json_delta", JSON: &piece}}); err != nil {
			return err
		}
	}
	if c.scenario.Unfinished {
		return nil
	}
	if b.Input = c.input; !b.Input.IsValid() { // a reply that is not streamed cannot hold it
		b.Input = jsontext.Value("{}")
	}
	return v.endBlock(b)
}

func (v *messagesEncoder) fail(f *fixtures.Fail) error {
	_, body := messagesAPI{}.fail(f)
	return v.o.sink.event("error", jsontext.Value(body))
}

// stopReasons are the API's reasons for a reply that ends early.
var stopReasons = map[string]string{
	"length": "max_tokens", "refusal": "refusal", "pause": "pause_turn", "window": "model_context_window_exceeded",
}

func (v *messagesEncoder) addRedacted(data string) error {
	b := aRedacted{"redacted_thinking", data}
	if err := v.event(aEvent{Type: "content_block_start", Index: &v.index, Block: b}); err != nil {
		return err
	}
	return v.endBlock(b)
}

func (v *messagesEncoder) finish(why string) error {
	if why != "" {
		v.stop = stopReasons[why]
	}
	u := v.usage
	if err := v.event(aEvent{Type: "message_delta", Delta: aStop{StopReason: v.stop}, Usage: &u}); err != nil {
		return err
	}
	if err := v.event(aEvent{Type: "message_stop"}); err != nil {
		return err
	}
	v.msg.Content, v.msg.StopReason, v.msg.Usage = v.blocks, &v.stop, u
	if v.msg.Content == nil {
		v.msg.Content = []any{}
	}
	return v.o.sink.whole(v.msg)
}
