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
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// clientServer is the name of the MCP server that the client implements.
const clientServer = "client"

// clientCall is a call of the runtime to the client that has no reply yet: of a
// hook, or of a tool, which the runtime calls as an MCP server's.
type clientCall struct {
	rpc         jsontext.Value // the id of the MCP request, for a tool
	cancelReply any            // the reply on cancellation; nil for an error
	cancel      func()
}

type initializeOut struct {
	Subtype string                   `json:"subtype"`
	Hooks   map[string][]hookMatcher `json:"hooks,omitempty"`
	Servers []string                 `json:"sdkMcpServers,omitempty"`
	Schema  event.Raw                `json:"jsonSchema,omitempty"`
}

type hookMatcher struct {
	Matcher   string   `json:"matcher,omitempty"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   int      `json:"timeout,omitzero"` // in seconds
}

const hookPrefix = "hook_"

// initializeRequest returns the handshake, which declares hooks, tools and
// schema.
func (p *protocol) initializeRequest() initializeOut {
	g := initializeOut{Subtype: "initialize", Hooks: map[string][]hookMatcher{}, Schema: p.o.Schema}
	if len(p.o.Tools) > 0 {
		g.Servers = []string{clientServer}
	}
	for i, h := range p.o.Hooks {
		g.Hooks[h.Event] = append(g.Hooks[h.Event], hookMatcher{h.Matcher, []string{hookPrefix + strconv.Itoa(i)}, wholeSeconds(h.Timeout)})
	}
	if p.o.Judge != nil {
		g.Hooks[preToolUse] = append(g.Hooks[preToolUse], hookMatcher{Callbacks: []string{judgeHook}})
	}
	return g
}

// wholeSeconds rounds a duration up to seconds.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// mcpConfigArgs returns the argument that makes the runtime use MCP servers.
func mcpConfigArgs(list []adapters.MCPServer) []string {
	if len(list) == 0 {
		return nil
	}
	type server struct {
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitzero"`
		Env     map[string]string `json:"env,omitempty"`
		Type    string            `json:"type,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	config := struct {
		Servers map[string]server `json:"mcpServers"`
	}{map[string]server{}}
	for _, s := range list {
		switch {
		case s.URL == "":
			config.Servers[s.Name] = server{Command: s.Command, Args: append([]string{}, s.Args...), Env: s.Env}
		case s.SSE:
			config.Servers[s.Name] = server{Type: "sse", URL: s.URL, Headers: s.Headers}
		default:
			config.Servers[s.Name] = server{Type: "http", URL: s.URL, Headers: s.Headers}
		}
	}
	return []string{"--mcp-config", string(lenient.Encode(config))}
}

// handleCall handles a call of a client's hook or tool. It returns false if there
// is none.
func (p *protocol) handleCall(requestID string, r *request, b []byte) bool {
	switch r.Subtype {
	case "hook_callback":
		if r.CallbackID == judgeHook && p.o.Judge != nil {
			p.answerJudgeHook(requestID, r.Input.Clone())
			return true
		}
		n, err := strconv.Atoi(strings.TrimPrefix(string(r.CallbackID), hookPrefix))
		if err != nil || n < 0 || n >= len(p.o.Hooks) {
			return false
		}
		p.runHook(requestID, p.o.Hooks[n], r.Input.Clone())
		return true
	case "mcp_message":
		if len(p.o.Tools) == 0 || r.ServerName != clientServer {
			return false
		}
		p.handleMCP(requestID, r.Message, b)
		return true
	}
	return false
}

// startCall runs a call in its own goroutine. work returns the function that
// sends the reply.
func (p *protocol) startCall(requestID string, c clientCall, work func(context.Context) (sendReply func())) {
	c.cancel = p.h.Go(func(ctx context.Context) func() {
		sendReply := work(ctx)
		return func() {
			delete(p.calls, requestID)
			sendReply()
		}
	})
	p.calls[requestID] = &c
}

func (p *protocol) runHook(requestID string, h adapters.Hook, input event.Raw) {
	p.startCall(requestID, clientCall{}, func(ctx context.Context) func() {
		out, err := h.Call(ctx, input)
		return func() {
			switch {
			case err != nil:
				p.refuseRequest(requestID, err.Error())
			case len(out) == 0:
				p.respond(requestID, jsontext.Value("{}"))
			default:
				p.respond(requestID, out)
			}
		}
	})
}

// rpcIn is a message of the runtime to the client's MCP server.
type rpcIn struct {
	ID     jsontext.Value `json:"id"`
	Method lenient.Str    `json:"method"`
	Params struct {
		Name      lenient.Str    `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Version   jsontext.Value `json:"protocolVersion"`
		RequestID jsontext.Value `json:"requestId"`
		Meta      struct {
			ToolUseID lenient.Str `json:"claudecode/toolUseId"`
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

type emptyResult struct{}

// handleMCP replies as an MCP server. It also replies to notifications, because
// the runtime waits for it.
func (p *protocol) handleMCP(requestID string, msg jsontext.Value, b []byte) {
	var m rpcIn
	if err := json.Unmarshal(msg, &m, lenient.Options); err != nil {
		p.refuseRequest(requestID, "not a message of MCP: "+err.Error())
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
				p.runTool(requestID, out, t, adapters.ToolCall{ID: string(m.Params.Meta.ToolUseID), Input: m.Params.Arguments.Clone()})
				return
			}
		}
		out.Error = &rpcFault{-32602, fmt.Sprintf("no such tool: %q", string(m.Params.Name))}
		p.t.l.Notice(event.LevelWarning, event.NoticeRefused, "the runtime called a tool that this client does not have", b)
	case "notifications/cancelled":
		p.cancelToolCall(m.Params.RequestID)
		out.Result = emptyResult{}
	default:
		if m.ID != nil {
			out.Error = &rpcFault{-32601, "no such method"}
		} else {
			out.Result = emptyResult{}
		}
	}
	p.respond(requestID, rpcReply{out})
}

func (p *protocol) runTool(requestID string, out rpcOut, t adapters.Tool, c adapters.ToolCall) {
	p.startCall(requestID, clientCall{rpc: out.ID}, func(ctx context.Context) func() {
		a, err := t.Call(ctx, c)
		return func() {
			if err != nil {
				out.Error = &rpcFault{-32000, err.Error()}
			} else {
				out.Result = toolAnswer(a)
			}
			p.respond(requestID, rpcReply{out})
		}
	})
}

// cancelToolCall handles a tool call that the runtime cancels, for example
// because its turn was stopped.
func (p *protocol) cancelToolCall(rpc jsontext.Value) {
	for id, s := range p.calls {
		if s.rpc != nil && string(s.rpc) == string(rpc) {
			p.cancelCall(id, s)
		}
	}
}

// cancelCall cancels a call and replies to it.
func (p *protocol) cancelCall(id string, s *clientCall) {
	s.cancel()
	delete(p.calls, id)
	switch {
	case s.cancelReply != nil:
		p.respond(id, s.cancelReply)
	case s.rpc != nil:
		p.respond(id, rpcReply{rpcOut{Version: "2.0", ID: s.rpc, Error: &rpcFault{-32000, "cancelled"}}})
	default:
		p.refuseRequest(id, "cancelled")
	}
}

// callWithdrawn cancels a call that the runtime withdrew. It gets no reply.
func (p *protocol) callWithdrawn(requestID string) {
	if s := p.calls[requestID]; s != nil {
		s.cancel()
		delete(p.calls, requestID)
	}
}

// cancelCalls cancels all calls, because the session closes.
func (p *protocol) cancelCalls() {
	for id, s := range p.calls {
		p.cancelCall(id, s)
	}
}

func (p *protocol) respond(requestID string, v any) {
	if err := p.writeJSON(replyOut{"control_response", replyBody{Subtype: "success", RequestID: requestID, Response: v}}); err != nil {
		p.refuseRequest(requestID, "the answer does not encode: "+err.Error())
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

// elicitationResult is the answer to an MCP server's question.
type elicitationResult struct {
	Action  string    `json:"action"`
	Content event.Raw `json:"content,omitempty"`
}

// answerElicitation returns the answer to an MCP server's question. The value
// is the form's content, or the whole result: {"action":…,"content":…}.
func answerElicitation(an adapters.Answer) (any, event.Decision, event.Raw) {
	var v struct {
		Action lenient.Str `json:"action"`
	}
	if an.Value.Kind() == '{' {
		_ = json.Unmarshal(an.Value, &v, lenient.Options) // without an action the value is the content
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
		return elicitationResult{Action: "decline"}, d, value
	case d == event.DecisionCancel:
		return elicitationResult{Action: "cancel"}, d, value
	case v.Action != "":
		return an.Value, d, value
	}
	return elicitationResult{Action: "accept", Content: an.Value}, event.DecisionAllow, value
}
