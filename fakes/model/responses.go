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

// inputList is the input. A string is one message of the user.
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

// turnMetadata is a header in which Codex describes a request.
type turnMetadata struct {
	ThreadID string `json:"thread_id"`
	Turn     string `json:"turn_id"`
	Agent    string `json:"agent_name"`
	Kind     string `json:"request_kind"`
	Source   string `json:"thread_source"`
}

const callPrefix = "call_"

// codexSummary is part of a request for a summary of the conversation. Older versions
// mark it in no other way.
const codexSummary = "CONTEXT CHECKPOINT COMPACTION"

func (responsesAPI) read(h http.Header, body []byte) (*request, error) {
	var m responsesRequest
	if err := json.Unmarshal(body, &m, asWritten); err != nil {
		return nil, err
	}
	q := &request{stream: m.Stream, model: m.Model, prefix: callPrefix, thread: h.Get("Thread-Id"), maySub: true}
	var meta turnMetadata
	if s := h.Get("X-Codex-Turn-Metadata"); s != "" {
		if err := json.Unmarshal([]byte(s), &meta, asWritten); err != nil {
			return nil, fmt.Errorf("x-codex-turn-metadata: %w", err)
		}
	}
	if meta.ThreadID != "" {
		q.thread = meta.ThreadID
	}
	q.turn, q.compact = meta.Turn, strings.Contains(meta.Kind, "compact")
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
		case it.Role == "assistant":
			for _, b := range it.Content {
				q.replies = append(q.replies, b.Text)
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

// deferredNamespaces reads the list of namespaces whose tools Codex holds back.
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

// canCall reports whether a tool of a namespace can be called. The tools of a namespace that
// is held back are not listed.
func (o offer) canCall(namespace, name string) bool {
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
		if p.Tool != nil && p.Tool.Alternates {
			return nil, errAlternates
		}
	}
	return eachCall(parts, func(c *fixtures.ToolCall) (wireCall, error) { return codexCall(c, o) })
}

// responsesKinds are the API's errors.
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
		// Within a stream there is no header, so the message says how long to wait.
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
