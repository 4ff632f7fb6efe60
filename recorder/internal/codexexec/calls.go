package codexexec

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
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

// toolItems are the types of items that tool calls make.
var toolItems = []string{"command_execution", "file_change", "mcp_tool_call", "web_search", "todo_list", "collab_tool_call"}

// read reads a line. Each process counts its items from 0.
func (c *calls) read(line []byte) {
	var l struct {
		Type string `json:"type"`
		Item struct {
			ID      string `json:"id"`
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"item"`
	}
	if json.Unmarshal(line, &l) != nil {
		return
	}
	if l.Type == "thread.started" {
		c.items = map[string]string{}
	}
	if !slices.Contains(toolItems, l.Item.Type) {
		return
	}
	call, known := c.items[l.Item.ID]
	if !known {
		call = c.take(l.Item.Command)
		c.items[l.Item.ID] = call
	}
	c.started[call] = true
	if l.Type == "item.completed" {
		c.completed[call] = true
	}
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
