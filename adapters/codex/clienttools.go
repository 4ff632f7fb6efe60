package codex

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// toolRun is a call of one of the client's tools that has no answer yet.
type toolRun struct {
	rpc    jsontext.Value
	call   string // the id of its item
	th     *thread
	bare   bool // it has no item
	cancel func()
}

type dynamicTool struct {
	Type        string    `json:"type"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	InputSchema event.Raw `json:"inputSchema"`
}

func dynamicTools(tools []adapters.Tool) []dynamicTool {
	var out []dynamicTool
	for _, t := range tools {
		d := dynamicTool{"function", t.Name, t.Description, t.Schema}
		if len(d.InputSchema) == 0 {
			d.InputSchema = event.Raw(`{"type":"object","properties":{}}`)
		}
		out = append(out, d)
	}
	return out
}

// callTool runs a tool of the client. An older version has no item for it: then
// the call itself is told as the tool.
func (t *translator) callTool(a *ask, b []byte) {
	p := &t.m.Params
	if t.live != nil && t.main == nil {
		t.refuse(a, b)
		return
	}
	th := t.thread(p.ThreadID.val())
	if !th.is(p.TurnID.val()) && (t.live != nil || th.over(p.TurnID.val())) {
		t.refuse(a, b)
		return
	}
	id := string(p.CallID)
	bare := false
	if sc := t.scopeOf(th, p.TurnID.val()); sc != nil && th.find(id) == nil {
		bare = true
		t.toolItem(th, sc, &item{Type: "dynamicToolCall", ID: p.CallID, Tool: p.Tool, Arguments: p.Arguments.Clone()}, false)
	}
	if t.live == nil {
		return // the answer is the client's: what the model says next tells of it
	}
	tools := t.live.o.Tools
	i := slices.IndexFunc(tools, func(x adapters.Tool) bool { return x.Name == string(p.Tool) })
	if i < 0 {
		t.refuse(a, b)
		return
	}
	t.live.run(&toolRun{rpc: a.rpc, call: id, th: th, bare: bare}, tools[i], adapters.ToolCall{ID: id, Input: p.Arguments.Clone()})
}

func (c *client) run(r *toolRun, tool adapters.Tool, call adapters.ToolCall) {
	c.runs = append(c.runs, r)
	judged := adapters.Call{Tool: tool.Name, Input: call.Input, Dir: c.o.Dir, SubagentID: c.t.subID(r.th)}
	r.cancel = c.host.Go(func(ctx context.Context) func() {
		a, err := c.callJudged(ctx, tool, call, judged)
		return func() {
			c.dropRun(r)
			if err != nil {
				a = adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: err.Error()}}, IsError: true}
			}
			c.result(r.rpc, toolAnswer(a))
			c.told(r, a)
		}
	})
}

// told ends a tool that has no item: its answer is its result.
func (c *client) told(r *toolRun, a adapters.ToolAnswer) {
	sc := c.t.scope(r.th)
	if !r.bare || sc == nil {
		return
	}
	d := event.ToolResult{ToolUseID: r.call, Status: event.ToolOK, IsError: a.IsError}
	if a.IsError {
		d.Status = event.ToolError
	}
	var texts []string
	for _, x := range a.Content {
		if len(x.Image) == 0 {
			texts = append(texts, x.Text)
		}
	}
	d.Output = strings.Join(texts, "\n")
	sc.ToolResult(d)
	if o := r.th.find(r.call); o != nil {
		r.th.drop(o)
	}
}

func (c *client) dropRun(r *toolRun) {
	c.runs = slices.DeleteFunc(c.runs, func(x *toolRun) bool { return x == r })
}

// giveUp ends a call whose turn or session ends. It gets its one reply.
func (c *client) giveUp(r *toolRun) {
	r.cancel()
	c.dropRun(r)
	c.fault(r.rpc, refusal)
}

// unanswered gives up the call whose item has ended before its answer.
func (c *client) unanswered(item string) bool {
	i := slices.IndexFunc(c.runs, func(r *toolRun) bool { return r.call == item })
	if i < 0 {
		return false
	}
	c.giveUp(c.runs[i])
	return true
}

func (c *client) giveUpRuns(th *thread) {
	for _, r := range slices.Clone(c.runs) {
		if r.th == th {
			c.giveUp(r)
		}
	}
}

type contentOut struct {
	Type  string  `json:"type"`
	Text  *string `json:"text,omitempty"`
	Image string  `json:"imageUrl,omitempty"`
}

type toolResultOut struct {
	Items   []contentOut `json:"contentItems"`
	Success bool         `json:"success"`
}

func toolAnswer(a adapters.ToolAnswer) toolResultOut {
	out := toolResultOut{[]contentOut{}, !a.IsError}
	for _, c := range a.Content {
		if len(c.Image) > 0 {
			out.Items = append(out.Items, contentOut{Type: "inputImage", Image: "data:" + c.MIME + ";base64," + base64.StdEncoding.EncodeToString(c.Image)})
		} else {
			out.Items = append(out.Items, contentOut{Type: "inputText", Text: &c.Text})
		}
	}
	return out
}

// servers are the arguments that let the runtime start MCP servers: settings,
// whose values are TOML.
func servers(o adapters.Options) []string {
	var args []string
	for _, s := range o.MCP {
		var quoted []string
		for _, a := range s.Args {
			quoted = append(quoted, tomlString(a))
		}
		v := fmt.Sprintf("command=%s,args=[%s]", tomlString(s.Command), strings.Join(quoted, ","))
		if len(s.Env) > 0 {
			var env []string
			for _, k := range slices.Sorted(maps.Keys(s.Env)) {
				env = append(env, tomlString(k)+"="+tomlString(s.Env[k]))
			}
			v += ",env={" + strings.Join(env, ",") + "}"
		}
		if o.Judge != nil {
			v += askAlways
		}
		args = append(args, "-c", fmt.Sprintf("mcp_servers.%s={%s}", s.Name, v))
	}
	return args
}

// tomlString is a basic string of TOML, whose escapes are JSON's but for the
// slash, which is written as it is.
func tomlString(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""` // not UTF-8: no TOML can hold it
	}
	return string(b)
}
