package runindex

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
)

// closeMargin is how long before the end of its stdin a request of the runtime may
// come without being read, in real time.
const closeMargin = time.Second

// ClosedStdin reports whether an action of the subject closed the stdin of a process
// before the subject can have read a line of that process.
func ClosedStdin(r *conformance.Run, a standin.ClientAction, line *conformance.PlayedLine) bool {
	read := line.At
	if r.Tier == conformance.TierProcess {
		read += closeMargin
	}
	return a.Kind == standin.KindClose && a.Process == line.Line.Process && a.At.Sub(r.Began) <= read
}
