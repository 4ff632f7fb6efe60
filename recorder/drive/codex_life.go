package drive

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// codexPast is what the driver keeps of the threads beyond a process.
type codexPast struct {
	raws
	threads []string // opened, in order
	turns   []string // of the thread, in order
	// compacting: a turn was asked for whose id nobody tells beforehand, and
	// whose beginning older versions do not tell at all.
	compacting bool
	// begunAs is the id of the running turn where it is to be interrupted: a review
	// has two.
	begunAs string
	good    bool              // the reply to the last raw request was no error
	turnOf  map[string]string // message → turn, of processes that have ended
}

// buried stands for the turns of processes that have ended.
const buried = "buried"

// turnWith is the turn that took a message.
func (c *codex) turnWith(message string) string {
	for _, m := range c.sent {
		if m.id == message && m.turn != buried {
			return m.turn
		}
	}
	return c.past.turnOf[message]
}

func (p *codexPast) took(turn string) {
	if !slices.Contains(p.turns, turn) {
		p.turns = append(p.turns, turn)
	}
}

// bury takes what an ended process left open for ended.
func (c *codex) bury() {
	c.past.raws, c.past.compacting = raws{}, false
	if c.past.turnOf == nil {
		c.past.turnOf = map[string]string{}
	}
	// Older versions count turns anew in each process.
	c.over = map[string]bool{buried: true}
	for _, m := range c.sent {
		if m.turn != buried && m.turn != "" {
			c.past.turnOf[m.id] = m.turn
		}
		m.turn = buried
	}
	for _, t := range c.tools {
		t.closed = true
	}
	for _, a := range c.agents {
		a.over = true
	}
}

func (c *codex) open(a fixtures.Step) error {
	if err := c.start(a); err != nil || a.What == "bare" {
		return err
	}
	thread, err := which(a, c.past.threads, c.thread)
	if err != nil {
		return err
	}
	params := codexThread{Cwd: c.d.o.Work, ApprovalPolicy: c.cfg.policy, Sandbox: c.cfg.sandbox, Model: c.d.o.Scenario.OpenModel("codex")}
	if c.cfg.granular {
		params.ApprovalPolicy = granular
	}
	method, then := "thread/start", c.cfg.codex.started
	if a.What == "" {
		params.Tools = codexTools(c.d.o.Scenario.Tools)
	}
	switch a.What {
	case "unarchive":
		if _, err := c.call("thread/unarchive", codexThreadID{thread}); err != nil {
			return err
		}
		if err := c.d.until("thread/unarchived", func() bool { return c.cfg.codex.archived == "" || c.heard["thread/unarchived"] }); err != nil {
			return err
		}
		fallthrough
	case "resume":
		method, then, params.ThreadID = "thread/resume", c.cfg.codex.resumed, thread
	case "fork":
		method, params.ThreadID = "thread/fork", thread
		if a.At != "" {
			params.LastTurnID = c.turnWith(a.At)
		}
	}
	res, err := c.call(method, params)
	if err != nil {
		return err
	}
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := json.Unmarshal(res, &r, asItCame); err != nil || r.Thread.ID == "" {
		return fmt.Errorf("%s: the result names no thread: %.200s", method, res)
	}
	c.thread = r.Thread.ID
	if !slices.Contains(c.past.threads, c.thread) {
		c.past.threads = append(c.past.threads, c.thread)
	}
	return c.d.until(then, func() bool { return (then == "" || c.heard[then]) && c.serversUp() })
}

type codexThreadID struct {
	ThreadID string `json:"threadId"`
}

// tell sends a request about the thread and waits for what is told of it.
func (c *codex) tell(method string, params any, then string) error {
	delete(c.heard, then)
	if _, err := c.call(method, params); err != nil {
		return err
	}
	return c.d.until(then, func() bool { return then == "" || c.heard[then] })
}

func (c *codex) compact() error {
	c.turn, c.past.compacting = "starting", true
	_, err := c.call("thread/compact/start", codexThreadID{c.thread})
	return err
}

func (c *codex) revert(message string) error {
	turn := c.turnWith(message)
	if message == fixtures.UnknownMessage {
		turn = fixtures.UnknownSession
	}
	at := slices.Index(c.past.turns, turn)
	n := len(c.past.turns) - at
	if at < 0 {
		n = 0 // it must be one at least
	}
	var err error
	if c.cfg.codex.reverts {
		err = c.tell("thread/revert", struct {
			ThreadID   string `json:"threadId"`
			BeforeTurn string `json:"beforeTurnId"`
		}{c.thread, turn}, "thread/reverted")
	} else {
		_, err = c.call("thread/rollback", struct {
			ThreadID string `json:"threadId"`
			Turns    int    `json:"numTurns"`
		}{c.thread, n})
	}
	if err == nil {
		c.past.turns = c.past.turns[:max(at, 0)]
	}
	return err
}

func (c *codex) rewind(string, bool) error { return errCannot("codex", "puts files back") }

func (c *codex) archive() error {
	return c.tell("thread/archive", codexThreadID{c.thread}, c.cfg.codex.archived)
}

func (c *codex) name(text string) error {
	return c.tell("thread/name/set", struct {
		ThreadID string `json:"threadId"`
		Name     string `json:"name"`
	}{c.thread, text}, "thread/name/updated")
}
