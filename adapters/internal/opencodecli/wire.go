// Package opencodecli holds what the adapters of `opencode serve` and `opencode run` share: where
// the program is, its settings, and how a part of a message becomes an event.
package opencodecli

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Failure is an error of a session or of a message.
type Failure struct {
	Name lenient.Str `json:"name"`
	Data struct {
		Message lenient.Str    `json:"message"`
		Status  lenient.Num    `json:"statusCode"`
		Body    lenient.Str    `json:"responseBody"`
		Retries jsontext.Value `json:"isRetryable"`
	} `json:"data"`
}

// Part is a Part of a message.
type Part struct {
	ID        lenient.Str    `json:"id"`
	Session   lenient.Str    `json:"sessionID"`
	MessageID lenient.Str    `json:"messageID"`
	Type      lenient.Str    `json:"type"`
	Text      lenient.Str    `json:"text"`
	Synthetic jsontext.Value `json:"synthetic"`
	Metadata  struct {
		Continue jsontext.Value `json:"compaction_continue"`
	} `json:"metadata"`
	Tool   lenient.Str `json:"tool"`
	Call   lenient.Str `json:"callID"`
	State  State       `json:"state"`
	Reason lenient.Str `json:"reason"`
	Tokens Tokens      `json:"tokens"`
	Cost   lenient.Num `json:"cost"`
	Error  Failure     `json:"error"` // of a part that announces another attempt
	Time   struct {
		Start lenient.Num `json:"start"`
		End   lenient.Num `json:"end"`
	} `json:"time"`
}

// State is the State of a tool call.
type State struct {
	Status   lenient.Str    `json:"status"`
	Input    jsontext.Value `json:"input"`
	Output   lenient.Str    `json:"output"`
	Error    lenient.Str    `json:"error"`
	Attached jsontext.Value `json:"attachments"` // what the tool gave besides text
	Metadata struct {
		Output      lenient.Str    `json:"output"`
		Exit        jsontext.Value `json:"exit"`
		Interrupted jsontext.Value `json:"interrupted"`
		Truncated   jsontext.Value `json:"truncated"`
		Exists      jsontext.Value `json:"exists"` // the file that is written was there before
		Session     lenient.Str    `json:"sessionId"`
		Files       struct {
			Patch lenient.Str `json:"patch"`
		} `json:"filediff"`
	} `json:"metadata"`
}

// Tokens are those of a step.
type Tokens struct {
	Total     lenient.Num `json:"total"`
	Input     lenient.Num `json:"input"`
	Output    lenient.Num `json:"output"`
	Reasoning lenient.Num `json:"reasoning"`
	Cache     struct {
		Read  lenient.Num `json:"read"`
		Write lenient.Num `json:"write"`
	} `json:"cache"`
}
