package claude

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// clientServer is the name of the MCP server that the client itself is.
const clientServer = "client"

// served is a call of the runtime to the client that has no answer yet: of a
// hook, or of a tool, which the runtime calls as an MCP server's.
type served struct {
	rpc     jsontext.Value // of a tool: the id of the MCP request
	instead any            // the answer where it is given up, if it is no error
	cancel  func()
}

type greeting struct {
	Subtype string              `json:"subtype"`
	Hooks   map[string][]hooked `json:"hooks,omitempty"`
	Servers []string            `json:"sdkMcpServers,omitempty"`
	Schema  event.Raw           `json:"jsonSchema,omitempty"`
}

type hooked struct {
	Matcher   string   `json:"matcher,omitempty"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   int      `json:"timeout,omitzero"` // in seconds
}

const hookPrefix = "hook_"

// greeting is the handshake: what the client brings is told in it.
func (p *protocol) greeting() greeting {
	g := greeting{Subtype: "initialize", Schema: p.o.Schema}
	if len(p.o.Tools) > 0 {
		g.Servers = []string{clientServer}
	}
	for i, h := range p.o.Hooks {
		if g.Hooks == nil {
			g.Hooks = map[string][]hooked{}
		}
		g.Hooks[h.Event] = append(g.Hooks[h.Event], hooked{h.Matcher, []string{hookPrefix + strconv.Itoa(i)}, seconds(h.Timeout)})
	}
	if p.o.Judge != nil {
		if g.Hooks == nil {
			g.Hooks = map[string][]hooked{}
		}
		g.Hooks[preToolUse] = append(g.Hooks[preToolUse], hooked{Callbacks: []string{judgeHook}})
	}
	return g
}

// seconds is a time in the runtime's whole seconds: at least as long.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// servers is the argument that lets the runtime start MCP servers.
func servers(list []adapters.MCPServer) []string {
	if len(list) == 0 {
		return nil
	}
	type server struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env,omitempty"`
	}
	config := struct {
		Servers map[string]server `json:"mcpServers"`
	}{map[string]server{}}
	for _, s := range list {
		config.Servers[s.Name] = server{s.Command, append([]string{}, s.Args...), s.Env}
	}
	b, err := json.Marshal(config, json.Deterministic(true), lenient)
	if err != nil {
		panic("claude: a configuration of strings does not encode: " + err.Error())
	}
	return []string{"--mcp-config", string(b)}
}

// serve implements client.
func (p *protocol) serve(requestID string, r *request, b []byte) bool {
	switch r.Subtype {
	case "hook_callback":
		if r.CallbackID == judgeHook && p.o.Judge != nil {
			p.judgeTool(requestID, clone(r.Input))
			return true
		}
		n, err := strconv.Atoi(strings.TrimPrefix(string(r.CallbackID), hookPrefix))
		if err != nil || n < 0 || n >= len(p.o.Hooks) {
			return false
		}
		p.runHook(requestID, p.o.Hooks[n], clone(r.Input))
		return true
	case "mcp_message":
		if len(p.o.Tools) == 0 || r.ServerName != clientServer {
			return false
		}
		p.mcp(requestID, r.Message, b)
		return true
	}
	return false
}

func (p *protocol) runHook(requestID string, h adapters.Hook, input event.Raw) {
	s := &served{}
	p.serving[requestID] = s
	s.cancel = p.h.Go(func(ctx context.Context) func() {
		out, err := h.Call(ctx, input)
		return func() {
			delete(p.serving, requestID)
			switch {
			case err != nil:
				p.refuse(requestID, err.Error())
			case len(out) == 0:
				p.respond(requestID, jsontext.Value("{}"))
			default:
				p.respond(requestID, out)
			}
		}
	})
}

// rpcIn is a message of the runtime to the client as an MCP server.
type rpcIn struct {
	ID     jsontext.Value `json:"id"`
	Method text           `json:"method"`
	Params struct {
		Name      text           `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Version   jsontext.Value `json:"protocolVersion"`
		RequestID jsontext.Value `json:"requestId"`
		Meta      struct {
			ToolUseID text `json:"claudecode/toolUseId"`
		} `json:"_meta"`
	} `json:"params"`
}

type rpcOut struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  any            `json:"result,omitzero"`
	Error   *rpcFault      `json:"error,omitempty"`
}

type rpcFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type rpcReply struct {
	Response rpcOut `json:"mcp_response"`
}

type nothing struct{}

// mcp answers as an MCP server. Notifications are answered too: the runtime
// waits for it.
func (p *protocol) mcp(requestID string, msg jsontext.Value, b []byte) {
	var m rpcIn
	if err := json.Unmarshal(msg, &m, lenient); err != nil {
		p.refuse(requestID, "not a message of MCP: "+err.Error())
		return
	}
	out := rpcOut{Version: "2.0", ID: m.ID}
	if out.ID == nil {
		out.ID = jsontext.Value("0")
	}
	switch m.Method {
	case "initialize":
		out.Result = struct {
			Version      jsontext.Value `json:"protocolVersion"`
			Capabilities jsontext.Value `json:"capabilities"`
			Info         jsontext.Value `json:"serverInfo"`
		}{m.Params.Version, jsontext.Value(`{"tools":{}}`), jsontext.Value(`{"name":"` + clientServer + `","version":"1"}`)}
	case "tools/list":
		out.Result = toolList(p.o.Tools)
	case "tools/call":
		for _, t := range p.o.Tools {
			if t.Name == string(m.Params.Name) {
				p.runTool(requestID, out, t, adapters.ToolCall{ID: string(m.Params.Meta.ToolUseID), Input: clone(m.Params.Arguments)})
				return
			}
		}
		out.Error = &rpcFault{-32602, fmt.Sprintf("no such tool: %q", string(m.Params.Name))}
		p.t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRefused, Raw: clone(b),
			Text: "the runtime called a tool that this client does not have"})
	case "notifications/cancelled":
		p.cancelled(m.Params.RequestID)
		out.Result = nothing{}
	default:
		if m.ID != nil {
			out.Error = &rpcFault{-32601, "no such method"}
		} else {
			out.Result = nothing{}
		}
	}
	p.respond(requestID, rpcReply{out})
}

func (p *protocol) runTool(requestID string, out rpcOut, t adapters.Tool, c adapters.ToolCall) {
	s := &served{rpc: out.ID}
	p.serving[requestID] = s
	s.cancel = p.h.Go(func(ctx context.Context) func() {
		a, err := t.Call(ctx, c)
		return func() {
			delete(p.serving, requestID)
			if err != nil {
				out.Error = &rpcFault{-32000, err.Error()}
			} else {
				out.Result = toolAnswer(a)
			}
			p.respond(requestID, rpcReply{out})
		}
	})
}

// cancelled handles a call of a tool that the runtime gives up, because its
// turn was stopped, say.
func (p *protocol) cancelled(rpc jsontext.Value) {
	for id, s := range p.serving {
		if s.rpc != nil && string(s.rpc) == string(rpc) {
			p.drop(id, s)
		}
	}
}

// drop ends a call and answers it.
func (p *protocol) drop(id string, s *served) {
	s.cancel()
	delete(p.serving, id)
	if s.instead != nil {
		p.respond(id, s.instead)
		return
	}
	if s.rpc == nil {
		p.refuse(id, "cancelled")
		return
	}
	p.respond(id, rpcReply{rpcOut{Version: "2.0", ID: s.rpc, Error: &rpcFault{-32000, "cancelled"}}})
}

// takenBack implements client: a request that was cancelled wants no answer.
func (p *protocol) takenBack(requestID string) {
	if s := p.serving[requestID]; s != nil {
		s.cancel()
		delete(p.serving, requestID)
	}
}

// giveUp ends all calls: the session closes.
func (p *protocol) giveUp() {
	for id, s := range p.serving {
		p.drop(id, s)
	}
}

func (p *protocol) respond(requestID string, v any) {
	if err := p.write(replyOut{"control_response", replyBody{Subtype: "success", RequestID: requestID, Response: v}}); err != nil {
		p.refuse(requestID, "the answer does not encode: "+err.Error())
	}
}

func toolList(tools []adapters.Tool) any {
	type annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	}
	type tool struct {
		Name        string       `json:"name"`
		Description string       `json:"description"`
		Schema      event.Raw    `json:"inputSchema"`
		Annotations *annotations `json:"annotations,omitempty"`
	}
	out := struct {
		Tools []tool `json:"tools"`
	}{[]tool{}}
	for _, t := range tools {
		w := tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
		if len(w.Schema) == 0 {
			w.Schema = event.Raw(`{"type":"object","properties":{}}`)
		}
		if t.ReadOnly {
			w.Annotations = &annotations{true}
		}
		out.Tools = append(out.Tools, w)
	}
	return out
}

func toolAnswer(a adapters.ToolAnswer) any {
	type item struct {
		Type string  `json:"type"`
		Text *string `json:"text,omitempty"`
		Data string  `json:"data,omitempty"`
		MIME string  `json:"mimeType,omitempty"`
	}
	out := struct {
		Content []item `json:"content"`
		IsError bool   `json:"isError,omitzero"`
	}{[]item{}, a.IsError}
	for _, c := range a.Content {
		if len(c.Image) > 0 {
			out.Content = append(out.Content, item{Type: "image", Data: base64.StdEncoding.EncodeToString(c.Image), MIME: c.MIME})
		} else {
			out.Content = append(out.Content, item{Type: "text", Text: &c.Text})
		}
	}
	return out
}

// form is the answer to a question of an MCP server.
type form struct {
	Action  string    `json:"action"`
	Content event.Raw `json:"content,omitempty"`
}

// elicited makes the answer to a question of an MCP server. The value is the
// form's content, or the whole answer: {"action":…,"content":…}.
func elicited(an adapters.Answer) (any, event.Decision, event.Raw) {
	var v struct {
		Action text `json:"action"`
	}
	if an.Value.Kind() == '{' {
		_ = json.Unmarshal(an.Value, &v, lenient) // without an action it is the content
	}
	d := an.Decision
	if d == "" {
		d = decisionOf(an.Value)
	}
	value := an.Value
	if value == nil {
		value = event.Raw(`"` + string(d) + `"`)
	}
	switch {
	case d == event.DecisionDeny:
		return form{Action: "decline"}, d, value
	case d == event.DecisionCancel:
		return form{Action: "cancel"}, d, value
	case v.Action != "":
		return an.Value, d, value
	}
	return form{Action: "accept", Content: an.Value}, event.DecisionAllow, value
}
