package claude

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// toolServer is the name of the MCP server that the client itself is. It offers
// the client's tools over the control protocol.
const toolServer = "client"

type hook struct {
	Matcher   string   `json:"matcher,omitempty"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   int      `json:"timeout,omitzero"`
}

// initialize returns the request that registers the client's tools, hooks and
// schema.
func (c *client) initialize() any {
	s := c.d.Scenario
	req := struct {
		Subtype string            `json:"subtype"`
		Hooks   map[string][]hook `json:"hooks,omitempty"`
		Servers []string          `json:"sdkMcpServers,omitempty"`
		Schema  jsontext.Value    `json:"jsonSchema,omitempty"`
	}{Subtype: "initialize", Hooks: map[string][]hook{}, Schema: s.Schema}
	if len(s.Tools) > 0 {
		req.Servers = []string{toolServer}
	}
	for i, h := range s.Hooks {
		req.Hooks[h.Event] = append(req.Hooks[h.Event], hook{h.Matcher, []string{"hook_" + strconv.Itoa(i)}, h.Timeout})
	}
	if s.Policy != nil {
		req.Hooks[preToolUse] = append(req.Hooks[preToolUse], hook{Callbacks: []string{policyHook}})
	}
	return req
}

// serverArgs returns the options that make the runtime start the scenario's MCP
// servers.
func serverArgs(servers []fixtures.Server) ([]string, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	type server struct {
		Type    string            `json:"type,omitempty"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitzero"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	config := struct {
		Servers map[string]server `json:"mcpServers"`
	}{map[string]server{}}
	for _, s := range servers {
		if s.Remote.Transport != "" {
			config.Servers[s.Name] = server{Type: s.Remote.Transport, URL: fixtures.ServerURL(s.Name), Headers: s.Remote.Headers}
			continue
		}
		config.Servers[s.Name] = server{Command: fixtures.ServerCommand(s.Name), Args: []string{}, Env: s.Env}
	}
	b, err := json.Marshal(config, json.Deterministic(true))
	return []string{"--mcp-config", string(b)}, err
}

type block struct {
	Type   string  `json:"type"`
	Title  string  `json:"title,omitempty"` // of a document
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// messageBlocks returns the files of a message, and its text.
func (c *client) messageBlocks(text string, files []string) ([]block, error) {
	var out []block
	for _, f := range files {
		data, err := c.d.ReadFile(f)
		if err != nil {
			return nil, err
		}
		kind, mime := "image", fixtures.MIME(f)
		if !strings.HasPrefix(mime, "image/") {
			kind = "document"
		}
		if strings.HasPrefix(mime, "text/") {
			out = append(out, block{Type: kind, Title: f, Source: &source{"text", mime, string(data)}})
			continue
		}
		out = append(out, block{Type: kind, Source: &source{"base64", mime, base64.StdEncoding.EncodeToString(data)}})
	}
	if text == "" && len(out) > 0 {
		return out, nil // the runtime ignores a message with an empty text
	}
	return append(out, block{Type: "text", Text: text}), nil
}

func (c *client) callHook(id, callback string) error {
	n, err := strconv.Atoi(strings.TrimPrefix(callback, "hook_"))
	if err != nil || n >= len(c.d.Scenario.Hooks) {
		return fmt.Errorf("the runtime calls hook %q, which was not registered", callback)
	}
	h := &c.d.Scenario.Hooks[n]
	reply := jsontext.Value("{}")
	if k := c.hookCalls[n]; k < len(h.Replies) {
		reply = h.Replies[k]
	}
	c.hookCalls[n]++
	return c.d.AnswerCall(id, h.Event, h.Awaits, func() error {
		if h.Fail != "" {
			return c.refuseRequest(id, h.Fail)
		}
		return c.respond(id, reply)
	}, func() error { return c.refuseRequest(id, drive.NotSupported) })
}

// handleMCP replies as an MCP server. A notification gets an empty result.
func (c *client) handleMCP(id string, params jsontext.Value) error {
	var r struct {
		Message struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Params struct {
				Name     string         `json:"name"`
				Protocol jsontext.Value `json:"protocolVersion"`
				Call     jsontext.Value `json:"requestId"` // of a cancellation
			} `json:"params"`
		} `json:"message"`
	}
	if err := wire.Decode(params, &r); err != nil {
		return err
	}
	m := r.Message
	rpc := m.ID.Clone()
	if rpc == nil {
		rpc = jsontext.Value("0")
	}
	switch m.Method {
	case "initialize":
		return c.mcpResult(id, rpc, jsontext.Value(fmt.Sprintf(
			`{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}`, m.Params.Protocol, toolServer)))
	case "tools/list":
		return c.mcpResult(id, rpc, toolList(c.d.Scenario.Tools))
	case "tools/call":
		t := c.d.Tool(m.Params.Name)
		if t == nil {
			return c.mcpError(id, rpc, "no such tool")
		}
		return c.d.AnswerCall("mcp:"+string(rpc), t.Name, t.Awaits, func() error {
			if t.Fail != "" {
				return c.mcpError(id, rpc, t.Fail)
			}
			return c.mcpResult(id, rpc, mcpToolResult(t))
		}, func() error { return c.mcpError(id, rpc, "cancelled") })
	case "notifications/cancelled":
		if err := c.d.DeclineCall("mcp:" + string(m.Params.Call)); err != nil {
			return err
		}
	}
	if m.ID == nil {
		return c.mcpResult(id, rpc, jsontext.Value(`{}`))
	}
	return c.mcpError(id, rpc, "no such method")
}

func toolList(tools []fixtures.Tool) any {
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
		w := tool{Name: t.Name, Description: t.Description, InputSchema: drive.InputSchema(t)}
		if t.ReadOnly {
			w.Annotations = &annotations{true}
		}
		out.Tools = append(out.Tools, w)
	}
	return out
}

func mcpToolResult(t *fixtures.Tool) any {
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
			out.Content = append(out.Content, item{Type: "image", Data: r.Image, MIME: drive.ImageType(r)})
		} else {
			out.Content = append(out.Content, item{Type: "text", Text: r.Text})
		}
	}
	return out
}

type mcpFailure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type mcpReply struct {
	RPC    string         `json:"jsonrpc"`
	ID     jsontext.Value `json:"id"`
	Result any            `json:"result,omitzero"`
	Error  *mcpFailure    `json:"error,omitempty"`
}

func (c *client) mcpResult(id string, rpc jsontext.Value, result any) error {
	return c.respondMCP(id, mcpReply{RPC: "2.0", ID: rpc, Result: result})
}

func (c *client) mcpError(id string, rpc jsontext.Value, why string) error {
	return c.respondMCP(id, mcpReply{RPC: "2.0", ID: rpc, Error: &mcpFailure{-32000, why}})
}

func (c *client) respondMCP(id string, r mcpReply) error {
	return c.respond(id, struct {
		Message mcpReply `json:"mcp_response"`
	}{r})
}
