package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsExitCodes = broken.Adapter{
	Name: "counts-exit-codes", Sentence: "reports an exit code one higher than that of the process",
	Proves: "session.end-reason",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionEnd); ok && d.ExitCode != nil {
			code := *d.ExitCode + 1
			d.ExitCode = &code
			e.Data = d
		}
		out(e)
	}),
}
