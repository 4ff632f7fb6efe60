package replay

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// node is a block that still grows. Its text (of a tool the output) grows in a
// builder: a snapshot's string shares the builder's bytes, which are never
// written again.
type node struct {
	block   Block // without text and nested blocks
	text    strings.Builder
	kids    blocks
	msg     *message
	in      *blocks // where it stands
	parent  *node
	turn    int
	message string // the runtime's message that text without a block_id belongs to
	tasked  bool   // of a sub-agent: task events tell its state
}

// blocks is a list that blocks are added to.
type blocks struct {
	nodes []*node
	tail  *node // the last that separates paragraphs or may be continued
	plan  *node
}

func (n *node) running() bool { return n.block.Status == Running }

func (n *node) touch() { n.msg.dirty = true }

func (n *node) write(s string) {
	n.text.WriteString(valid(s))
	n.touch()
}

func (n *node) replace(s string) {
	n.text.Reset()
	n.write(s)
}

// drop takes the node out of its list.
func (n *node) drop() {
	for i, v := range slices.Backward(n.in.nodes) { // mostly near the end
		if v == n {
			n.in.nodes = slices.Delete(n.in.nodes, i, i+1)
			break
		}
	}
	n.touch()
}

// into adds the node to the end of a list, or moves it there.
func (n *node) into(b *blocks, parent *node, m *message) {
	if n.in != nil {
		n.drop()
	}
	b.nodes = append(b.nodes, n)
	n.in, n.parent = b, parent
	n.belong(m)
	n.touch()
}

func (n *node) belong(m *message) {
	n.msg = m
	for _, kid := range n.kids.nodes {
		kid.belong(m)
	}
}

// within reports whether the node is other or stands in it.
func (n *node) within(other *node) bool {
	for ; n != nil; n = n.parent {
		if n == other {
			return true
		}
	}
	return false
}

// outlives reports whether the node is of a sub-agent that still runs.
func (n *node) outlives() bool {
	for ; n != nil; n = n.parent {
		if n.block.Kind == KindSubagent && n.tasked && n.running() {
			return true
		}
	}
	return false
}

func (n *node) snapshot() Block {
	b := n.block
	switch b.Kind {
	case KindTool:
		t := *b.Tool
		t.Output = n.text.String()
		b.Tool = &t
	default:
		b.Text = n.text.String()
	}
	b.Permission, b.Interrupt, b.Subagent = own(b.Permission), own(b.Interrupt), own(b.Subagent)
	b.Blocks = snapshots(n.kids.nodes)
	return b
}

func snapshots(nodes []*node) []Block {
	if len(nodes) == 0 {
		return nil
	}
	out := make([]Block, len(nodes))
	for i, n := range nodes {
		out[i] = n.snapshot()
	}
	return out
}

// close ends what is still running, as its turn or sub-agent ended.
func (n *node) close(end Status) {
	if n.block.Kind == KindTool && n.running() {
		n.finish(Interrupted)
		return
	}
	if n.running() {
		n.finish(end)
	}
}

// finish sets a state and lets it hold for sub-agents that have no word of
// their own.
func (n *node) finish(s Status) {
	n.block.Status = s
	n.touch()
	switch {
	case n.block.Kind == KindTool && s != Running && s != Backgrounded:
		for _, kid := range n.kids.nodes {
			if kid.block.Kind == KindSubagent && kid.running() && !kid.tasked {
				kid.finish(fate(s))
			}
		}
	case n.block.Kind == KindSubagent && s != Running:
		end := Interrupted
		if s == Complete {
			end = Complete
		}
		for _, kid := range n.kids.nodes {
			if kid.block.Kind != KindSubagent || !kid.tasked {
				kid.close(end)
			}
		}
	}
}

// fate is how a sub-agent ended whose tool ended so.
func fate(tool Status) Status {
	switch tool {
	case OK, Complete:
		return Complete
	case Interrupted, Stopped:
		return Interrupted
	}
	return Failed
}

// valid replaces what is not text as the JSON form of an event does, so that
// live and stored events make the same chat.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// own copies what p points to.
func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// copied copies a list, an empty one as nil, and replaces in each element what
// texts names and is not text.
func copied[T any](s []T, texts func(*T) []*string) []T {
	c := append([]T(nil), s...)
	for i := range c {
		for _, t := range texts(&c[i]) {
			*t = valid(*t)
		}
	}
	return c
}

// itself names a text as its own only text.
func itself(s *string) []*string { return []*string{s} }

// raw copies JSON into the form that it has in a stored event.
func raw(v event.Raw) event.Raw {
	if len(v) == 0 {
		return nil
	}
	c := v.Clone()
	if c.Compact(jsontext.PreserveRawStrings(false)) != nil {
		c, _ = jsontext.AppendQuote(nil, string(v))
	}
	if c.Kind() == jsontext.KindNull {
		return nil
	}
	return c
}

// merged lays the members of add over those of base, if both are objects.
func merged(base, add event.Raw) event.Raw {
	lenient := json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var under, over map[string]jsontext.Value
	if json.Unmarshal(base, &under, lenient) != nil || json.Unmarshal(add, &over, lenient) != nil || under == nil {
		return raw(add)
	}
	maps.Copy(under, over)
	out, err := json.Marshal(under, lenient, json.Deterministic(true))
	if err != nil {
		return raw(add)
	}
	return out
}
