package process

import (
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var killsAtOnce = broken.Adapter{
	Name: "kills-at-once", Sentence: "kills the runtime when it is closed",
	Proves: "process.graceful-close",
	Mutation: broken.Mutation{BeforeClose: func(p proc.Process) {
		_ = p.Signal(proc.SIGKILL)
		time.Sleep(time.Millisecond) // virtual time: makes deterministic whether the exit or the close is noticed first
	}},
}
