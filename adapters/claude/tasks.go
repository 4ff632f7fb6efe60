package claude

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
)

type stopTask struct {
	Subtype string `json:"subtype"`
	TaskID  string `json:"task_id"`
}

type cancelMessage struct {
	Subtype string `json:"subtype"`
	UUID    string `json:"message_uuid"`
}

// StopTask implements session.TaskStopper.
func (p *protocol) StopTask(id string, done func(error)) {
	for task, a := range p.t.agents.byTask {
		if a.id == id {
			p.ask(stopTask{"stop_task", task}, func(r *reply, err error) { done(replyError("stop task", r, err)) })
			return
		}
	}
	done(fmt.Errorf("stop task: %w: %q", adapters.ErrUnknownID, id))
}

// Withdraw implements session.Withdrawer. The runtime says whether the message
// still waited; where it tells of lifecycles, it tells the queue too.
func (p *protocol) Withdraw(id string, done func(error)) {
	m := &p.t.mail
	i := slices.IndexFunc(m.waiting, func(l letter) bool { return l.id == id })
	if i < 0 {
		done(fmt.Errorf("withdraw: %w: %q", adapters.ErrUnknownID, id))
		return
	}
	uuid := m.waiting[i].uuid
	p.ask(cancelMessage{"cancel_async_message", uuid}, func(r *reply, err error) {
		if err = replyError("withdraw", r, err); err == nil && !r.Response.Cancelled {
			err = fmt.Errorf("withdraw: %w: %q was taken", adapters.ErrUnknownID, id)
		}
		if err == nil {
			if _, waits := m.pick(uuid); waits {
				p.t.queue()
			}
		}
		done(err)
	})
}

// replyError is what a reply says went wrong.
func replyError(what string, r *reply, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case r.Subtype != "success":
		return fmt.Errorf("%s: %w", what, errors.New(string(r.Error)))
	}
	return nil
}
