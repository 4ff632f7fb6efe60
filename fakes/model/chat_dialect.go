package model

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatDialect is what differs between servers of chat completions. The zero value is the
// form that OpenAI documents, with reasoning in reasoning_content.
type chatDialect struct {
	reasoning    string // the member that holds reasoning, if the scenario names none
	comments     bool   // a comment comes before the first chunk
	wholeCalls   bool   // a call comes in one chunk, unless its deltas alternate
	usageAtEnd   bool   // the chunk with the reason for the end has the usage
	endsSilently bool   // no [DONE]
	numericCodes bool   // an error in the stream has the status as its code
	index        indexing
	objects      bool // the arguments of a whole call are an object, not its text
	parts        bool // content is a list of parts, and reasoning is some of them
	usageInEach  bool // each chunk has the usage so far
}

// indexing is how a server numbers the calls of a reply.
type indexing int

const (
	indexCounts indexing = iota
	indexZero            // each call has the index 0; the ids tell them apart
	indexNone            // no call has one
)

// of returns the index of the nth call, or nil.
func (x indexing) of(n int) *int {
	switch x {
	case indexZero:
		n = 0
	case indexNone:
		return nil
	case indexCounts:
	}
	return &n
}

// chatDialects are the dialects by the first element of the path that selects them.
var chatDialects = map[string]chatDialect{
	"1-plain":         {},
	"1-parts":         {parts: true, wholeCalls: true, usageAtEnd: true},
	"1-one-index":     {index: indexZero, wholeCalls: true, usageInEach: true},
	"1-without-index": {index: indexNone, wholeCalls: true, objects: true, endsSilently: true},
	"2-relayed": {
		reasoning: "reasoning", comments: true, wholeCalls: true, usageAtEnd: true, endsSilently: true, numericCodes: true,
	},
}

// dialectOf returns a path without its first element if that selects a dialect.
func dialectOf(path string) (string, chatDialect) {
	first, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if d, known := chatDialects[first]; ok && known {
		return "/" + rest, d
	}
	return path, chatDialect{}
}

// relayedError is an error within a stream as servers write it that relay other models: a
// chunk that ends the choice, whose error has a status as its code.
func relayedError(status int, body []byte) []byte {
	var e struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &e) // a body of another form has no message
	message, err := json.Marshal(e.Error.Message, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		message = []byte(`""`)
	}
	return fmt.Appendf(nil, `{"object":"chat.completion.chunk","error":{"code":%d,"message":%s,"metadata":{"error_type":%q}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
		status, message, e.Error.Type)
}
