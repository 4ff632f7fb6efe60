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
	list    *blocks // where it stands
	slot    int     // its place there
	stale   bool    // what views show of it is out of date
	turn    int
	message string         // the runtime's message that text without a block_id belongs to
	tasked  bool           // of a sub-agent: task events tell its state
	listed  bool           // of a tool: its turn has it among those that run
	linked  *liveComponent // of a tool: the component that shows it
	key     key            // its place in the index, if it has an id
}

// blocks is a list that blocks are added to.
type blocks struct {
	msg     *message // whose list it is
	parent  *node    // or in which block it is nested
	nodes   []*node  // nil where a block was taken out
	count   int      // of those that are there
	tail    *node    // the last that separates paragraphs or may be continued
	plan    *node
	shown   vec[*frozenBlock] // what views share
	changed []int             // the places that are out of date in it
}

func (r *Reducer) newNode(b Block, turn int) *node {
	n := &node{r: r, block: b, turn: turn}
	n.block.Start = r.now
	n.kids.parent = n
	return n
}

func (n *node) running() bool { return n.block.Status == Running }

// markStale says that the block, and with it those around it, are out of date.
func (n *node) markStale() {
	for n.list != nil && !n.stale {
		n.stale = true
		n.list.changed = append(n.list.changed, n.slot)
		if n.list.parent == nil {
			n.list.msg.markStale()
			return
		}
		n = n.list.parent
	}
}

func (b *blocks) markStale() {
	if b.parent != nil {
		b.parent.markStale()
		return
	}
	b.msg.markStale()
}

func (n *node) appendText(s string) {
	n.text.WriteString(validUTF8(s))
	n.markStale()
}

func (n *node) replaceText(s string) {
	n.text.Reset()
	n.appendText(s)
}

// remove takes the node out of its list.
func (n *node) remove() {
	b := n.list
	if b == nil {
		return
	}
	b.nodes[n.slot] = nil
	b.count--
	b.changed = append(b.changed, n.slot)
	if b.tail == n {
		b.tail = nil
	}
	b.markStale()
	n.list, n.stale = nil, false
}

// moveTo adds the node to the end of a list, or moves it there.
func (n *node) moveTo(b *blocks) {
	n.remove()
	n.list, n.slot = b, len(b.nodes)
	b.nodes = append(b.nodes, n)
	b.count++
	n.markStale()
}

// parent is the block that the node is nested in, or nil.
func (n *node) parent() *node {
	if n.list == nil {
		return nil
	}
	return n.list.parent
}

// topMessage is the message that the node stands in, or nil.
func (n *node) topMessage() *message {
	for n.list != nil && n.list.parent != nil {
		n = n.list.parent
	}
	if n.list == nil {
		return nil
	}
	return n.list.msg
}

// isWithin reports whether the node is other or stands in it.
func (n *node) isWithin(other *node) bool {
	for ; n != nil; n = n.parent() {
		if n == other {
			return true
		}
	}
	return false
}

// outlivesTurn reports whether the node is of a sub-agent that still runs.
func (n *node) outlivesTurn() bool {
	for ; n != nil; n = n.parent() {
		if n.block.Kind == KindSubagent && n.tasked && n.running() {
			return true
		}
	}
	return false
}

// walkNodes calls f for the blocks of the list and those within them.
func (b *blocks) walkNodes(f func(*node)) {
	for _, n := range b.nodes {
		if n != nil {
			f(n)
			n.kids.walkNodes(f)
		}
	}
}

// closeRunning ends what is still running, as its turn or sub-agent ended.
func (n *node) closeRunning(end Status) {
	if n.block.Kind == KindTool && n.running() {
		n.setStatus(Interrupted)
		return
	}
	if n.running() {
		n.setStatus(end)
	}
}

// setStatus sets a state and lets it hold for sub-agents that have no word of
// their own.
func (n *node) setStatus(s Status) {
	switch {
	case s == Running || s == Pending:
		n.block.End = time.Time{}
	case s != n.block.Status || n.block.End.IsZero():
		n.block.End = n.r.now
	}
	n.block.Status = s
	n.markStale()
	if n.linked != nil {
		n.linked.followTool(n)
	}
	switch {
	case n.block.Kind == KindTool && s != Running && s != Backgrounded:
		for _, kid := range n.kids.nodes {
			if kid != nil && kid.block.Kind == KindSubagent && kid.running() && !kid.tasked {
				kid.setStatus(agentStatus(s))
			}
		}
	case n.block.Kind == KindSubagent && s != Running:
		end := Interrupted
		if s == Complete {
			end = Complete
		}
		for _, kid := range n.kids.nodes {
			if kid != nil && (kid.block.Kind != KindSubagent || !kid.tasked) {
				kid.closeRunning(end)
			}
		}
	}
}

// agentStatus is how a sub-agent ended whose tool ended so.
func agentStatus(tool Status) Status {
	switch tool {
	case OK, Complete:
		return Complete
	case Interrupted, Stopped:
		return Interrupted
	}
	return Failed
}

// validUTF8 replaces what is not text as the JSON form of an event does, so that
// live and stored events make the same chat.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// clonePtr copies what p points to.
func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// cloneList copies a list, an empty one as nil, and replaces in each element what
// texts names and is not text.
func cloneList[T any](s []T, texts func(*T) []*string) []T {
	c := append([]T(nil), s...)
	for i := range c {
		for _, t := range texts(&c[i]) {
			*t = validUTF8(*t)
		}
	}
	return c
}

// selfText names a text as its own only text.
func selfText(s *string) []*string { return []*string{s} }

// compactRaw copies JSON into the form that it has in a stored event.
func compactRaw(v event.Raw) event.Raw {
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
