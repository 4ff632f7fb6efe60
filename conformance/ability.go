package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// What a Session may also be able to do. A scenario that asks for what it is
// not able to do is not expressible for it. Package adapters says what each
// means.
type (
	// Reverter cuts the history before a message.
	Reverter interface {
		Revert(ctx context.Context, messageID string) error
	}
	// Rewinder puts files back as they were when a message came.
	Rewinder interface {
		Rewind(ctx context.Context, messageID string, dry bool) error
	}
	// Compacter has the history summed up.
	Compacter interface {
		Compact(ctx context.Context) error
	}
	// Archiver puts the session away and ends it.
	Archiver interface {
		Archive(ctx context.Context) error
	}
	// Renamer gives the session a name.
	Renamer interface {
		Rename(ctx context.Context, name string) error
	}
	// Transcriber is a Subject that also reads what a runtime once wrote to its
	// stdout.
	Transcriber interface {
		Transcribe(emit func(event.Event)) adapters.Transcript
	}
)

// Transcribe implements Transcriber, or returns nil.
func (s *adapterSubject) Transcribe(emit func(event.Event)) adapters.Transcript {
	if t, ok := s.adapter.(adapters.Transcriber); ok {
		return t.Transcribe(firstSession, emit)
	}
	return nil
}

// Revert implements Reverter.
func (s AdapterSession) Revert(ctx context.Context, messageID string) error {
	if x, ok := adapters.As[adapters.Reverter](s.S); ok {
		return x.Revert(ctx, messageID)
	}
	return adapters.ErrUnsupported
}

// Rewind implements Rewinder.
func (s AdapterSession) Rewind(ctx context.Context, messageID string, dry bool) error {
	if x, ok := adapters.As[adapters.Rewinder](s.S); ok {
		_, err := x.Rewind(ctx, messageID, dry)
		return err
	}
	return adapters.ErrUnsupported
}

// Compact implements Compacter.
func (s AdapterSession) Compact(ctx context.Context) error {
	if x, ok := adapters.As[adapters.Compacter](s.S); ok {
		return x.Compact(ctx)
	}
	return adapters.ErrUnsupported
}

// Archive implements Archiver.
func (s AdapterSession) Archive(ctx context.Context) error {
	if x, ok := adapters.As[adapters.Archiver](s.S); ok {
		return x.Archive(ctx)
	}
	return adapters.ErrUnsupported
}

// Rename implements Renamer.
func (s AdapterSession) Rename(ctx context.Context, name string) error {
	if x, ok := adapters.As[adapters.Renamer](s.S); ok {
		return x.Rename(ctx, name)
	}
	return adapters.ErrUnsupported
}

// firstSession names the session that is opened first.
const firstSession = "s1"

// TaskStopper is a Session that can end what runs in the background, by the
// task_id that its events gave to it.
type TaskStopper interface {
	StopTask(ctx context.Context, taskID string) error
}

// AllStopper is a Session that can stop the turn and take back all messages that
// wait behind it.
type AllStopper interface {
	StopAll(ctx context.Context) error
}

// Queuer is a Session whose runtime has a queue: a message may have a priority
// (now, next, later), and be taken back while it waits.
type Queuer interface {
	SendAt(ctx context.Context, id, text, priority string) error
	Withdraw(ctx context.Context, id string) error
}

func (s AdapterSession) StopAll(ctx context.Context) error {
	st, ok := adapters.As[adapters.AllStopper](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.StopAll(ctx)
}

func (s AdapterSession) StopTask(ctx context.Context, id string) error {
	st, ok := adapters.As[adapters.TaskStopper](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.StopTask(ctx, id)
}

func (s AdapterSession) SendAt(ctx context.Context, id, text, priority string) error {
	return s.S.Send(ctx, adapters.Message{ID: id, Text: text, Priority: adapters.Priority(priority)})
}

func (s AdapterSession) Withdraw(ctx context.Context, id string) error {
	w, ok := adapters.As[adapters.Withdrawer](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return w.Withdraw(ctx, id)
}

// Backlogger is a Session that reports its backlog: how many events wait for the
// listener, and how long the oldest has waited.
type Backlogger interface {
	Backlog() (depth int, oldest time.Duration)
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
