package conformance

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Transcribe implements adapters.Transcriber if the adapter does, and returns nil
// if not.
func (s *adapterSubject) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	if t, ok := s.adapter.(adapters.Transcriber); ok {
		return t.Transcribe(sessionID, emit)
	}
	return nil
}

// Slowed is what was seen of a subject whose listener took nothing for SlowPause.
type ListenerPause struct {
	Unread int // bytes that the runtime has said and the subject had not read when the pause was over
	// What the subject reported then, and when it was all over; Depth -1: it
	// reports nothing.
	Depth  int
	Oldest time.Duration
	After  int
}

// External is a Subject that lives in a process of its own, where virtual time
// does not reach: it is played in real time, with a stand-in that is a process
// too (TierProcess). Open.Env is an environment in which such a process finds
// the stand-in by its name, and by the variables that clients of the runtime
// honour; Open.Command names it.
type External interface {
	Subject
	External()
}

// Placed is an External that was started before the run, by somebody else, where
// it finds the stand-in in a folder that stays: see relay.Furnish. One case at a
// time is played to it.
type PlacedStandin interface {
	External
	Standin() string // the folder; "": it is started like any other
}

// Carrier is a Session that cannot carry all that events and acts hold: its
// protocol has no word for some of it, or its maker said so. What a check needs
// and a session does not carry is not expressible.
type EventSupporter interface {
	// Carries is asked for the name of an event type (thinking), of a member of
	// its data (tool_start.command) or of the envelope (seq, ts, turn).
	Supports(what string) bool
}

// Breaker is a Session whose protocol can be broken: by a program that ends, or
// writes what is no line of it. Then the run has not come to its end.
type ProtocolChecker interface {
	ProtocolError() error // nil: all is well
}

// ErrBroken is, or is wrapped by, the error of an Open that failed because the
// subject itself is broken, and not the runtime.
var ErrProtocol = errors.New("the subject does not keep to its protocol")

// ErrNotAsDeclared is, or is wrapped by, the error of an act that a subject
// declared that it has a way to do, and then refused as one that it has not.
var ErrContradictsDeclaration = errors.New("the subject declares that it can do this, and says that it cannot")

// ErrNotCarried is, or is wrapped by, the error of an act that a subject
// declared that it has no way to do.
var ErrDeclaredUnsupported = fmt.Errorf("the subject declares no way to do this: %w", adapters.ErrUnsupported)
