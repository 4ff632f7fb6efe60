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
	failing      failing
	index        indexing
	objects      bool // the arguments of a whole call are an object, not its text
	parts        bool // content is a list of parts, and reasoning is some of them
	usageInEach  bool // each chunk has the usage so far
	messages     bool // a chunk has a message in place of a delta
	details      bool // reasoning is in reasoning_details
	endless      bool // no chunk has a reason for the end: [DONE] is all that marks it
}

// failing is how a server writes an error within a stream.
type failing int

const (
	failsAsBody   failing = iota // as in the body of a reply with a status
	failsRelayed                 // in a chunk that ends the choice; the code is a status
	failsInChoice                // in the choice; the code is a status
	failsAsObject                // as an object "error", whose members are not nested; the code is a status
	failsByName                  // as in a body, in an event of the name error
)

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
	"1-details":       {details: true, wholeCalls: true, failing: failsInChoice},
	"1-messages":      {messages: true, wholeCalls: true, failing: failsAsObject},
	"1-unfinished":    {endless: true, failing: failsByName},
	"2-relayed": {
		reasoning: "reasoning", comments: true, wholeCalls: true, usageAtEnd: true, endsSilently: true, failing: failsRelayed,
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

// streamError returns an error within a stream, and the name of its event.
func (x failing) streamError(status int, body []byte) (name string, data []byte) {
	if x == failsAsBody {
		return "", body
	}
	if x == failsByName {
		return "error", body
	}
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
	form := `{"object":"error","message":%[2]s,"type":%[3]q,"param":null,"code":%[1]d}`
	switch x {
	case failsRelayed:
		form = `{"object":"chat.completion.chunk","error":{"code":%[1]d,"message":%[2]s,"metadata":{"error_type":%[3]q}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`
	case failsInChoice:
		form = `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":%[1]d,"message":%[2]s,"metadata":{"error_type":%[3]q}}}]}`
	case failsAsBody, failsAsObject, failsByName:
	}
	return "", fmt.Appendf(nil, form, status, message, e.Error.Type)
}
