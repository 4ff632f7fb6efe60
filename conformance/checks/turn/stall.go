package turn

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// closedAfter returns when the session was closed, or another one opened, after a
// moment; the maximum if it was not.
func closedAfter(r *conformance.Run, at time.Duration) time.Duration {
	for _, a := range r.Steps {
		v := a.Step.Verb
		ends := v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen && a.At > at ||
			v == fixtures.VerbStop && len(runindex.Runtime(r).Process.StopSignals) > 0 // a signal ends any process
		if a.At >= at && ends {
			return a.At
		}
	}
	return 1<<63 - 1
}
