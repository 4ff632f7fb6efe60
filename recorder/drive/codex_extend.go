package drive

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// codexDynamicTool is a tool of the client as a thread is told of it.
type codexDynamicTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
}

func codexTools(tools []fixtures.Tool) []codexDynamicTool {
	var out []codexDynamicTool
	for i := range tools {
		t := &tools[i]
		out = append(out, codexDynamicTool{"function", t.Name, t.Description, schemaOf(t)})
	}
	return out
}

// serversUp reports whether each MCP server has started or failed: what the
// runtime says of them then stands before the first turn.
func (c *codex) serversUp() bool {
	if c.cfg.codex.serverStatus {
		for _, s := range c.d.o.Scenario.Servers {
			if !c.servers[s.Name] {
				return false
			}
		}
	}
	return true
}

// toolCall takes a call of one of the client's tools.
func (c *codex) toolCall(l codexLine) error {
	var p struct {
		Tool string `json:"tool"`
	}
	if err := json.Unmarshal(l.Params, &p, asItCame); err != nil {
		return err
	}
	id := l.ID.Clone()
	t := c.d.tool(p.Tool)
	if t == nil {
		return c.refuse(id, "no such tool")
	}
	return c.d.call(string(id), t.Name, t.Awaits, func() error {
		return c.write(struct {
			ID     jsontext.Value `json:"id"`
			Result any            `json:"result"`
		}{id, codexToolResult(t)})
	}, func() error { return c.refuse(id, notSupported) })
}

func codexToolResult(t *fixtures.Tool) any {
	type item struct {
		Type  string `json:"type"`
		Text  string `json:"text,omitempty"`
		Image string `json:"imageUrl,omitempty"`
	}
	items := []item{}
	for _, r := range t.Result {
		if r.Image != "" {
			items = append(items, item{Type: "inputImage", Image: "data:" + mimeOf(r) + ";base64," + r.Image})
		} else {
			items = append(items, item{Type: "inputText", Text: r.Text})
		}
	}
	if t.Fail != "" {
		items = []item{{Type: "inputText", Text: t.Fail}}
	}
	return struct {
		Items   []item `json:"contentItems"`
		Success bool   `json:"success"`
	}{items, !t.IsError && t.Fail == ""}
}

func (c *codex) refuse(id jsontext.Value, why string) error {
	return c.write(struct {
		ID    jsontext.Value `json:"id"`
		Error codexError     `json:"error"`
	}{id, codexError{-32601, why}})
}
