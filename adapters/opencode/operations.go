package opencode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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
	_ adapters.Backlogger  = liveSession{}
	_ adapters.Reverter    = liveSession{}
	_ adapters.Compacter   = liveSession{}
	_ adapters.Renamer     = liveSession{}
	_ adapters.Lister      = liveSession{}
	_ adapters.ModelSetter = liveSession{}
	_ adapters.ModeSetter  = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

// SetModel implements session.Setter. Each message names its model, so that the next one
// brings it into force.
func (c *client) SetModel(model string, reply func(error)) {
	if m := c.modelOf(model); m.Provider == "" {
		reply(fmt.Errorf("set model: %q: want PROVIDER/MODEL", model))
		return
	}
	c.model = model
	reply(nil)
}

// SetMode implements session.Setter.
func (c *client) SetMode(mode string, reply func(error)) {
	if _, ok := askedPermissions[mode]; !ok {
		reply(fmt.Errorf("set mode: unknown mode %q: want one of %s", mode, strings.Join(slices.Sorted(maps.Keys(askedPermissions)), ", ")))
		return
	}
	c.send("PATCH", c.sessionPath(""), map[string]any{"permission": c.rules(mode)}, true, func(_ jsontext.Value, err error) {
		if err == nil {
			c.mode = mode
			c.t.l.Emit(event.ModeChanged{Value: mode})
		}
		reply(err)
	})
}

// Compact implements adapters.Compacter. The reply comes after the work, of which events
// report the end.
func (s liveSession) Compact(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		m := c.modelOf(c.t.summaryModel())
		switch {
		case c.t.l.Turn() != nil || c.Starting():
			reply(fmt.Errorf("compact: a turn is running"))
			return
		case m == nil:
			reply(fmt.Errorf("compact: no model was used yet"))
			return
		}
		c.compacting = true
		c.send("POST", c.sessionPath("/summarize"), m, false, func(_ jsontext.Value, err error) {
			if c.compacting && err != nil {
				c.compacting = false
				c.early.Cancel()
				c.t.l.Notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
			}
		})
		reply(nil)
	})
}

// Rename implements adapters.Renamer.
func (s liveSession) Rename(ctx context.Context, name string) error {
	return s.Do(ctx, func(reply func(error)) {
		s.c.send("PATCH", s.c.sessionPath(""), map[string]string{"title": name}, true, func(_ jsontext.Value, err error) { reply(err) })
	})
}

// Revert implements adapters.Reverter. The runtime restores the files too if it has kept
// copies of them.
func (s liveSession) Revert(ctx context.Context, messageID string) error {
	return s.Do(ctx, func(reply func(error)) {
		c := s.c
		at := slices.IndexFunc(c.seen, func(m seenMessage) bool { return m.id == messageID })
		if at < 0 {
			reply(fmt.Errorf("revert: %w: %q", adapters.ErrUnknownID, messageID))
			return
		}
		c.send("POST", c.sessionPath("/revert"), map[string]string{"messageID": c.seen[at].wire}, true, func(_ jsontext.Value, err error) {
			if err == nil {
				c.seen = c.seen[:at]
				c.t.l.Session(event.Checkpoint{CheckpointID: messageID, Action: event.CheckpointRestored})
			}
			reply(err)
		})
	})
}
