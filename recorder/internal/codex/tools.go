package codex

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// dynamicTool declares a tool of the client to a thread.
type dynamicTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
}

func dynamicTools(tools []fixtures.Tool) []dynamicTool {
	var out []dynamicTool
	for i := range tools {
		t := &tools[i]
		out = append(out, dynamicTool{"function", t.Name, t.Description, drive.InputSchema(t)})
	}
	return out
}

// ServerArgs returns the options that make the runtime start the scenario's MCP
// servers. If the client has a policy, the runtime asks about each of their tools.
func ServerArgs(scn *fixtures.Scenario) []string {
	var args []string
	for _, s := range scn.Servers {
		set := fmt.Sprintf("command=%q", fixtures.ServerCommand(s.Name)) + table("env", s.Env)
		if s.Remote.Transport != "" {
			set = fmt.Sprintf("url=%q", fixtures.ServerURL(s.Name)) + table("http_headers", s.Remote.Headers)
		}
		if scn.Policy != nil {
			set += `,default_tools_approval_mode="prompt"`
		}
		if strings.Contains(s.Name, ".") { // the runtime splits the key of -c at each point
			args = append(args, "-c", fmt.Sprintf("mcp_servers={%q={%s}}", s.Name, set))
			continue
		}
		args = append(args, "-c", fmt.Sprintf("mcp_servers.%s={%s}", s.Name, set))
	}
	return args
}

// table returns a member of a TOML table that holds strings, or "" if there are none.
func table(key string, values map[string]string) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		members = append(members, fmt.Sprintf("%q=%q", name, values[name]))
	}
	if members == nil {
		return ""
	}
	return "," + key + "={" + strings.Join(members, ",") + "}"
}

// OptionArgs returns the options of the program for those of the session.
func OptionArgs(d *drive.Driver) (args []string) {
	o := &d.Scenario.Opening
	if o.Effort != "" {
		args = append(args, "-c", fmt.Sprintf("model_reasoning_effort=%q", o.Effort))
	}
	if len(o.ExtraDirs) > 0 {
		var dirs []string
		for _, dir := range o.ExtraDirs {
			dirs = append(dirs, strconv.Quote(d.Path(dir)))
		}
		args = append(args, "-c", "sandbox_workspace_write.writable_roots=["+strings.Join(dirs, ",")+"]")
	}
	return args
}

// serversStarted reports whether each MCP server has started or failed, so that
// the lines about them precede the first turn.
func (c *client) serversStarted() bool {
	if c.cfg.serverStatus {
		for _, s := range c.d.Scenario.Servers {
			if !c.servers[s.Name] {
				return false
			}
		}
	}
	return true
}

// handleToolCall answers a call of a tool of the client.
func (c *client) handleToolCall(l wire.Line) error {
	var p struct {
		Tool string `json:"tool"`
	}
	if err := wire.Decode(l.Params, &p); err != nil {
		return err
	}
	id := l.ID.Clone()
	t := c.d.Tool(p.Tool)
	if t == nil {
		return c.refuseRequest(id, "no such tool")
	}
	return c.d.AnswerCall(string(id), t.Name, t.Awaits,
		func() error { return c.writeResult(id, dynamicToolResult(t)) },
		func() error { return c.refuseRequest(id, drive.NotSupported) })
}

func dynamicToolResult(t *fixtures.Tool) any {
	type item struct {
		Type  string `json:"type"`
		Text  string `json:"text,omitempty"`
		Image string `json:"imageUrl,omitempty"`
	}
	items := []item{}
	for _, r := range t.Result {
		if r.Image != "" {
			items = append(items, item{Type: "inputImage", Image: "data:" + drive.ImageType(r) + ";base64," + r.Image})
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
