package codexexec

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// calls finds the scenario's tool calls in items, which have no ids of the model.
type calls struct {
	rest               []*fixtures.ToolCall // those of no item yet, in their order
	items              map[string]string    // the call of each item of the process
	started, completed map[string]bool
}

func callsOf(s *fixtures.Scenario, version string) calls {
	c := calls{started: map[string]bool{}, completed: map[string]bool{}}
	for _, r := range s.Model[""] {
		for _, p := range r.Parts {
			if p.Tool != nil && !s.HiddenOn(name, version, p.Tool.ID) {
				c.rest = append(c.rest, p.Tool)
			}
		}
	}
	return c
}

// read handles a line. Each process counts its items from 0. The list of steps is a call of the
// model, but no tool call to the harness.
func (c *calls) read(l wire.Line, line []byte) {
	if l.Opened != "" {
		c.items = map[string]string{}
	}
	if len(l.Tools) == 0 && !l.TicksOff {
		return
	}
	call, known := c.items[l.Item]
	if !known {
		call = c.take(commandOf(line))
		c.items[l.Item] = call
	}
	c.started[call] = true
	if l.Kind == wire.Item {
		c.completed[call] = true
	}
}

// commandOf returns the command of a line, which only the client needs. The rest is read by
// package fixtures/wire/codexexec.
func commandOf(line []byte) string {
	var m struct {
		Item struct {
			Command wire.String `json:"command"`
		} `json:"item"`
	}
	_ = wire.Decode(line, &m) // other items have none
	return string(m.Item.Command)
}

// take returns the first call without an item that runs the command, or else the first one;
// "" if none is left. Calls of one reply start in any order.
func (c *calls) take(command string) string {
	i := slices.IndexFunc(c.rest, func(t *fixtures.ToolCall) bool {
		var input struct {
			Command string `json:"command"`
		}
		return json.Unmarshal(t.Input, &input) == nil && input.Command != "" && strings.Contains(command, input.Command)
	})
	i = max(i, 0)
	if len(c.rest) == 0 {
		return ""
	}
	id := c.rest[i].ID
	c.rest = slices.Delete(c.rest, i, i+1)
	return id
}
