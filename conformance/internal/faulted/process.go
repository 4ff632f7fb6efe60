package faulted

import (
	"github.com/turnspec/turnspec/conformance"
)

// JudgeOrphans reports processes of the runtime that still run at the end of a run.
func JudgeOrphans(r *conformance.Run, f *conformance.Finding) {
	if r.Hang != "" || len(r.Opens) == 0 {
		return // another check judges that
	}
	f.Asserted(len(r.Opens))
	if r.LeftRunning > 0 {
		f.Failf("%d processes of the runtime still run when all is closed", r.LeftRunning)
	}
}
