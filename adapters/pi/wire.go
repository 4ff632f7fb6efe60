package pi

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts what the runtime really sends: split surrogate pairs, repeated members.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// str is a string. A value of any other kind reads as "", so that a member that changes
// between versions does not make a line unreadable.
type str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *str) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*s = ""
	if v.Kind() == '"' {
		b, _ := jsontext.AppendUnquote(nil, v) // the error only reports replaced characters
		*s = str(b)
	}
	return nil
}

// num is a whole number. A value of any other kind reads as 0.
type num int64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	var f float64
	if json.Unmarshal(v, &f) == nil {
		*n = num(f)
	}
	return nil
}

// line is any line of the runtime. Members whose kind differs between lines are kept
// raw, and decoded where they are used.
type line struct {
	Type    str            `json:"type"`
	ID      str            `json:"id"`
	Command str            `json:"command"`
	Success jsontext.Value `json:"success"`
	Data    jsontext.Value `json:"data"`
	Error   str            `json:"error"`
	Cwd     str            `json:"cwd"` // of the mode json

	Message   jsontext.Value `json:"message"`
	Messages  jsontext.Value `json:"messages"`
	WillRetry jsontext.Value `json:"willRetry"`
	Update    jsontext.Value `json:"assistantMessageEvent"`

	ToolCallID str            `json:"toolCallId"`
	ToolName   str            `json:"toolName"`
	Args       jsontext.Value `json:"args"`
	Partial    jsontext.Value `json:"partialResult"`
	Result     jsontext.Value `json:"result"`
	IsError    jsontext.Value `json:"isError"`

	Steering jsontext.Value `json:"steering"`
	FollowUp jsontext.Value `json:"followUp"`

	Attempt      num `json:"attempt"`
	MaxAttempts  num `json:"maxAttempts"`
	ErrorMessage str `json:"errorMessage"`
	FinalError   str `json:"finalError"`

	// Of dialogs and notices of extensions.
	Method     str            `json:"method"`
	Title      str            `json:"title"`
	NotifyType str            `json:"notifyType"`
	Extension  str            `json:"extensionPath"`
	Aborted    jsontext.Value `json:"aborted"` // of a compaction, like the next
	Reason     str            `json:"reason"`
}

// update is a step of a message that is streamed.
type update struct {
	Type  str `json:"type"`
	Index num `json:"contentIndex"`
	Delta str `json:"delta"`
	ID    str `json:"id"`       // of a call that begins, in the newer dialect
	Name  str `json:"toolName"` // of that call's tool
}

// message is a message of the session.
type message struct {
	Role         str            `json:"role"`
	Content      jsontext.Value `json:"content"`
	StopReason   str            `json:"stopReason"`
	ErrorMessage str            `json:"errorMessage"`
	ResponseID   str            `json:"responseId"`
	Usage        usage          `json:"usage"`
}

type usage struct {
	Input      num `json:"input"`
	Output     num `json:"output"`
	CacheRead  num `json:"cacheRead"`
	CacheWrite num `json:"cacheWrite"`
	Reasoning  num `json:"reasoning"`
	Total      num `json:"totalTokens"`
}

// content is an element of a message or of a result.
type content struct {
	Type str `json:"type"`
	Text str `json:"text"`
	ID   str `json:"id"` // of a toolCall
	Name str `json:"name"`
}

// result is the result of a tool, whole or so far.
type result struct {
	Content jsontext.Value `json:"content"`
	Details struct {
		Patch str `json:"patch"` // of the newer dialect
		Diff  str `json:"diff"`
		// Truncation is there if the output so far was cut at its beginning.
		Truncation struct {
			Truncated jsontext.Value `json:"truncated"`
		} `json:"truncation"`
	} `json:"details"`
}

// state is the reply to get_state.
type state struct {
	SessionID str   `json:"sessionId"`
	Model     model `json:"model"`
}

type model struct {
	ID       str `json:"id"`
	Provider str `json:"provider"`
	Window   num `json:"contextWindow"`
}

// decode reads a value. What has another form reads as the zero value.
func decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, lenient)
	}
	return out
}

// textOf joins the texts of a content.
func textOf(v jsontext.Value) string {
	if v.Kind() == '"' {
		return string(decode[str](v))
	}
	if v.Kind() != '[' {
		return ""
	}
	text, n := "", 0
	for _, c := range decode[[]content](v) {
		if c.Type != "text" {
			continue
		}
		if n++; n > 1 {
			text += "\n"
		}
		text += string(c.Text)
	}
	return text
}

func isTrue(v jsontext.Value) bool  { return v.Kind() == 't' }
func isFalse(v jsontext.Value) bool { return v.Kind() == 'f' }

// encode writes a value that can be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v, lenient)
	if err != nil {
		panic(err) // only types of this package are written
	}
	return b
}
