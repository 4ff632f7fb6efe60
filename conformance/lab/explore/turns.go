package explore

import "fmt"

// answer ends the turn with a text.
func answer(c *composer) {
	c.addReply(append(c.beginning(), object{"text": c.sentence()})...)
	c.endTurn()
}

// heldReply is a reply that stops halfway until the client releases it, and then calls
// a tool.
func heldReply(c *composer) {
	hold := c.newHold()
	first := c.plainText()
	if c.chance(25) {
		first = object{"think": first["text"]}
	}
	id := c.newTool()
	c.addReply(append(c.simpleProse(), first, object{"hold": hold}, textPart(" goes on."), shell(id, c.safeCommand()))...)
	c.step("wait hold %s", hold)
	c.step("release %s", hold)
	c.allow(id)
}

// safeCommand is a command that is allowed in each mode.
func (c *composer) safeCommand() string { return fmt.Sprintf("echo %d", c.newMark()) }

// messageDuringTool sends a message while a command runs: the runtime takes it into the
// turn with the command's result.
func messageDuringTool(c *composer) {
	_, release := c.beginWaiting()
	verb := "send"
	if c.runtime.has("steer") && c.chance(40) {
		verb = "steer"
		c.needs["steer"] = true
	}
	c.send(verb)
	c.step("write %s: x", release)
}

// messageIntoText sends a message while the model talks: the runtime takes it into the
// turn at once.
func messageIntoText(c *composer) {
	hold := c.newHold()
	c.addReply(append(c.simpleProse(), c.plainText(), object{"hold": hold}, textPart(" is not said."))...)
	c.step("wait hold %s", hold)
	verb := "send"
	if c.runtime.has("steer") && c.chance(40) {
		verb = "steer"
		c.needs["steer"] = true
	}
	c.send(verb)
}

// messageQueued sends messages while the model talks: the runtime keeps them until the
// turn has ended.
func messageQueued(c *composer) {
	hold := c.newHold()
	c.addReply(append(c.simpleProse(), c.plainText(), object{"hold": hold}, textPart(" and ends."))...)
	c.step("wait hold %s", hold)
	if c.runtime.has("withdraw") && c.chance(20) {
		id, text := c.newMessage()
		c.step("send %s: %s", id, text)
		c.step("withdraw %s", id)
	}
	running := c.open
	verb := "send"
	c.open = nil
	id := c.send(verb)
	if priority := pick(c, []string{"", "", "next", "later"}); priority != "" && c.runtime.has("priority") {
		last := len(c.client) - 1
		c.client[last] = fmt.Sprintf("send %s %s%s", id, priority, c.client[last][len("send "+id):])
	}
	c.step("release %s", hold)
	for _, m := range running {
		c.step("wait end %s", m)
	}
	c.turns++
}

// failedOnce is a request that fails once and is repeated.
func failedOnce(c *composer) {
	c.needs["few-retries"] = true
	c.addReply(object{"fail": object{"status": pick(c, []int{500, 529, 503, 429}), "headers": object{"retry-after": "0"}}})
	again := c.newTool()
	c.retry(append(c.beginning(), shell(again, c.safeCommand()))...)
	c.allow(again)
}

// cutAndRetried is a reply whose connection breaks, and is repeated.
func cutAndRetried(c *composer) {
	c.needs["few-retries"] = true
	hold := c.newHold()
	parts := c.simpleProse()
	if c.runtime.continuesCut {
		parts = nil
	}
	part := c.plainText()
	switch c.rng.IntN(4) {
	case 0:
		part = object{"think": part["text"]}
	case 1:
		id := c.newTool()
		part = object{"tool": "shell", "id": id, "input": object{"command": "echo half"}, "open": true}
		c.hide(id, formOpen)
	}
	c.addReply(append(parts, part, object{"hold": hold}, object{"cut": true})...)
	c.step("wait hold %s", hold)
	c.step("release %s", hold)
	again := c.newTool()
	c.retry(append(c.beginning(), shell(again, c.safeCommand()))...)
	c.allow(again)
}

// stopInText stops the turn while the model talks or thinks.
func stopInText(c *composer) {
	hold := c.newHold()
	part := c.plainText()
	if c.chance(30) {
		part = object{"think": part["text"]}
	}
	parts := c.simpleProse()
	if c.chance(20) {
		parts, part = nil, nil
	}
	if part != nil {
		parts = append(parts, part)
	}
	c.addReply(append(parts, object{"hold": hold}, textPart(" never said."))...)
	c.step("wait hold %s", hold)
	c.stop()
}

// stop stops the turns that run.
func (c *composer) stop() {
	c.step("stop")
	if c.runtime.stopsTwice && c.chance(15) {
		c.step("stop")
	}
	ended := c.turns
	c.endTurn()
	c.turns = ended
	if len(c.tasks) == 0 && c.chance(30) {
		c.step("wait idle")
	}
}

// stopInTool stops the turn while a command runs.
func stopInTool(c *composer) {
	_, release := c.beginWaiting()
	c.stop()
	c.step("write %s: x", release)
}

// stopInInput stops the turn while the model writes the input of a call.
func stopInInput(c *composer) {
	hold, id := c.newHold(), c.newTool()
	c.hide(id, formOpen)
	c.addReply(append(c.simpleProse(), object{"tool": "shell", "id": id, "input": object{"command": "wc -l notes.txt"}, "open": true}, object{"hold": hold})...)
	c.step("wait hold %s", hold)
	c.stop()
}

// stopInClientTool stops the turn while a tool of the client runs.
func stopInClientTool(c *composer) {
	name := fmt.Sprintf("slow%d", c.newMark())
	c.sections["tool "+name] = jsonText(object{"description": "Waits.", "awaits": "never.txt", "result": []object{{"text": "Not sent."}}})
	c.addReply(append(c.beginning(), newCall("client", c.newTool(), object{"tool": name}))...)
	c.step("wait call %s", name)
	c.stop()
}

// failForGood ends the turn in an error of the model.
func failForGood(c *composer) {
	c.needs["few-retries"] = true
	fail := object{"status": pick(c, []int{400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 529})}
	if c.chance(30) {
		fail = object{"kind": pick(c, []string{"auth", "billing", "overloaded", "rate", "usage"})}
	}
	c.addReply(object{"fail": fail})
	ended := c.turns
	c.endTurn()
	c.turns = ended
}

// failInText ends the turn in an error of the model within its stream.
func failInText(c *composer) {
	c.needs["few-retries"] = true
	hold := c.newHold()
	c.addReply(c.plainText(), object{"hold": hold}, object{"fail": object{"kind": pick(c, []string{"auth", "billing", "overloaded", "rate", "usage"})}})
	c.step("wait hold %s", hold)
	c.step("release %s", hold)
	ended := c.turns
	c.endTurn()
	c.turns = ended
}

// shortAnswer ends the turn with a reply that the model stopped early.
func shortAnswer(c *composer) {
	c.needs["few-retries"] = true
	c.addReply(append(c.prose(), c.plainText(), object{"end": pick(c, []string{"length", "refusal"})})...)
	c.replyTo("again", textPart("The end."))
	c.endTurn()
}

// silentAnswer ends the turn without a text.
func silentAnswer(c *composer) {
	c.addReply(object{"text": []string{}})
	c.replyTo("again", textPart("Nothing ", "to say."))
	c.endTurn()
}

// killInText kills the process while the model talks, and resumes the session.
func killInText(c *composer) {
	if len(c.tasks) > 0 { // the background work would die too
		answer(c)
		return
	}
	hold := c.newHold()
	c.addReply(c.plainText(), object{"hold": hold})
	c.step("wait hold %s", hold)
	c.step("kill SIGKILL")
	c.step("open resume")
	c.open, c.on = nil, ""
}
