package eventlog

import (
	"errors"
	"fmt"
)

// Errors of any store. They are wrapped in errors that add the cause and the
// next step: test for them with errors.Is.
var (
	ErrClosed         = errors.New("the event log is closed")
	ErrUnknownSession = errors.New("no such session in the event log")
	ErrOwned          = errors.New("the session has another owner")

	ErrBusy     = errors.New("the event log is locked")             // by another program: try again
	ErrFull     = errors.New("no room for the event log")           // try again after space is freed
	ErrReadOnly = errors.New("the event log cannot be written")     // opened read-only, or not permitted
	ErrCorrupt  = errors.New("the event log is damaged")            // the stored bytes are not what was written
	ErrNotLog   = errors.New("not an event log")                    // the file is something else
	ErrNewer    = errors.New("the event log is of a newer version") // of this module
)

// ConflictError is returned if another event has the seq.
type ConflictError struct {
	Session string
	Seq     int64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %q holds another event at seq %d: two writers, or a session that was resumed without its position; open it with Options.After from Log.Session", e.Session, e.Seq)
}

// GapError is returned if an append or a snapshot leaves events out.
type GapError struct {
	Session string
	Last    int64 // the last seq that is stored
	Seq     int64 // the seq of the append or snapshot
}

func (e *GapError) Error() string {
	return fmt.Sprintf("session %q ends at seq %d: seq %d leaves a gap; append what is missing first", e.Session, e.Last, e.Seq)
}

// InvalidError is returned if an event could not be read back.
type InvalidError struct {
	Session string
	Seq     int64
	Err     error // the cause, with the field's path
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("not a valid event (session %q, seq %d): %v", e.Session, e.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// UnreadableError is returned if a stored event cannot be read. It is an
// ErrCorrupt. To skip the event, call Read with after set to Seq.
type UnreadableError struct {
	Session string
	Seq     int64
	Err     error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("session %q, seq %d: %v: %v", e.Session, e.Seq, ErrCorrupt, e.Err)
}

// Unwrap returns ErrCorrupt and the cause.
func (e *UnreadableError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }
