package explore

import (
	"fmt"
	"slices"
	"strings"
)

func newCall(tool, id string, input object) object {
	return object{"tool": tool, "id": id, "input": input}
}

func shell(id, command string) object { return newCall("shell", id, object{"command": command}) }

// quickCommands end at once and are allowed without a question in each mode.
var quickCommands = []string{
	"echo seen", "cat notes.txt", "wc -l notes.txt", "cat missing.txt", "head -n 1 notes.txt", "ls", "echo one; echo two", "cat notes.txt notes.txt",
}

// boldCommands end at once, and runtimes may ask before they run one.
var boldCommands = []string{
	"true", "exit 3", "echo out; echo err >&2", "printf 'no line end'", "printf '\\033[31mred\\033[0m\\n'", "seq 1 400", "touch made",
	"printf 'a\\r\\nb\\n'", "printf '\u8a9e🙂\\n'", "nosuchprogram", "kill -9 $$", "head -c 3000 /dev/zero | tr '\\0' x", "echo x >> log; cat log",
}

func (c *composer) quickCommand() string {
	c.files["notes.txt"] = "alpha\nbeta\n"
	if c.mode == "never" && c.chance(60) {
		return pick(c, boldCommands)
	}
	return pick(c, quickCommands)
}

// quickTools is a reply with one to three commands that end at once.
func quickTools(c *composer) {
	parts := c.beginning()
	var ids []string
	for range 1 + c.rng.IntN(3)*c.rng.IntN(2) {
		id := c.newTool()
		ids = append(ids, id)
		parts = append(parts, shell(id, c.quickCommand()))
		if c.chance(10) {
			parts = append(parts, c.block())
		}
	}
	c.addReply(parts...)
	c.allow(ids...)
}

// allow answers the questions about calls that change nothing. Few runtimes ask about
// them, if they ask at all.
func (c *composer) allow(ids ...string) {
	if c.asksAboutAll() {
		for _, id := range ids {
			c.step("wait ask %s", id)
			c.step("answer %s allow", id)
		}
	}
}

// asksAboutAll reports whether the runtime asks about each command.
func (c *composer) asksAboutAll() bool { return c.mode == "ask" && c.runtime.asksAboutEach }

func readTool(c *composer) {
	c.files["notes.txt"] = "alpha\nbeta\n"
	input := object{"path": pick(c, []string{"notes.txt", "notes.txt", "missing.txt"})}
	if c.chance(30) {
		input["from"], input["lines"] = 2, 1
	}
	id := c.newTool()
	c.addReply(append(c.beginning(), newCall("read", id, input))...)
	c.allow(id)
}

// waitFor returns a command that begins, writes the file begunN, and ends when the file
// goN exists.
func (c *composer) waitFor() (command, begun, release string) {
	n := c.newMark()
	end := pick(c, []string{"echo came", "true", "exit 4", "echo late >&2", "seq 1 50"})
	first := pick(c, []string{"", "echo begins; "})
	return fmt.Sprintf("%stouch begun%d; until [ -e go%d ]; do sleep 0.02; done; %s", first, n, n, end), fmt.Sprintf("begun%d", n), fmt.Sprintf("go%d", n)
}

// beginWaiting appends a reply whose last call is a command that waits, and the steps
// until it runs.
func (c *composer) beginWaiting() (id, release string) {
	id = c.newTool()
	command, begun, release := c.waitFor()
	c.addReply(append(c.beginning(), shell(id, command))...)
	c.step("wait tool %s", id)
	c.step("wait file %s", begun)
	return id, release
}

func waitingTool(c *composer) {
	id, release := c.beginWaiting()
	c.step("write %s: x", release)
	if c.chance(50) {
		c.step("wait result %s", id)
	}
}

// parallelPipes is a reply with commands that read pipes and end in another order.
func parallelPipes(c *composer) {
	var ids, pipes []string
	for range 2 + c.rng.IntN(2) {
		ids, pipes = append(ids, c.newTool()), append(pipes, fmt.Sprintf("pipe%d", c.newMark()))
	}
	c.addReply(shell(c.newTool(), "mkfifo "+strings.Join(pipes, " ")))
	parts := c.beginning()
	for i, id := range ids {
		parts = append(parts, shell(id, "cat <"+pipes[i]))
	}
	c.addReply(parts...)
	for _, id := range ids {
		c.step("wait tool %s", id)
	}
	for _, i := range c.rng.Perm(len(ids)) {
		c.step("write %s: line of %s\\n", pipes[i], ids[i])
		c.step("wait result %s", ids[i])
	}
}

// fileTools writes a file, and often reads and changes it again.
func fileTools(c *composer) {
	path := fmt.Sprintf("%sfile%d.txt", pick(c, []string{"", "", "deep/", "with space "}), c.newMark())
	c.addReply(append(c.beginning(), newCall("write", c.newTool(), object{"path": path, "content": "one\ntwo\nthree\n"}))...)
	if c.chance(60) {
		c.addReply(append(c.beginning(), newCall("read", c.newTool(), object{"path": path}))...)
		c.addReply(append(c.beginning(), newCall("edit", c.newTool(), object{"path": path, "old": "two\n", "new": pick(c, []string{"TWO\n", "--x\n++y\n", "+plus\n-minus\n"})}))...)
	}
	if c.runtime.has("tool-patch") && c.chance(30) {
		c.addReply(append(c.beginning(), newCall("patch", c.newTool(), object{"changes": []object{
			{"add": fmt.Sprintf("new%d.txt", c.newMark()), "content": "new\n"}, {"delete": path},
		}}))...)
	}
}

// wrongTool is a call that fails before it runs.
func wrongTool(c *composer) {
	id := c.newTool()
	part := newCall("other", id, object{"name": "Lathe", "input": object{"speed": 3}})
	switch c.rng.IntN(3) {
	case 1:
		part = object{"tool": "shell", "id": id, "input": object{}, "spoil": `{"kommand":[1,2]}`}
	case 2:
		part = object{"tool": "shell", "id": id, "input": object{}, "spoil": `{"command": "echo`}
	}
	c.hide(id, formWrong)
	parts := append(c.beginning(), part)
	if !c.chance(30) {
		c.addReply(parts...)
		return
	}
	other := c.newTool()
	c.addReply(append(parts, shell(other, c.quickCommand()))...)
	c.allow(other)
}

// hide states that the runtime shows no item of a call of that form, if it shows none.
func (c *composer) hide(id string, form callForm) {
	if c.runtime.hides[form] {
		c.hidden = append(c.hidden, id+" on "+c.runtime.name+": "+string(form))
	}
}

// clientTool is a call of a tool of the client.
func clientTool(c *composer) {
	name := fmt.Sprintf("weather%d", c.newMark())
	tool := object{"description": "Tells the weather.", "schema": object{"type": "object", "properties": object{"city": object{"type": "string"}}}}
	file := name + ".txt"
	slow := false
	switch c.rng.IntN(4) {
	case 0:
		tool["fail"] = "the station does not answer"
	case 1:
		tool["result"], tool["is_error"] = []object{{"text": "There is no weather."}}, true
	case 2:
		tool["result"], tool["awaits"], slow = []object{{"text": "Sunny at last."}}, file, true
	case 3:
		tool["result"] = []object{{"text": "Sunny, 21 degrees."}}
	}
	c.sections["tool "+name] = jsonText(tool)
	c.addReply(append(c.beginning(), newCall("client", c.newTool(), object{"tool": name, "arguments": object{"city": "Bern"}}))...)
	if slow {
		c.step("wait call %s", name)
		c.step("write %s: now", file)
	}
}

// serverTool is a call of a tool of an MCP server.
func serverTool(c *composer) {
	tool := object{"name": "probe", "description": "Probes."}
	n := c.newMark()
	file := ""
	switch c.rng.IntN(5) {
	case 0:
		tool["fail"] = "the lab is closed"
	case 1:
		tool["result"], tool["is_error"] = []object{{"text": "It failed."}}, true
	case 2:
		file = fmt.Sprintf("probe%d", n)
		tool["result"], tool["makes"], tool["awaits"] = []object{{"text": "Done at last."}}, file+"-began", file+"-go"
		if c.chance(50) {
			tool["progress"] = []string{"half of it"}
		}
	case 3:
		tool["result"] = []object{{"text": "first"}, {"text": "second"}}
	case 4:
		tool["result"], tool["structured"] = []object{{"text": `{"celsius":21}`}}, object{"celsius": 21}
	}
	server := fmt.Sprintf("lab%d", n)
	c.sections["mcp "+server] = jsonText(tool)
	c.addReply(append(c.beginning(), newCall("mcp", c.newTool(), object{"server": server, "tool": "probe"}))...)
	if file != "" {
		c.step("wait file %s-began", file)
		c.step("write %s-go: on", file)
	}
}

func jsonText(o object) string { b := line([]any{o}); return b[1 : len(b)-1] }

// todoTool is a list of steps.
func todoTool(c *composer) {
	c.needs["plan"] = true
	status := []string{"pending", "in_progress", "completed"}
	var steps []object
	for range 1 + c.rng.IntN(3) {
		steps = append(steps, object{"step": fmt.Sprintf("Step %d", c.newMark()), "status": pick(c, status)})
	}
	id := c.newTool()
	c.hide(id, formPlan)
	c.addReply(append(c.beginning(), newCall("todo", id, object{"steps": steps}))...)
}

// backgroundTool starts a command that goes on in the background.
func backgroundTool(c *composer) {
	id := c.newTool()
	command, begun, release := c.waitFor()
	part := shell(id, command)
	part["input"].(object)["background"] = true
	c.addReply(append(c.beginning(), part)...)
	c.step("wait tool %s", id)
	c.step("wait file %s", begun)
	end := []string{"write " + release + ": x", "wait task " + id}
	if c.chance(25) {
		end = []string{"stop task " + id, "wait task " + id}
	}
	c.tasks = append(c.tasks, task{end})
}

// hostedSearch is a search that the model's API makes within the reply.
func hostedSearch(c *composer) {
	id := c.newTool()
	input := object{"query": fmt.Sprintf("weather %d", c.newMark())}
	if c.chance(30) {
		input = object{"url": "https://weather.example/bern"}
	}
	c.addReply(append(c.beginning(), newCall("web", c.newTool(), input), shell(id, "echo searched"))...)
	c.allow(id)
}

// agentSection adds a section for a sub-agent, with its replies.
func (c *composer) agentSection(first ...any) (name, prompt string) {
	c.agentCount++
	name = fmt.Sprintf("scout%c", 'a'+rune(c.agentCount-1)%26)
	var replies []string
	parts := append(slices.Clone(first), c.prose()...)
	if c.chance(60) && !c.asksAboutAll() {
		for range 1 + c.rng.IntN(2) {
			parts = append(parts, shell(c.newTool(), c.agentCommand()))
		}
		replies = append(replies, line(parts))
		parts = c.prose()
	}
	replies = append(replies, line(append(parts, textPart("There ", fmt.Sprintf("are %d.", c.newMark())))))
	c.agents[name] = replies
	return name, fmt.Sprintf("Count the birds of list %d.", c.newMark())
}

func (c *composer) agentCommand() string {
	c.files["notes.txt"] = "alpha\nbeta\n"
	return pick(c, quickCommands)
}

// agentInFront lets the model wait for a sub-agent.
func agentInFront(c *composer) {
	c.needs["subagent"] = true
	name, prompt := c.agentSection()
	c.addReply(append(c.beginning(), newCall("subagent", c.newTool(), object{"name": name, "prompt": prompt, "background": false}))...)
}

func agentsInParallel(c *composer) {
	c.needs["subagent"] = true
	parts := c.beginning()
	var holds []string
	for range 2 {
		hold := c.newHold()
		holds = append(holds, hold)
		name, prompt := c.agentSection(object{"hold": hold})
		parts = append(parts, newCall("subagent", c.newTool(), object{"name": name, "prompt": prompt, "background": false}))
	}
	c.addReply(parts...)
	for _, h := range holds {
		c.step("wait hold %s", h)
	}
	for _, i := range c.rng.Perm(len(holds)) {
		c.step("release %s", holds[i])
	}
}

// agentBeside starts a sub-agent that works beside the turn.
func agentBeside(c *composer) {
	c.needs["subagent"] = true
	hold, held, id := c.newHold(), c.newHold(), c.newTool()
	name, prompt := c.agentSection(object{"hold": hold})
	c.addReply(append(c.beginning(), newCall("subagent", id, object{"name": name, "prompt": prompt, "background": true}))...)
	c.step("wait hold %s", hold)
	meanwhile := c.newTool()
	c.addReply(c.plainText(), object{"hold": held}, textPart(" on its way."), shell(meanwhile, "echo meanwhile"))
	c.step("wait hold %s", held)
	end := []string{"release " + hold, "wait task " + id}
	if c.chance(20) {
		end = []string{"stop task " + id, "wait task " + id}
	}
	c.step("release %s", held)
	c.allow(meanwhile)
	c.tasks = append(c.tasks, task{end})
}
