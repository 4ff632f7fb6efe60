package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithoutACode = broken.Adapter{
	Name: "ends-without-a-code", Sentence: "leaves the exit code out of session_end",
	Proves:   "session.end-reason",
	Mutation: broken.Change(func(d *event.SessionEnd) { d.ExitCode = nil }),
}

var endsWithoutAReason = broken.Adapter{
	Name: "ends-without-a-reason", Sentence: "leaves the reason out of session_end",
	Proves:   "session.end-reason",
	Mutation: broken.Change(func(d *event.SessionEnd) { d.Reason = "" }),
}

var crashesAtEachClose = broken.Adapter{
	Name: "crashes-at-each-close", Sentence: "reports each end of a session as a crash",
	Proves:   "session.end-reason",
	Mutation: broken.Change(func(d *event.SessionEnd) { d.Reason = "crashed" }),
}

var countsExitCodes = broken.Adapter{
	Name: "counts-exit-codes", Sentence: "reports an exit code one higher than that of the process",
	Proves: "session.end-reason",
	Mutation: broken.Change(func(d *event.SessionEnd) {
		if d.ExitCode != nil {
			code := *d.ExitCode + 1
			d.ExitCode = &code
		}
	}),
}

var endsInSilence = broken.Adapter{
	Name: "ends-in-silence", Sentence: "reports no end of a session",
	Proves: "session.end-reason", Mutation: broken.Omit("session_end"),
}
