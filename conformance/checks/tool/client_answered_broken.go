package tool

import (
	"bytes"
	"context"
	"io"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// withoutLines returns a mutation that does not write the lines with one of the words.
func withoutLines(words ...string) broken.Mutation {
	return broken.Mutation{Write: func(line []byte, w io.Writer) error {
		for _, word := range words {
			if bytes.Contains(line, []byte(word)) {
				return nil
			}
		}
		_, err := w.Write(line)
		return err
	}}
}

var servesNoCall = broken.Adapter{
	Name: "serves-no-call", Sentence: "leaves a call of the client's tools without a reply",
	Proves:   "tool.client-answered",
	Mutation: withoutLines(`"contentItems"`, `"mcp_response"`),
}

var hookWithoutAReply = broken.Adapter{
	Name: "hook-without-a-reply", Sentence: "leaves a call of the client's hooks without a reply",
	Proves: "tool.client-answered", Runtime: "claude", Why: "Codex calls no hooks of a client",
	Mutation: withoutLines(`"hookSpecificOutput"`),
}

var answersWithNothing = broken.Adapter{
	Name: "answers-with-nothing", Sentence: "answers a call of the client's tool with an empty result",
	Proves: "tool.client-answered",
	Mutation: toolMutation(func(t *adapters.Tool) {
		call := t.Call
		t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
			_, _ = call(ctx, c)
			return adapters.ToolAnswer{}, nil
		}
	}),
}
