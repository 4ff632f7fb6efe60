package replay

import (
	"iter"
	"slices"
	"sort"
	"sync"
)

// View is the state of a chat at one moment. It never changes, takes a few hundred
// bytes, and may be read by any number of goroutines while the reducer adds events.
type View struct {
	chat Chat // without Messages
	seq  int64
	list vec[*frozenMessage]
}

type frozenBlock struct {
	b    Block // without Blocks
	kids vec[*frozenBlock]
}

// frozenMessage is a message of a view. Its Blocks are built when it is first read.
type frozenMessage struct {
	head   Message
	blocks vec[*frozenBlock]
	hidden bool // all its blocks were removed
	once   sync.Once
}

func (f *frozenMessage) buildMessage() *Message {
	f.once.Do(func() {
		f.head.Blocks = buildBlocks(f.blocks)
		f.blocks = vec[*frozenBlock]{}
	})
	return &f.head
}

func buildBlocks(v vec[*frozenBlock]) []Block {
	var out []Block
	for f := range v.all() {
		if f == nil {
			continue
		}
		if out == nil {
			out = make([]Block, 0, v.n)
		}
		b := f.b
		b.Blocks = buildBlocks(f.kids)
		out = append(out, b)
	}
	return out
}

// Seq returns the seq of the last event in the view.
func (v *View) Seq() int64 { return v.seq }

// Head returns the chat without its messages.
func (v *View) Head() Chat { return v.chat }

// Messages iterates over the messages, oldest first. The caller must not modify
// them.
func (v *View) Messages() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for f := range v.list.all() {
			if f != nil && !f.hidden && !yield(f.buildMessage()) {
				return
			}
		}
	}
}

// Backward iterates over the messages, newest first.
func (v *View) Backward() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for i := v.list.n - 1; i >= 0; i-- {
			if f := v.list.get(i); f != nil && !f.hidden && !yield(f.buildMessage()) {
				return
			}
		}
	}
}

// Message returns the message with a number, or nil if there is none.
func (v *View) Message(number int) *Message {
	i := sort.Search(v.list.n, func(i int) bool { return v.list.get(i).head.Number >= number })
	if i == v.list.n {
		return nil
	}
	if f := v.list.get(i); f.head.Number == number && !f.hidden {
		return f.buildMessage()
	}
	return nil
}

// Last returns the newest n messages in order. It reads no others.
func (v *View) Last(n int) []*Message {
	var out []*Message
	for m := range v.Backward() {
		if len(out) >= n {
			break
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

// Chat returns the whole chat. Its cost grows with the chat.
func (v *View) Chat() *Chat {
	c := v.chat
	for m := range v.Messages() {
		if c.Messages == nil {
			c.Messages = make([]Message, 0, v.list.n)
		}
		c.Messages = append(c.Messages, *m)
	}
	return &c
}

// View returns the current state of the chat. Its cost depends on what changed
// since the last view, not on the length of the chat.
func (r *Reducer) View() *View {
	for _, m := range r.staleMessages {
		if !m.sealed {
			r.messages.setAt(r.own, m.place, m.freeze(r.own))
		}
	}
	clear(r.staleMessages)
	r.staleMessages = r.staleMessages[:0]
	r.own = new(token) // branches with the old token belong to views now
	c := r.chat
	c.Status = r.sessionStatus()
	c.Activity = r.currentActivity()
	if r.tasksChanged {
		r.shownTasks = make([]Task, 0, len(r.tasks))
		for _, t := range r.tasks {
			r.shownTasks = append(r.shownTasks, *t)
		}
		r.tasksChanged = false
	}
	if len(r.shownTasks) > 0 {
		c.Tasks = r.shownTasks
	}
	for _, p := range r.components {
		if p.node == nil {
			c.Components = append(c.Components, p.c)
		}
	}
	return &View{chat: c, seq: r.seq, list: r.messages}
}

// Chat returns the whole chat in its current state. Its cost grows with the chat:
// to read often, use View.
func (r *Reducer) Chat() *Chat { return r.View().Chat() }

func (m *message) freeze(own *token) *frozenMessage {
	m.stale = false
	m.blocks.freeze(own)
	f := &frozenMessage{head: m.m, blocks: m.blocks.shown}
	f.hidden = m.blocks.count == 0 && m.m.Role != RoleUser && (m.m.Status == Running || m.m.Status == Complete)
	return f
}

func (b *blocks) freeze(own *token) {
	for _, i := range b.changed {
		n := b.nodes[i]
		if n == nil {
			b.shown.setAt(own, i, nil)
			continue
		}
		if n.stale {
			n.stale = false
			n.kids.freeze(own)
			b.shown.setAt(own, i, &frozenBlock{n.freezeBlock(), n.kids.shown})
		}
	}
	b.changed = b.changed[:0]
}

// freezeBlock returns the block without nested ones. It shares nothing that the node
// still writes to.
func (n *node) freezeBlock() Block {
	b := n.block
	switch b.Kind {
	case KindTool:
		t := *b.Tool
		if text := n.text.String(); b.Status == Writing {
			t.InputText = text
		} else {
			t.Output = text
		}
		b.Tool = &t
	default:
		b.Text = n.text.String()
	}
	b.Permission, b.Interrupt, b.Subagent = clonePtr(b.Permission), clonePtr(b.Interrupt), clonePtr(b.Subagent)
	return b
}
