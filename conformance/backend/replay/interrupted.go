package replay

import (
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Interrupted is the check replay.interrupted.
var Interrupted = &conformance.Check{
	ID: "replay.interrupted", Source: "chats in which a stopped turn looks finished when it is loaded again", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs:    []string{"done.stopped"},
	Mend:     "Store the stop: done with stopped set, and interrupted for what was open. Do not keep it in the client's memory only.",
	Sentence: "A stopped turn looks stopped when the stored events are reduced again.",
	Judge:    judgeStoredStop,
}

// judgeStoredStop judges scenarios in which a stop cut a reply of the model, so that
// the turn did not end before the stop.
func judgeStoredStop(t *conformance.Trial, f *conformance.Finding) {
	stopped := false
	for _, a := range t.Steps {
		stopped = stopped || a.Step.Verb == fixtures.VerbStop && a.Err == nil
	}
	cut := false
	for _, q := range runindex.Requests(t.Run) {
		cut = cut || q.Ended == fixtures.EndedClosed
	}
	if !stopped || !cut {
		return
	}
	f.Asserted(1)
	stored, err := chats.Stored(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	for _, m := range stored.Messages {
		if m.Role == replay.RoleAssistant && m.Status == replay.Stopped {
			return
		}
	}
	f.Failf("the model was stopped within its reply, but no message of the stored chat is stopped")
}
