package perform

import (
	"context"
	"errors"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// ListenersLeave is a step for Check.AlternateSteps: in the middle of the text, all
// listeners of a server's session leave, and one returns later.
var ListenersLeave = fixtures.Step{Verb: fixtures.VerbWait, What: "listeners"}

// SignalProgram returns a step for Check.AlternateSteps: in the middle of the text, the
// subject's program is signalled.
func SignalProgram(s proc.Signal) fixtures.Step {
	return fixtures.Step{Verb: fixtures.VerbWait, What: "signal", ID: string(s)}
}

// isProgramStep reports whether a step is one of those above.
func isProgramStep(s fixtures.Step) bool {
	return s.Verb == fixtures.VerbWait && (s.What == ListenersLeave.What || s.What == SignalProgram("").What)
}

// programStep waits for the first text, and runs the step. It fails if the subject is no
// program, or no server.
func (d *director) programStep(ctx context.Context, s fixtures.Step) error {
	if d.sess == nil {
		d.recordFailure(s, errNotStarted)
		return errNotStarted
	}
	leaver, leaves := adapters.As[conformance.ListenerLeaver](d.sess)
	signaller, signals := adapters.As[conformance.ProgramSignaller](d.sess)
	if s.What == ListenersLeave.What && !leaves || s.What != ListenersLeave.What && !signals {
		d.recordFailure(s, conformance.ErrDeclaredUnsupported)
		return conformance.ErrDeclaredUnsupported
	}
	d.waitUntil(d.textBegan, d.idleWait())
	i := d.recordStart(s)
	var err error
	if s.What == ListenersLeave.What {
		err = leaver.LeaveAndReturn(ctx)
	} else {
		var result conformance.SignalResult
		if result, err = signaller.SignalProgram(ctx, proc.Signal(s.ID)); err == nil {
			d.run.Signalled = &result
		}
	}
	d.mu.Lock()
	d.run.Steps[i].Err, d.run.Steps[i].For = err, time.Since(d.start)-d.run.Steps[i].At
	d.mu.Unlock()
	if err != nil && !errors.Is(err, conformance.ErrProtocol) {
		return err
	}
	return nil
}

// textBegan reports whether there is a delta.
func (d *director) textBegan() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.run.Events {
		if e.Type() == event.TypeDelta {
			return true
		}
	}
	return false
}
