package replay

import "strings"

// Flat holds a message's fields for readers that use no blocks: search, export, a
// plain list of bubbles. They are derived from the blocks, without those of
// sub-agents.
type Flat struct {
	ID          string   `json:"id"`
	Role        Role     `json:"role"`
	Content     string   `json:"content"`           // text, with a blank line between paragraphs
	Thinking    Thoughts `json:"thinking,omitzero"` // reasoning, in the same form
	Tools       []*Block `json:"tools,omitempty"`   // the calls, in order
	Components  []*Block `json:"components,omitempty"`
	Subagents   []*Block `json:"subagents,omitempty"`  // at any depth
	Permission  *Block   `json:"permission,omitempty"` // the first one that is pending
	Question    *Block   `json:"question,omitempty"`   // the first one that is pending
	Plan        *Block   `json:"plan,omitempty"`
	Error       string   `json:"error,omitempty"`
	Interrupted bool     `json:"interrupted,omitzero"` // the turn or one of its blocks was interrupted
	Done        bool     `json:"done,omitzero"`        // the message is not running
}

// Thoughts is the reasoning of a message.
type Thoughts struct {
	Content string `json:"content"`
	Done    bool   `json:"done"`
}

// Flat derives the flat fields of a message.
func (m *Message) Flat() Flat {
	f := Flat{ID: m.ID, Role: m.Role, Content: m.Text(), Done: m.Status != Running, Interrupted: m.Status == Stopped}
	var thoughts paragraphs
	f.Thinking.Done = true
	for i := range m.Blocks {
		b := &m.Blocks[i]
		f.Interrupted = f.Interrupted || b.Status == Interrupted
		switch b.Kind {
		case KindThinking:
			thoughts.addText(b.Text)
			f.Thinking.Done = b.Status != Running
		case KindTool:
			f.Tools = append(f.Tools, b)
		case KindComponent:
			f.Components = append(f.Components, b)
		case KindPlan:
			f.Plan = b
		case KindError:
			f.Error = strings.TrimPrefix(string(b.Error.Code)+": "+b.Error.Message, ": ")
		case KindPermission:
			if b.Status == Pending && f.Permission == nil {
				f.Permission = b
			}
		case KindInterrupt:
			if b.Status == Pending && f.Question == nil {
				f.Question = b
			}
		}
		walkBlocks(m.Blocks[i:i+1], func(b *Block) {
			if b.Kind == KindSubagent {
				f.Subagents = append(f.Subagents, b)
			}
		})
	}
	if f.Thinking.Content = thoughts.String(); f.Thinking.Content == "" {
		f.Thinking = Thoughts{}
	}
	return f
}

// walkBlocks calls do for blocks and those nested in them.
func walkBlocks(blocks []Block, do func(*Block)) {
	for i := range blocks {
		do(&blocks[i])
		walkBlocks(blocks[i].Blocks, do)
	}
}
