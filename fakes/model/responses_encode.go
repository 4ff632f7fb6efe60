package model

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

func (responsesAPI) voice(o encoderOptions) encoder { return &responsesEncoder{o: o} }

// responsesEncoder writes a reply in items.
type responsesEncoder struct {
	o     encoderOptions
	seq   int
	id    string // of the response
	item  string // of the open item
	think bool
	how   fixtures.Form
	text  strings.Builder
	part  bool       // a part of a summary has begun
	parts []oSummary // of the summary, that have ended
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
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens,omitzero"`
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

func (v *responsesEncoder) event(e oEvent) error {
	e.Sequence = v.seq
	v.seq++
	return v.o.sink.event(e.Type, e)
}

func (v *responsesEncoder) response(status string) *oResponse {
	r := &oResponse{
		ID: v.id, Object: "response", Status: status, Model: v.o.model, Output: []any{}, Parallel: true, Choice: "auto", Tools: []any{},
	}
	if status != "in_progress" && status != "failed" {
		r.Output = append(r.Output, v.items...)
		u := v.usage
		if u == nil {
			u = &usualUsage
		}
		r.Usage = &oUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
		r.Usage.InputDetails.Cached, r.Usage.OutputDetails.Reasoning = u.Cached, u.Reasoning
		r.Usage.InputDetails.Written = u.Written
	}
	return r
}

func (v *responsesEncoder) separatesTexts() bool { return true }

func (v *responsesEncoder) start(u *fixtures.Usage) error {
	v.usage = u
	v.id = v.o.id("resp_")
	return v.event(oEvent{Type: "response.created", Response: v.response("in_progress")})
}

func (v *responsesEncoder) outputIndex() *int { n := len(v.items); return &n }

func (v *responsesEncoder) endItem(item any) error {
	err := v.event(oEvent{Type: "response.output_item.done", Output: v.outputIndex(), Item: item})
	v.items = append(v.items, item)
	return err
}

func (v *responsesEncoder) addCall(c wireCall) error {
	in, empty := string(c.input), ""
	if c.kind == "web" {
		w := oWeb{Type: "web_search_call", ID: "ws_" + c.scenario.ID, Status: "in_progress"}
		if err := v.event(oEvent{Type: "response.output_item.added", Output: v.outputIndex(), Item: w}); err != nil {
			return err
		}
		w.Status, w.Action = "completed", c.input
		return v.endItem(w)
	}
	if c.kind == "search" {
		return v.endItem(oSearch{"tool_search_call", v.o.id("tsc_"), callPrefix + c.scenario.ID, "client", "completed", c.input})
	}
	item := oCall{Type: "function_call", ID: v.o.id("fc_"), CallID: callPrefix + c.scenario.ID, Namespace: c.namespace, Name: c.name, Status: "in_progress"}
	delta, done := oEvent{Type: "response.function_call_arguments.delta"}, oEvent{Type: "response.function_call_arguments.done", Args: &in}
	field := &item.Arguments
	if c.kind == "custom" {
		item.Type = "custom_tool_call"
		delta.Type, done = "response.custom_tool_call_input.delta", oEvent{Type: "response.custom_tool_call_input.done", Input: &in}
		field = &item.Input
	}
	*field = &empty
	if err := v.event(oEvent{Type: "response.output_item.added", Output: v.outputIndex(), Item: item}); err != nil {
		return err
	}
	delta.Output, delta.ItemID = v.outputIndex(), item.ID
	for _, piece := range c.pieces() {
		delta.Delta = &piece
		if err := v.event(delta); err != nil {
			return err
		}
	}
	if c.scenario.Unfinished {
		return nil
	}
	done.Output, done.ItemID = v.outputIndex(), item.ID
	if err := v.event(done); err != nil {
		return err
	}
	*field, item.Status = &in, "completed"
	return v.endItem(item)
}

// fail writes a response with the error of the body.
func (v *responsesEncoder) fail(f *fixtures.Fail) error {
	var b struct {
		Error jsontext.Value `json:"error"`
	}
	_, body := responsesAPI{}.fail(f)
	if err := json.Unmarshal(body, &b, asWritten); err != nil || b.Error == nil {
		b.Error = jsontext.Value(`{"code":"server_error","message":"scripted failure"}`)
	}
	r := v.response("failed")
	r.Error = b.Error
	return v.event(oEvent{Type: "response.failed", Response: r})
}

// endReasons are the API's reasons for a reply that ends early.
var endReasons = map[string]string{"length": "max_output_tokens", "refusal": "content_filter"}

func (v *responsesEncoder) finish(why string) error {
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
