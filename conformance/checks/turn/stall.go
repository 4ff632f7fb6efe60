package turn

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// closedAfter returns when the session was closed, or another one opened, after a
// moment; the maximum if it was not.
func closedAfter(r *conformance.Run, at time.Duration) time.Duration {
	for _, a := range r.Steps {
		if v := a.Step.Verb; a.At >= at && (v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen && a.At > at) {
			return a.At
		}
	}
	return 1<<63 - 1
}
