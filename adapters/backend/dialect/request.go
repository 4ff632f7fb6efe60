package dialect

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
)

// Request is what a front end sends to a server that answers with the stream of a turn.
type Request struct {
	Session string            // its chat or thread
	Runtime string            // that the session is opened on; "" if the client names none
	Message *adapters.Message // begins a turn; nil if the turn that waits goes on
	Answers []RequestAnswer   // to what the turn waits for
}

// RequestAnswer is an answer to a permission request or to a question.
type RequestAnswer struct {
	To     string // the id of the request
	Answer adapters.Answer
}

// Unmarshal decodes a request. Members that are not known are ignored, because clients add their own.
func Unmarshal(body []byte, into any) error {
	if err := json.Unmarshal(body, into, lenient); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}
