package codexexec

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts what the runtime really sends: split surrogate pairs, repeated
// members.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// The types of members change between versions. A member of an unexpected kind must
// not make its line unreadable, so each of these is empty if it cannot use the value.
type (
	text    string
	number  struct{ value *int64 }
	flag    bool
	list    []jsontext.Value
	members map[string]jsontext.Value
)

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error { return decodeIf(d, '"', (*string)(t)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *number) UnmarshalJSONFrom(d *jsontext.Decoder) error { return decodeIf(d, '0', &n.value) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (f *flag) UnmarshalJSONFrom(d *jsontext.Decoder) error { return decodeIf(d, 't', (*bool)(f)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return decodeIf(d, '[', (*[]jsontext.Value)(l))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *members) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return decodeIf(d, '{', (*map[string]jsontext.Value)(m))
}

// decodeIf decodes a value of that kind, and skips any other.
func decodeIf[T any](d *jsontext.Decoder, kind jsontext.Kind, to *T) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != kind {
		return err
	}
	var out T
	if json.Unmarshal(v, &out, lenient) == nil { // a number may be no integer
		*to = out
	}
	return nil
}

// decode decodes a value, or returns the zero value.
func decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, lenient) // what has another form has none of these members
	}
	return out
}

func (n number) or0() int64 {
	if n.value == nil {
		return 0
	}
	return *n.value
}

// message is a line of the runtime.
type message struct {
	Type     text           `json:"type"`
	ThreadID text           `json:"thread_id"`
	Message  text           `json:"message"`
	Item     jsontext.Value `json:"item"`
	Usage    jsontext.Value `json:"usage"`
	Error    jsontext.Value `json:"error"`
}

type usage struct {
	Input     number `json:"input_tokens"`
	Cached    number `json:"cached_input_tokens"`
	Output    number `json:"output_tokens"`
	Reasoning number `json:"reasoning_output_tokens"`
}

// item is an item of any type. Each type has some of the members.
type item struct {
	ID     text `json:"id"`
	Type   text `json:"type"`
	Text   text `json:"text"`
	Status text `json:"status"`

	Command  text   `json:"command"`
	Output   text   `json:"aggregated_output"`
	ExitCode number `json:"exit_code"`

	Changes list `json:"changes"`

	Server    text           `json:"server"`
	Tool      text           `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
	Result    jsontext.Value `json:"result"`
	Error     jsontext.Value `json:"error"`

	Query  text           `json:"query"`
	Action jsontext.Value `json:"action"`

	Items list `json:"items"`

	Prompt    text    `json:"prompt"`
	Receivers list    `json:"receiver_thread_ids"`
	Agents    members `json:"agents_states"`

	Message text `json:"message"`
}

type fileChange struct {
	Path text `json:"path"`
	Kind text `json:"kind"`
}

type contentItem struct {
	Type text `json:"type"`
	Text text `json:"text"`
}

// mcpContent is the content of a toolResult as it was received.
type mcpContent struct {
	Content jsontext.Value `json:"content"`
}

type toolResult struct {
	Content    list           `json:"content"`
	Structured jsontext.Value `json:"structured_content"`
}

type withMessage struct {
	Message text `json:"message"`
}

type webAction struct {
	Query   text `json:"query"`
	URL     text `json:"url"`
	Pattern text `json:"pattern"`
}

type planStep struct {
	Text      text `json:"text"`
	Completed flag `json:"completed"`
}

type agentState struct {
	Status  text `json:"status"`
	Message text `json:"message"`
}

// encode encodes a value of our own types, which always succeeds.
func encode(v any) []byte {
	b, err := json.Marshal(v, lenient, json.Deterministic(true))
	if err != nil {
		panic("codexexec: a value does not encode: " + err.Error())
	}
	return b
}
