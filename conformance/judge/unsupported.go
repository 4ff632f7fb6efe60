package judge

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// mayLack reports whether an act is one that a runtime, and so a subject, may
// have no way to do.
func mayLack(a fixtures.Step) bool {
	switch a.Verb {
	case fixtures.VerbRevert, fixtures.VerbRewind, fixtures.VerbCompact, fixtures.VerbArchive, fixtures.VerbName:
		return true
	case fixtures.VerbOpen:
		return a.What == "fork" || a.What == "unarchive"
	}
	return false
}

// lacks reports whether the error of an act says that the subject, or its
// runtime, has no way to do what not every one can.
func lacks(a conformance.StepResult) bool {
	optional := a.Step.Verb == fixtures.VerbStopTask || a.Step.Verb == fixtures.VerbWithdraw || a.Step.What == fixtures.StopAll ||
		a.Step.Verb == fixtures.VerbSend && a.Step.What != ""
	return optional && errors.Is(a.Err, adapters.ErrUnsupported)
}
