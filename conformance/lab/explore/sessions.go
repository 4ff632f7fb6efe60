package explore

import "fmt"

// rest ends the background work and waits until nothing runs.
func (c *composer) rest() {
	c.finishTasks()
	c.step("wait idle")
}

func stopWhenIdle(c *composer) {
	c.rest()
	c.step("stop")
}

func resume(c *composer) {
	c.rest()
	c.step("close")
	c.step("open resume")
}

func fork(c *composer) {
	c.rest()
	c.step("close")
	c.step("open fork")
}

func kill(c *composer) {
	c.rest()
	c.step("kill SIGKILL")
	c.step("open resume")
}

// compact lets the runtime summarize the history.
func compact(c *composer) {
	c.rest()
	c.step("compact")
	switch c.rng.IntN(4) {
	case 0:
		hold := c.newHold()
		c.replyTo("compact", textPart("<summary>They spoke"), object{"hold": hold})
		c.step("wait hold %s", hold)
		c.step("stop")
	case 1:
		c.replyTo("compact", object{"fail": object{"status": 400, "body": object{"type": "error", "error": object{"type": "invalid_request_error", "message": "no summary today"}}}})
	default:
		c.replyTo("compact", textPart(fmt.Sprintf("<summary>They spoke of %d rooms.</summary>", c.newMark())))
	}
	c.step("wait idle")
}

// askFromNow changes the mode so that the runtime asks.
func askFromNow(c *composer) {
	c.step("set mode ask")
	c.mode = "ask"
}

func otherModel(c *composer) { c.step("set model %s:%s", c.runtime.name, c.runtime.otherModel) }

func nameSession(c *composer) {
	c.rest()
	c.step("name Session %d", c.newMark())
}

// revert removes the last turn.
func revert(c *composer) {
	c.rest()
	c.step("revert m%d", c.messages)
}

func archive(c *composer) {
	c.rest()
	c.step("archive")
	c.step("close")
	c.step("open unarchive")
}
