package explore

import "fmt"

// askedCommand is a command about which the runtime asks.
func (c *composer) askedCommand() string {
	n := c.newMark()
	return fmt.Sprintf(pick(c, []string{"touch made%d", "mkdir folder%d", "touch a%[1]d b%[1]d && ls a%[1]d"}), n)
}

// decide answers the question about a call, and reports whether the call runs.
func (c *composer) decide(id string) {
	c.step("answer %s %s", id, pick(c, []string{"allow", "allow", "allow", "deny", "deny", "deny: Not today.", "error", "wrong"}))
}

// askedPart is a call about which the runtime asks.
func (c *composer) askedPart(id string) object {
	if c.chance(25) {
		return newCall("write", id, object{"path": fmt.Sprintf("asked%d.txt", c.newMark()), "content": "one\n"})
	}
	return shell(id, c.askedCommand())
}

func askedTool(c *composer) {
	id := c.newTool()
	c.addReply(append(c.beginning(), c.askedPart(id))...)
	c.step("wait ask %s", id)
	c.decide(id)
	if c.chance(40) {
		c.step("wait result %s", id)
	}
}

// askedTwice is a reply with two calls about which the runtime asks.
func askedTwice(c *composer) {
	one, two := c.newTool(), c.newTool()
	c.addReply(append(c.beginning(), shell(one, c.askedCommand()), shell(two, c.askedCommand()))...)
	if !c.runtime.asksTogether {
		for _, id := range []string{one, two} {
			c.step("wait ask %s", id)
			c.decide(id)
			c.step("wait result %s", id)
		}
		return
	}
	c.step("wait ask %s", one)
	c.step("wait ask %s", two)
	if c.chance(50) {
		one, two = two, one
	}
	c.decide(one)
	c.decide(two)
}

// messageWhileAsked sends a message while a question is open: the runtime takes it into
// the turn with the command's result.
func messageWhileAsked(c *composer) {
	id := c.newTool()
	c.addReply(append(c.beginning(), shell(id, c.askedCommand()))...)
	c.step("wait ask %s", id)
	c.send("send")
	c.step("answer %s allow", id)
}

// stopWhileAsked stops the turn while a question is open.
func stopWhileAsked(c *composer) {
	id := c.newTool()
	c.addReply(append(c.beginning(), c.askedPart(id))...)
	c.step("wait ask %s", id)
	c.stop()
}

// cancelAnswer denies a call and stops the turn.
func cancelAnswer(c *composer) {
	id := c.newTool()
	c.addReply(append(c.beginning(), shell(id, c.askedCommand()))...)
	c.step("wait ask %s", id)
	c.step("answer %s cancel", id)
	ended := c.turns
	c.endTurn()
	c.turns = ended
}

var databases = []string{"Postgres", "SQLite"}

func (c *composer) questionPart(id string) (part object, question string) {
	c.needs["question"] = true
	n := c.newMark()
	question = fmt.Sprintf("Which database %d?", n)
	var options []object
	for _, d := range databases {
		options = append(options, object{"label": d})
	}
	return newCall("ask", id, object{"questions": []object{{"id": fmt.Sprintf("db%d", n), "header": "Store", "question": question, "options": options}}}), question
}

// userQuestion lets the model ask the user.
func userQuestion(c *composer) {
	id := c.newTool()
	part, question := c.questionPart(id)
	c.addReply(append(c.beginning(), part)...)
	c.step("wait ask %s", id)
	switch c.rng.IntN(4) {
	case 0:
		c.step("answer %s deny", id)
	case 1:
		c.step("answer %s %s", id, jsonText(object{question: "None, a file will do."}))
	default:
		c.step("answer %s %s", id, jsonText(object{question: pick(c, databases)}))
	}
}

func stopInQuestion(c *composer) {
	id := c.newTool()
	part, _ := c.questionPart(id)
	c.addReply(append(c.beginning(), part)...)
	c.step("wait ask %s", id)
	c.stop()
}
