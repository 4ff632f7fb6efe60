package agui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// blockKey names a block of text or reasoning.
type blockKey struct {
	agent, id string
	reasoning bool
}

// block is what was sent of a block.
type block struct {
	key      blockKey
	text     strings.Builder
	messages []string
	gone     int // how many messages of the block were retracted before
	open     bool
}

// addText adds a piece of a block to its message.
func (r *run) addText(k blockKey, s string) []Event {
	if s == "" {
		return nil
	}
	b := r.blocks[k]
	if b == nil {
		b = &block{key: k}
		r.blocks[k] = b
		r.order = append(r.order, b)
	}
	if len(b.messages) == 0 && k.agent == "" && !k.reasoning {
		r.texts++
	}
	var out []Event
	if !b.open {
		out = r.startMessage(b)
	}
	b.text.WriteString(s)
	return append(out, r.message(b, "CONTENT", func(e *Event) { e.Delta = text(s) }))
}

// message returns an event of the last message of a block.
func (r *run) message(b *block, what string, set func(*Event)) Event {
	kind := "TEXT_MESSAGE_"
	if b.key.reasoning {
		kind = "REASONING_MESSAGE_"
	}
	e := Event{Type: kind + what, MessageID: b.messages[len(b.messages)-1], SubagentRunID: r.runOf(b.key.agent)}
	if set != nil {
		set(&e)
	}
	return e
}

func (r *run) startMessage(b *block) []Event {
	id := b.key.id
	if id == "" {
		id = fmt.Sprintf("%s/block-%d", r.id, len(r.order))
	}
	if n := b.gone + len(b.messages) + 1; n > 1 {
		id = fmt.Sprintf("%s#%d", id, n)
	}
	b.messages = append(b.messages, id)
	b.open = true
	if b.key.reasoning {
		span := Event{Type: "REASONING_START", MessageID: id, SubagentRunID: r.runOf(b.key.agent)}
		return []Event{span, r.message(b, "START", func(e *Event) { e.Role = "reasoning" })}
	}
	return []Event{r.message(b, "START", func(e *Event) {
		if e.Role = "assistant"; b.gone+len(b.messages) > 1 {
			e.Metadata = detail(Detail{BlockID: b.key.id})
		}
	})}
}

// endMessage ends the message of a block, if it is open. A status is that of the block, if it is not complete.
func (r *run) endMessage(k blockKey, status event.BlockStatus) []Event {
	b := r.blocks[k]
	if b == nil || !b.open {
		return nil
	}
	b.open = false
	out := []Event{r.message(b, "END", func(e *Event) {
		if status != "" {
			e.Metadata = detail(Detail{Status: string(status)})
		}
	})}
	if k.reasoning {
		out = append(out, Event{Type: "REASONING_END", MessageID: b.messages[len(b.messages)-1], SubagentRunID: r.runOf(k.agent)})
	}
	return out
}

// withdrawn is the value of CUSTOM retracted and replaced.
type withdrawn struct {
	BlockID    string   `json:"block_id"`
	MessageIDs []string `json:"message_ids"`
	Text       string   `json:"text,omitempty"` // in place of the text of all the messages
}

func (r *run) endBlock(e event.Event, d event.BlockEnd) []Event {
	k := blockKey{e.SubagentID, d.BlockID, false}
	if reasoning := (blockKey{e.SubagentID, d.BlockID, true}); r.blocks[k] == nil && r.blocks[reasoning] != nil {
		k = reasoning
	}
	b := r.blocks[k]
	switch {
	case d.Status == event.BlockReplaced && d.Text != "":
		return r.replaceBlock(k, d.Text)
	case b == nil || len(b.messages) == 0:
		return nil
	case d.Status == event.BlockRetracted || d.Status == event.BlockReplaced:
		out := r.endMessage(k, "")
		next := &block{key: k, gone: b.gone + len(b.messages)}
		r.blocks[k] = next
		r.order[slices.Index(r.order, b)] = next
		if k.agent == "" && !k.reasoning {
			r.texts--
		}
		return append(out, r.withdraw("retracted", b, ""))
	case d.Status == event.BlockInterrupted:
		return r.endMessage(k, d.Status)
	}
	return r.endMessage(k, "")
}

func (r *run) withdraw(name string, b *block, s string) Event {
	w := withdrawn{b.key.id, slices.Clone(b.messages), s}
	return Event{Type: "CUSTOM", Name: name, Value: dialect.Marshal(w), SubagentRunID: r.runOf(b.key.agent), takesBack: &w}
}

// replaceBlock sets the text of a block, by a delta if the text only goes on.
func (r *run) replaceBlock(k blockKey, s string) []Event {
	b := r.blocks[k]
	if b == nil || len(b.messages) == 0 {
		return append(r.addText(k, s), r.endMessage(k, "")...)
	}
	if rest, ok := strings.CutPrefix(s, b.text.String()); ok {
		return append(r.addText(k, rest), r.endMessage(k, "")...)
	}
	out := r.endMessage(k, "")
	b.text.Reset()
	b.text.WriteString(s)
	return append(out, r.withdraw("replaced", b, s))
}
