package opencode

import "github.com/turnspec/turnspec/adapters/event"

// compactionStarted handles the part with which a summary begins. One that was asked for is
// a turn of its own.
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
