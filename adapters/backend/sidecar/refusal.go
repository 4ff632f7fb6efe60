package sidecar

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

// Codes of refusals. If a session cannot be opened, the code is that of the
// adapters.OpenError, such as start_failure, timeout or auth.
const (
	CodeUnsupported   = "unsupported"    // the runtime has no such ability
	CodeRefused       = "refused"        // by the runtime
	CodeUnknownID     = "unknown_id"     // no such session, or nothing with this id waits for an answer
	CodeUnknownMedia  = "unknown_media"  // the log holds no bytes of the session with this hash
	CodeNoTurn        = "no_turn"        // no turn runs
	CodeClosed        = "closed"         // the session ended
	CodeInvalid       = "invalid"        // the request is malformed
	CodeTooLarge      = "too_large"      // its body is
	CodeUnauthorized  = "unauthorized"   // the token is missing or wrong
	CodeForbidden     = "forbidden"      // the Host or the Origin is foreign
	CodeExists        = "exists"         // there is such a session already
	CodeBusy          = "busy"           // a turn runs
	CodeStale         = "stale_history"  // a turn began that the client has not seen
	CodeStaleState    = "stale_state"    // the shared state has another version
	CodeUnknownCursor = "unknown_cursor" // the session has not so many events
	CodeTooMany       = "too_many"       // sessions or listeners
	CodeClosing       = "closing"        // the server shuts down
	CodeFull          = "full"           // the event log has no room
	CodeLog           = "log"            // the event log failed
	CodeElsewhere     = "elsewhere"      // another server runs the session: the refusal names it
)

// RefusalError is why a request was refused, as its answer holds it.
type RefusalError struct {
	Status  int                   `json:"-"`
	Code    string                `json:"code"`
	Message string                `json:"message"`
	LastSeq int64                 `json:"last_seq,omitzero"` // with stale_history and unknown_cursor
	Server  *eventlog.LeaseServer `json:"server,omitempty"`  // with elsewhere
}

func (r *RefusalError) Error() string { return r.Message }

func refuse(status int, code, format string, args ...any) *RefusalError {
	return &RefusalError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// errorCodes are the refusals for errors of adapters.
var errorCodes = []struct {
	err    error
	status int
	code   string
}{
	{adapters.ErrUnsupported, http.StatusNotImplemented, CodeUnsupported},
	{adapters.ErrUnknownID, http.StatusNotFound, CodeUnknownID},
	{adapters.ErrNoTurn, http.StatusConflict, CodeNoTurn},
	{adapters.ErrClosed, http.StatusGone, CodeClosed},
	{adapters.ErrRefused, http.StatusUnprocessableEntity, CodeRefused},
}

// logErrors are the refusals for errors of the log. Their answers do not say where the log is, or why
// exactly it failed: that is for whoever runs the server.
var logErrors = []struct {
	err    error
	status int
	code   string
}{
	{eventlog.ErrUnknownSession, http.StatusNotFound, CodeUnknownID},
	{eventlog.ErrUnknownMedia, http.StatusNotFound, CodeUnknownMedia},
	{eventlog.ErrFull, http.StatusInsufficientStorage, CodeFull},
	{eventlog.ErrClosed, http.StatusServiceUnavailable, CodeLog},
	{eventlog.ErrBusy, http.StatusServiceUnavailable, CodeLog},
	{eventlog.ErrReadOnly, http.StatusServiceUnavailable, CodeLog},
	{eventlog.ErrCorrupt, http.StatusServiceUnavailable, CodeLog},
	{eventlog.ErrNotLog, http.StatusServiceUnavailable, CodeLog},
	{eventlog.ErrNewer, http.StatusServiceUnavailable, CodeLog},
}

// asRefusal returns the refusal for an error.
func asRefusal(err error) *RefusalError {
	if r, is := errors.AsType[*RefusalError](err); is {
		return r
	}
	if held, is := errors.AsType[*lease.HeldError](err); is {
		return refusalOfHeld(held)
	}
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return refuse(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body is larger than %d bytes", tooLarge.Limit)
	}
	for _, known := range logErrors {
		if errors.Is(err, known.err) {
			return refuse(known.status, known.code, "%v", known.err)
		}
	}
	for _, known := range errorCodes {
		if errors.Is(err, known.err) {
			return refuse(known.status, known.code, "%v", err)
		}
	}
	if open, is := errors.AsType[*adapters.OpenError](err); is {
		return refuse(http.StatusBadGateway, string(open.Code), "%v", err)
	}
	return refuse(http.StatusUnprocessableEntity, CodeRefused, "%v", err)
}

// answer writes a JSON answer.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)) // the client may be gone
}

// answerError writes the refusal for an error.
func answerError(w http.ResponseWriter, err error) {
	r := asRefusal(err)
	answer(w, r.Status, map[string]any{"error": r})
}
