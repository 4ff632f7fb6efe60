package chat

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// requestLine is a line to the server: a request, or the end of one.
type requestLine struct {
	ID     int64  `json:"id"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Body   *body  `json:"body,omitempty"`
	Abort  bool   `json:"abort,omitzero"`
}

// body is the body of a request for a completion.
type body struct {
	Messages      []entry       `json:"messages"`
	Model         string        `json:"model,omitempty"`
	Effort        string        `json:"reasoning_effort,omitempty"`
	StreamOptions streamOptions `json:"stream_options"`
	Tools         []offered     `json:"tools,omitempty"`
	Stream        bool          `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// offered is a tool that the model may call.
type offered struct {
	Function offeredFunction `json:"function"`
	Type     string          `json:"type"`
}

type offeredFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}

// entry is a message of the history.
type entry struct {
	Content    any      `json:"content"` // a string, or a list of part
	ToolCallID string   `json:"tool_call_id,omitempty"`
	ToolCalls  []called `json:"tool_calls,omitempty"`
	Role       string   `json:"role"`
	reasoning
}

// part is a part of the content of a message: a text or a picture.
type part struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// called is a complete call of a tool.
type called struct {
	ID       string         `json:"id"`
	Function calledFunction `json:"function"`
	Type     string         `json:"type"`
	Extra    jsontext.Value `json:"extra_content,omitempty"` // as the server sent it: Gemini rejects a call without its signature
}

type calledFunction struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

// reasoning holds the members that servers send reasoning in, which OpenAI's API does not
// have. A reply uses one of them.
type reasoning struct {
	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
	ReasoningText    string `json:"reasoning_text,omitempty"`
}

// last returns the last n bytes of the reasoning.
func (r reasoning) last(n int) reasoning {
	end := func(s string) string { return s[max(len(s)-n, 0):] }
	return reasoning{end(r.ReasoningContent), end(r.Reasoning), end(r.ReasoningText)}
}

// add appends what a delta adds.
func (r *reasoning) add(d reasoning) {
	switch {
	case d.ReasoningContent != "":
		r.ReasoningContent += d.ReasoningContent
	case d.Reasoning != "":
		r.Reasoning += d.Reasoning
	default:
		r.ReasoningText += d.ReasoningText
	}
}

// replyLine is a line of the server.
type replyLine struct {
	ID      int64             `json:"id"`
	Status  int               `json:"status"`
	Event   string            `json:"event"`
	Stream  bool              `json:"stream"`
	End     bool              `json:"end"`
	Error   string            `json:"error"`
	Headers map[string]string `json:"headers"`
	Body    jsontext.Value    `json:"body"`
	Data    jsontext.Value    `json:"data"`
	Text    *string           `json:"text"`
	Comment *string           `json:"comment"`
}

// known reports whether the line has a member that makes it a part of a reply.
func (l *replyLine) known() bool {
	return l.Status != 0 || l.Error != "" || l.End || l.Data != nil || l.Text != nil || l.Comment != nil
}

// failed reports whether the line is the status of a request that failed.
func (l *replyLine) failed() bool { return l.Status >= http.StatusMultipleChoices }

// header returns a header of the reply. The names on lines are canonical.
func (l *replyLine) header(name string) string { return l.Headers[http.CanonicalHeaderKey(name)] }

// errNoStatus is the failure of a reply whose first line is not a status.
var errNoStatus = errors.New("the reply has no status")
