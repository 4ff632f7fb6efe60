package process

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// NoOrphans is the check process.no-orphans.
var NoOrphans = &conformance.Check{
	ID: "process.no-orphans", Source: "runtimes that keep running when their window is closed", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:         []string{"session_end"},
	Mend:          "Start the runtime in a process group of its own, and end the whole group at close and when Open fails.",
	Sentence:      "After a session was closed, or did not open, no process of its runtime still runs.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		faulted.JudgeOrphans(t.Run, f)
	},
	Faults: []string{"stall", "close-stdout", "no-handshake-in-time", "no-end-by-term"}, WithoutWaiting: true,
	JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
		faulted.JudgeOrphans(r, f)
	},
}
