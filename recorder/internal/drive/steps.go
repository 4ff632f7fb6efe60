package drive

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
)

// runSteps runs each step and then waits until the runtime is idle.
func (d *Driver) runSteps() error {
	if err := steps.Run(d.Scenario, d.runStep); err != nil || !d.alive {
		return err
	}
	if err := d.Until("the runtime to be idle after the last step", d.client.Idle); err != nil {
		return fmt.Errorf("%s: %w", d.Scenario.File, err)
	}
	return nil
}

func (d *Driver) runStep(s fixtures.Step) error {
	needsProcess := s.Verb != fixtures.VerbOpen && s.Verb != fixtures.VerbWrite && (s.Verb != fixtures.VerbWait || s.What != "exit")
	if needsProcess && !d.alive && !d.Runtime.ProcessPerTurn {
		return errors.New("no process runs: it was closed or has exited")
	}
	if steps.OfEnvironment(s) {
		return d.expectRefusal(s, steps.EnvironmentStep(d.ctx, environment{d}, s))
	}
	before := d.actions
	err := steps.SessionStep(d.ctx, session{d.client, d}, s)
	d.unseen = d.actions == before
	return d.expectRefusal(s, err)
}

// session implements steps.Session: the client, and what is the same for each
// runtime.
type session struct {
	Client
	d *Driver
}

func (s session) Open(ctx context.Context, step fixtures.Step) error {
	if s.d.alive {
		return errors.New("a process runs already: `close` it first")
	}
	return s.Client.Open(ctx, step)
}

func (s session) Raw(ctx context.Context, step fixtures.Step) error {
	if step.What != "" && step.What != s.d.Runtime.Wire.Name {
		return nil // for another runtime
	}
	return s.Client.Raw(ctx, step)
}

func (s session) CloseStdin(context.Context) error {
	s.d.markClosed()
	return s.d.process.Stdin().Close()
}

func (s session) Close(ctx context.Context) error {
	if s.d.Runtime.ProcessPerTurn {
		if s.Idle() {
			return nil
		}
		return errors.Join(s.d.waitQuiet(), s.Stop(ctx))
	}
	return errors.Join(s.d.waitQuiet(), s.d.closeStdin())
}

// environment implements steps.Environment.
type environment struct{ d *Driver }

func (e environment) Wait(_ context.Context, s fixtures.Step) error {
	e.d.unseen = false
	return e.d.waitFor(s)
}

// Release implements steps.Environment. A step that left no trace on the wire, such as a
// message that the client keeps in its own queue, is no barrier of the stand-in, which
// would play on over the hold. Such a hold is recorded.
func (e environment) Release(_ context.Context, hold string) error {
	if e.d.unseen {
		e.d.record(fixtures.WireLine{Dir: fixtures.Release, Hold: hold})
	}
	e.d.Model.Release(hold)
	return nil
}

func (e environment) Write(_ context.Context, name, text string) error {
	e.d.written[name] = true
	if err := e.d.writeWorkFile(e.d.Path(name), []byte(text)); err != nil {
		return err
	}
	return e.d.answerWritten()
}

func (e environment) Kill(_ context.Context, signal string) error {
	return errors.Join(e.d.waitQuiet(), e.d.signal(proc.Signal(signal), true))
}

func (e environment) Aside(ctx context.Context, id, text string) error {
	return e.d.client.Aside(ctx, id, text)
}
