package drive

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// claudeToolServer is the name of the MCP server that the client itself is: it
// offers the client's tools over the control protocol.
const claudeToolServer = "client"

type claudeHook struct {
	Matcher   string   `json:"matcher,omitempty"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   int      `json:"timeout,omitzero"`
}

// initialize tells the runtime of the client's tools, hooks and schema.
func (c *claude) initialize() any {
	s := c.d.o.Scenario
	req := struct {
		Subtype string                  `json:"subtype"`
		Hooks   map[string][]claudeHook `json:"hooks,omitempty"`
		Servers []string                `json:"sdkMcpServers,omitempty"`
		Schema  jsontext.Value          `json:"jsonSchema,omitempty"`
	}{Subtype: "initialize", Schema: s.Schema}
	if len(s.Tools) > 0 {
		req.Servers = []string{claudeToolServer}
	}
	req.Hooks = map[string][]claudeHook{}
	for i, h := range s.Hooks {
		req.Hooks[h.Event] = append(req.Hooks[h.Event], claudeHook{h.Matcher, []string{"hook_" + strconv.Itoa(i)}, h.Timeout})
	}
	if s.Policy != nil {
		req.Hooks[claudePreToolUse] = append(req.Hooks[claudePreToolUse], claudeHook{Callbacks: []string{claudePolicy}})
	}
	return req
}

type claudeBlock struct {
	Type   string        `json:"type"`
	Text   string        `json:"text,omitempty"`
	Source *claudeSource `json:"source,omitempty"`
}

type claudeSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// blocks are the files that a message brings, and its text.
func (c *claude) blocks(text string, files []string) ([]claudeBlock, error) {
	var out []claudeBlock
	for _, f := range files {
		data, err := c.d.read(f)
		if err != nil {
			return nil, err
		}
		kind, mime := "image", fixtures.MIME(f)
		if !strings.HasPrefix(mime, "image/") {
			kind = "document"
		}
		out = append(out, claudeBlock{Type: kind, Source: &claudeSource{"base64", mime, base64.StdEncoding.EncodeToString(data)}})
	}
	if text == "" && len(out) > 0 {
		return out, nil // with an empty text the runtime takes the message for nothing
	}
	return append(out, claudeBlock{Type: "text", Text: text}), nil
}

var errNotOurs = errors.New("no call of a tool or a hook")

// called takes a call of a hook, or a message to the client as an MCP server.
func (c *claude) called(l claudeLine) error {
	var r struct {
		Subtype  string         `json:"subtype"`
		Callback string         `json:"callback_id"`
		Message  jsontext.Value `json:"message"`
		Tool     string         `json:"tool_use_id"`
	}
	if err := json.Unmarshal(l.Request, &r, asItCame); err != nil {
		return errNotOurs
	}
	switch r.Subtype {
	case "hook_callback":
		if r.Callback == claudePolicy {
			return c.judge(l.ReqID, r.Tool)
		}
		if len(c.d.o.Scenario.Hooks) == 0 {
			break
		}
		return c.hookCalled(l.ReqID, r.Callback)
	case "mcp_message":
		if len(c.d.o.Scenario.Tools) == 0 {
			break
		}
		return c.mcpMessage(l.ReqID, r.Message)
	}
	return errNotOurs
}

func (c *claude) hookCalled(id, callback string) error {
	n, err := strconv.Atoi(strings.TrimPrefix(callback, "hook_"))
	if err != nil || n >= len(c.d.o.Scenario.Hooks) {
		return fmt.Errorf("the runtime calls hook %q, which was not registered", callback)
	}
	h := &c.d.o.Scenario.Hooks[n]
	reply := jsontext.Value("{}")
	if k := c.hooked[n]; k < len(h.Replies) {
		reply = h.Replies[k]
	}
	c.hooked[n]++
	return c.d.call(id, h.Event, h.Awaits, func() error {
		if h.Fail != "" {
			return c.refuse(id, h.Fail)
		}
		return c.respond(id, reply)
	}, func() error { return c.refuse(id, notSupported) })
}

// mcpMessage answers as an MCP server would. Notifications are answered too,
// with nothing.
func (c *claude) mcpMessage(id string, msg jsontext.Value) error {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params struct {
			Name     string         `json:"name"`
			Protocol jsontext.Value `json:"protocolVersion"`
			Call     jsontext.Value `json:"requestId"` // of a cancellation
		} `json:"params"`
	}
	if err := json.Unmarshal(msg, &m, asItCame); err != nil {
		return err
	}
	rpc := m.ID.Clone()
	if rpc == nil {
		rpc = jsontext.Value("0")
	}
	switch m.Method {
	case "initialize":
		return c.mcpResult(id, rpc, jsontext.Value(fmt.Sprintf(
			`{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}`, m.Params.Protocol, claudeToolServer)))
	case "tools/list":
		return c.mcpResult(id, rpc, claudeToolList(c.d.o.Scenario.Tools))
	case "tools/call":
		t := c.d.tool(m.Params.Name)
		if t == nil {
			return c.mcpError(id, rpc, "no such tool")
		}
		return c.d.call("mcp:"+string(rpc), t.Name, t.Awaits, func() error {
			if t.Fail != "" {
				return c.mcpError(id, rpc, t.Fail)
			}
			return c.mcpResult(id, rpc, claudeToolResult(t))
		}, func() error { return c.mcpError(id, rpc, "cancelled") })
	case "notifications/cancelled":
		if err := c.d.giveUp("mcp:" + string(m.Params.Call)); err != nil {
			return err
		}
	}
	if m.ID == nil {
		return c.mcpResult(id, rpc, jsontext.Value(`{}`))
	}
	return c.mcpError(id, rpc, "no such method")
}

func claudeToolList(tools []fixtures.Tool) any {
	type annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	}
	type tool struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		InputSchema jsontext.Value `json:"inputSchema"`
		Annotations *annotations   `json:"annotations,omitempty"`
	}
	out := struct {
		Tools []tool `json:"tools"`
	}{[]tool{}}
	for i := range tools {
		t := &tools[i]
		w := tool{Name: t.Name, Description: t.Description, InputSchema: schemaOf(t)}
		if t.ReadOnly {
			w.Annotations = &annotations{true}
		}
		out.Tools = append(out.Tools, w)
	}
	return out
}

func claudeToolResult(t *fixtures.Tool) any {
	type item struct {
		Type string `json:"type"`
		Text string `json:"text,omitempty"`
		Data string `json:"data,omitempty"`
		MIME string `json:"mimeType,omitempty"`
	}
	out := struct {
		Content []item `json:"content"`
		IsError bool   `json:"isError,omitzero"`
	}{[]item{}, t.IsError}
	for _, r := range t.Result {
		if r.Image != "" {
			out.Content = append(out.Content, item{Type: "image", Data: r.Image, MIME: mimeOf(r)})
		} else {
			out.Content = append(out.Content, item{Type: "text", Text: r.Text})
		}
	}
	return out
}

func (c *claude) mcpResult(id string, rpc jsontext.Value, result any) error {
	type message struct {
		RPC    string         `json:"jsonrpc"`
		ID     jsontext.Value `json:"id"`
		Result any            `json:"result"`
	}
	return c.respond(id, struct {
		Message message `json:"mcp_response"`
	}{message{"2.0", rpc, result}})
}

func (c *claude) mcpError(id string, rpc jsontext.Value, why string) error {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	type message struct {
		RPC   string         `json:"jsonrpc"`
		ID    jsontext.Value `json:"id"`
		Error fault          `json:"error"`
	}
	return c.respond(id, struct {
		Message message `json:"mcp_response"`
	}{message{"2.0", rpc, fault{-32000, why}}})
}

// respond replies to a request of the runtime. When stdin is closed it hears no
// reply any more.
func (c *claude) respond(id string, response any) error {
	if c.d.closed {
		return nil
	}
	type body struct {
		Subtype  string `json:"subtype"`
		ReqID    string `json:"request_id"`
		Response any    `json:"response"`
	}
	return c.write(struct {
		Type     string `json:"type"`
		Response body   `json:"response"`
	}{"control_response", body{"success", id, response}})
}

func (c *claude) refuse(id, why string) error {
	if c.d.closed {
		return nil
	}
	type body struct {
		Subtype string `json:"subtype"`
		ReqID   string `json:"request_id"`
		Error   string `json:"error"`
	}
	return c.write(struct {
		Type     string `json:"type"`
		Response body   `json:"response"`
	}{"control_response", body{"error", id, why}})
}
