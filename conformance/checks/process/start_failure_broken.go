package process

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var untypedStartFailure = broken.Adapter{
	Name: "untyped-start-failure", Sentence: "returns an error without a code if the session does not open",
	Proves:   "process.start-failure",
	Mutation: broken.Mutation{OpenError: func(err error) error { return errors.New(err.Error()) }},
}

var hangsWhenItCannotStart = broken.Adapter{
	Name: "hangs-when-it-cannot-start", Sentence: "waits forever if the runtime does not start",
	Proves:   "process.start-failure",
	Mutation: broken.Mutation{OpenError: func(error) error { select {} }},
}

var losesStderr = broken.Adapter{
	Name: "loses-stderr", Sentence: "reports that the runtime did not start, without its stderr",
	Proves: "process.start-failure",
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
	Proves: "process.start-failure",
	Mutation: broken.Mutation{OpenError: func(err error) error {
		if typed, ok := errors.AsType[*adapters.OpenError](err); ok {
			slow := *typed
			slow.Code = event.ErrorTimeout
			return &slow
		}
		return err
	}},
}
