package exchange

import (
	"fmt"
	"strings"
)

// Code is why an exchange was refused, or ended without an answer.
type Code string

// The codes. Those from CodeStopped on are of exchanges that had begun.
const (
	CodeInvalid  Code = "invalid"   // the input of the tool
	CodeTooLarge Code = "too_large" // the message
	CodeUnknown  Code = "unknown"   // neither an agent nor a session has that name
	CodeOpen     Code = "open"      // the session could not be opened
	CodeSelf     Code = "self"      // sender and receiver are the same session
	CodeCycle    Code = "cycle"     // the receiver waits for the sender
	CodeDepth    Code = "depth"     // too many messages within each other
	CodeTooMany  Code = "too_many"  // one message of a user led to too many
	CodeQueue    Code = "queue"     // too many messages wait for the receiver

	CodeStopped     Code = "stopped"     // somebody stopped the receiver's turn
	CodeFailed      Code = "failed"      // the receiver's turn ended in an error, or the message was refused
	CodeClosed      Code = "closed"      // the receiver's session ended
	CodeTimeout     Code = "timeout"     // the limit passed
	CodeInterrupted Code = "interrupted" // the sender was stopped, or its session ended
)

// Error is why an exchange has no answer.
type Error struct {
	Code     Code   `json:"code"`
	Message  string `json:"message"`
	Exchange string `json:"exchange_id,omitempty"` // if it had begun
}

func (e *Error) Error() string { return e.Message }

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

const (
	idPrefix     = "exchange-"
	answerSuffix = "-answer"
)

// Of returns the exchange to which a message's id belongs, and whether the message is the
// answer of it. It returns "" for a message of a user.
func Of(messageID string) (exchange string, answer bool) {
	if !strings.HasPrefix(messageID, idPrefix) {
		return "", false
	}
	return strings.CutSuffix(messageID, answerSuffix)
}
