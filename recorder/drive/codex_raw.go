package drive

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// raw writes the line. What its good reply begins, or is told after it, is
// waited for, so that the next act always stands at the same place.
func (c *codex) raw(line string) error {
	method := rawMethod(line)
	begins := c.turn == "" && slices.Contains(codexBeginners, method)
	if begins {
		c.turn = "starting"
	}
	then := codexTold[method]
	if method == "thread/shellCommand" && !begins {
		then = "item/completed" // it runs beside a model that says nothing now
	}
	delete(c.heard, then)
	c.past.good = false
	if err := c.d.writeRaw(c.past.raws, strings.NewReplacer("THREAD", c.thread, "TURN", c.turn).Replace(line)); err != nil {
		return err
	}
	if !c.past.good {
		if begins && c.turn == "starting" {
			c.turn = ""
		}
		return nil
	}
	return c.d.until(then, func() bool { return then == "" || c.heard[then] })
}

func rawMethod(line string) string {
	var l codexLine
	if json.Unmarshal([]byte(line), &l, asItCame) != nil {
		return ""
	}
	return l.Method
}

// codexBeginners are requests that make a turn which no message asks for.
var codexBeginners = []string{"review/start", "thread/shellCommand"}

// codexTold are the notifications that follow a request. Only versions that send
// them know the request.
var codexTold = map[string]string{
	"thread/goal/set": "thread/goal/updated", "thread/goal/clear": "thread/goal/cleared",
	"thread/delete": "thread/deleted",
}

// rawAnswered takes the reply to a line of the scenario's own. A review names
// its turn there, and another one when it begins. One that has a thread of its
// own is waited for as a sub-agent is.
func (c *codex) rawAnswered(l codexLine) {
	c.past.good = l.Error == nil
	var p struct {
		codexParams
		Review string `json:"reviewThreadId"`
	}
	switch {
	case json.Unmarshal(l.Result, &p, asItCame) != nil || p.Turn.ID == "" || c.turn != "starting":
	case p.Review != "" && p.Review != c.thread:
		c.turn = ""
		if a := c.agent(p.Review); a.turn == "" {
			a.turn = p.Turn.ID
		}
	default:
		c.turn, c.begun[p.Turn.ID] = p.Turn.ID, true
	}
}
