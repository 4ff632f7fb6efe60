package explore

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// composer collects the sections of a scenario while its moves are composed.
type composer struct {
	rng     *rand.Rand
	runtime *Ground
	first   string // the permission mode of the head
	mode    string // the permission mode now

	needs    map[string]bool
	hidden   []string
	client   []string
	replies  []string            // of the main agent
	agents   map[string][]string // of the sub-agents
	sections map[string]string   // of tools and MCP servers
	files    map[string]string   // of the workspace

	messages, tools, holds, marks, agentCount int

	turns int      // that have ended well
	on    string   // the message that the next reply answers, or ""
	open  []string // messages whose turn runs
	tasks []task   // background work that has not ended
}

// task is background work, and the steps that end it.
type task struct{ steps []string }

func newComposer(runtime *Ground, mode string) *composer {
	return &composer{
		runtime: runtime, first: mode, mode: mode, needs: map[string]bool{},
		agents: map[string][]string{}, sections: map[string]string{}, files: map[string]string{},
	}
}

// chance reports true in percent of all cases.
func (c *composer) chance(percent int) bool { return c.rng.IntN(100) < percent }

func pick[T any](c *composer, list []T) T { return list[c.rng.IntN(len(list))] }

func (c *composer) step(format string, args ...any) {
	c.client = append(c.client, fmt.Sprintf(format, args...))
}

func (c *composer) newTool() string { c.tools++; return fmt.Sprintf("t%d", c.tools) }
func (c *composer) newHold() string { c.holds++; return fmt.Sprintf("h%d", c.holds) }
func (c *composer) newMark() int    { c.marks++; return c.marks }

// newMessage returns the id and the text of a message. No two texts are equal, because
// the model finds a message by its text.
func (c *composer) newMessage() (id, text string) {
	c.messages++
	return fmt.Sprintf("m%d", c.messages), fmt.Sprintf(pick(c, requests), c.messages)
}

var requests = []string{
	"Describe room %d.", "Question %d: what is next?", "Note %d, please.", "Look at item %d.", "Step %d.\\nAnd no further.",
	"  Number %d with \"quotes\" and \\tab", "Zeile %d: größer, \u8a9e 🙂",
}

// send sends a message that the next reply answers.
func (c *composer) send(verb string) string {
	id, text := c.newMessage()
	c.step("%s %s: %s", verb, id, text)
	c.on, c.open = id, append(c.open, id)
	return id
}

// addReply appends a reply of the main agent.
func (c *composer) addReply(parts ...any) {
	if c.on != "" {
		parts = slices.Insert(parts, 0, any(object{"on": c.on}))
		c.on = ""
	}
	c.replies = append(c.replies, line(parts))
}

// replyTo appends a reply to a special request: task, again, compact.
func (c *composer) replyTo(on string, parts ...any) {
	c.replies = append(c.replies, line(slices.Insert(parts, 0, any(object{"on": on}))))
}

// retry appends the reply to the repetition of the last request.
func (c *composer) retry(parts ...any) {
	c.replies = append(c.replies, line(slices.Insert(parts, 0, any(object{"retry": true}))))
}

type object = map[string]any

func line(parts []any) string {
	b, err := json.Marshal(parts, json.Deterministic(true))
	if err != nil {
		panic(err) // parts hold strings, numbers and lists
	}
	return string(b)
}

// endTurn waits for the end of the running turns.
func (c *composer) endTurn() {
	for _, id := range c.open {
		c.step("wait end %s", id)
	}
	c.open, c.on = nil, ""
	c.turns++
}

// finishTasks lets the background work end.
func (c *composer) finishTasks() {
	for _, t := range c.tasks {
		for _, s := range t.steps {
			c.step("%s", s)
		}
		if c.runtime.beginsTaskTurns {
			c.replyTo("task", textPart("The work ", "is over."))
		}
		c.step("wait idle")
	}
	c.tasks = nil
}

func textPart(deltas ...string) object { return object{"text": deltas} }

// format returns the file of the scenario.
func (c *composer) format(p Plan) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Composed by turnspec explore for %s: %s.\n\n-- scenario --\ntopic: %s\n", c.runtime.name, p, Topic)
	if c.first == "ask" || c.mode == "ask" && c.first != "never" {
		c.needs["permission"] = true
	}
	if len(c.needs) > 0 {
		fmt.Fprintf(&b, "needs: %s\n", strings.Join(slices.Sorted(maps.Keys(c.needs)), ", "))
	}
	fmt.Fprintf(&b, "mode: %s\n", c.first)
	for _, h := range c.hidden {
		fmt.Fprintf(&b, "hidden: %s\n", h)
	}
	fmt.Fprintf(&b, "-- client --\n%s\n", strings.Join(c.client, "\n"))
	for _, name := range slices.Sorted(maps.Keys(c.sections)) {
		fmt.Fprintf(&b, "-- %s --\n%s\n", name, c.sections[name])
	}
	fmt.Fprintf(&b, "-- model --\n%s\n", strings.Join(c.replies, "\n"))
	for _, name := range slices.Sorted(maps.Keys(c.agents)) {
		fmt.Fprintf(&b, "-- model %s --\n%s\n", name, strings.Join(c.agents[name], "\n"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(&b, "-- workspace/%s --\n%s", name, c.files[name])
	}
	return b.Bytes()
}
