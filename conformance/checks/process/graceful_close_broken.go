package process

import (
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var killsAtOnce = broken.Adapter{
	Name: "kills-at-once", Sentence: "kills the runtime when it is closed",
	Fails: []string{"permission.answered-once", "process.graceful-close", "turn.not-before-end"},
	Only:  map[string]string{"turn.not-before-end": "codex"}, // Claude Code reports a killed turn like a stopped one
	Mutation: broken.Mutation{BeforeClose: func(p proc.Process) {
		_ = p.Signal(proc.SIGKILL)
		time.Sleep(time.Millisecond) // virtual time: makes deterministic whether the exit or the close is noticed first
	}},
}
