package runindex

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// TextBlock is a block of text of the main agent, as the events leave it.
type TextBlock struct {
	ID        string
	Turn      int
	Text      string
	Retracted bool
	First     conformance.Event // its first delta
}

// Blocks returns the text blocks of the main agent, without those of turns in
// which the runtime answers a command by itself.
func (x *Index) Blocks() []*TextBlock { return x.blocks }

// VisibleText returns the text of the main agent that stays, without breaks
// between the blocks.
func (x *Index) VisibleText() string {
	var b strings.Builder
	for _, block := range x.blocks {
		if !block.Retracted {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// TextOf returns the text of a turn that stays.
func (x *Index) TextOf(turn int) string {
	var b strings.Builder
	for _, block := range x.blocks {
		if block.Turn == turn && !block.Retracted {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// CommandTurn reports whether the runtime answers the message of a turn by itself:
// then the text of the turn is not the model's.
func (x *Index) CommandTurn(turn int) bool { return x.commandTurns[turn] }

func textBlocks(x *Index) []*TextBlock {
	var out []*TextBlock
	byID := map[[2]string]*TextBlock{} // by session and id
	for _, e := range x.run.Events {
		if e.SubagentID != "" || x.commandTurns[e.Turn] {
			continue
		}
		switch d := e.Data.(type) {
		case event.Delta:
			b := byID[[2]string{e.SessionID, d.BlockID}]
			if b == nil {
				b = &TextBlock{ID: d.BlockID, Turn: e.Turn, First: e}
				byID[[2]string{e.SessionID, d.BlockID}] = b
				out = append(out, b)
			}
			b.Text += d.Text
		case event.BlockEnd:
			b := byID[[2]string{e.SessionID, d.BlockID}]
			switch {
			case b == nil:
			case d.Status == event.BlockRetracted:
				b.Retracted = true
			case d.Status == event.BlockReplaced:
				b.Text = d.Text
			}
		}
	}
	return out
}

func commandTurns(x *Index) map[int]bool {
	commands := map[string]bool{}
	for _, a := range x.run.Scenario.Client {
		if a.Verb == fixtures.VerbSend && strings.HasPrefix(a.Text, "/") {
			commands[a.ID] = true
		}
	}
	for _, q := range x.run.Witness {
		for _, id := range q.New {
			delete(commands, id)
		}
	}
	out := map[int]bool{}
	if len(commands) == 0 {
		return out
	}
	for _, t := range x.turns {
		for _, e := range t.Events {
			if d, ok := e.Data.(event.TurnStart); ok && len(d.MessageIDs) > 0 && commands[d.MessageIDs[0]] {
				out[t.N] = true
			}
		}
	}
	return out
}
