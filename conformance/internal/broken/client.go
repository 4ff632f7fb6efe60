package broken

import (
	"bytes"
	"context"
	"io"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// tooling makes a mutation of the tools that a client brings.
func tooling(f func(t *adapters.Tool)) mutation {
	return mutation{open: func(o *conformance.Open) {
		o.Tools = slices.Clone(o.Tools)
		for i := range o.Tools {
			f(&o.Tools[i])
		}
	}}
}

// silent makes a mutation that does not write the lines which hold one of the
// words.
func silent(words ...string) mutation {
	return mutation{written: func(line []byte, w io.Writer) error {
		for _, word := range words {
			if bytes.Contains(line, []byte(word)) {
				return nil
			}
		}
		_, err := w.Write(line)
		return err
	}}
}

// later is a context that ends a second after another.
func later(ctx context.Context) context.Context {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return out
}

// offering are broken in what they make of a client's tools, and in what they say
// that they can.
func offering() []Adapter {
	return []Adapter{
		{
			Name: "declares-nothing", Sentence: "declares none of what it can do",
			Fails:    []string{"session.capabilities"},
			mutation: mutation{able: func(c *adapters.Capabilities) { *c = adapters.Capabilities{Runtime: c.Runtime} }},
		},
		{
			Name: "declares-too-much", Sentence: "declares that it can change the mode, and says that it cannot",
			Fails:    []string{"session.capabilities"},
			mutation: mutation{set: func(string) (string, error) { return "", adapters.ErrUnsupported }},
		},
		{
			Name: "offers-without-a-word", Sentence: "offers a tool by its name alone",
			Fails:    []string{"tool.client-offered"},
			mutation: tooling(func(t *adapters.Tool) { t.Description, t.Schema = "", nil }),
		},
		{
			Name: "serves-no-call", Sentence: "leaves a call of the client's tools without a reply",
			Fails:    []string{"component.remove", "component.tool-linked", "component.update", "replay.components", "session.acts-told", "text.once", "tool.client-answered", "tool.client-called", "tool.client-offered", "tool.known", "turn.one-terminal"},
			Only:     map[string]string{"session.acts-told": "claude", "tool.client-offered": "claude", "turn.one-terminal": "claude"}, // whose tools are a server, which greets
			mutation: silent(`"contentItems"`, `"mcp_response"`),
		},
		{
			Name: "hook-without-a-reply", Sentence: "leaves a call of the client's hooks without a reply",
			Fails: []string{"text.once", "tool.client-answered", "turn.one-terminal"}, Runtime: "claude", Why: "the hooks of Codex are no client's",
			mutation: silent(`"hookSpecificOutput"`),
		},
		{
			Name: "lets-a-call-run-on", Sentence: "tells a tool or a hook a second late that nobody wants its answer",
			Fails: []string{"tool.client-let-go"},
			mutation: opening(func(o *conformance.Open) {
				o.Tools, o.Hooks = slices.Clone(o.Tools), slices.Clone(o.Hooks)
				for i, call := range o.Tools {
					o.Tools[i].Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
						return call.Call(later(ctx), c)
					}
				}
				for i, hook := range o.Hooks {
					o.Hooks[i].Call = func(ctx context.Context, in event.Raw) (event.Raw, error) { return hook.Call(later(ctx), in) }
				}
			}),
		},
		{
			Name: "calls-with-nothing", Sentence: "calls a tool of the client's without its input",
			Fails: []string{"tool.client-called"},
			mutation: tooling(func(t *adapters.Tool) {
				call := t.Call
				t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
					return call(ctx, adapters.ToolCall{ID: c.ID})
				}
			}),
		},
		{
			Name: "answers-with-nothing", Sentence: "answers a call of the client's tool with nothing",
			Fails: []string{"tool.client-answered", "wire.own-lines"},
			mutation: tooling(func(t *adapters.Tool) {
				call := t.Call
				t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
					_, _ = call(ctx, c)
					return adapters.ToolAnswer{}, nil
				}
			}),
		},
	}
}
