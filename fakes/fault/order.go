package fault

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// reorderIndependent lets two lines change places that know nothing of each
// other: of two tools that run at once, or of two agents.
func reorderIndependent() Operator {
	const name = "reorder-independent"
	return Operator{
		Name: name, Kind: Transparent, Doc: "Two lines that follow each other, of two tools or two agents that work at once, change places.",
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool { return !independent(c, i) })
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				out := slices.Clone(lines)
				out[i], out[i+1] = lines[i+1], lines[i]
				out[i].T, out[i+1].T = lines[i].T, lines[i+1].T // the moments stay
				return out
			})
		},
	}
}

// independent reports whether a line and the next one are of two tools or two
// agents, and neither names the other's.
func independent(c *fixtures.Case, place int) bool {
	if place+1 >= len(c.Wire) {
		return false
	}
	a, b := c.Wire[place], c.Wire[place+1]
	if b.Dir != fixtures.Out || a.Process != b.Process {
		return false
	}
	x, y := workOf(c.Runtime, a.Bytes), workOf(c.Runtime, b.Bytes)
	switch {
	case !x.known || !y.known:
		return false
	case x.agent != y.agent:
		return (x.agent == "" || !bytes.Contains(b.Bytes, []byte(x.agent))) && (y.agent == "" || !bytes.Contains(a.Bytes, []byte(y.agent)))
	}
	return x.tool != "" && y.tool != "" && x.tool != y.tool
}

// work is whose a line is: of an agent, and of one of its tools if it is a
// tool's.
type work struct {
	known       bool
	agent, tool string
}

func workOf(runtime string, line []byte) (w work) {
	var f struct {
		Method string `json:"method"`
		Params struct {
			ThreadID string `json:"threadId"`
			ItemID   string `json:"itemId"`
			Item     struct {
				ID   string `json:"id"`
				Type string `json:"type"`
			} `json:"item"`
		} `json:"params"`
		Type    string `json:"type"`
		Parent  string `json:"parent_tool_use_id"`
		Message struct {
			Content jsontext.Value `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &f, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return w
	}
	if runtime == "codex" {
		// What spawns or awaits an agent is of both.
		w.known = strings.HasPrefix(f.Method, "item/") && f.Params.ThreadID != "" && !strings.Contains(strings.ToLower(f.Params.Item.Type), "agenttool")
		w.agent = f.Params.ThreadID
		if slices.Contains([]string{"commandExecution", "mcpToolCall", "fileChange"}, f.Params.Item.Type) {
			w.tool = f.Params.Item.ID
		} else if f.Method == "item/commandExecution/outputDelta" {
			w.tool = f.Params.ItemID
		}
		return w
	}
	w.agent = f.Parent
	w.known = f.Type == "stream_event" || f.Type == "assistant" || f.Type == "user"
	var blocks []struct {
		Type      string `json:"type"`
		ToolUseID string `json:"tool_use_id"`
	}
	if f.Type == "user" && json.Unmarshal(f.Message.Content, &blocks) == nil && len(blocks) == 1 && blocks[0].Type == "tool_result" {
		w.tool = blocks[0].ToolUseID
	}
	return w
}

// echoInput repeats what a runtime says of its client's own words.
func echoInput() Operator {
	const name = "echo-input"
	return Operator{
		Name: name, Kind: Transparent, Doc: "What the runtime echoes of its client's own messages and answers comes twice.",
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool { return !echoes(c, i) })
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent, NoticeAllowed: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, lines[i].Bytes)
			})
		},
	}
}

func echoes(c *fixtures.Case, place int) bool {
	line := c.Wire[place].Bytes
	if c.Runtime == "codex" {
		return bytes.Contains(line, []byte(`"method":"item/completed","params":{"item":{"type":"userMessage"`))
	}
	f := frameOf(line)
	return f.Type == "user" && bytes.Contains(line, []byte(`"isReplay":true`)) || f.Type == "control_response" && answered(c, place, f.Response.RequestID)
}

// answered reports whether the client answered a request before a line.
func answered(c *fixtures.Case, place int, id string) bool {
	return slices.ContainsFunc(c.Wire[:place], func(w fixtures.WireLine) bool {
		f := frameOf(w.Bytes)
		return w.Dir == fixtures.In && w.Process == c.Wire[place].Process && f.Type == "control_response" && f.Response.RequestID == id
	})
}
