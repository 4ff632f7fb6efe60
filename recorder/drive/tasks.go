package drive

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// tasker is the part of a client that has to do with what runs at once.
type tasker interface {
	sendWith(id, text, priority string) error
	stopAll() error
	stopTask(tool string) error
	withdraw(message string) error
	aside(id, text string) error
}

func (d *driver) taskAct(a fixtures.Step) error {
	c, ok := d.c.(tasker)
	if !ok {
		return fmt.Errorf("%s has no client for %q", d.o.Runtime, a.Verb)
	}
	switch a.Verb {
	case fixtures.VerbSend:
		return c.sendWith(a.ID, a.Text, a.What)
	case fixtures.VerbStop:
		return c.stopAll()
	case fixtures.VerbStopTask:
		return c.stopTask(a.ID)
	case fixtures.VerbWithdraw:
		return c.withdraw(a.ID)
	case fixtures.VerbAside:
		return c.aside(a.ID, a.Text)
	}
	return fmt.Errorf("unknown verb %q", a.Verb)
}

func (c *claude) sendWith(id, text, priority string) error {
	return c.sendUser(id, text, nil, priority)
}

// stopAll stops the turn and takes back what waits.
func (c *claude) stopAll() error {
	err := c.interrupt(true)
	if err == nil {
		c.move("queued", "cancelled") // where nothing else says so
	}
	return err
}

func (c *codex) stopAll() error {
	return errors.New("codex has no queue: what is sent during a turn goes into it")
}

func (c *claude) stopTask(tool string) error {
	task := c.bgTool[tool]
	if task == "" {
		return fmt.Errorf("tool %s runs nothing in the background", tool)
	}
	c.stopped[task] = true
	return c.call(struct {
		Subtype string `json:"subtype"`
		Task    string `json:"task_id"`
	}{"stop_task", task})
}

// withdraw takes a message back: its turn will never be.
func (c *claude) withdraw(message string) error {
	err := c.call(struct {
		Subtype string `json:"subtype"`
		Message string `json:"message_uuid"`
	}{"cancel_async_message", c.sent[message]})
	if uuid := c.sent[message]; err == nil && !c.cfg.claude.lifecycles && c.taken[uuid] == "queued" {
		c.taken[uuid] = "cancelled" // nothing else says so
	}
	return err
}

func (c *claude) aside(string, string) error {
	return errors.New("claude has one session a process")
}

func (c *codex) sendWith(string, string, string) error {
	return errors.New("codex has no priority of a message")
}

func (c *codex) withdraw(string) error {
	return errors.New("codex has no queue: what is sent during a turn goes into it")
}

// stopTask interrupts the turn of a sub-agent, or ends a command.
func (c *codex) stopTask(tool string) error {
	t := c.tools[tool]
	switch {
	case t == nil:
		return fmt.Errorf("no tool %s is on the wire", tool)
	case t.agent != "":
		a := c.agent(t.agent)
		if err := c.d.until("a turn of the sub-agent to stop", func() bool { return a.turn != "" }); err != nil {
			return err
		}
		_, err := c.call("turn/interrupt", struct {
			ThreadID string `json:"threadId"`
			TurnID   string `json:"turnId"`
		}{t.agent, a.turn})
		return err
	case t.process == "":
		return fmt.Errorf("tool %s has no process", tool)
	}
	_, err := c.call("thread/backgroundTerminals/terminate", struct {
		ThreadID  string `json:"threadId"`
		ProcessID string `json:"processId"`
	}{c.thread, t.process})
	return err
}

// aside opens a second thread in the process, if it has none, and begins a turn
// there. Its lines are not those of a sub-agent.
func (c *codex) aside(id, text string) error {
	if c.other == "" {
		res, err := c.call("thread/start", codexThread{Cwd: c.d.o.Work, ApprovalPolicy: c.cfg.policy, Sandbox: c.cfg.sandbox})
		if err != nil {
			return err
		}
		var r struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		}
		if err := json.Unmarshal(res, &r, asItCame); err != nil || r.Thread.ID == "" {
			return fmt.Errorf("thread/start: the result names no thread: %.200s", res)
		}
		c.other = r.Thread.ID
	}
	c.asides[id] = ""
	r, err := c.post("turn/start", codexTurn{ThreadID: c.other, Input: []codexInput{{Type: "text", Text: &text}}, ClientUserMessageID: id}, func(result jsontext.Value) {
		var p codexParams
		if err := json.Unmarshal(result, &p, asItCame); err != nil || p.Turn.ID == "" {
			c.d.fail(fmt.Errorf("turn/start: the result names no turn: %.200s", result))
			return
		}
		c.asides[id] = p.Turn.ID
	})
	if err != nil {
		return err
	}
	if err := c.d.until("the reply to turn/start", func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != nil {
		return fmt.Errorf("turn/start: error %d: %s", r.err.Code, r.err.Message)
	}
	return nil
}
