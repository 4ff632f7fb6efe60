package adapters

import (
	"context"

	"github.com/turnspec/turnspec/adapters/op"
)

// Do runs an optional operation on a session. Of the chain of s, as As describes it, it uses
// the outermost session that implements the interface of the operation, such as Withdrawer, or
// op.Doer. It returns ErrUnsupported if there is none. The result is nil, or what the method of
// the interface returns beside its error: Rewound, []Listed.
func Do(ctx context.Context, s Session, c op.Call) (any, error) {
	do := operator(s, c.Do)
	if do == nil {
		return nil, ErrUnsupported
	}
	return do(ctx, c)
}

// CanDo reports whether Do finds a session for the operation. Like As it looks at types only.
func CanDo(s Session, name string) bool { return operator(s, name) != nil }

// operator returns the function that runs an operation on the outermost session of the chain
// that has it, or nil.
func operator(s Session, name string) operation {
	of := operations[name]
	for s != nil && of != nil {
		if do := of(s); do != nil {
			return do
		}
		if d, ok := s.(op.Doer); ok {
			return d.Do
		}
		w, ok := s.(interface{ Unwrap() Session })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	return nil
}

// operation runs an operation on the session that it was made for.
type operation func(ctx context.Context, c op.Call) (any, error)

// AddOperation adds an operation that this module does not have, with its interface T. It
// must be called before any scenario is parsed, from an init function or TestMain.
func AddOperation[T any](o *op.Op, call func(x T, ctx context.Context, c op.Call) (any, error)) {
	op.Add(o)
	operations[o.Name] = by(call)
}

// by returns a function that returns nil for a session that does not implement the interface T.
func by[T any](call func(x T, ctx context.Context, c op.Call) (any, error)) func(Session) operation {
	return func(s Session) operation {
		x, ok := s.(T)
		if !ok {
			return nil
		}
		return func(ctx context.Context, c op.Call) (any, error) { return call(x, ctx, c) }
	}
}

// The interfaces of the optional operations, which As finds and Do calls. Capabilities.Can names
// the operations; if a session has one by its type, but its runtime or that version of it lacks
// it, the method returns ErrUnsupported.

// Steerer is a Session that can add a message to the running turn.
type Steerer interface {
	Steer(ctx context.Context, m Message) error
}

// ModelSetter is a Session that can change its model: at once if the runtime
// supports that, else with the next message. The event model_changed marks when
// the new one is in force.
type ModelSetter interface {
	SetModel(ctx context.Context, model string) error
}

// ModeSetter is a Session that can change its permission mode to one of the Modes
// or to a mode of the runtime's, at the same moment as ModelSetter. The event
// mode_changed marks when it is in force. An open question stays open.
type ModeSetter interface {
	SetMode(ctx context.Context, mode string) error
}

// AllStopper is a Session that can stop the turn and withdraw all queued messages,
// so that none of them runs next.
type AllStopper interface {
	StopAll(ctx context.Context) error
}

// TaskStopper is a Session that can stop a background command or a sub-agent, by
// the task_id of its task. The task's last event reports the end.
type TaskStopper interface {
	StopTask(ctx context.Context, taskID string) error
}

// Withdrawer is a Session that can withdraw a queued message. Withdraw returns
// ErrUnknownID if the runtime has taken the message already.
type Withdrawer interface {
	Withdraw(ctx context.Context, messageID string) error
}

// Reverter is a Session whose history can be cut: the model no longer sees the
// message and all that followed it. Files stay as they are. The session emits
// checkpoint, restored, with the message's id. Revert returns ErrUnknownID if this
// session has not seen the message.
type Reverter interface {
	Revert(ctx context.Context, messageID string) error
}

// Rewinder is a Session that can restore files to their state at the time of a
// message, if Options.Checkpoints asked for copies. The history stays. The session
// emits checkpoint, restored, with the message's id; a dry run emits no event.
type Rewinder interface {
	Rewind(ctx context.Context, messageID string, dry bool) (Rewound, error)
}

// Rewound holds the changes of a rewind. Some runtimes report them only for a dry
// run.
type Rewound struct {
	Files      []string `json:"files,omitempty"`
	Insertions int      `json:"insertions,omitzero"`
	Deletions  int      `json:"deletions,omitzero"`
}

// Compacter is a Session whose history can be summarized on request. Compact
// returns when the runtime has the request. The work is a turn with cause command,
// with a compaction event at its beginning and its end.
type Compacter interface {
	Compact(ctx context.Context) error
}

// Archiver is a Session that can be archived: it ends, and it can be opened again
// only with Options.Unarchive.
type Archiver interface {
	Archive(ctx context.Context) error
}

// Renamer is a Session that can be named in the runtime's own list of sessions.
type Renamer interface {
	Rename(ctx context.Context, name string) error
}

// operations has the call of each operation's interface, by the name of its row.
var operations = map[string]func(Session) operation{
	op.Steer.Name: by(func(x Steerer, ctx context.Context, c op.Call) (any, error) {
		return nil, x.Steer(ctx, Message{ID: c.MessageID, Text: c.Text})
	}),
	op.SetModel.Name: by(func(x ModelSetter, ctx context.Context, c op.Call) (any, error) { return nil, x.SetModel(ctx, c.Model) }),
	op.SetMode.Name:  by(func(x ModeSetter, ctx context.Context, c op.Call) (any, error) { return nil, x.SetMode(ctx, c.Mode) }),
	op.StopAll.Name:  by(func(x AllStopper, ctx context.Context, _ op.Call) (any, error) { return nil, x.StopAll(ctx) }),
	op.StopTask.Name: by(func(x TaskStopper, ctx context.Context, c op.Call) (any, error) {
		return nil, x.StopTask(ctx, c.TaskID)
	}),
	op.Withdraw.Name: by(func(x Withdrawer, ctx context.Context, c op.Call) (any, error) {
		return nil, x.Withdraw(ctx, c.MessageID)
	}),
	op.Revert.Name: by(func(x Reverter, ctx context.Context, c op.Call) (any, error) { return nil, x.Revert(ctx, c.MessageID) }),
	op.Rewind.Name: by(func(x Rewinder, ctx context.Context, c op.Call) (any, error) {
		return x.Rewind(ctx, c.MessageID, c.Dry)
	}),
	op.Compact.Name: by(func(x Compacter, ctx context.Context, _ op.Call) (any, error) { return nil, x.Compact(ctx) }),
	op.Archive.Name: by(func(x Archiver, ctx context.Context, _ op.Call) (any, error) { return nil, x.Archive(ctx) }),
	op.Rename.Name:  by(func(x Renamer, ctx context.Context, c op.Call) (any, error) { return nil, x.Rename(ctx, c.Text) }),
	op.List.Name:    by(func(x Lister, ctx context.Context, c op.Call) (any, error) { return x.List(ctx, List(c.List)) }),
}
