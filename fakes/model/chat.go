package model

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// chatAPI is the API of chat completions, which OpenAI and many others offer.
type chatAPI struct{ chatDialect }

type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string       `json:"role"`
		Content textOrBlocks `json:"content"`
		CallID  string       `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string `json:"name"`
			Parameters struct {
				Members map[string]jsontext.Value `json:"properties"`
			} `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Format struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// The words by which an agent asks for a title of the conversation or for a summary of it. The
// API has no mark for either; agents ask for a title without offering tools.
var (
	chatTitle   = regexp.MustCompile(`(?i)\btitle generator\b|\bgenerate an? [^.\n]{0,40}\btitle\b`)
	chatSummary = regexp.MustCompile(`(?i)\btasked with summariz|\bsummarization assistant\b`)
	// chatSummaryPrompt is in the newest message of the user; OpenCode 1.18 has no instructions
	// of their own for it.
	chatSummaryPrompt = regexp.MustCompile(`(?i)\b(?:create an? new|update the) anchored summary\b`)
)

func (chatAPI) read(h http.Header, body []byte) (*request, error) {
	var m chatRequest
	if err := json.Unmarshal(body, &m, asWritten); err != nil {
		return nil, err
	}
	// OpenCode sends the id of its session; its sub-agents have sessions of their own.
	q := &request{stream: m.Stream, model: m.Model, prefix: callPrefix, thread: h.Get("X-Session-Id"), maySub: true}
	q.form, q.usage = m.Format.Type == "json_schema", m.StreamOptions.Usage
	for _, t := range m.Tools {
		o := offered{kind: t.Type, name: t.Function.Name, members: map[string]string{}}
		for name, schema := range t.Function.Parameters.Members {
			o.members[name] = describedAs(schema)
		}
		q.offer.tools = append(q.offer.tools, o)
	}
	asksTitle, asksSummary := false, false
	for _, msg := range m.Messages {
		switch msg.Role {
		case "assistant":
			q.replies = append(q.replies, msg.Content.joined())
			continue
		case "tool":
			q.results = append(q.results, result{msg.CallID, msg.Content.joined()})
			continue
		case "system", "developer":
			q.compact = q.compact || chatSummary.MatchString(msg.Content.joined())
		default:
			said, files := len(q.texts), q.files
			for _, b := range msg.Content {
				switch b.Type {
				case "text":
					q.texts = append(q.texts, b.Text)
				case "image_url", "file", "input_audio":
					q.files++
				}
			}
			if q.files > files && len(q.texts) == said { // files alone are a message without words
				q.texts = append(q.texts, "")
			}
		}
		asksTitle = asksTitle || chatTitle.MatchString(msg.Content.joined())
		asksSummary = msg.Role == "user" && chatSummaryPrompt.MatchString(msg.Content.joined())
	}
	q.compact = q.compact || asksSummary
	q.title = asksTitle && len(m.Tools) == 0
	return q, nil
}

// describedAs returns the description in a schema, or "".
func describedAs(schema jsontext.Value) string {
	var s struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(schema, &s, asWritten) // a schema may be true or false
	return s.Description
}

func (chatAPI) calls(parts []fixtures.Part, o offer, dir string) ([]wireCall, error) {
	for _, p := range parts {
		switch {
		case p.End != "" && chatReasons[p.End] == "":
			return nil, fmt.Errorf("end: chat completions have no %q", p.End)
		case p.Search != nil:
			return nil, errors.New("search: chat completions have no search of their own")
		case p.Redacted != "":
			return nil, errors.New("redacted: chat completions have no form for it")
		case p.Form.Final != nil:
			return nil, errors.New("final: chat completions send a text in deltas only")
		case p.Form.Raw != nil:
			return nil, errors.New("raw: chat completions have one form of reasoning")
		}
	}
	return eachCall(parts, func(c *fixtures.ToolCall) (wireCall, error) { return chatCall(c, o, dir) })
}

// chatReasons are the API's reasons for a reply that ends early.
var chatReasons = map[string]string{"length": "length", "refusal": "content_filter"}

func (chatAPI) fail(f *fixtures.Fail) (int, []byte) {
	if k, ok := responsesKinds[f.Kind]; ok {
		return k.status, chatError(k.kind, k.code, k.msg)
	}
	if f.Body != nil {
		return f.Status, f.Body
	}
	return f.Status, chatError("server_error", "", fmt.Sprintf("scripted failure %d", f.Status))
}

// chatError is an error of the API. An error without a code has null there.
func chatError(kind, code, msg string) []byte {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	e := inner{Message: msg, Type: kind}
	if code != "" {
		e.Code = &code
	}
	b, err := json.Marshal(struct {
		Error inner `json:"error"`
	}{e}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte(`{}`)
	}
	return b
}

func (a chatAPI) voice(o encoderOptions) encoder { return &chatEncoder{o: o, dialect: a.chatDialect} }
