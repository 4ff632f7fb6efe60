package codex

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// toolRun is a call of a client's tool that has no reply yet.
type toolRun struct {
	rpc         jsontext.Value
	call        string // the id of its item
	th          *thread
	withoutItem bool // it has no item
	cancel      func()
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

// handleToolCall runs a tool of the client. An older version sends no item for
// it; then the call itself becomes the tool's events.
func (t *translator) handleToolCall(a *question, b []byte) {
	p := &t.m.Params
	if t.live != nil && t.main == nil {
		t.refuseRequest(a, b)
		return
	}
	th := t.threadOf(p.ThreadID.val())
	if !th.runs(p.TurnID.val()) && (t.live != nil || th.hasEnded(p.TurnID.val())) {
		t.refuseRequest(a, b)
		return
	}
	id := string(p.CallID)
	bare := false
	if sc := t.lineScope(th, p.TurnID.val()); sc != nil && th.findItem(id) == nil {
		bare = true
		t.handleToolItem(th, sc, &item{Type: "dynamicToolCall", ID: p.CallID, Tool: p.Tool, Arguments: p.Arguments.Clone()}, false)
	}
	if t.live == nil {
		return // the client's reply is not in the transcript
	}
	tools := t.live.o.Tools
	i := slices.IndexFunc(tools, func(x adapters.Tool) bool { return x.Name == string(p.Tool) })
	if i < 0 {
		t.refuseRequest(a, b)
		return
	}
	t.live.runTool(&toolRun{rpc: a.rpc, call: id, th: th, withoutItem: bare}, tools[i], adapters.ToolCall{ID: id, Input: p.Arguments.Clone()})
}

func (c *client) runTool(r *toolRun, tool adapters.Tool, call adapters.ToolCall) {
	c.runs = append(c.runs, r)
	judged := adapters.Call{Tool: tool.Name, Input: call.Input, Dir: c.o.Dir, SubagentID: c.t.subID(r.th)}
	r.cancel = c.host.Go(func(ctx context.Context) func() {
		a, err := c.callJudged(ctx, tool, call, judged)
		return func() {
			c.dropRun(r)
			if err != nil {
				a = adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: err.Error()}}, IsError: true}
			}
			c.sendResult(r.rpc, toolAnswer(a))
			c.endToolWithoutItem(r, a)
		}
	})
}

// endToolWithoutItem emits the result of a tool that has no item.
func (c *client) endToolWithoutItem(r *toolRun, a adapters.ToolAnswer) {
	sc := c.t.scopeOf(r.th)
	if !r.withoutItem || sc == nil {
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
	if o := r.th.findItem(r.call); o != nil {
		r.th.dropItem(o)
	}
}

func (c *client) dropRun(r *toolRun) {
	c.runs = slices.DeleteFunc(c.runs, func(x *toolRun) bool { return x == r })
}

// cancelRun cancels a call whose turn or session ends, and sends its one reply.
func (c *client) cancelRun(r *toolRun) {
	r.cancel()
	c.dropRun(r)
	c.sendError(r.rpc, refusal)
}

// cancelRunOf cancels the call whose item has ended before its reply.
func (c *client) cancelRunOf(item string) bool {
	i := slices.IndexFunc(c.runs, func(r *toolRun) bool { return r.call == item })
	if i < 0 {
		return false
	}
	c.cancelRun(c.runs[i])
	return true
}

func (c *client) cancelRuns(th *thread) {
	for _, r := range slices.Clone(c.runs) {
		if r.th == th {
			c.cancelRun(r)
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

// serverSettings are further settings of each server of Options.MCP.
func serverSettings(o adapters.Options) string {
	if o.Judge != nil {
		return alwaysPrompt
	}
	return ""
}
