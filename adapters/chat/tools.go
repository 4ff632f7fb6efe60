package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// call is a call of a tool by the model.
type call struct {
	index               int64
	id, name, arguments string
	emitted             int // how much of the arguments was emitted; -1: the call was not announced

	tool   *clientTool
	asked  bool // the user has not answered the question about it
	cancel func()
	ran    bool // it has a result
	result string
}

// addCall adds a piece of a call. The index identifies the call, because their pieces may
// alternate; a server that sends none sends each call whole.
func (r *reply) addCall(d *piece) *call {
	index := int64(len(r.calls))
	if d.Index != nil {
		index = *d.Index
	}
	at := slices.IndexFunc(r.calls, func(k *call) bool { return k.index == index })
	if at < 0 {
		at = len(r.calls)
		r.calls = append(r.calls, &call{index: index, emitted: -1})
	}
	k := r.calls[at]
	if k.id == "" {
		k.id = d.ID
	}
	if k.name == "" {
		k.name = d.Function.Name
	}
	k.arguments += d.Function.Arguments
	return k
}

// emitInput emits the arguments that have arrived and were not emitted. A call is announced
// when its id and its name have arrived.
func (k *call) emitInput(sc *ledger.Scope) {
	if k.id == "" || k.name == "" {
		return
	}
	if k.emitted < 0 {
		sc.InputStart(k.id, k.name)
		k.emitted = 0
	}
	sc.Input(k.id, k.arguments[k.emitted:])
	k.emitted = len(k.arguments)
}

// input is the input of a call as events hold it. Arguments that are no JSON are a string.
func (k *call) input() event.Raw {
	switch v := jsontext.Value(k.arguments); {
	case k.arguments == "":
		return event.Raw("{}")
	case v.IsValid(lenient):
		return v
	}
	b, _ := jsontext.AppendQuote(nil, k.arguments) // the error only reports replaced characters
	return b
}

// runCalls runs the calls of a reply. The model gets the results when all are there.
func (c *client) runCalls(calls []*call) {
	c.calls = calls
	for _, k := range calls {
		k.tool = c.toolOffered(k.name)
		switch {
		case k.tool == nil:
			c.finishCall(k, "there is no tool "+k.name, event.ToolError)
		case k.arguments != "" && !jsontext.Value(k.arguments).IsValid(lenient):
			c.finishCall(k, "the arguments are not valid JSON", event.ToolError)
		default:
			c.runCall(k)
		}
	}
	c.goOn()
}

// runCall runs a tool of the client, unless the Judge denies the call or leaves it to the
// user.
func (c *client) runCall(k *call) {
	judged := adapters.Call{Tool: k.tool.Name, Input: k.input(), Dir: c.o.Dir}
	asks := modes[c.mode] && !k.tool.ReadOnly
	if c.o.Judge == nil {
		c.decided(k, adapters.EffectAsk, "", asks)
		return
	}
	k.cancel = c.host.Go(func(ctx context.Context) func() {
		v := c.o.Judge.Decide(ctx, judged)
		return func() {
			c.decided(k, v.Effect, v.Reason, asks)
			c.goOn()
		}
	})
}

// decided goes on with a call after the Judge, if there is one, has decided.
func (c *client) decided(k *call, e adapters.Effect, reason string, asks bool) {
	switch {
	case e == adapters.EffectDeny:
		c.finishCall(k, reason, event.ToolDenied)
	case e == adapters.EffectAsk && asks:
		k.asked = true
		c.t.l.Turn().Permission(event.PermissionRequest{RequestID: k.id, ToolUseID: k.id, ToolName: k.tool.Name, ToolInput: k.input()})
	default:
		c.execute(k, k.input())
	}
}

func (c *client) execute(k *call, input event.Raw) {
	tool := k.tool
	k.cancel = c.host.Go(func(ctx context.Context) func() {
		a, err := tool.Call(ctx, adapters.ToolCall{ID: k.id, Input: input})
		return func() {
			switch {
			case err != nil:
				c.finishCall(k, err.Error(), event.ToolError)
			case a.IsError:
				c.finishWith(k, a, event.ToolError)
			default:
				c.finishWith(k, a, event.ToolOK)
			}
			c.goOn()
		}
	})
}

// textOf is the text of a result. The API takes no pictures there.
func textOf(a adapters.ToolAnswer) string {
	var texts []string
	for _, x := range a.Content {
		if len(x.Image) > 0 {
			texts = append(texts, fmt.Sprintf("(%s, %d bytes)", x.MIME, len(x.Image)))
		} else {
			texts = append(texts, x.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// finishCall gives a call its result.
func (c *client) finishCall(k *call, output string, status event.ToolStatus) {
	c.finishWith(k, adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: output}}}, status)
}

// finishWith gives a call the answer of its tool.
func (c *client) finishWith(k *call, a adapters.ToolAnswer, status event.ToolStatus) {
	if k.ran {
		return
	}
	k.ran, k.result, k.cancel = true, textOf(a), nil
	sc := c.t.l.Turn()
	if sc == nil {
		return
	}
	var media []event.Media
	for _, x := range a.Content {
		if len(x.Image) > 0 {
			media = append(media, c.t.l.MediaOf(event.MediaKindOf(x.MIME), x.MIME, x.Image))
		}
	}
	sc.ToolResult(event.ToolResult{ToolUseID: k.id, Output: k.result, Media: media, Status: status, IsError: status != event.ToolOK})
}

// goOn sends the results to the model when each call has one.
func (c *client) goOn() {
	if len(c.calls) == 0 || slices.ContainsFunc(c.calls, func(k *call) bool { return !k.ran }) {
		return
	}
	c.appendResults()
	if c.rounds++; c.rounds == c.o.MaxRequests {
		c.t.endAtLimit(c.rounds)
		c.takeMessage()
		return
	}
	c.post()
}

// interrupted is the result of a call that the user has stopped, for the model.
const interrupted = "The user stopped the turn."

// interruptCalls gives each open call a result, because the history is not valid without.
func (c *client) interruptCalls() {
	if len(c.calls) == 0 {
		return
	}
	for _, k := range c.calls {
		if k.cancel != nil {
			k.cancel()
		}
		if !k.ran {
			k.ran, k.result, k.cancel = true, interrupted, nil
		}
	}
	c.appendResults()
}

// closeCalls cancels the calls of a session that ends.
func (c *client) closeCalls() {
	for _, k := range c.calls {
		if k.cancel != nil {
			k.cancel()
			k.cancel = nil
		}
		if k.asked && !k.ran {
			c.t.l.Resolve(k.id, event.DecisionCancel, event.ByPolicy, nil)
		}
	}
	c.calls = nil
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, a adapters.Answer, reply func(error)) {
	i := slices.IndexFunc(c.calls, func(k *call) bool { return k.id == id && k.asked && !k.ran })
	switch {
	case i < 0:
		reply(fmt.Errorf("%w: %q", adapters.ErrUnknownID, id))
		return
	case a.Scope != adapters.ScopeOnce:
		reply(fmt.Errorf("answer: scope %q: %w", a.Scope, adapters.ErrUnsupported))
		return
	}
	k := c.calls[i]
	k.asked = false
	reply(nil)
	switch a.Decision {
	case event.DecisionAllow:
		input := k.input()
		if a.Input != nil {
			input = a.Input
		}
		c.t.l.Resolve(id, event.DecisionAllow, a.By, nil)
		c.execute(k, input)
	case event.DecisionCancel:
		c.t.l.Resolve(id, event.DecisionCancel, a.By, nil)
		c.stopTurn()
	default:
		c.t.l.Resolve(id, event.DecisionDeny, a.By, nil)
		text := "The user denied the call."
		if a.Message != "" {
			text = a.Message
		}
		c.finishCall(k, text, event.ToolDenied)
		c.goOn()
	}
}
