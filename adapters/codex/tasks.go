package codex

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters"
)

// StopTask implements session.TaskStopper: a sub-agent's turn is interrupted, a
// command in the background is ended. Older versions have no request for the
// latter.
func (c *client) StopTask(id string, reply func(error)) {
	then := func(_ *result, err error) {
		if err != nil {
			err = fmt.Errorf("stop task: %w", err)
		}
		reply(err)
	}
	for _, th := range append([]*thread{c.t.main}, c.t.subs...) {
		if th.sub && th.id == id && th.on {
			c.ask("turn/interrupt", interruptParams{th.id, th.turn}, then)
			return
		}
		for _, item := range th.background {
			if c.t.commandTask(th, item) != id || th.processes[item] == "" {
				continue
			}
			c.ask("thread/backgroundTerminals/terminate", terminateParams{th.id, th.processes[item]}, then)
			return
		}
	}
	reply(fmt.Errorf("stop task: %w", adapters.ErrUnsupported))
}
