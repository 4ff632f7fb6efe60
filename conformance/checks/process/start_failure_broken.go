package process

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var untypedStartFailure = broken.Adapter{
	Name: "untyped-start-failure", Sentence: "returns an error without a code if the session does not open",
	Fails:    []string{"process.start-failure", "session.resume-unknown", "turn.crash-ends", "turn.refused", "turn.stall-ends"},
	Mutation: broken.Mutation{OpenError: func(err error) error { return errors.New(err.Error()) }},
}

var hangsWhenItCannotStart = broken.Adapter{
	Name: "hangs-when-it-cannot-start", Sentence: "waits forever if the runtime does not start",
	Fails:    []string{"permission.unsupported-request", "process.start-failure", "session.context-cancelled", "session.resume-unknown", "session.returns", "turn.crash-ends", "turn.nothing-after-terminal", "turn.refused", "turn.slow-continues", "turn.stall-ends", "wire.garbage", "wire.long-line", "wire.no-own-echo", "wire.same-chunk", "wire.split", "wire.stderr", "wire.unknown"},
	Only:     map[string]string{"turn.nothing-after-terminal": "claude", "turn.slow-continues": "codex", "wire.no-own-echo": "codex"},
	Mutation: broken.Mutation{OpenError: func(error) error { select {} }},
}

var losesStderr = broken.Adapter{
	Name: "loses-stderr", Sentence: "reports that the runtime did not start, without its stderr",
	Fails: []string{"process.start-failure"},
	Mutation: broken.Mutation{OpenError: func(err error) error {
		if typed, ok := errors.AsType[*adapters.OpenError](err); ok {
			mute := *typed
			mute.Stderr = ""
			return &mute
		}
		return err
	}},
}

var startFailureLooksSlow = broken.Adapter{
	Name: "start-failure-looks-slow", Sentence: "reports each failure to open as a timeout",
	Fails: []string{"process.start-failure", "turn.crash-ends"},
	Mutation: broken.Mutation{OpenError: func(err error) error {
		if typed, ok := errors.AsType[*adapters.OpenError](err); ok {
			slow := *typed
			slow.Code = event.ErrorTimeout
			return &slow
		}
		return err
	}},
}
