package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// call is a call of a tool by the model.
type call struct {
	index               position
	id, name, arguments string
	extra               jsontext.Value // goes back to the server with the call
	emitted             int            // how much of the arguments was emitted; -1: the call was not announced

	tool   *clientTool
	asked  bool // the user has not answered the question about it
	cancel func()
	ran    bool // it has a result
	result string
}

// addCall adds a piece of a call.
func (r *reply) addCall(d *piece) *call {
	k := r.callOf(d)
	if k == nil {
		k = &call{index: d.Index, emitted: -1}
		r.calls = append(r.calls, k)
	}
	if !k.isRepeatedBy(d) {
		k.add(d)
	}
	return k
}

// addWholeCall adds the call at a place of a message that has the whole of each call, unless
// it came before.
func (r *reply) addWholeCall(at int, d *piece) *call {
	i := slices.IndexFunc(r.calls, func(k *call) bool { return d.ID != "" && k.id == string(d.ID) })
	if i < 0 && at < len(r.calls) && (d.ID == "" || r.calls[at].id == "") && r.calls[at].name == string(d.function().Name) {
		i = at
	}
	if i >= 0 {
		k := r.calls[i]
		if rest, ok := strings.CutPrefix(string(d.function().Arguments), k.arguments); ok {
			k.arguments += rest
			return k
		}
	}
	return r.addCall(d)
}

func (k *call) add(d *piece) {
	f := d.function()
	k.id, k.name = cmp.Or(k.id, string(d.ID)), cmp.Or(k.name, string(f.Name))
	k.arguments += string(f.Arguments)
	if d.Extra != nil {
		k.extra = d.Extra
	}
}

// callOf returns the call to which a piece belongs, or nil if it begins one. OpenAI identifies
// calls by their index, because their pieces may alternate, and sends the id once. Others send
// no index, or index 0 for each call, or an id with each piece.
func (r *reply) callOf(d *piece) *call {
	for _, k := range slices.Backward(r.calls) {
		if k.id != "" && k.id == string(d.ID) && k.mayHaveIndex(d) {
			if k.endsBefore(d) && !k.isRepeatedBy(d) {
				return nil // the server gives each call this id
			}
			return k
		}
	}
	for i, k := range slices.Backward(r.calls) {
		if k.continuedBy(d, i == len(r.calls)-1 && i < r.fresh) {
			return k
		}
	}
	return nil
}

// continuedBy reports whether a piece belongs to the call, whose id it does not have. last
// reports whether the call is the newest, and came before the delta of the piece.
func (k *call) continuedBy(d *piece, last bool) bool {
	otherID := k.id != "" && d.ID != ""
	named := d.function().Name != ""
	switch {
	case k.index.given && d.Index.given:
		// A server may make up an id for each piece, but names the tool once.
		return k.index == d.Index && !k.endsBefore(d) && (!otherID || !named)
	case !last || otherID || !k.mayHaveIndex(d):
		return false
	case !named:
		return true
	}
	return !k.endsBefore(d) && (k.name == "" || k.name == string(d.function().Name)) && (k.arguments != "" || d.hasArguments())
}

// mayHaveIndex reports whether the index of a piece may be that of the call.
func (k *call) mayHaveIndex(d *piece) bool {
	return !k.index.given || !d.Index.given || k.index == d.Index
}

// complete reports whether the arguments are complete: nothing can follow.
func (k *call) complete() bool {
	return strings.HasPrefix(strings.TrimSpace(k.arguments), "{") && jsontext.Value(k.arguments).IsValid(lenient.Options)
}

// endsBefore reports whether a piece with a name or an id begins another call, because the
// arguments of this one are complete.
func (k *call) endsBefore(d *piece) bool {
	return (d.ID != "" || d.function().Name != "") && d.hasArguments() && k.complete()
}

// isRepeatedBy reports whether the piece is the whole call again, which some servers send at
// the end.
func (k *call) isRepeatedBy(d *piece) bool {
	return d.ID != "" && k.id == string(d.ID) && k.name == string(d.function().Name) && k.arguments == string(d.function().Arguments) && k.complete()
}

// hasArguments reports whether the piece adds to the arguments.
func (p *piece) hasArguments() bool { return strings.TrimSpace(string(p.function().Arguments)) != "" }

// emitInput emits the arguments of a call that have arrived and were not emitted. A call is
// announced when its id and its name have arrived, and if no other call has the id.
func (r *reply) emitInput(sc *ledger.Scope, k *call) {
	if k.id == "" || k.name == "" || slices.ContainsFunc(r.calls, func(x *call) bool { return x != k && x.id == k.id }) {
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
	case v.IsValid(lenient.Options):
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
		case k.arguments != "" && !jsontext.Value(k.arguments).IsValid(lenient.Options):
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
