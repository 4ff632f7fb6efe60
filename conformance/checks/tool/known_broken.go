package tool

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var inventsATool = broken.Adapter{
	Name: "invents-a-tool", Sentence: "reports an internal step as a tool call",
	Proves: "tool.known",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if step := "step-" + strconv.Itoa(e.Turn); e.Type() == event.TypeTurnStart {
			e.Data = event.ToolStart{ToolUseID: step, Tool: "Plan", Input: event.Raw("{}")}
			out(e)
			e.Data = event.ToolResult{ToolUseID: step, Status: event.ToolOK}
			out(e)
		}
	}),
}

var forgetsTheInput = broken.Adapter{
	Name: "forgets-the-input", Sentence: "reports a tool call without its input",
	Proves:   "tool.known",
	Mutation: broken.Change(func(d *event.ToolStart) { d.Input = event.Raw("{}") }),
}

var dropsFormatCharacters = broken.Adapter{
	Name: "drops-format-characters", Sentence: "removes characters without a width from the input of a tool",
	Proves: "tool.known",
	Mutation: broken.Change(func(d *event.ToolStart) {
		input := slices.Clone(d.Input)
		if input.Canonicalize() != nil { // it writes letters for escapes
			return
		}
		d.Input = event.Raw(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, string(input)))
	}),
}
