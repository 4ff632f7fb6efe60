package pi

import (
	"github.com/turnspec/turnspec/adapters/event"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// compactionStarted handles compaction_start. One that was asked for is a turn of its own;
// in the older dialect one that the runtime needs comes after the turn that made it
// necessary.
func (t *translator) compactionStarted() {
	t.compacting = true
	if t.l.Turn() == nil && t.m.Reason == "manual" {
		t.command = true
		t.l.TurnStart(event.TurnStart{Cause: event.CauseCommand})
		if t.live != nil {
			t.live.compactAsked = false
			t.live.early.TurnBegan()
		}
	}
	t.l.Emit(event.Compaction{Phase: event.PhaseStart})
}

// compactionEnded handles compaction_end.
func (t *translator) compactionEnded() {
	m := &t.m
	t.compacting = false
	r := lenient.Decode[struct {
		Before lenient.Num `json:"tokensBefore"`
		After  lenient.Num `json:"estimatedTokensAfter"`
	}](m.Result)
	failed := m.ErrorMessage != "" || lenient.IsTrue(m.Aborted)
	t.l.Emit(event.Compaction{Phase: event.PhaseEnd, Tokens: int64(r.After)})
	switch {
	case !t.command && failed && m.ErrorMessage != "":
		t.l.Notice(event.LevelWarning, event.NoticeWarning, string(m.ErrorMessage), nil)
	case !t.command:
	case lenient.IsTrue(m.Aborted):
		t.command = false
		t.l.Done(event.Done{Stopped: true})
	case failed:
		t.command = false
		t.l.Error(errorOf(string(m.ErrorMessage)))
	default:
		t.command = false
		t.l.Done(event.Done{})
	}
	if t.live != nil && t.l.Turn() == nil {
		t.live.turnEnded()
	}
}
