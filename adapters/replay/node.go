package replay

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// node is a block that still grows. Its text (of a tool the output) grows in a
// builder: a view's string shares the builder's bytes, which are never written
// again.
type node struct {
	r       *Reducer
	block   Block // without text and nested blocks
	text    strings.Builder
	kids    blocks
	in      *blocks // where it stands
	slot    int     // its place there
	stale   bool    // what views show of it is out of date
	turn    int
	message string // the runtime's message that text without a block_id belongs to
	tasked  bool   // of a sub-agent: task events tell its state
	listed  bool   // of a tool: its turn has it among those that run
	linked  *part  // of a tool: the component that shows it
	key     key    // its place in the index, if it has an id
}

// blocks is a list that blocks are added to.
type blocks struct {
	msg     *message // whose list it is
	node    *node    // or in which block it is nested
	nodes   []*node  // nil where a block was taken out
	count   int      // of those that are there
	tail    *node    // the last that separates paragraphs or may be continued
	plan    *node
	shown   vec[*frozen] // what views share
	changed []int        // the places that are out of date in it
}

func (r *Reducer) newNode(b Block, turn int) *node {
	n := &node{r: r, block: b, turn: turn}
	n.block.Start = r.now
	n.kids.node = n
	return n
}

func (n *node) running() bool { return n.block.Status == Running }

// touch says that the block, and with it those around it, are out of date.
func (n *node) touch() {
	for n.in != nil && !n.stale {
		n.stale = true
		n.in.changed = append(n.in.changed, n.slot)
		if n.in.node == nil {
			n.in.msg.touch()
			return
		}
		n = n.in.node
	}
}

func (b *blocks) touch() {
	if b.node != nil {
		b.node.touch()
		return
	}
	b.msg.touch()
}

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
	b := n.in
	if b == nil {
		return
	}
	b.nodes[n.slot] = nil
	b.count--
	b.changed = append(b.changed, n.slot)
	if b.tail == n {
		b.tail = nil
	}
	b.touch()
	n.in, n.stale = nil, false
}

// into adds the node to the end of a list, or moves it there.
func (n *node) into(b *blocks) {
	n.drop()
	n.in, n.slot = b, len(b.nodes)
	b.nodes = append(b.nodes, n)
	b.count++
	n.touch()
}

// parent is the block that the node is nested in, or nil.
func (n *node) parent() *node {
	if n.in == nil {
		return nil
	}
	return n.in.node
}

// home is the message that the node stands in, or nil.
func (n *node) home() *message {
	for n.in != nil && n.in.node != nil {
		n = n.in.node
	}
	if n.in == nil {
		return nil
	}
	return n.in.msg
}

// within reports whether the node is other or stands in it.
func (n *node) within(other *node) bool {
	for ; n != nil; n = n.parent() {
		if n == other {
			return true
		}
	}
	return false
}

// outlives reports whether the node is of a sub-agent that still runs.
func (n *node) outlives() bool {
	for ; n != nil; n = n.parent() {
		if n.block.Kind == KindSubagent && n.tasked && n.running() {
			return true
		}
	}
	return false
}

// each calls f for the blocks of the list and those within them.
func (b *blocks) each(f func(*node)) {
	for _, n := range b.nodes {
		if n != nil {
			f(n)
			n.kids.each(f)
		}
	}
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
	switch {
	case s == Running || s == Pending:
		n.block.End = time.Time{}
	case s != n.block.Status || n.block.End.IsZero():
		n.block.End = n.r.now
	}
	n.block.Status = s
	n.touch()
	if n.linked != nil {
		n.linked.follow(n)
	}
	switch {
	case n.block.Kind == KindTool && s != Running && s != Backgrounded:
		for _, kid := range n.kids.nodes {
			if kid != nil && kid.block.Kind == KindSubagent && kid.running() && !kid.tasked {
				kid.finish(fate(s))
			}
		}
	case n.block.Kind == KindSubagent && s != Running:
		end := Interrupted
		if s == Complete {
			end = Complete
		}
		for _, kid := range n.kids.nodes {
			if kid != nil && (kid.block.Kind != KindSubagent || !kid.tasked) {
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
