package page

import (
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
)

// Differ returns the patches that lead a page from each state of a chat to the next. The
// zero value begins with an empty chat. It is not safe for concurrent use.
type Differ struct {
	began      bool
	first      int // the number of the first message
	head       Head
	tasks      []replay.Task
	components []replay.Component
	messages   map[int]*replay.Message
}

// Next returns the patch to the messages and the view, or nil if nothing changed that a
// page shows. The first patch is full. The messages must not change afterwards.
func (d *Differ) Next(messages []*replay.Message, v *replay.View, older bool) *Patch {
	p := &Patch{Seq: v.Seq(), Full: !d.began}
	head := Head{Chat: v.Head(), Doing: v.Doing(), Older: older}
	tasks, components := head.Tasks, head.Components
	head.Tasks, head.Components, head.Messages = nil, nil, nil
	changed := p.Full
	if p.Full || !reflect.DeepEqual(head, d.head) {
		p.Head, changed = &head, true
	}
	if !slices.EqualFunc(tasks, d.tasks, func(a, b replay.Task) bool { return reflect.DeepEqual(a, b) }) {
		p.Tasks, changed = &tasks, true
	}
	if !slices.EqualFunc(components, d.components, func(a, b replay.Component) bool { return reflect.DeepEqual(a, b) }) {
		p.Components, changed = &components, true
	}
	next := make(map[int]*replay.Message, len(messages))
	for _, m := range messages {
		next[m.Number] = m
		if old := d.messages[m.Number]; old != m {
			if mp := diffMessage(old, m); mp != nil {
				p.Messages = append(p.Messages, *mp)
			}
		}
	}
	for n := range d.messages {
		if next[n] == nil {
			p.Removed = append(p.Removed, n)
		}
	}
	slices.Sort(p.Removed)
	d.began, d.head, d.tasks, d.components, d.messages, d.first = true, head, tasks, components, next, 0
	if len(messages) > 0 {
		d.first = messages[0].Number
	}
	if !changed && len(p.Messages) == 0 && len(p.Removed) == 0 {
		return nil
	}
	return p
}

// First returns the number of the first message of the last state, or 0 if it had none.
func (d *Differ) First() int { return d.first }

// diffMessage returns the change of a message, or nil if there is none. old is nil if the
// message is new.
func diffMessage(old, m *replay.Message) *MessagePatch {
	p := &MessagePatch{Number: m.Number}
	head := *m
	head.Blocks = nil
	var was []replay.Block
	if old != nil {
		before := *old
		was, before.Blocks = old.Blocks, nil
		if !reflect.DeepEqual(before, head) {
			p.Head = &head
		}
	} else {
		p.Head = &head
	}
	if list := diffBlocks(was, m.Blocks); list != nil {
		p.Blocks = &list
	}
	if p.Head == nil && p.Blocks == nil {
		return nil
	}
	return p
}

// blockKey finds a block again in the next state of its list. Blocks without an id are
// counted by kind.
type blockKey struct {
	kind  replay.Kind
	id    string
	count int
}

// keysOf returns the keys of the blocks of a list.
func keysOf(blocks []replay.Block) []blockKey {
	out := make([]blockKey, len(blocks))
	seen := map[blockKey]int{}
	for i := range blocks {
		k := blockKey{kind: blocks[i].Kind, id: blocks[i].ID}
		seen[k]++
		out[i] = blockKey{k.kind, k.id, seen[k]}
	}
	return out
}

// diffBlocks returns the new list in terms of the old one, or nil if they are equal.
func diffBlocks(old, blocks []replay.Block) []BlockPatch {
	index := make(map[blockKey]int, len(old))
	for i, k := range keysOf(old) {
		index[k] = i
	}
	waited, waiting := waitingTools(old), waitingTools(blocks)
	out := []BlockPatch{}
	same := len(old) == len(blocks)
	for i, k := range keysOf(blocks) {
		at, ok := index[k]
		if !ok {
			same = false
			out = append(out, diffBlock(nil, &blocks[i], 0, nil, waiting))
			continue
		}
		p := diffBlock(&old[at], &blocks[i], at, waited, waiting)
		if p.Keep == nil || at != i {
			same = false
		}
		if n := len(out) - 1; p.Keep != nil && n >= 0 && out[n].Keep != nil && out[n].Keep[1] == at {
			out[n].Keep[1]++
			continue
		}
		out = append(out, p)
	}
	if same {
		return nil
	}
	return out
}

// diffBlock returns the change of a block that was at an index of the old list. old is nil
// if the block is new. waited and waiting are the tools that waited for a permission and those
// that do now.
func diffBlock(old, b *replay.Block, at int, waited, waiting map[string]bool) BlockPatch {
	p, bare, text := BlockPatch{}, bareBlock(b, waiting), textOf(b)
	if old == nil {
		p.Set, p.Append = &bare, text
		if len(b.Blocks) > 0 {
			list := diffBlocks(nil, b.Blocks)
			p.Blocks = &list
		}
		return p
	}
	p.Of = &at
	if was := bareBlock(old, waited); !reflect.DeepEqual(was, bare) {
		p.Set = &bare
	}
	switch more, grown := strings.CutPrefix(text, textOf(old)); {
	case !grown:
		p.Text = &text
	default:
		p.Append = more
	}
	if list := diffBlocks(old.Blocks, b.Blocks); list != nil {
		p.Blocks = &list
	}
	if p.Set == nil && p.Text == nil && p.Append == "" && p.Blocks == nil {
		return BlockPatch{Keep: &[2]int{at, at + 1}}
	}
	return p
}
