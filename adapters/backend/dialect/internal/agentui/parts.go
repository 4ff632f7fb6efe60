package agentui

import (
	"cmp"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// blockKey names a block of text or reasoning.
type blockKey struct {
	turn      int
	agent, id string
	reasoning bool
}

// block is what was sent of a block.
type block struct {
	key     blockKey
	message string
	text    strings.Builder
	ended   bool
}

// piece is the payload of a delta and of a final text.
type piece struct {
	Text   string            `json:"text"`
	Status event.BlockStatus `json:"status,omitempty"`
}

func (k blockKey) part() string { return cmp.Or(k.id, "block") }

func (k blockKey) event(class string, p piece) Event {
	phase := "producing"
	if k.reasoning {
		phase = "reasoning"
	}
	e := kind{class, "model", "part", phase}.with(p)
	e.PartID = k.part()
	return e
}

func (t *Translator) addText(_ event.Event, k blockKey, message, text string) []Event {
	if text == "" {
		return nil
	}
	b := t.blocks[k]
	if b == nil {
		b = &block{key: k, message: message}
		t.blocks[k] = b
		if k.agent == "" && !k.reasoning {
			t.texts[k.turn]++
		}
	}
	b.ended = false
	b.text.WriteString(text)
	class := "text.delta"
	if k.reasoning {
		class = "reasoning.delta"
	}
	e := k.event(class, piece{Text: text})
	e.MessageID = b.message
	return one(e)
}

func (t *Translator) think(e event.Event, d event.Thinking) []Event {
	k := blockKey{e.Turn, e.SubagentID, d.BlockID, true}
	out := t.addText(e, k, "", d.Text)
	switch {
	case d.Done:
		out = append(out, t.final(k, "")...)
	case d.Text == "":
		status := kind{"run.status", "runtime", "run", "preparing"}.with(nil)
		if d.BlockID != "" {
			status.Phase = "reasoning"
		}
		status.RuntimeStatus = "running"
		return one(status)
	}
	return out
}

// final ends a block with its whole text.
func (t *Translator) final(k blockKey, status event.BlockStatus) []Event {
	b := t.blocks[k]
	if b == nil || b.ended {
		return nil
	}
	b.ended = true
	class := "text.final"
	if k.reasoning {
		class = "reasoning.summary"
	}
	p := piece{b.text.String(), status}
	e := k.event(class, p)
	e.MessageID = b.message
	return one(e)
}

func (t *Translator) endBlock(e event.Event, d event.BlockEnd) []Event {
	k := blockKey{e.Turn, e.SubagentID, d.BlockID, false}
	if reasoning := (blockKey{e.Turn, e.SubagentID, d.BlockID, true}); t.blocks[k] == nil && t.blocks[reasoning] != nil {
		k = reasoning
	}
	b := t.blocks[k]
	gone := d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == ""
	switch {
	case b == nil && (gone || d.Status != event.BlockReplaced):
		return nil
	case b == nil:
		b = &block{key: k}
		t.blocks[k] = b
		if k.agent == "" {
			t.texts[k.turn]++
		}
	}
	switch {
	case gone:
		b.text.Reset()
		b.ended = false // a summary may have come before
		if k.agent == "" && !k.reasoning {
			t.texts[k.turn]--
		}
		out := t.final(k, event.BlockRetracted)
		delete(t.blocks, k)
		return out
	case d.Status == event.BlockReplaced:
		b.text.Reset()
		b.text.WriteString(d.Text)
		b.ended = false
		return t.final(k, event.BlockReplaced)
	case d.Status == event.BlockInterrupted:
		return t.final(k, d.Status)
	}
	return t.final(k, "")
}
