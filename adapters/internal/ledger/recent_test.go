package ledger

import (
	"fmt"
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
)

// Memory stays bounded, and an id that is used again after its eviction gets
// new block ids.
func TestEndedIDsAreEvicted(t *testing.T) {
	l := New(event.SessionReady{SessionID: "s"}, event.Position{}, func(event.Event) {})
	s := l.TurnStart(event.TurnStart{})
	for i := range 3 * maxRecent {
		id := fmt.Sprint("t", i)
		if !s.ToolStart(event.ToolStart{ToolUseID: id}) || !s.ToolResult(event.ToolResult{ToolUseID: id}) {
			t.Fatalf("tool %s did not begin and end", id)
		}
		if s.ToolStart(event.ToolStart{ToolUseID: id}) {
			t.Fatalf("tool %s began again right after its end", id)
		}
		sub := l.Sub(fmt.Sprint("a", i))
		sub.Delta("k", "", "x")
		l.EndSub(sub.Subagent())
	}
	if got := len(s.finished.numbers); got != maxRecent {
		t.Errorf("%d tools are remembered, want %d", got, maxRecent)
	}
	if got := len(l.blockCounts.numbers); got != maxRecent {
		t.Errorf("%d sub-agents are remembered, want %d", got, maxRecent)
	}
	for _, id := range []string{"a0", fmt.Sprint("a", 3*maxRecent-1)} {
		sub := l.Sub(id)
		if got, had := sub.nextBlock(), id+"/1.1"; got == had {
			t.Errorf("the next block of %s is %s, which it had before", id, got)
		}
	}
}
