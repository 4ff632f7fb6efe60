package session

import (
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWhatIsIdle = broken.Adapter{
	Name: "ends-what-is-idle", Sentence: "closes the runtime's stdin after ten idle minutes",
	Proves: "session.idle-stays-open",
	Mutation: broken.Mutation{Launch: func(p proc.Process) proc.Process {
		timer := time.AfterFunc(10*time.Minute, func() { _ = p.Stdin().Close() })
		go func() { p.Wait(); timer.Stop() }()
		return p
	}},
}

var leavesAStopLimit = broken.Adapter{
	Name: "leaves-a-stop-limit", Sentence: "cancels only the last of two limits if a turn is stopped twice at once, and so ends the idle session",
	Proves:   "session.idle-stays-open",
	Mutation: broken.Mutation{StopLimit: time.Minute},
}
