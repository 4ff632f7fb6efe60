package process

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var noExitCode = broken.Adapter{
	Name: "no-exit-code", Sentence: "does not report the exit code of the runtime",
	Proves:   "process.exit-code",
	Mutation: broken.Change(func(d *event.SessionEnd) { d.ExitCode = nil }),
}
