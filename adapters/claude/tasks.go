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

type interrupt struct {
	Subtype string `json:"subtype"`
	Queued  bool   `json:"cancel_queued,omitzero"`
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
		if err = replyError("withdraw", r, err); err == nil && string(r.Response.Cancelled) != "true" {
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

// StopAll implements session.AllStopper.
func (p *protocol) StopAll(done func(error)) {
	if p.h.Ledger().Turn() == nil {
		p.wantStop, p.wantAll = true, true
	} else {
		p.interrupt(true)
	}
	done(nil)
}

// withdrawAll takes back what waits, one by one: older versions do not know how
// to do it with the stop.
func (p *protocol) withdrawAll() {
	for _, id := range p.t.mail.queued() {
		p.Withdraw(id, func(error) {}) // what was taken already is stopped
	}
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
