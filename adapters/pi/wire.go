package pi

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// line is any line of the runtime. Members whose kind differs between lines are kept
// raw, and decoded where they are used.
type line struct {
	Type    lenient.Str    `json:"type"`
	ID      lenient.Str    `json:"id"`
	Command lenient.Str    `json:"command"`
	Success jsontext.Value `json:"success"`
	Data    jsontext.Value `json:"data"`
	Error   lenient.Str    `json:"error"`
	Cwd     lenient.Str    `json:"cwd"` // of the mode json

	Message   jsontext.Value `json:"message"`
	Messages  jsontext.Value `json:"messages"`
	WillRetry jsontext.Value `json:"willRetry"`
	Update    jsontext.Value `json:"assistantMessageEvent"`

	ToolCallID lenient.Str    `json:"toolCallId"`
	ToolName   lenient.Str    `json:"toolName"`
	Args       jsontext.Value `json:"args"`
	Partial    jsontext.Value `json:"partialResult"`
	Result     jsontext.Value `json:"result"`
	IsError    jsontext.Value `json:"isError"`

	Steering jsontext.Value `json:"steering"`
	FollowUp jsontext.Value `json:"followUp"`

	Attempt      lenient.Num `json:"attempt"`
	ErrorMessage lenient.Str `json:"errorMessage"`
	FinalError   lenient.Str `json:"finalError"`

	// Of dialogs and notices of extensions.
	Method     lenient.Str    `json:"method"`
	Title      lenient.Str    `json:"title"`
	NotifyType lenient.Str    `json:"notifyType"`
	Aborted    jsontext.Value `json:"aborted"` // of a compaction, like the next
	Reason     lenient.Str    `json:"reason"`
}

// update is a step of a message that is streamed.
type update struct {
	Type  lenient.Str `json:"type"`
	Index lenient.Num `json:"contentIndex"`
	Delta lenient.Str `json:"delta"`
	ID    lenient.Str `json:"id"`       // of a call that begins, in the newer dialect
	Name  lenient.Str `json:"toolName"` // of that call's tool
}

// message is a message of the session.
type message struct {
	Role         lenient.Str    `json:"role"`
	Content      jsontext.Value `json:"content"`
	StopReason   lenient.Str    `json:"stopReason"`
	ErrorMessage lenient.Str    `json:"errorMessage"`
	ResponseID   lenient.Str    `json:"responseId"`
	Timestamp    lenient.Num    `json:"timestamp"`
	Usage        usage          `json:"usage"`
}

// id returns the id of a message that starts. Since 1.0 a message gets its id when it ends; its
// time is then unique in the session, also after a resume in another process. A message with
// neither gets its number in this process.
func (m *message) id(number int) string {
	switch {
	case m.ResponseID != "":
		return string(m.ResponseID)
	case m.Timestamp > 0:
		return "m" + strconv.FormatInt(int64(m.Timestamp), 10)
	}
	return "m" + strconv.Itoa(number)
}

type usage struct {
	Input      lenient.Num `json:"input"`
	Output     lenient.Num `json:"output"`
	CacheRead  lenient.Num `json:"cacheRead"`
	CacheWrite lenient.Num `json:"cacheWrite"`
	Reasoning  lenient.Num `json:"reasoning"`
	Total      lenient.Num `json:"totalTokens"`
}

// content is an element of a message or of a result.
type content struct {
	Type lenient.Str `json:"type"`
	Text lenient.Str `json:"text"`
	ID   lenient.Str `json:"id"` // of a toolCall
	Name lenient.Str `json:"name"`
}

// result is the result of a tool, whole or so far.
type result struct {
	Content jsontext.Value `json:"content"`
	Details struct {
		Patch lenient.Str `json:"patch"` // of the newer dialect
		Diff  lenient.Str `json:"diff"`
		// Truncation is there if the output so far was cut at its beginning.
		Truncation struct {
			Truncated jsontext.Value `json:"truncated"`
		} `json:"truncation"`
	} `json:"details"`
}

// state is the reply to get_state.
type state struct {
	SessionID lenient.Str `json:"sessionId"`
	Model     model       `json:"model"`
}

type model struct {
	ID       lenient.Str `json:"id"`
	Provider lenient.Str `json:"provider"`
	Window   lenient.Num `json:"contextWindow"`
}

// textOf joins the texts of a content.
func textOf(v jsontext.Value) string {
	if v.Kind() == '"' {
		return string(lenient.Decode[lenient.Str](v))
	}
	if v.Kind() != '[' {
		return ""
	}
	text, n := "", 0
	for _, c := range lenient.Decode[[]content](v) {
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

func isFalse(v jsontext.Value) bool { return v.Kind() == 'f' }
