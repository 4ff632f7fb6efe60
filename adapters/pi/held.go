package pi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// prompt writes a message, or holds it back until the runtime has replied to the message or
// to the compaction before it. A runtime that gets two messages before it has begun a turn
// accepts both and drops the second. During a compaction it begins a turn at once, on the
// history that the compaction is about to replace.
func (c *client) prompt(s *session.SentMessage, images []image) {
	if c.expectsReply() {
		c.held = append(c.held, func() { c.writePrompt(s, images) })
		return
	}
	c.writePrompt(s, images)
}

// expectsReply reports whether a command is pending after which alone a message can follow.
func (c *client) expectsReply() bool {
	return c.calls.Oldest("prompt") > 0 || c.calls.Oldest("compact") > 0
}

func (c *client) writePrompt(s *session.SentMessage, images []image) {
	cmd := command{Type: "prompt", Message: &s.Text, Images: images}
	switch {
	case s.Via != event.ViaMerge:
	case c.t.l.Turn() != nil || c.Starting():
		cmd.Behavior = "followUp"
	default: // the turn that it was to wait for has ended
		s.Via = event.ViaTurn
		c.emitQueue()
	}
	c.send(cmd, true, func(_ jsontext.Value, err error) {
		if err != nil {
			c.messageRefused(s, err)
		}
		c.writeHeld()
	})
}

// writeHeld writes the next message that was held back.
func (c *client) writeHeld() {
	if len(c.held) > 0 && !c.expectsReply() {
		next := c.held[0]
		c.held = c.held[1:]
		next()
	}
}
