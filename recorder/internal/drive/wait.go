package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
)

func (d *Driver) waitFor(s fixtures.Step) error {
	c := d.client
	var cond func() bool
	switch s.What {
	case "hold":
		return d.Until(steps.String(s), func() bool { return d.atHold(s.ID) })
	case "end":
		return d.Until(steps.String(s), func() bool { return c.Ended(s.ID) })
	case "task":
		return d.Until(steps.String(s), func() bool { return c.TaskEnded(s.ID) })
	case "idle":
		return d.Until(steps.String(s), c.Idle)
	case "retry":
		return d.Until(steps.String(s), c.Retries)
	case "exit":
		d.closed = true
		return d.waitExit("the runtime to exit")
	case "ask":
		cond = func() bool { return c.Asks(s.ID) }
	case "tool":
		cond = func() bool { return c.ShowsTool(s.ID) }
	case "output":
		cond = func() bool { return c.ShowsOutput(s.ID) }
	case "progress":
		cond = func() bool { return d.progress[s.ID] }
	case "result":
		cond = func() bool { return c.ShowsResult(s.ID) }
	case "call":
		cond = func() bool { return d.called[s.ID] }
	case "file":
		cond = func() bool { _, err := os.Stat(d.Path(s.ID)); return err == nil }
	default:
		return fmt.Errorf("unknown wait %q", s.What)
	}
	// Some runtimes run a tool, or ask, while the message that calls it is still
	// being sent. The next step would then land here in one recording and there
	// in the next.
	return d.Until(steps.String(s), func() bool { return cond() && c.Settled(d.Holding()) })
}

// atHold reports whether the model is at the hold and the wire shows all that it
// has sent before.
func (d *Driver) atHold(hold string) bool {
	text, think, ok := d.Model.Holding(hold)
	ofMain, openTool := d.mainHold(hold)
	if !ok || text+think == "" && ofMain && !d.client.Streams() || openTool != "" && !d.client.ShowsInput(openTool) {
		return false
	}
	return d.Scenario.InSummary(hold) || slices.ContainsFunc(d.client.Texts(), func(t *Text) bool {
		return strings.HasSuffix(t.Text.String(), text) && strings.HasSuffix(t.Think.String(), think)
	})
}

// mainHold reports whether a hold is in a reply to the main agent. openTool is
// the tool call that the model has begun but not finished there.
func (d *Driver) mainHold(hold string) (found bool, openTool string) {
	for _, r := range d.Scenario.Model[""] {
		for i, p := range r.Parts {
			if p.Hold != hold {
				continue
			}
			found = true
			if i > 0 && r.Parts[i-1].Tool != nil && r.Parts[i-1].Tool.Unfinished && openTool == "" {
				openTool = r.Parts[i-1].Tool.ID
			}
		}
	}
	return found, openTool
}

// Holding reports whether the model is at a hold.
func (d *Driver) Holding() bool {
	for _, replies := range d.Scenario.Model {
		for _, r := range replies {
			for _, p := range r.Parts {
				if p.Hold == "" {
					continue
				}
				if _, _, ok := d.Model.Holding(p.Hold); ok {
					return true
				}
			}
		}
	}
	return false
}

// pollEvery is how often a wait checks what no event announces, such as a file
// that a tool makes.
const pollEvery = 5 * time.Millisecond

// Until handles events until cond is true. what names the condition in errors.
func (d *Driver) Until(what string, cond func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		changed := d.Model.Changed()
		if p, ok := d.client.(Poller); ok {
			d.Fail(p.Poll())
		}
		switch {
		case d.err != nil:
			return d.stuck(what, d.err)
		case cond():
			return nil
		case !d.alive && !d.closed:
			return d.stuck(what, errExited)
		case !d.alive:
			return d.stuck(what, errors.New("the runtime has exited"))
		}
		select {
		case e := <-d.events:
			d.handleEvent(e)
		case <-changed:
		case <-tick.C:
		case <-d.ctx.Done():
			return d.stuck(what, context.Cause(d.ctx))
		}
	}
}

// stuck returns an error that names the condition and the last lines of the wire.
func (d *Driver) stuck(what string, why error) error {
	return fmt.Errorf("waiting for %s: %w; the last lines of the wire:\n\t%s", strings.TrimPrefix(what, "wait "), why, strings.Join(d.last, "\n\t"))
}
