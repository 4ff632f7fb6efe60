package model

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// responsesAPI is OpenAI's Responses API, as Codex speaks it.
type responsesAPI struct{}

type responsesRequest struct {
	Model  string    `json:"model"`
	Stream bool      `json:"stream"`
	Input  inputList `json:"input"`
	Text   struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
	Tools []struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Tools []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tools"`
	} `json:"tools"`
}

// inputList is the input: a string stands for one message of the user.
type inputList []inputItem

type inputItem struct {
	Type    string       `json:"type"`
	Role    string       `json:"role"`
	Content textOrBlocks `json:"content"`
	CallID  string       `json:"call_id"`
	Output  textOrBlocks `json:"output"`

	Tools jsontext.Value `json:"tools"`
}

func (l *inputList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '"' {
		var s string
		if err := json.UnmarshalDecode(d, &s); err != nil {
			return err
		}
		*l = inputList{{Role: "user", Content: textOrBlocks{{Type: "input_text", Text: s}}}}
		return nil
	}
	return json.UnmarshalDecode(d, (*[]inputItem)(l))
}

// turnMetadata is what Codex says of itself in a header.
type turnMetadata struct {
	ThreadID string `json:"thread_id"`
	Agent    string `json:"agent_name"`
	Kind     string `json:"request_kind"`
	Source   string `json:"thread_source"`
}

const callPrefix = "call_"

// codexSummary stands in the demand to sum up the conversation, which older
// versions mark in no other way.
const codexSummary = "CONTEXT CHECKPOINT COMPACTION"

func (responsesAPI) read(h http.Header, body []byte) (*ask, error) {
	var m responsesRequest
	if err := json.Unmarshal(body, &m, lenient); err != nil {
		return nil, err
	}
	q := &ask{stream: m.Stream, model: m.Model, prefix: callPrefix, thread: h.Get("Thread-Id"), maySub: true}
	var meta turnMetadata
	if s := h.Get("X-Codex-Turn-Metadata"); s != "" {
		if err := json.Unmarshal([]byte(s), &meta, lenient); err != nil {
			return nil, fmt.Errorf("x-codex-turn-metadata: %w", err)
		}
	}
	if meta.ThreadID != "" {
		q.thread = meta.ThreadID
	}
	q.compact = strings.Contains(meta.Kind, "compact")
	if n := len(m.Input); n > 0 && strings.Contains(m.Input[n-1].Content.joined(), codexSummary) {
		q.compact = true
	}
	q.form = m.Text.Format.Type == "json_schema"
	switch {
	case meta.Agent != "" && meta.Agent != "/root":
		q.sub, q.name = true, path.Base(meta.Agent)
	case meta.Source != "" && meta.Source != "user":
		q.sub = true
	}
	for _, t := range m.Tools {
		if t.Type != "namespace" {
			q.offer.tools = append(q.offer.tools, offered{kind: t.Type, name: t.Name})
		}
		for _, u := range t.Tools {
			q.offer.tools = append(q.offer.tools, offered{kind: u.Type, namespace: t.Name, name: u.Name})
		}
	}
	for _, it := range m.Input {
		switch {
		case it.Type == "tool_search_output":
			q.results = append(q.results, result{it.CallID, string(it.Tools)})
		case strings.HasSuffix(it.Type, "_call_output"):
			q.results = append(q.results, result{it.CallID, it.Output.joined()})
		case it.Role == "developer" || it.Role == "system":
			for _, b := range it.Content {
				q.offer.deferred = append(q.offer.deferred, deferredNamespaces(b.Text)...)
			}
		case it.Role == "user" || it.Type == "agent_message":
			for _, b := range it.Content {
				q.texts = append(q.texts, b.Text)
				if b.Type == "input_image" {
					q.files++
				}
			}
		}
	}
	return q, nil
}

// deferredNamespaces reads the list of namespaces whose tools Codex keeps back.
func deferredNamespaces(text string) []string {
	_, list, ok := strings.Cut(text, "Deferred tool namespaces:\n")
	if !ok {
		return nil
	}
	var out []string
	for l := range strings.Lines(list) {
		name, ok := strings.CutPrefix(strings.TrimSpace(l), "- ")
		if !ok {
			break
		}
		name, _, _ = strings.Cut(name, ":")
		out = append(out, name)
	}
	return out
}

// has tells whether a tool of a namespace can be called. Those of a namespace that is kept
// back are not named.
func (o offer) has(namespace, name string) bool {
	return slices.ContainsFunc(o.tools, func(t offered) bool { return t.namespace == namespace && t.name == name }) ||
		slices.Contains(o.deferred, namespace)
}

func (responsesAPI) calls(parts []fixtures.Part, o offer, _ string) ([]wireCall, error) {
	for _, p := range parts {
		if p.End != "" && endReasons[p.End] == "" {
			return nil, fmt.Errorf("end: the Responses API has no %q", p.End)
		}
		if p.Search != nil {
			return nil, errors.New("search: with the Responses API a search is the tool `web` of the model")
		}
	}
	return eachCall(parts, func(c *fixtures.ToolCall) (wireCall, error) { return codexCall(c, o) })
}

// responsesKinds are the API's words for what goes wrong.
var responsesKinds = map[string]failure{
	"auth":       {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
	"billing":    {429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."},
	"context":    {400, "invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model."},
	"overloaded": {503, "server_error", "server_is_overloaded", "Our servers are overloaded."},
	"rate":       {429, "requests", "rate_limit_exceeded", "Rate limit reached."},
	"usage":      {429, "usage_limit_reached", "usage_limit_reached", "The usage limit has been reached."},
}

func (responsesAPI) fail(f *fixtures.Fail) (int, []byte) {
	if k, ok := responsesKinds[f.Kind]; ok {
		// Amid a stream there is no header, and the words tell how long to wait.
		if after := f.Headers["retry-after"]; after != "" {
			k.msg += " Please try again in " + after + "s."
		}
		return k.status, k.body()
	}
	if f.Body != nil {
		return f.Status, f.Body
	}
	return f.Status, failBody(f.Status, "server_error", fmt.Sprintf("scripted failure %d", f.Status))
}

func (responsesAPI) voice(o voiceOptions) voice { return &responsesVoice{o: o} }

// responsesVoice says a reply in items.
type responsesVoice struct {
	o     voiceOptions
	seq   int
	id    string // of the response
	item  string // of the open item
	think bool
	how   fixtures.How
	text  strings.Builder
	part  bool // of a summary, has begun
	items []any
	usage *fixtures.Usage
}

type (
	oResponse struct {
		ID       string  `json:"id"`
		Object   string  `json:"object"`
		Created  int     `json:"created_at"`
		Status   string  `json:"status"`
		Model    string  `json:"model"`
		Output   []any   `json:"output"`
		Parallel bool    `json:"parallel_tool_calls"`
		Choice   string  `json:"tool_choice"`
		Tools    []any   `json:"tools"`
		Error    any     `json:"error"`
		Short    *oShort `json:"incomplete_details"`
		Usage    *oUsage `json:"usage"`
	}
	oShort struct {
		Reason string `json:"reason"`
	}
	oUsage struct {
		Input        int `json:"input_tokens"`
		InputDetails struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output        int `json:"output_tokens"`
		OutputDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
		Total int `json:"total_tokens"`
	}
	oEvent struct {
		Type     string     `json:"type"`
		Sequence int        `json:"sequence_number"`
		Response *oResponse `json:"response,omitzero"`
		Output   *int       `json:"output_index,omitzero"`
		ItemID   string     `json:"item_id,omitzero"`
		Content  *int       `json:"content_index,omitzero"`
		Summary  *int       `json:"summary_index,omitzero"`
		Item     any        `json:"item,omitzero"`
		Part     any        `json:"part,omitzero"`
		Delta    *string    `json:"delta,omitzero"`
		Text     *string    `json:"text,omitzero"`
		Args     *string    `json:"arguments,omitzero"`
		Input    *string    `json:"input,omitzero"`
	}
	oText struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Annotations []any  `json:"annotations"`
	}
	oSummary struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	oMessage struct {
		Type    string  `json:"type"`
		ID      string  `json:"id"`
		Role    string  `json:"role"`
		Status  string  `json:"status"`
		Content []oText `json:"content"`
		Phase   string  `json:"phase,omitzero"`
	}
	oReasoning struct {
		Type      string     `json:"type"`
		ID        string     `json:"id"`
		Summary   []oSummary `json:"summary"`
		Content   []oSummary `json:"content,omitzero"`
		Encrypted *string    `json:"encrypted_content"`
	}
	oSearch struct {
		Type      string         `json:"type"`
		ID        string         `json:"id"`
		CallID    string         `json:"call_id"`
		Execution string         `json:"execution"`
		Status    string         `json:"status"`
		Arguments jsontext.Value `json:"arguments"`
	}
	oCall struct {
		Type      string  `json:"type"`
		ID        string  `json:"id"`
		CallID    string  `json:"call_id"`
		Namespace string  `json:"namespace,omitzero"`
		Name      string  `json:"name"`
		Arguments *string `json:"arguments,omitzero"`
		Input     *string `json:"input,omitzero"`
		Status    string  `json:"status"`
	}
	oWeb struct {
		Type   string         `json:"type"`
		ID     string         `json:"id"`
		Status string         `json:"status"`
		Action jsontext.Value `json:"action,omitzero"`
	}
)

func (v *responsesVoice) event(e oEvent) error {
	e.Sequence = v.seq
	v.seq++
	return v.o.sink.event(e.Type, e)
}

func (v *responsesVoice) response(status string) *oResponse {
	r := &oResponse{
		ID: v.id, Object: "response", Status: status, Model: v.o.model, Output: []any{}, Parallel: true, Choice: "auto", Tools: []any{},
	}
	if status != "in_progress" && status != "failed" {
		r.Output = append(r.Output, v.items...)
		u := v.usage
		if u == nil {
			u = &fixtures.Usage{Input: inputTokens, Output: outputTokens}
		}
		r.Usage = &oUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
		r.Usage.InputDetails.Cached, r.Usage.OutputDetails.Reasoning = u.Cached, u.Reasoning
	}
	return r
}

func (v *responsesVoice) begin(u *fixtures.Usage) error {
	v.usage = u
	v.id = v.o.id("resp_")
	return v.event(oEvent{Type: "response.created", Response: v.response("in_progress")})
}

func (v *responsesVoice) at() *int { n := len(v.items); return &n }

func (v *responsesVoice) done(item any) error {
	err := v.event(oEvent{Type: "response.output_item.done", Output: v.at(), Item: item})
	v.items = append(v.items, item)
	return err
}

func (v *responsesVoice) call(c wireCall) error {
	in, empty := string(c.input), ""
	if c.kind == "web" {
		w := oWeb{Type: "web_search_call", ID: "ws_" + c.scenario.ID, Status: "in_progress"}
		if err := v.event(oEvent{Type: "response.output_item.added", Output: v.at(), Item: w}); err != nil {
			return err
		}
		w.Status, w.Action = "completed", c.input
		return v.done(w)
	}
	if c.kind == "search" {
		return v.done(oSearch{"tool_search_call", v.o.id("tsc_"), callPrefix + c.scenario.ID, "client", "completed", c.input})
	}
	item := oCall{Type: "function_call", ID: v.o.id("fc_"), CallID: callPrefix + c.scenario.ID, Namespace: c.namespace, Name: c.name, Status: "in_progress"}
	delta, done := oEvent{Type: "response.function_call_arguments.delta", Delta: &in}, oEvent{Type: "response.function_call_arguments.done", Args: &in}
	field := &item.Arguments
	if c.kind == "custom" {
		item.Type = "custom_tool_call"
		delta.Type, done = "response.custom_tool_call_input.delta", oEvent{Type: "response.custom_tool_call_input.done", Input: &in}
		field = &item.Input
	}
	*field = &empty
	if err := v.event(oEvent{Type: "response.output_item.added", Output: v.at(), Item: item}); err != nil {
		return err
	}
	if c.scenario.Open {
		half := in[:len(in)/2]
		delta.Delta, delta.Output, delta.ItemID = &half, v.at(), item.ID
		return v.event(delta)
	}
	for _, e := range []oEvent{delta, done} {
		e.Output, e.ItemID = v.at(), item.ID
		if err := v.event(e); err != nil {
			return err
		}
	}
	*field, item.Status = &in, "completed"
	return v.done(item)
}

// fail takes the error of the body and puts it into a response.
func (v *responsesVoice) fail(f *fixtures.Fail) error {
	var b struct {
		Error jsontext.Value `json:"error"`
	}
	_, body := responsesAPI{}.fail(f)
	if err := json.Unmarshal(body, &b, lenient); err != nil || b.Error == nil {
		b.Error = jsontext.Value(`{"code":"server_error","message":"scripted failure"}`)
	}
	r := v.response("failed")
	r.Error = b.Error
	return v.event(oEvent{Type: "response.failed", Response: r})
}

// endReasons are the API's words for an end that comes too early.
var endReasons = map[string]string{"length": "max_output_tokens", "refusal": "content_filter"}

func (v *responsesVoice) end(why string) error {
	r := v.response("completed")
	e := oEvent{Type: "response.completed", Response: r}
	if why != "" {
		r.Status, r.Short = "incomplete", &oShort{endReasons[why]}
		e.Type = "response.incomplete"
	}
	if err := v.event(e); err != nil {
		return err
	}
	return v.o.sink.whole(r)
}
