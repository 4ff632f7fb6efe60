package acp

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// The words by which claude-agent-acp reports a compaction before 0.101, as a message without an id.
const (
	compactStart = "Compacting..."
	compactEnd   = "Compacting completed."
)

// saysCompaction reports whether the agent's own words are of a compaction. It emits its start
// and its end.
func (t *translator) saysCompaction(sc *ledger.Scope, text string) bool {
	switch strings.TrimSpace(text) {
	case compactStart:
		sc.Emit(event.Compaction{Phase: event.PhaseStart})
	case compactEnd:
		sc.Emit(event.Compaction{Phase: event.PhaseEnd})
	default:
		return false
	}
	return true
}

// compactTitle is the title of the call that codex-acp and claude-agent-acp make of a compaction.
const compactTitle = "Compact conversation"

// isCompaction reports whether an update of a tool call is of a compaction, which codex-acp
// and claude-agent-acp report as a call. It emits its start and its end.
func (t *translator) isCompaction(u *update, b []byte) bool {
	starts := u.Kind == "tool_call" && u.Title == compactTitle && u.ToolKind == "think" && u.Name == ""
	if !starts && (t.compaction == "" || t.compaction != string(u.ToolCallID)) {
		return false
	}
	sc := t.scope("a compaction", b)
	if sc == nil {
		return true
	}
	if starts {
		t.compaction = string(u.ToolCallID)
		t.endBlock(sc, event.BlockComplete)
		sc.Emit(event.Compaction{Phase: event.PhaseStart})
	}
	if u.Status == "completed" || u.Status == "failed" {
		t.compaction = ""
		sc.Emit(event.Compaction{Phase: event.PhaseEnd})
	}
	return true
}
