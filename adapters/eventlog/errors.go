package eventlog

import (
	"errors"
	"fmt"
)

// Errors of any store. They are wrapped, with what happened and what to do: use
// errors.Is.
var (
	ErrClosed         = errors.New("the event log is closed")
	ErrUnknownSession = errors.New("no such session in the event log")

	ErrBusy     = errors.New("the event log is locked")             // by another program; try again
	ErrFull     = errors.New("no room for the event log")           // try again when there is room
	ErrReadOnly = errors.New("the event log cannot be written")     // opened so, or not permitted
	ErrCorrupt  = errors.New("the event log is damaged")            // what is stored is not what was written
	ErrNotLog   = errors.New("not an event log")                    // something else is in its place
	ErrNewer    = errors.New("the event log is of a newer version") // of this module
)

// ConflictError is an append of another event under a seq that is taken.
type ConflictError struct {
	Session string
	Seq     int64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %q holds another event at seq %d: two writers, or a session that was resumed without its position; open it with Options.After from Log.Session", e.Session, e.Seq)
}

// GapError is an append, or a snapshot, that leaves events out.
type GapError struct {
	Session string
	Last    int64 // the last seq that is stored
	Seq     int64 // the one that was to be
}

func (e *GapError) Error() string {
	return fmt.Sprintf("session %q ends at seq %d: seq %d leaves a gap; append what is missing first", e.Session, e.Last, e.Seq)
}

// InvalidError is an append of an event that could not be read back.
type InvalidError struct {
	Session string
	Seq     int64
	Err     error // what is wrong with it, with the field's path
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("not a valid event (session %q, seq %d): %v", e.Session, e.Seq, e.Err)
}

// Unwrap returns what is wrong with the event.
func (e *InvalidError) Unwrap() error { return e.Err }

// UnreadableError is a stored event that cannot be read; it is an ErrCorrupt.
// Read goes on behind it with after set to Seq.
type UnreadableError struct {
	Session string
	Seq     int64
	Err     error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("session %q, seq %d: %v: %v", e.Session, e.Seq, ErrCorrupt, e.Err)
}

// Unwrap returns ErrCorrupt and what is wrong with the event.
func (e *UnreadableError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }
