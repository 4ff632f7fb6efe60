package plug

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
)

// Error reports a mistake of the program under test.
type Error struct {
	What   string // what was observed
	Next   string // what the program's author should do; may be empty
	Stderr string // the last lines that the program wrote to stderr

	overBudget bool
}

// Errorf returns an Error without advice.
func Errorf(format string, a ...any) *Error { return &Error{What: fmt.Sprintf(format, a...)} }

// Advise sets Next and returns e.
func (e *Error) Advise(next string) *Error {
	e.Next = next
	return e
}

func (e *Error) Error() string {
	s := e.What
	if e.Next != "" {
		s += "\nnext: " + e.Next
	}
	if e.Stderr != "" {
		s += "\nstderr: " + strings.ReplaceAll(e.Stderr, "\n", "\n        ")
	}
	return s
}

// Is reports whether target is conformance.ErrProtocol, or conformance.ErrOverBudget for a line that
// is too long.
func (e *Error) Is(target error) bool {
	return target == conformance.ErrProtocol || e.overBudget && target == conformance.ErrOverBudget
}

// Clip shortens a line that an error quotes, and escapes its control characters,
// which would change the terminal.
func Clip(line string) string {
	const limit = 200
	line = strings.ToValidUTF8(strings.TrimRightFunc(line, unicode.IsSpace), "\uFFFD")
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return conformance.Printable(line)
}

// Unsupported is the error of a step that the protocol, or this program's
// declaration, has no way to express.
func Unsupported(what string) error {
	return UnsupportedBecause(what + ": the subject has no way to do this")
}

// UnsupportedBecause is like Unsupported, with the whole reason.
func UnsupportedBecause(reason string) error { return unsupportedError(reason) }

// unsupportedError is a conformance.ErrDeclaredUnsupported with another text. Its own
// ends in "not supported by this runtime", which is false if only the program lacks it.
type unsupportedError string

func (e unsupportedError) Error() string { return string(e) }

func (unsupportedError) Unwrap() error { return conformance.ErrDeclaredUnsupported }

// TextOnly returns an error for a message with files or a priority, which neither
// ACP nor the routes of a server can express.
func TextOnly(m adapters.Message) error {
	switch {
	case len(m.Attachments) > 0:
		return Unsupported("files with a message")
	case m.Priority != "":
		return adapters.ErrUnsupported
	}
	return nil
}

// RefusalError is an error that the program itself returned.
type RefusalError struct {
	Status     int // the HTTP status, if the protocol is HTTP
	Code, Text string
	Err        error // the error of package adapters that Code means; may be nil
}

func (r *RefusalError) Error() string {
	if r.Text == "" {
		return r.Code
	}
	return r.Text
}

func (r *RefusalError) Unwrap() error { return r.Err }

// AsUnsupported returns the refusal as an error that wraps conformance.ErrDeclaredUnsupported,
// with the reason as its text.
func (r *RefusalError) AsUnsupported(reason string) error {
	return unsupportedRefusalError{unsupportedError(reason), r}
}

type unsupportedRefusalError struct {
	unsupportedError
	refusal *RefusalError
}

func (r unsupportedRefusalError) Unwrap() []error { return []error{r.unsupportedError, r.refusal} }

// Contradiction returns the error of a command that the program declares for all values. It
// contradicts the declaration if the program refuses the command as unsupported.
func Contradiction(ability string, err error) error {
	if r, ok := errors.AsType[*RefusalError](err); ok && (r.Code == "unsupported" || r.Status == http.StatusNotImplemented) {
		return fmt.Errorf("%s: %w: %w", ability, conformance.ErrContradictsDeclaration, err)
	}
	return err
}

// Refused returns the error of an operation that the program declares and has refused.
func Refused(o *op.Op, err error) error {
	if o.Values {
		return err
	}
	return Contradiction(o.Name, err)
}

// EventCode returns the code of a failed open. It is "" if package event does not
// have the program's code; a check reports that.
func (r *RefusalError) EventCode() event.ErrorCode {
	if c := event.ErrorCode(r.Code); slices.Contains(event.ErrorCodes(), c) {
		return c
	}
	return ""
}

// RefusalErrors maps the codes of a Refusal to the errors of package adapters.
var RefusalErrors = map[string]error{
	"unsupported": adapters.ErrUnsupported,
	"refused":     adapters.ErrRefused,
	"unknown_id":  adapters.ErrUnknownID,
	"no_turn":     adapters.ErrNoTurn,
	"closed":      adapters.ErrClosed,
}
