package session

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var losesTheReason = broken.Adapter{
	Name: "loses-the-reason", Sentence: "reports that a session cannot be opened, without the reason",
	Proves: "session.resume-unknown",
	Mutation: broken.Mutation{OpenError: func(err error) error {
		var typed *adapters.OpenError
		if errors.As(err, &typed) && typed.Code != event.ErrorStartFailure {
			return &adapters.OpenError{Code: typed.Code, Op: typed.Op, Err: errors.New("it did not work")}
		}
		return err
	}},
}

var untypedRefusal = broken.Adapter{
	Name: "untyped-refusal", Sentence: "returns an error without a code if there is no such session",
	Proves: "session.resume-unknown",
	Mutation: broken.Mutation{OpenError: func(err error) error {
		var typed *adapters.OpenError
		if errors.As(err, &typed) && typed.Op == "resume" {
			return errors.New(err.Error())
		}
		return err
	}},
}
