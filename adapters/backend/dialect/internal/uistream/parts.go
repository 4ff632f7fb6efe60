package uistream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// blockKey names a block of the turn.
type blockKey struct {
	id        string
	reasoning bool
}

// block is what was sent of a block.
type block struct {
	text  strings.Builder
	parts []string // their ids
	gone  int      // how many parts of the block were retracted before
}

// part is the part that is open.
type part struct {
	id  string
	key blockKey
}

// kind is the beginning of the type of chunks.
func (k blockKey) kind() string {
	if k.reasoning {
		return "reasoning"
	}
	return "text"
}

// addText adds a piece of a block, in the part that is open or in a new one.
func (u *turn) addText(k blockKey, text string) []Chunk {
	if text == "" {
		return nil
	}
	var out []Chunk
	if u.open == nil || u.open.key != k {
		out = append(u.endPart(""), u.startPart(k))
	}
	b := u.blocks[k]
	b.text.WriteString(text)
	return append(out, Chunk{Type: k.kind() + "-delta", ID: u.open.id, Delta: text})
}

func (u *turn) startPart(k blockKey) Chunk {
	b := u.blocks[k]
	if b == nil {
		b = &block{}
		u.blocks[k] = b
	}
	if len(b.parts) == 0 && !k.reasoning {
		u.texts++
	}
	id := k.id
	if id == "" {
		id = k.kind()
	}
	if n := b.gone + len(b.parts) + 1; n > 1 {
		id = fmt.Sprintf("%s#%d", id, n)
	}
	b.parts = append(b.parts, id)
	u.open = &part{id, k}
	return Chunk{Type: k.kind() + "-start", ID: id, ProviderMetadata: &Provider{Part{BlockID: k.id, PartID: id}}}
}

// endPart ends the open part. A status is that of its block, if it is not complete.
func (u *turn) endPart(status event.BlockStatus) []Chunk {
	if u.open == nil {
		return nil
	}
	p := u.open
	u.open = nil
	c := Chunk{Type: p.key.kind() + "-end", ID: p.id}
	if status != "" {
		c.ProviderMetadata = &Provider{Part{BlockID: p.key.id, PartID: p.id, Status: status}}
	}
	return []Chunk{c}
}

// withdrawn is the data of data-retracted and data-replaced.
type withdrawn struct {
	BlockID string   `json:"block_id"`
	PartIDs []string `json:"part_ids"`
	Text    string   `json:"text,omitempty"` // in place of the text of all the parts
}

func (u *turn) endBlock(d event.BlockEnd) []Chunk {
	k := blockKey{id: d.BlockID}
	if u.blocks[k] == nil && u.blocks[blockKey{d.BlockID, true}] != nil {
		k.reasoning = true
	}
	var out []Chunk
	b := u.blocks[k]
	switch {
	case d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == "":
		out = u.endPartOf(k, "")
		if b == nil || len(b.parts) == 0 {
			return out
		}
		u.blocks[k] = &block{gone: b.gone + len(b.parts)}
		if !k.reasoning {
			u.texts--
		}
		return append(out, withdraw("retracted", withdrawn{BlockID: d.BlockID, PartIDs: b.parts}))
	case d.Status == event.BlockReplaced:
		return u.replaceBlock(k, d.Text)
	case d.Status == event.BlockInterrupted:
		return u.endPartOf(k, d.Status)
	}
	return u.endPartOf(k, "")
}

func withdraw(name string, w withdrawn) Chunk {
	c := data(name, w.PartIDs[len(w.PartIDs)-1], event.Event{}, w)
	c.takesBack = &takenBack{block: w.BlockID, parts: w.PartIDs, text: w.Text}
	return c
}

// replaceBlock sets the text of a block, by a delta if the text only goes on.
func (u *turn) replaceBlock(k blockKey, text string) []Chunk {
	b := u.blocks[k]
	if b == nil || len(b.parts) == 0 {
		return append(u.addText(k, text), u.endPart("")...)
	}
	if rest, ok := strings.CutPrefix(text, b.text.String()); ok {
		return append(u.addText(k, rest), u.endPartOf(k, "")...)
	}
	out := u.endPartOf(k, "")
	b.text.Reset()
	b.text.WriteString(text)
	return append(out, withdraw("replaced", withdrawn{BlockID: k.id, PartIDs: slices.Clone(b.parts), Text: text}))
}

func (u *turn) endPartOf(k blockKey, status event.BlockStatus) []Chunk {
	if u.open == nil || u.open.key != k {
		return nil
	}
	return u.endPart(status)
}
