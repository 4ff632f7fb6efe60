package replay

import "strings"

// Flat are a message's fields without blocks, for what reads no blocks: search,
// export, a plain list of bubbles. They are derived from the blocks here and
// nowhere else. Blocks of sub-agents are not among them.
type Flat struct {
	ID          string   `json:"id"`
	Role        Role     `json:"role"`
	Content     string   `json:"content"`           // text, its paragraphs parted by one blank line
	Thinking    Thoughts `json:"thinking,omitzero"` // reasoning, likewise
	Tools       []*Block `json:"tools,omitempty"`   // the calls, in their order
	Components  []*Block `json:"components,omitempty"`
	Subagents   []*Block `json:"subagents,omitempty"`  // at any depth
	Permission  *Block   `json:"permission,omitempty"` // the first that waits for an answer
	Question    *Block   `json:"question,omitempty"`   // likewise
	Plan        *Block   `json:"plan,omitempty"`
	Error       string   `json:"error,omitempty"`
	Interrupted bool     `json:"interrupted,omitzero"` // the turn was stopped, or something in it was cut off
	Done        bool     `json:"done,omitzero"`        // nothing is awaited any more
}

// Thoughts is the reasoning of a message.
type Thoughts struct {
	Content string `json:"content"`
	Done    bool   `json:"done"`
}

// Flat derives the fields without blocks.
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

// walkBlocks calls do for blocks and those within them.
func walkBlocks(blocks []Block, do func(*Block)) {
	for i := range blocks {
		do(&blocks[i])
		walkBlocks(blocks[i].Blocks, do)
	}
}
