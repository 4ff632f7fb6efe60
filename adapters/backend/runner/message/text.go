package message

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/event"
)

// maxParagraph is how much text waits for the end of its paragraph, in bytes.
const maxParagraph = 4096

// texts cuts blocks of text into paragraphs.
type texts struct {
	block string            // whose text waits
	wait  string            // text that was not sent yet
	sent  map[string]string // what was sent of each block of the turn
}

// add adds a piece of a block, and returns the paragraphs that are complete.
func (x *texts) add(block, text string) (out []Message) {
	if block != x.block {
		out = x.flush()
		x.block = block
	}
	x.wait += text
	if i := strings.LastIndex(x.wait, "\n\n"); i >= 0 {
		out = x.send(out, i+2)
	}
	for len(x.wait) > maxParagraph {
		out = x.send(out, cut(x.wait))
	}
	return out
}

// cut returns where to cut a paragraph that is too long: after its last line that fits, or
// else between two characters.
func cut(s string) int {
	if i := strings.LastIndexByte(s[:maxParagraph], '\n'); i >= 0 {
		return i + 1
	}
	for i := maxParagraph; i > maxParagraph-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return maxParagraph
}

// send sends the first n bytes that wait.
func (x *texts) send(out []Message, n int) []Message {
	if n == 0 {
		return out
	}
	if x.sent == nil {
		x.sent = map[string]string{}
	}
	content := x.wait[:n]
	x.sent[x.block] += content
	x.wait = x.wait[n:]
	return append(out, AssistantText{Content: content, BlockID: x.block})
}

// flush sends what waits.
func (x *texts) flush() []Message { return x.send(nil, len(x.wait)) }

// end ends a block.
func (x *texts) end(d event.BlockEnd) (out []Message) {
	gone := d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == ""
	if !gone && d.Status != event.BlockReplaced {
		if d.BlockID == x.block {
			out = x.flush()
		}
		return out
	}
	if d.BlockID == x.block {
		x.wait = ""
	} else {
		out = x.flush()
	}
	rest, extends := strings.CutPrefix(d.Text, x.sent[d.BlockID])
	if gone || !extends {
		if x.sent[d.BlockID] != "" {
			out = append(out, TextRetracted{d.BlockID})
			delete(x.sent, d.BlockID)
		}
		rest = d.Text
	}
	if gone {
		return out
	}
	x.block, x.wait = d.BlockID, rest
	return append(out, x.flush()...)
}

// thoughts collects blocks of reasoning.
type thoughts struct {
	open  bool
	block string
	text  strings.Builder
	known []string // the blocks of the turn
}

// has reports whether a block is one of reasoning.
func (x *thoughts) has(block string) bool { return slices.Contains(x.known, block) }

func (x *thoughts) add(d event.Thinking) (out []Message) {
	if x.open && d.BlockID != x.block {
		out = x.end()
	}
	if d.Text != "" {
		if !x.open {
			x.open, x.block = true, d.BlockID
			x.known = append(x.known, d.BlockID)
			out = append(out, ThinkingStart{d.BlockID})
		}
		x.text.WriteString(d.Text)
		out = append(out, ThinkingDelta{Content: d.Text, BlockID: d.BlockID})
	}
	if d.Done {
		out = append(out, x.end()...)
	}
	return out
}

// end ends the open block, if there is one.
func (x *thoughts) end() (out []Message) {
	if x.open {
		out = append(out, Thinking{Content: x.text.String(), BlockID: x.block})
	}
	x.open = false
	x.text.Reset()
	return out
}
