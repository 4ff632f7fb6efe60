package judge

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// Unsupported returns the step that the subject does not support, with its error, or
// "".
func Unsupported(r *conformance.Run) string {
	for _, s := range r.Steps {
		if errors.Is(s.Err, conformance.ErrDeclaredUnsupported) || !required(s.Step) && errors.Is(s.Err, adapters.ErrUnsupported) {
			return string(s.Step.Verb) + ": " + s.Err.Error()
		}
	}
	return ""
}

// required reports whether every adapter must support the step: to send a text, and
// to close the session. An adapter that refuses every Open is found by the checks that
// then have no verdict on any case.
func required(s fixtures.Step) bool {
	return s.Verb == fixtures.VerbSend && s.What == "" && len(s.Files) == 0 || s.Verb == fixtures.VerbClose
}
