package pi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
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
	_ adapters.Renamer     = liveSession{}
	_ adapters.Lister      = liveSession{}
	_ adapters.ModelSetter = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

// SetModel implements adapters.ModelSetter. A model without a provider is one of the
// provider in use.
func (s liveSession) SetModel(ctx context.Context, value string) error {
	if value == "" {
		return fmt.Errorf("set model: the value is empty")
	}
	return s.Do(ctx, func(reply func(error)) {
		provider, id, ok := strings.Cut(value, "/")
		if !ok {
			provider, id = string(s.c.t.model.Provider), value
		}
		s.c.send(command{Type: "set_model", Provider: provider, ModelID: id}, true, func(_ jsontext.Value, err error) { reply(err) })
	})
}

// Compact implements adapters.Compacter. The reply comes after the work, of which events
// report the end.
func (s liveSession) Compact(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		if c.t.l.Turn() != nil || c.Starting() {
			reply(fmt.Errorf("compact: a turn is running"))
			return
		}
		c.compactAsked = true
		c.send(command{Type: "compact"}, false, func(_ jsontext.Value, err error) {
			if c.compactAsked { // it was refused
				c.compactAsked = false
				c.early.Cancel()
			}
			if err != nil && c.t.command {
				c.t.command = false
				c.t.l.Error(errorOf(err.Error()))
			}
			c.writeHeld()
		})
		reply(nil)
	})
}

// Rename implements adapters.Renamer.
func (s liveSession) Rename(ctx context.Context, name string) error {
	return s.Do(ctx, func(reply func(error)) {
		s.c.send(command{Type: "set_session_name", Name: &name}, true, func(_ jsontext.Value, err error) { reply(err) })
	})
}

// Revert implements adapters.Reverter. The runtime goes on in a copy of the session that
// ends before the message.
func (s liveSession) Revert(ctx context.Context, messageID string) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		at := slices.IndexFunc(c.seen, func(m seenMessage) bool { return m.id == messageID })
		if at < 0 {
			reply(fmt.Errorf("revert: %w: %q", adapters.ErrUnknownID, messageID))
			return
		}
		c.send(command{Type: "get_fork_messages"}, true, func(v jsontext.Value, err error) {
			if err != nil {
				reply(err)
				return
			}
			c.fork(v, at, reply)
		})
	})
}

// fork continues in a copy that ends before the message with this index.
func (c *client) fork(list jsontext.Value, at int, reply func(error)) {
	entries := lenient.Decode[struct {
		Messages []struct {
			Entry lenient.Str `json:"entryId"`
			Text  lenient.Str `json:"text"`
		} `json:"messages"`
	}](list).Messages
	// The messages of this session are the last in the list.
	n := len(entries) - len(c.seen) + at
	if n < 0 || string(entries[n].Text) != c.seen[at].text {
		reply(fmt.Errorf("revert: %w: the runtime does not list the message", adapters.ErrUnknownID))
		return
	}
	c.send(command{Type: "fork", Entry: string(entries[n].Entry)}, true, func(_ jsontext.Value, err error) {
		if err != nil {
			reply(err)
			return
		}
		id := c.seen[at].id
		c.seen = c.seen[:at]
		c.send(command{Type: "get_state"}, true, func(jsontext.Value, error) {
			c.t.l.Session(event.Checkpoint{CheckpointID: id, Action: event.CheckpointRestored})
			reply(nil)
		})
	})
}
