package codex

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// thread-wide acts: what a client does to the session and not to its turn.

// chat is a session with all that this runtime can do.
type chat struct {
	*session.Session
	c *client
}

var (
	_ adapters.Session     = chat{}
	_ adapters.Steerer     = chat{}
	_ adapters.Backlogger  = chat{}
	_ adapters.Reverter    = chat{}
	_ adapters.Compacter   = chat{}
	_ adapters.Archiver    = chat{}
	_ adapters.Renamer     = chat{}
	_ adapters.Transcriber = adapter{}
)

// Transcribe implements adapters.Transcriber.
func (adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return NewNormalizer(sessionID, emit)
}

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

// thread asks for something about the thread and tells how it went.
func (c *client) thread(method string, params any, reply func(error)) {
	c.ask(method, params, func(_ *result, err error) { reply(err) })
}

// Revert implements adapters.Reverter. Older versions take turns back by their
// number, counted from the end.
func (s chat) Revert(ctx context.Context, messageID string) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		at := slices.IndexFunc(c.taken, func(p taken) bool { return slices.Contains(p.messages, messageID) })
		if at < 0 {
			reply(fmt.Errorf("revert: %w: %q", adapters.ErrUnknownID, messageID))
			return
		}
		method, params := "thread/revert", any(revertParams{c.t.main.id, c.taken[at].turn})
		if c.t.rollsBack() {
			method, params = "thread/rollback", rollbackParams{c.t.main.id, len(c.taken) - at}
		}
		c.ask(method, params, func(_ *result, err error) {
			if err == nil {
				c.taken = c.taken[:at]
				c.t.l.Session(event.Checkpoint{CheckpointID: messageID, Action: event.CheckpointRestored})
			}
			reply(err)
		})
	})
}

// Compact implements adapters.Compacter.
func (s chat) Compact(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		if c.t.main.on || c.Starting() || c.commands > 0 {
			reply(fmt.Errorf("compact: a turn is running"))
			return
		}
		c.commands++
		c.thread("thread/compact/start", idParams{c.t.main.id}, func(err error) {
			if err != nil {
				c.commands--
			}
			reply(err)
		})
	})
}

// Archive implements adapters.Archiver.
func (s chat) Archive(ctx context.Context) error {
	err := s.Do(ctx, func(reply func(error)) {
		s.c.thread("thread/archive", idParams{s.c.t.main.id}, reply)
	})
	if err != nil {
		return err
	}
	return s.Close(ctx)
}

// Rename implements adapters.Renamer.
func (s chat) Rename(ctx context.Context, name string) error {
	return s.Do(ctx, func(reply func(error)) {
		s.c.thread("thread/name/set", nameParams{s.c.t.main.id, name}, reply)
	})
}

// taken is a turn and the messages that it took.
type taken struct {
	turn     string
	messages []string
}

// took remembers in which turn a message is: a client may revert to it.
func (c *client) remember(turn, message string) {
	if n := len(c.taken); n == 0 || c.taken[n-1].turn != turn {
		c.taken = append(c.taken, taken{turn: turn})
	}
	last := &c.taken[len(c.taken)-1]
	last.messages = append(last.messages, message)
}

// rollsBack reports whether the runtime is one that counts the turns to take
// back (thread/rollback): all before 0.169 did.
func (t *translator) rollsBack() bool {
	var major, minor int
	n, _ := fmt.Sscanf(t.version, "%d.%d", &major, &minor)
	return n == 2 && major == 0 && minor < 169
}
