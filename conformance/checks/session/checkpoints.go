package session

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Checkpoints is the check session.checkpoints.
var Checkpoints = &conformance.Check{
	ID: "session.checkpoints", Source: "the event contract (adapters/event): checkpoint", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"checkpoint", "checkpoint.checkpoint_id", "checkpoint.action"},
	Needs:    []string{"checkpoint"},
	Mend:     "Emit checkpoint for the runtime's own checkpoint of a message, with its id, and once more when a rewind to it has succeeded. Emit none if the client did not ask for them.",
	Sentence: "If the client asked for checkpoints, each of its messages creates one; a rewind or a revert restores the one that it names. No other checkpoint is reported.",
	Judge:    judgeCheckpoints,
}

func judgeCheckpoints(t *conformance.Trial, f *conformance.Finding) {
	created, restored := map[string]int{}, map[string]int{}
	for e, d := range runindex.EventsOf[event.Checkpoint](t.Run) {
		f.Asserted(1)
		switch d.Action {
		case event.CheckpointCreated:
			created[d.CheckpointID]++
			if !slices.ContainsFunc(runindex.Of(t.Run).Messages(), func(m *runindex.Message) bool { return m.Data.MessageID == d.CheckpointID }) {
				f.At(e, "checkpoint %s is created, but no message of the user has that id", d.CheckpointID)
			}
		case event.CheckpointRestored:
			restored[d.CheckpointID]++
		default:
			f.At(e, "the action of checkpoint %s is %q", d.CheckpointID, d.Action)
		}
	}
	want := map[string]int{}
	for _, a := range t.Steps {
		if (a.Step.Verb == fixtures.VerbRewind && a.Step.What != "dry" || a.Step.Verb == fixtures.VerbRevert) && a.Err == nil {
			want[a.Step.ID]++
		}
	}
	for id, n := range want {
		f.Asserted(1)
		if restored[id] != n {
			f.Failf("checkpoint %s was restored %d times, the events report %d", id, n, restored[id])
		}
	}
	for id := range restored {
		if want[id] == 0 {
			f.Failf("checkpoint %s is reported as restored, but the client has not restored it", id)
		}
	}
	if !slices.Contains(t.Scenario.Needs, "checkpoint") || len(created) == 0 && !t.Supports("checkpoint") {
		return
	}
	for _, m := range runindex.Of(t.Run).Messages() {
		f.Asserted(1)
		if created[m.Data.MessageID] != 1 {
			f.At(m.Event, "message %s has %d checkpoints", m.Data.MessageID, created[m.Data.MessageID])
		}
	}
}
