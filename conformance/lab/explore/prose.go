package explore

import (
	"strings"

	"github.com/turnspec/turnspec/conformance/lab/shrink"
)

// words are deltas of plain text.
var words = []string{"The ", "room ", "is ", "blue", " and ", "quiet. ", "One ", "lamp ", "burns", ", ", "no ", "more. "}

// oddDeltas are deltas that an adapter may treat wrongly.
var oddDeltas = []string{
	"\n", "\n\n", " ", "\t", "```\n", "\u8a9e", "🙂", "e\u0301", "<b>", "&amp;", "\\n", "\"", "data: ", "{\"type\":\"result\"}",
	"| a | b |\n|---|---|\n", "\r\n", "%", "[x](y)", "\u2028", "שלום", "- ", "# ", strings.Repeat("long ", 300),
}

// sentence returns the deltas of a text. No two sentences of a scenario are equal.
func (c *composer) sentence() []string {
	out := []string{pick(c, words)}
	for range c.rng.IntN(4) {
		if c.chance(25) {
			out = append(out, pick(c, oddDeltas))
		} else {
			out = append(out, pick(c, words))
		}
	}
	return append(out, "("+c.newLetters()+pick(c, words[:4])+").")
}

// newLetters returns letters that no other text of the scenario has at that place.
func (c *composer) newLetters() string { return shrink.Letters(c.newMark()) }

// prose returns blocks of text and of reasoning; often none.
func (c *composer) prose() []any {
	var out []any
	for range c.rng.IntN(3) {
		out = append(out, c.block())
	}
	return out
}

// simpleProse is prose that a hold may follow: of it, a client can find out what the model
// has sent.
func (c *composer) simpleProse() []any {
	var out []any
	for range c.rng.IntN(3) {
		out = append(out, object{pick(c, []string{"text", "text", "think"}): c.sentence()})
	}
	return out
}

func (c *composer) block() any {
	p := object{}
	kind := "text"
	if c.chance(30) {
		kind = "think"
	}
	p[kind] = c.sentence()
	switch {
	case c.chance(8):
		p["whole"] = true
	case !c.runtime.hasPhases:
	case kind == "text" && c.chance(10):
		p["phase"] = pick(c, []string{"commentary", "final_answer"})
	case kind == "text" && c.runtime.has("final-text") && c.chance(4):
		p["final"] = strings.Join(p[kind].([]string), "") + " Indeed."
	case kind == "think" && c.runtime.has("raw-reasoning") && c.chance(15):
		p["raw"] = c.sentence()
	}
	return p
}

// thoughts returns reasoning that only the model can read, or nothing.
func (c *composer) thoughts() []any {
	switch n := c.rng.IntN(25); {
	case n == 0 && c.runtime.has("redacted-reasoning"):
		return []any{object{"redacted": "b3BhcXVl"}}
	case n == 1:
		return []any{object{"think": []string{}}}
	}
	return nil
}

// usage returns the tokens of a reply, or nothing.
func (c *composer) usage() []any {
	if !c.chance(15) {
		return nil
	}
	return []any{object{"usage": object{"input": 100 + c.rng.IntN(5000), "cached": c.rng.IntN(100), "output": 10 + c.rng.IntN(500)}}}
}

// beginning returns what stands before the tool calls of a reply.
func (c *composer) beginning() []any {
	return append(append(c.usage(), c.thoughts()...), c.prose()...)
}

// plainText is a text that a hold may follow.
func (c *composer) plainText() object {
	return object{"text": []string{pick(c, words), pick(c, words), "so " + c.newLetters()}}
}
