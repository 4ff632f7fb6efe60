package opencode

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

// num is a number. A value of any other kind reads as 0.
type num float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = 0
	var f float64
	if json.Unmarshal(v, &f) == nil {
		*n = num(f)
	}
	return nil
}

// line is any line of the server: a reply, or an event of the stream.
type line struct {
	ID     num            `json:"id"`
	Ready  jsontext.Value `json:"ready"`
	Status num            `json:"status"`
	Stream jsontext.Value `json:"stream"`
	End    jsontext.Value `json:"end"`
	Body   jsontext.Value `json:"body"`
	Text   jsontext.Value `json:"text"`
	Error  str            `json:"error"`
	Data   jsontext.Value `json:"data"`
}

// serverEvent is an event of the stream.
type serverEvent struct {
	Type       str            `json:"type"`
	Properties jsontext.Value `json:"properties"`
}

// properties are those of an event. Members whose kind differs between events are kept raw.
type properties struct {
	ID        str            `json:"id"`
	Session   str            `json:"sessionID"`
	RequestID str            `json:"requestID"`
	MessageID str            `json:"messageID"`
	PartID    str            `json:"partID"`
	Field     str            `json:"field"`
	Delta     str            `json:"delta"`
	Status    jsontext.Value `json:"status"`
	Error     jsontext.Value `json:"error"`
	Info      jsontext.Value `json:"info"`
	Part      jsontext.Value `json:"part"`
	Todos     jsontext.Value `json:"todos"`
	Reply     str            `json:"reply"`
	Answers   jsontext.Value `json:"answers"`

	// Of permissions and questions.
	Permission str            `json:"permission"`
	Metadata   jsontext.Value `json:"metadata"`
	Patterns   []str          `json:"patterns"` // what a permission is for
	Questions  jsontext.Value `json:"questions"`
	Tool       struct {
		Call str `json:"callID"`
	} `json:"tool"`
}

// status is the state of a session.
type status struct {
	Type    str `json:"type"`
	Attempt num `json:"attempt"`
	Message str `json:"message"`
}

// failure is an error of a session or of a message.
type failure struct {
	Name str `json:"name"`
	Data struct {
		Message str            `json:"message"`
		Status  num            `json:"statusCode"`
		Body    str            `json:"responseBody"`
		Retries jsontext.Value `json:"isRetryable"`
	} `json:"data"`
}

// info is a session or a message.
type info struct {
	ID        str            `json:"id"`
	Session   str            `json:"sessionID"`
	ParentID  str            `json:"parentID"`
	Role      str            `json:"role"`
	Model     str            `json:"modelID"`
	Provider  str            `json:"providerID"`
	Finish    str            `json:"finish"`
	Error     jsontext.Value `json:"error"`
	Version   str            `json:"version"`
	Directory str            `json:"directory"`
	Title     str            `json:"title"`
	Cost      num            `json:"cost"`
	Summary   jsontext.Value `json:"summary"`
	Time      struct {
		Created   num `json:"created"`
		Completed num `json:"completed"`
	} `json:"time"`
}

// part is a part of a message.
type part struct {
	ID        str            `json:"id"`
	Session   str            `json:"sessionID"`
	MessageID str            `json:"messageID"`
	Type      str            `json:"type"`
	Text      str            `json:"text"`
	Synthetic jsontext.Value `json:"synthetic"`
	Tool      str            `json:"tool"`
	Call      str            `json:"callID"`
	State     state          `json:"state"`
	Reason    str            `json:"reason"`
	Tokens    tokens         `json:"tokens"`
	Cost      num            `json:"cost"`
	Time      struct {
		Start num `json:"start"`
		End   num `json:"end"`
	} `json:"time"`
}

// state is the state of a tool call.
type state struct {
	Status   str            `json:"status"`
	Input    jsontext.Value `json:"input"`
	Output   str            `json:"output"`
	Error    str            `json:"error"`
	Metadata struct {
		Output      str            `json:"output"`
		Exit        jsontext.Value `json:"exit"`
		Interrupted jsontext.Value `json:"interrupted"`
		Truncated   jsontext.Value `json:"truncated"`
		Session     str            `json:"sessionId"`
		Files       struct {
			Patch str `json:"patch"`
		} `json:"filediff"`
	} `json:"metadata"`
}

type tokens struct {
	Total     num `json:"total"`
	Input     num `json:"input"`
	Output    num `json:"output"`
	Reasoning num `json:"reasoning"`
	Cache     struct {
		Read  num `json:"read"`
		Write num `json:"write"`
	} `json:"cache"`
}

// decode reads a value. What has another form reads as the zero value.
func decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, lenient)
	}
	return out
}

func isTrue(v jsontext.Value) bool { return v.Kind() == 't' }

// encode writes a value that can be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true), lenient)
	if err != nil {
		panic(err) // only types of this package are written
	}
	return b
}
