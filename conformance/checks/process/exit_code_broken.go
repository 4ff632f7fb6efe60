package process

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var noExitCode = broken.Adapter{
	Name: "no-exit-code", Sentence: "does not report the exit code of the runtime",
	Proves: "process.exit-code",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionEnd); ok {
			d.ExitCode = nil
			e.Data = d
		}
		out(e)
	}),
}
