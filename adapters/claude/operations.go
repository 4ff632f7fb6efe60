package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// sessionWithoutSteer is what a session.Session offers here: the runtime cannot
// steer.
type sessionWithoutSteer interface {
	adapters.Session
	adapters.Backlogger
	adapters.ModelSetter
	adapters.ModeSetter
	adapters.TaskStopper
	adapters.Withdrawer
	adapters.AllStopper
	Do(ctx context.Context, f func(reply func(error))) error
}

type liveSession struct {
	sessionWithoutSteer
	p *protocol
}

var (
	_ sessionWithoutSteer  = (*session.Session)(nil)
	_ adapters.Rewinder    = liveSession{}
	_ adapters.Compacter   = liveSession{}
	_ adapters.Renamer     = liveSession{}
	_ adapters.Lister      = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

// checkpointVar makes the runtime keep copies of the files that it changes.
const checkpointVar = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"

// compactCommand is a command of the runtime, sent as a message.
const compactCommand = "/compact"

// controlBody is the body of a control request. Each subtype has some of the
// fields.
type controlBody struct {
	Subtype      string  `json:"subtype"`
	Model        string  `json:"model,omitempty"`
	Mode         string  `json:"mode,omitempty"`
	TaskID       string  `json:"task_id,omitempty"`
	MessageUUID  string  `json:"message_uuid,omitempty"`
	CancelQueued bool    `json:"cancel_queued,omitzero"`
	UserMessage  string  `json:"user_message_id,omitempty"`
	DryRun       bool    `json:"dry_run,omitzero"`
	Title        *string `json:"title,omitzero"`
}

// replyError returns the error of a reply.
func replyError(op string, r *reply, err error) error {
	if err == nil && r.Subtype != "success" {
		err = errors.New(string(r.Error))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// refusalError is replyError for requests whose rejection is
// adapters.ErrRefused.
func refusalError(op string, r *reply, err error) error {
	if err == nil && r.Subtype != "success" {
		err = fmt.Errorf("%w: %s", adapters.ErrRefused, r.Error)
	}
	return replyError(op, r, err)
}

// SetModel implements session.Setter. The reply has the full name of the model.
func (p *protocol) SetModel(model string, done func(error)) {
	p.sendRequest(controlBody{Subtype: "set_model", Model: model}, func(r *reply, err error) {
		if err = refusalError("set model", r, err); err == nil {
			p.t.modelChanged(cmp.Or(string(r.Response.Model), model))
		}
		done(err)
	})
}

// SetMode implements session.Setter. A status line confirms the change.
func (p *protocol) SetMode(mode string, done func(error)) {
	p.sendRequest(controlBody{Subtype: "set_permission_mode", Mode: modeFlag(mode)}, func(r *reply, err error) {
		done(refusalError("set mode", r, err))
	})
}

// StopTask implements session.TaskStopper.
func (p *protocol) StopTask(id string, done func(error)) {
	for task, a := range p.t.agents.byTask {
		if a.id == id {
			p.sendRequest(controlBody{Subtype: "stop_task", TaskID: task}, func(r *reply, err error) { done(replyError("stop task", r, err)) })
			return
		}
	}
	done(fmt.Errorf("stop task: %w: %q", adapters.ErrUnknownID, id))
}

// Withdraw implements session.Withdrawer. The reply reports whether the message
// still waited. If the runtime reports lifecycles, a lifecycle also updates the
// queue.
func (p *protocol) Withdraw(id string, done func(error)) {
	q := &p.t.queue
	i := slices.IndexFunc(q.waiting, func(m queuedMessage) bool { return m.id == id })
	if i < 0 {
		done(fmt.Errorf("withdraw: %w: %q", adapters.ErrUnknownID, id))
		return
	}
	uuid := q.waiting[i].uuid
	p.sendRequest(controlBody{Subtype: "cancel_async_message", MessageUUID: uuid}, func(r *reply, err error) {
		if err = replyError("withdraw", r, err); err == nil && string(r.Response.Cancelled) != "true" {
			err = fmt.Errorf("withdraw: %w: %q was already taken", adapters.ErrUnknownID, id)
		}
		if err == nil {
			if _, waits := q.takeByUUID(uuid); waits {
				p.t.emitQueue()
			}
		}
		done(err)
	})
}

// Stop implements session.Protocol. A stop that comes before the turn has begun
// is sent when it begins, because an idle runtime ignores it.
func (p *protocol) Stop(done func(error)) { p.stop(false, done) }

// StopAll implements session.AllStopper.
func (p *protocol) StopAll(done func(error)) { p.stop(true, done) }

func (p *protocol) stop(all bool, done func(error)) {
	p.early.Stop(p.h.Ledger().Turn() != nil, func() { p.interrupt(all) })
	done(nil)
}

// interrupt stops the turn and, if all is set, cancels the waiting messages.
func (p *protocol) interrupt(all bool) {
	p.t.turn.interrupted = true
	if all && p.unversioned {
		// Older versions cannot cancel them with the interrupt. Those that were
		// taken already are stopped by it.
		for _, id := range p.t.queue.waitingIDs() {
			p.Withdraw(id, func(error) {})
		}
		all = false
	}
	// The turn's end is the answer; the stop limit guards it.
	p.sendRequest(controlBody{Subtype: "interrupt", CancelQueued: all}, func(*reply, error) {})
}

// Rewind implements adapters.Rewinder.
func (s liveSession) Rewind(ctx context.Context, messageID string, dry bool) (adapters.Rewound, error) {
	var out adapters.Rewound
	err := s.Do(ctx, func(done func(error)) {
		body := controlBody{Subtype: "rewind_files", UserMessage: wireUUID(s.p.o.SessionID, messageID), DryRun: dry}
		s.p.sendRequest(body, func(r *reply, err error) {
			err = replyError("rewind", r, err)
			switch {
			case err != nil:
			case dry && !r.Response.CanRewind:
				err = fmt.Errorf("rewind: %s", cmp.Or(string(r.Response.Error), "the files cannot be restored"))
			default:
				out = adapters.Rewound{Insertions: int(r.Response.Insertions), Deletions: int(r.Response.Deletions)}
				for _, f := range r.Response.FilesChanged {
					out.Files = append(out.Files, string(f))
				}
				if !dry {
					s.p.h.Ledger().Session(event.Checkpoint{CheckpointID: messageID, Action: event.CheckpointRestored})
				}
			}
			done(err)
		})
	})
	if err != nil {
		return adapters.Rewound{}, err
	}
	return out, nil
}

// Compact implements adapters.Compacter. The runtime handles the command as a
// message, in a turn without a message of the client.
func (s liveSession) Compact(ctx context.Context) error {
	return s.Do(ctx, func(done func(error)) {
		if s.p.h.Ledger().Turn() != nil || s.p.t.queue.hasMessages() {
			done(errors.New("compact: a turn is running"))
			return
		}
		uuid := newUUID()
		err := s.p.writeJSON(userOut{Type: "user", Message: messageOut{"user", []blockOut{textBlock(compactCommand)}}, UUID: uuid})
		if err == nil {
			s.p.t.queue.enqueue(queuedMessage{uuid: uuid, internal: true}, true)
		}
		done(err)
	})
}

// Rename implements adapters.Renamer.
func (s liveSession) Rename(ctx context.Context, name string) error {
	return s.Do(ctx, func(done func(error)) {
		s.p.sendRequest(controlBody{Subtype: "rename_session", Title: &name}, func(r *reply, err error) {
			done(replyError("rename", r, err))
		})
	})
}
