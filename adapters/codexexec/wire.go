package codexexec

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// message is a line of the runtime.
type message struct {
	Type     lenient.Str    `json:"type"`
	ThreadID lenient.Str    `json:"thread_id"`
	Message  lenient.Str    `json:"message"`
	Item     jsontext.Value `json:"item"`
	Usage    jsontext.Value `json:"usage"`
	Error    jsontext.Value `json:"error"`
}

type usage struct {
	Input     lenient.Num `json:"input_tokens"`
	Cached    lenient.Num `json:"cached_input_tokens"`
	Output    lenient.Num `json:"output_tokens"`
	Reasoning lenient.Num `json:"reasoning_output_tokens"`
}

// item is an item of any type. Each type has some of the members.
type item struct {
	ID     lenient.Str `json:"id"`
	Type   lenient.Str `json:"type"`
	Text   lenient.Str `json:"text"`
	Status lenient.Str `json:"status"`

	Command  lenient.Str              `json:"command"`
	Output   lenient.Str              `json:"aggregated_output"`
	ExitCode lenient.Opt[lenient.Num] `json:"exit_code"`

	Changes lenient.List[jsontext.Value] `json:"changes"`

	Server    lenient.Str    `json:"server"`
	Tool      lenient.Str    `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
	Result    jsontext.Value `json:"result"`
	Error     jsontext.Value `json:"error"`

	Query  lenient.Str    `json:"query"`
	Action jsontext.Value `json:"action"`

	Items lenient.List[jsontext.Value] `json:"items"`

	Prompt    lenient.Str                  `json:"prompt"`
	Receivers lenient.List[jsontext.Value] `json:"receiver_thread_ids"`
	Agents    jsontext.Value               `json:"agents_states"`

	Message lenient.Str `json:"message"`
}

type fileChange struct {
	Path lenient.Str `json:"path"`
	Kind lenient.Str `json:"kind"`
}

type contentItem struct {
	Type lenient.Str `json:"type"`
	Text lenient.Str `json:"text"`
}

// mcpContent is the content of a toolResult as it was received.
type mcpContent struct {
	Content jsontext.Value `json:"content"`
}

type toolResult struct {
	Content    lenient.List[jsontext.Value] `json:"content"`
	Structured jsontext.Value               `json:"structured_content"`
}

type withMessage struct {
	Message lenient.Str `json:"message"`
}

type webAction struct {
	Query   lenient.Str `json:"query"`
	URL     lenient.Str `json:"url"`
	Pattern lenient.Str `json:"pattern"`
}

type planStep struct {
	Text      lenient.Str    `json:"text"`
	Completed jsontext.Value `json:"completed"`
}

type agentState struct {
	Status  lenient.Str `json:"status"`
	Message lenient.Str `json:"message"`
}
