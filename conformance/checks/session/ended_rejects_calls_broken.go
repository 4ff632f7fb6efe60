package session

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var takesWhatComesLate = broken.Adapter{
	Name: "takes-what-comes-late", Sentence: "accepts a message after the session has ended, and drops it",
	Proves: "session.ended-rejects-calls",
	Mutation: broken.Mutation{SendError: func(err error) error {
		if errors.Is(err, adapters.ErrClosed) {
			return nil
		}
		return err
	}},
}
