package replay

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ParagraphBreak is the check text.paragraph-break.
var ParagraphBreak = &conformance.Check{
	ID: "text.paragraph-break", Source: "houston#1076, sigit#65: paragraphs glued across tool calls", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs: []string{"delta.block_id"}, Observer: chats.Observer,
	Mend:     "Do not put line breaks into deltas. Give each text of the model its own block_id; the chat puts the blank line between blocks.",
	Sentence: "In the chat, live and stored, one blank line separates the text before and after a tool and two blocks of text, and none comes first.",
	Judge:    judgeParagraphs,
}

// judgeParagraphs demands that the visible text of the chat, live and stored, is the
// expected text with one blank line between blocks.
func judgeParagraphs(t *conformance.Trial, f *conformance.Finding) {
	live := chats.Observed(t.Run)
	if live == nil {
		return // the run did not finish
	}
	for _, e := range t.Events {
		if e.SessionID != t.Events[0].SessionID {
			return // each session has a separate chat, so their texts cannot be joined
		}
	}
	var blocks []string
	if got := runindex.Of(t.Run).VisibleText(); withoutSpace(got) != withoutSpace(runindex.ExpectedText(t.Run, got)) {
		return // text is lost, doubled or out of order: other checks report it
	}
	for _, p := range runindex.ExpectedSegments(t.Run) {
		if p.Prefix {
			return // where it ends is not known
		}
		if strings.TrimSpace(p.Text) != "" { // a block of line ends need not be shown
			blocks = append(blocks, p.Text)
		}
	}
	if len(blocks) < 2 {
		return
	}
	f.Asserted(len(blocks) - 1)
	want := joined(blocks)
	stored, err := chats.Stored(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	for _, view := range []struct {
		name string
		chat *replay.Chat
	}{{"live", live}, {"stored", stored}} {
		if text := visible(view.chat); text != want {
			f.Diff("the "+view.name+" chat has other paragraphs", want+"\n", text+"\n")
			return
		}
	}
}

func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// joined joins blocks with exactly one blank line in between, counting the line ends
// of the blocks.
func joined(blocks []string) string {
	var b strings.Builder
	for _, x := range blocks {
		if b.Len() > 0 {
			s := b.String()
			have := len(s) - len(strings.TrimRight(s, "\n")) + len(x) - len(strings.TrimLeft(x, "\n"))
			for ; have < 2; have++ {
				b.WriteByte('\n')
			}
		}
		b.WriteString(x)
	}
	return b.String()
}

// visible returns the assistant text of a chat. Turns are separate paragraphs.
func visible(c *replay.Chat) string {
	var texts []string
	for _, m := range c.Messages {
		if m.Role == replay.RoleAssistant {
			if text := m.Text(); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return joined(texts)
}
