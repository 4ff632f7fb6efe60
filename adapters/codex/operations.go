package codex

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// liveSession is a session with the optional abilities of this runtime.
type liveSession struct {
	*session.Session
	c *client
}

var (
	_ adapters.Session     = liveSession{}
	_ adapters.Steerer     = liveSession{}
	_ adapters.Backlogger  = liveSession{}
	_ adapters.Reverter    = liveSession{}
	_ adapters.Compacter   = liveSession{}
	_ adapters.Archiver    = liveSession{}
	_ adapters.Renamer     = liveSession{}
	_ adapters.Lister      = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

type idParams struct {
	ThreadID string `json:"threadId"`
}

type revertParams struct {
	ThreadID     string `json:"threadId"`
	BeforeTurnID string `json:"beforeTurnId"`
}

type rollbackParams struct {
	ThreadID string `json:"threadId"`
	NumTurns int    `json:"numTurns"`
}

type nameParams struct {
	ThreadID string `json:"threadId"`
	Name     string `json:"name"`
}

// callThread sends a request about the thread and replies with its error.
func (c *client) callThread(method string, params any, reply func(error)) {
	c.sendRequest(method, params, func(_ *result, err error) { reply(err) })
}

// Revert implements adapters.Reverter. Older versions roll back a number of
// turns from the end.
func (s liveSession) Revert(ctx context.Context, messageID string) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		at := slices.IndexFunc(c.takenTurns, func(p takenTurn) bool { return slices.Contains(p.messages, messageID) })
		if at < 0 {
			reply(fmt.Errorf("revert: %w: %q", adapters.ErrUnknownID, messageID))
			return
		}
		method, params := "thread/revert", any(revertParams{c.t.main.id, c.takenTurns[at].turn})
		if c.t.usesRollback() {
			method, params = "thread/rollback", rollbackParams{c.t.main.id, len(c.takenTurns) - at}
		}
		c.sendRequest(method, params, func(_ *result, err error) {
			if err == nil {
				c.takenTurns = c.takenTurns[:at]
				c.t.l.Session(event.Checkpoint{CheckpointID: messageID, Action: event.CheckpointRestored})
			}
			reply(err)
		})
	})
}

// Compact implements adapters.Compacter.
func (s liveSession) Compact(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		if c.t.main.running || c.Starting() || c.pendingCommands > 0 {
			reply(fmt.Errorf("compact: a turn is running"))
			return
		}
		c.pendingCommands++
		c.callThread("thread/compact/start", idParams{c.t.main.id}, func(err error) {
			if err != nil {
				c.pendingCommands--
				c.early.Cancel()
			}
			reply(err)
		})
	})
}

// Archive implements adapters.Archiver.
func (s liveSession) Archive(ctx context.Context) error {
	err := s.Do(ctx, func(reply func(error)) {
		s.c.callThread("thread/archive", idParams{s.c.t.main.id}, reply)
	})
	if err != nil {
		return err
	}
	return s.Close(ctx)
}

// Rename implements adapters.Renamer.
func (s liveSession) Rename(ctx context.Context, name string) error {
	return s.Do(ctx, func(reply func(error)) {
		s.c.callThread("thread/name/set", nameParams{s.c.t.main.id, name}, reply)
	})
}

// takenTurn is a turn and the messages that it took.
type takenTurn struct {
	turn     string
	messages []string
}

// recordTaken records the turn of a message for Revert.
func (c *client) recordTaken(turn, message string) {
	if n := len(c.takenTurns); n == 0 || c.takenTurns[n-1].turn != turn {
		c.takenTurns = append(c.takenTurns, takenTurn{turn: turn})
	}
	last := &c.takenTurns[len(c.takenTurns)-1]
	last.messages = append(last.messages, message)
}

// usesRollback reports whether the runtime has thread/rollback, as all versions
// before 0.169.
func (t *translator) usesRollback() bool { return minorVersion(t.version) < 169 }

// StopTask implements session.TaskStopper. It interrupts a sub-agent's turn, or
// ends a background command, for which older versions have no request.
func (c *client) StopTask(id string, reply func(error)) {
	then := func(_ *result, err error) {
		if err != nil {
			err = fmt.Errorf("stop task: %w", err)
		}
		reply(err)
	}
	for _, th := range append([]*thread{c.t.main}, c.t.subs...) {
		if th.sub && th.id == id && th.running {
			c.sendRequest("turn/interrupt", interruptParams{th.id, th.turn}, then)
			return
		}
		for _, item := range th.background {
			if c.t.commandTask(th, item) != id || th.processes[item] == "" {
				continue
			}
			c.sendRequest("thread/backgroundTerminals/terminate", terminateParams{th.id, th.processes[item]}, then)
			return
		}
	}
	reply(fmt.Errorf("stop task: %w", adapters.ErrUnsupported))
}
