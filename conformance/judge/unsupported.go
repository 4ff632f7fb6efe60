package judge

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// isOptional reports whether the step is an optional ability of a runtime, and so of
// a subject.
func isOptional(a fixtures.Step) bool {
	switch a.Verb {
	case fixtures.VerbRevert, fixtures.VerbRewind, fixtures.VerbCompact, fixtures.VerbArchive, fixtures.VerbName:
		return true
	case fixtures.VerbOpen:
		return a.What == "fork" || a.What == "unarchive"
	}
	return false
}

// queueUnsupported reports whether the step is about tasks or the queue and failed
// because the subject or its runtime does not support that.
func queueUnsupported(a conformance.StepResult) bool {
	optional := a.Step.Verb == fixtures.VerbStopTask || a.Step.Verb == fixtures.VerbWithdraw || a.Step.What == fixtures.StopAll ||
		a.Step.Verb == fixtures.VerbSend && a.Step.What != ""
	return optional && errors.Is(a.Err, adapters.ErrUnsupported)
}
