package page

import (
	"github.com/turnspec/turnspec/adapters/backend/replay"
)

// Patch changes a chat that a page shows into the next one.
type Patch struct {
	Seq        int64               `json:"seq,omitzero"`        // of the last event in the new chat
	Full       bool                `json:"full,omitzero"`       // it begins with an empty chat
	Head       *Head               `json:"head,omitzero"`       // if it changed
	Tasks      *[]replay.Task      `json:"tasks,omitzero"`      // all, if one changed
	Components *[]replay.Component `json:"components,omitzero"` // all, if one changed
	Messages   []MessagePatch      `json:"messages,omitempty"`  // that changed or are new
	Removed    []int               `json:"removed,omitempty"`   // numbers of messages
}

// Head is a chat without its messages, tasks and components.
type Head struct {
	replay.Chat
	Doing replay.Doing `json:"doing"`
	Older bool         `json:"older,omitzero"` // there are messages before the first one
}

// MessagePatch changes a message, or adds it.
type MessagePatch struct {
	Number int             `json:"number"`
	Head   *replay.Message `json:"head,omitzero"`   // without blocks, if it changed
	Blocks *[]BlockPatch   `json:"blocks,omitzero"` // the whole list, if a block changed
}

// BlockPatch is one block of a new list, or a run of blocks of the old list.
type BlockPatch struct {
	Keep   *[2]int       `json:"keep,omitzero"` // blocks of the old list: from the first index up to the second
	Of     *int          `json:"of,omitzero"`   // the index of the block in the old list; none if it is new
	Set    *Block        `json:"set,omitzero"`  // all but its text and nested blocks, if one of these changed
	Text   *string       `json:"text,omitzero"` // replaces the text
	Append string        `json:"append,omitempty"`
	Blocks *[]BlockPatch `json:"blocks,omitzero"` // nested ones, if one changed
}

// Block is a block with what is derived from it, and without its text and nested blocks.
// The text of a tool is its output, or its input while the model writes it.
type Block struct {
	replay.Block
	Summary  string           `json:"summary,omitempty"`
	Outcome  string           `json:"outcome,omitempty"`
	Category replay.Category  `json:"category,omitempty"`
	Exchange *replay.Exchange `json:"exchange,omitzero"`
	Waits    bool             `json:"waits,omitzero"` // a tool that runs only if the user permits it
}

// textOf returns the text of a block that may grow.
func textOf(b *replay.Block) string {
	switch {
	case b.Tool != nil && b.Status == replay.Writing:
		return b.Tool.InputText
	case b.Tool != nil:
		return b.Tool.Output
	}
	return b.Text
}

// waitingTools returns the tools in a list of blocks whose permission is pending.
func waitingTools(blocks []replay.Block) map[string]bool {
	var out map[string]bool
	for i := range blocks {
		if p := blocks[i].Permission; p != nil && p.ToolUseID != "" && blocks[i].Status == replay.Pending {
			if out == nil {
				out = map[string]bool{}
			}
			out[p.ToolUseID] = true
		}
	}
	return out
}

// bareBlock returns the block without its text and nested blocks. waiting are the tools that
// wait for a permission.
func bareBlock(b *replay.Block, waiting map[string]bool) Block {
	out := Block{Block: *b}
	out.Text, out.Blocks = "", nil
	if b.Tool == nil {
		return out
	}
	out.Summary, out.Outcome, out.Category = b.Summary(), b.Outcome(), b.Tool.Category()
	out.Waits = b.Kind == replay.KindTool && b.Status == replay.Running && waiting[b.ID]
	if x, ok := b.Tool.Exchange(); ok {
		out.Exchange = &x
	}
	t := *b.Tool
	t.Output, t.InputText = "", ""
	out.Tool = &t
	return out
}
