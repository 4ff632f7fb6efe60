package opencode

import "github.com/turnspec/turnspec/adapters/event"

// compactionStarted handles the part with which a summary begins. If the client asked for it,
// it is a separate turn.
func (t *translator) compactionStarted(a *agent) {
	if a.sub {
		return
	}
	a.user = nil
	t.l.Emit(event.Compaction{Phase: event.PhaseStart})
}

// compacted handles session.compacted.
func (t *translator) compacted(a *agent) {
	if !a.sub {
		t.l.Emit(event.Compaction{Phase: event.PhaseEnd})
	}
}
