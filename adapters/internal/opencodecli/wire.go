// Package opencodecli holds what the adapters of `opencode serve` and `opencode run` share: where
// the program is, its settings, and how a part of a message becomes an event.
package opencodecli

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lenient accepts what the runtime really sends: split surrogate pairs, repeated members.
var Lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Str is a string. A value of any other kind reads as "", so that a member that changes
// between versions does not make a line unreadable.
type Str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *Str) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*s = ""
	if v.Kind() == '"' {
		b, _ := jsontext.AppendUnquote(nil, v) // the error only reports replaced characters
		*s = Str(b)
	}
	return nil
}

// Num is a number. A value of any other kind reads as 0.
type Num float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *Num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = 0
	var f float64
	if json.Unmarshal(v, &f) == nil {
		*n = Num(f)
	}
	return nil
}

// Failure is an error of a session or of a message.
type Failure struct {
	Name Str `json:"name"`
	Data struct {
		Message Str            `json:"message"`
		Status  Num            `json:"statusCode"`
		Body    Str            `json:"responseBody"`
		Retries jsontext.Value `json:"isRetryable"`
	} `json:"data"`
}

// Part is a Part of a message.
type Part struct {
	ID        Str            `json:"id"`
	Session   Str            `json:"sessionID"`
	MessageID Str            `json:"messageID"`
	Type      Str            `json:"type"`
	Text      Str            `json:"text"`
	Synthetic jsontext.Value `json:"synthetic"`
	Metadata  struct {
		Continue jsontext.Value `json:"compaction_continue"`
	} `json:"metadata"`
	Tool   Str     `json:"tool"`
	Call   Str     `json:"callID"`
	State  State   `json:"state"`
	Reason Str     `json:"reason"`
	Tokens Tokens  `json:"tokens"`
	Cost   Num     `json:"cost"`
	Error  Failure `json:"error"` // of a part that announces another attempt
	Time   struct {
		Start Num `json:"start"`
		End   Num `json:"end"`
	} `json:"time"`
}

// State is the State of a tool call.
type State struct {
	Status   Str            `json:"status"`
	Input    jsontext.Value `json:"input"`
	Output   Str            `json:"output"`
	Error    Str            `json:"error"`
	Attached jsontext.Value `json:"attachments"` // what the tool gave besides text
	Metadata struct {
		Output      Str            `json:"output"`
		Exit        jsontext.Value `json:"exit"`
		Interrupted jsontext.Value `json:"interrupted"`
		Truncated   jsontext.Value `json:"truncated"`
		Session     Str            `json:"sessionId"`
		Files       struct {
			Patch Str `json:"patch"`
		} `json:"filediff"`
	} `json:"metadata"`
}

// Tokens are those of a step.
type Tokens struct {
	Total     Num `json:"total"`
	Input     Num `json:"input"`
	Output    Num `json:"output"`
	Reasoning Num `json:"reasoning"`
	Cache     struct {
		Read  Num `json:"read"`
		Write Num `json:"write"`
	} `json:"cache"`
}

// Decode reads a value. What has another form reads as the zero value.
func Decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, Lenient)
	}
	return out
}

// IsTrue reports whether a value is true.
func IsTrue(v jsontext.Value) bool { return v.Kind() == 't' }
