package text

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// MessageID is the check text.message-id.
var MessageID = &conformance.Check{
	ID: "text.message-id", Source: "the event contract (adapters/event): delta.message_id", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"delta.message_id"},
	Needs:    []string{"delta.message_id"},
	Mend:     "Copy the runtime's message id when the message starts, and use it for all its deltas.",
	Sentence: "message_id is the runtime's message that the text belongs to, the same in all deltas of a block; a message that the runtime does not name has an id of its own.",
	Judge:    judgeMessageID,
}

func judgeMessageID(t *conformance.Trial, f *conformance.Finding) {
	lines := runindex.Of(t.Run).Lines()
	named := make([][]string, len(lines)) // the messages that the lines up to there name
	statements := runindex.StatementsOf(t.Run)
	var all []string
	for i := range lines {
		for _, id := range []string{lines[i].Message, lines[i].Item, lines[i].UUID, statements[i].Message} {
			if id != "" && !slices.Contains(all, id) && lines[i].Kind != wire.Reply {
				all = append(all, id)
			}
		}
		named[i] = slices.Clip(all)
	}
	nameless := namelessMessages(lines, statements)
	type block struct{ session, agent, id string }
	of := map[block]string{}
	ids := map[string]bool{}
	for e, d := range runindex.EventsOf[event.Delta](t.Run) {
		f.Asserted(1)
		id, k := t.Recorded(d.MessageID), block{e.SessionID, e.SubagentID, d.BlockID}
		first, seen := of[k]
		of[k], ids[id] = id, true
		switch {
		case seen && first != id:
			f.At(e, "block %s holds text of the messages %q and %q", d.BlockID, first, id)
		case seen || e.Line == 0 || e.Line > len(named):
		case nameless > 0 && id != "":
		case !slices.Contains(named[e.Line-1], id):
			f.At(e, "the message_id is %q, but the runtime has named no such message", id)
		}
	}
	// Only their number: the line of an event that comes late does not tell of which message it is.
	// Text that is lost is no concern of this check.
	if want := min(nameless, len(of)); len(ids) < want {
		f.Failf("%d messages with text that the runtime did not name have %d ids", want, len(ids))
	}
}

// namelessMessages counts the messages with text that the runtime had not named when their text came.
func namelessMessages(lines []runindex.Line, statements []wire.Statement) (n int) {
	unnamed := false // the message that is open, as long as it has no text
	for i := range lines {
		switch {
		case statements[i].Unnamed: // the line may hold its first text
			unnamed = true
		case statements[i].Message != "":
			unnamed = false
		}
		if unnamed && lines[i].Kind == wire.Delta && lines[i].Piece.Kind == wire.Text && lines[i].Piece.Text != "" {
			n, unnamed = n+1, false
		}
	}
	return n
}
