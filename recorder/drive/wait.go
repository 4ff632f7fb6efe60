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
)

func (d *driver) wait(a fixtures.Step) error {
	what := actString(a)
	switch a.What {
	case "hold":
		return d.until(what, func() bool {
			text, think, ok := d.o.Model.Holding(a.ID)
			if text+think == "" && d.ofMain(a.ID) && !d.c.speaks() {
				return false
			}
			if half := d.halfBefore(a.ID); half != "" && !d.c.sawInput(half) {
				return false
			}
			return ok && d.o.Scenario.InSummary(a.ID) || ok && slices.ContainsFunc(d.c.said(), func(s *said) bool {
				return strings.HasSuffix(s.text.String(), text) && strings.HasSuffix(s.think.String(), think)
			})
		})
	case "ask":
		return d.until(what, d.settled(func() bool { return d.c.asking(a.ID) }))
	case "tool":
		return d.until(what, d.settled(func() bool { return d.c.sawTool(a.ID) }))
	case "output":
		return d.until(what, d.settled(func() bool { return d.c.sawOutput(a.ID) }))
	case "result":
		return d.until(what, d.settled(func() bool { return d.c.sawResult(a.ID) }))
	case "call":
		return d.until(what, d.settled(func() bool { return d.called[a.ID] }))
	case "file":
		return d.until(what, d.settled(func() bool { _, err := os.Stat(d.workFile(a.ID)); return err == nil }))
	case "end":
		return d.until(what, func() bool { return d.c.ended(a.ID) })
	case "task":
		return d.until(what, func() bool { return d.c.taskEnded(a.ID) })
	case "idle":
		return d.until(what, d.c.idle)
	case "exit":
		return d.waitExit()
	case "retry":
		return d.until(what, d.c.retrying)
	}
	return fmt.Errorf("unknown wait %q", a.What)
}

// ofMain reports whether a hold is in a reply to the main agent.
func (d *driver) ofMain(hold string) bool {
	return slices.ContainsFunc(d.o.Scenario.Model[""], func(r fixtures.Reply) bool {
		return slices.ContainsFunc(r.Parts, func(p fixtures.Part) bool { return p.Hold == hold })
	})
}

// halfBefore is the tool call of which half has been said when the main agent's
// model comes to a hold.
func (d *driver) halfBefore(hold string) string {
	for _, r := range d.o.Scenario.Model[""] {
		for i, p := range r.Parts {
			if p.Hold == hold && i > 0 && r.Parts[i-1].Tool != nil && r.Parts[i-1].Tool.Open {
				return r.Parts[i-1].Tool.ID
			}
		}
	}
	return ""
}

// settled adds to a condition that the wire shows all the model said until now:
// some runtimes run a tool, or ask, while the message that calls it still ends,
// and an act in between would land here today and there tomorrow.
func (d *driver) settled(cond func() bool) func() bool {
	return func() bool { return cond() && d.c.settled(d.holding()) }
}

// holding reports whether the model stands at any hold.
func (d *driver) holding() bool {
	for _, replies := range d.o.Scenario.Model {
		for _, r := range replies {
			for _, p := range r.Parts {
				if p.Hold == "" {
					continue
				}
				if _, _, ok := d.o.Model.Holding(p.Hold); ok {
					return true
				}
			}
		}
	}
	return false
}

// look is how often a wait looks at what no event announces: a file that a
// tool makes.
const look = 5 * time.Millisecond

// until takes events until cond holds. what says what is waited for.
func (d *driver) until(what string, cond func() bool) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		changed := d.o.Model.Changed()
		switch {
		case d.err != nil:
			return d.stuck(what, d.err)
		case cond():
			return nil
		case !d.alive && !d.closed:
			return d.stuck(what, errEnded)
		case !d.alive:
			return d.stuck(what, errors.New("the runtime has ended"))
		}
		select {
		case e := <-d.events:
			d.take(e)
		case <-changed:
		case <-tick.C:
		case <-d.ctx.Done():
			return d.stuck(what, context.Cause(d.ctx))
		}
	}
}

// stuck tells what was waited for and what the wire said last.
func (d *driver) stuck(what string, why error) error {
	return fmt.Errorf("waiting for %s: %w; the last lines of the wire:\n\t%s", strings.TrimPrefix(what, "wait "), why, strings.Join(d.last, "\n\t"))
}
