package replay

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// node is a block that may still change. Its text (of a tool the output) is in a
// strings.Builder: the string of a view shares the builder's bytes, which are
// never overwritten.
type node struct {
	r       *Reducer
	block   Block // without text and nested blocks
	text    strings.Builder
	kids    blocks
	list    *blocks // the list that it is in
	slot    int     // its place in list
	stale   bool    // changed since the last view
	turn    int
	message string         // of text without a block_id: the message_id
	tasked  bool           // of a sub-agent: its status comes from task events
	listed  bool           // of a tool: it is in turn.tools
	linked  *liveComponent // of a tool: its component
	key     key            // in Reducer.blockByKey, if it has an id
}

// blocks is the list of blocks of a message or of a block.
type blocks struct {
	msg     *message // the message, or
	parent  *node    // the block that has the list
	nodes   []*node  // nil where a block was removed
	count   int      // without removed ones
	tail    *node    // the last one that separates paragraphs or may be continued
	plan    *node
	shown   vec[*frozenBlock] // shared with views
	changed []int             // stale places in shown
}

func (r *Reducer) newNode(b Block, turn int) *node {
	n := &node{r: r, block: b, turn: turn}
	n.block.Start = r.now
	n.kids.parent = n
	return n
}

func (n *node) running() bool { return n.block.Status == Running }

// markStale marks the block and those around it as changed since the last view.
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
	n.text.WriteString(validText(s))
	n.markStale()
}

func (n *node) replaceText(s string) {
	n.text.Reset()
	n.appendText(s)
}

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

// moveTo adds the node to the end of a list and removes it from its current one.
func (n *node) moveTo(b *blocks) {
	n.remove()
	n.list, n.slot = b, len(b.nodes)
	b.nodes = append(b.nodes, n)
	b.count++
	n.markStale()
}

// parent returns the block that the node is nested in, or nil.
func (n *node) parent() *node {
	if n.list == nil {
		return nil
	}
	return n.list.parent
}

// topMessage returns the message that the node is in, or nil.
func (n *node) topMessage() *message {
	for n.list != nil && n.list.parent != nil {
		n = n.list.parent
	}
	if n.list == nil {
		return nil
	}
	return n.list.msg
}

// isWithin reports if the node is other or nested in it.
func (n *node) isWithin(other *node) bool {
	for ; n != nil; n = n.parent() {
		if n == other {
			return true
		}
	}
	return false
}

// outlivesTurn reports if the node belongs to a sub-agent that still runs.
func (n *node) outlivesTurn() bool {
	for ; n != nil; n = n.parent() {
		if n.block.Kind == KindSubagent && n.tasked && n.running() {
			return true
		}
	}
	return false
}

// walkNodes calls f for the blocks of the list and those nested in them.
func (b *blocks) walkNodes(f func(*node)) {
	for _, n := range b.nodes {
		if n != nil {
			f(n)
			n.kids.walkNodes(f)
		}
	}
}

// closeRunning ends a running block because its turn or sub-agent ended.
func (n *node) closeRunning(end Status) {
	switch {
	case n.block.Status == Writing || n.isTransient():
		n.drop()
		return
	case n.block.Kind == KindTool && n.running():
		n.setStatus(Interrupted)
		return
	}
	if n.running() {
		n.setStatus(end)
	}
}

// setStatus sets the status of the node. If the node ends, so do its sub-agents
// without task events and, in a sub-agent, its open blocks.
func (n *node) setStatus(s Status) {
	switch {
	case s == Running || s == Pending:
		n.block.End = time.Time{}
	case s != n.block.Status || n.block.End.IsZero():
		n.block.End = n.r.now
	}
	n.block.Status = s
	if n.block.Tool != nil && s != Running {
		n.block.Tool.Progress = nil
		for _, kid := range n.kids.nodes {
			if kid != nil && kid.isTransient() {
				kid.drop()
			}
		}
	}
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

// agentStatus returns the status of a sub-agent whose tool ended with a status.
func agentStatus(tool Status) Status {
	switch tool {
	case OK, Complete:
		return Complete
	case Interrupted, Stopped:
		return Interrupted
	}
	return Failed
}

// validText replaces invalid UTF-8 as the JSON form of an event does, so that live
// and stored events make the same chat.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// cloneList copies a list, an empty one as nil, and makes the strings of each
// element that texts returns valid UTF-8.
func cloneList[T any](s []T, texts func(*T) []*string) []T {
	c := append([]T(nil), s...)
	for i := range c {
		for _, t := range texts(&c[i]) {
			*t = validText(*t)
		}
	}
	return c
}

// oneText is the texts argument of cloneList for a list of strings.
func oneText(s *string) []*string { return []*string{s} }

// compactRaw copies JSON in the form that it has in a stored event.
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
