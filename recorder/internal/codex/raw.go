package codex

import (
	"context"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// startsTurn are requests that start a turn without a message.
var startsTurn = map[string]bool{"review/start": true, "thread/shellCommand": true}

// follows are the notifications that follow a request, in versions that know it.
var follows = map[string]string{
	"thread/goal/set": "thread/goal/updated", "thread/goal/clear": "thread/goal/cleared",
	"thread/delete": "thread/deleted",
}

// Raw implements drive.Client. After a good reply it waits for the turn or
// the notification that follows.
func (c *client) Raw(_ context.Context, s fixtures.Step) error {
	method := c.d.Runtime.Wire.ReadInput([]byte(s.Text)).Method
	starts := c.turn == "" && startsTurn[method]
	if starts {
		c.turn = starting
	}
	then := follows[method]
	if method == "thread/shellCommand" && !starts {
		then = "item/completed" // it runs in the turn, in which the model sends nothing now
	}
	delete(c.seen, then)
	c.past.accepted = false
	if err := c.d.WriteRequest(c.past.raw, strings.NewReplacer("THREAD", c.thread, "TURN", c.turn).Replace(s.Text)); err != nil {
		return err
	}
	if c.past.accepted {
		return c.waitSeen(then)
	}
	if starts && c.turn == starting {
		c.turn = ""
	}
	return nil
}

// readRawReply reads the reply to a raw line. The reply to a review names its
// turn, which gets another id when it starts. A review in a thread of its own is
// handled like a sub-agent.
func (c *client) readRawReply(l wire.Line) {
	c.past.accepted = !l.Failed
	var p struct {
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
		Review string `json:"reviewThreadId"`
	}
	switch {
	case wire.Decode(l.Result, &p) != nil || p.Turn.ID == "" || c.turn != starting:
	case p.Review != "" && p.Review != c.thread:
		c.turn = ""
		if a := c.agentOf(p.Review); a.turn == "" {
			a.turn = p.Turn.ID
		}
	default:
		c.turn, c.begun[p.Turn.ID] = p.Turn.ID, true
	}
}
