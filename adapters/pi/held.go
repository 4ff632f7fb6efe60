package pi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// prompt writes a message, or holds it back until the runtime has replied to the message or
// to the compaction before it. A runtime that gets two messages before it has begun a turn
// accepts both and drops the second. During a compaction it begins a turn at once, on the
// history that the compaction is about to replace.
func (c *client) prompt(s *sentMessage, images []image) {
	if c.expectsReply() {
		c.held = append(c.held, func() { c.writePrompt(s, images) })
		return
	}
	c.writePrompt(s, images)
}

// expectsReply reports whether a command is pending after which alone a message can follow.
func (c *client) expectsReply() bool {
	for _, k := range c.calls {
		if k.command == "prompt" || k.command == "compact" {
			return true
		}
	}
	return false
}

func (c *client) writePrompt(s *sentMessage, images []image) {
	cmd := command{Type: "prompt", Message: &s.text, Images: images}
	switch {
	case s.via != event.ViaMerge:
	case c.t.l.Turn() != nil || c.Starting():
		cmd.Behavior = "followUp"
	default: // the turn that it was to wait for has ended
		s.via = event.ViaTurn
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
