package perform

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// idle is an environment in which nothing moves.
type idle struct{ environment }

func (idle) runUntil(<-chan struct{}) bool { return false }

// TestIdleWaitFollowsTheRecording checks that a subject may be idle for as long as the
// recorded client was.
func TestIdleWaitFollowsTheRecording(t *testing.T) {
	line := func(dir fixtures.Dir, at time.Duration) fixtures.WireLine { return fixtures.WireLine{Dir: dir, T: at} }
	for want, wire := range map[time.Duration][]fixtures.WireLine{
		time.Second:     {line(fixtures.In, 0), line(fixtures.Out, time.Minute), line(fixtures.In, time.Minute+time.Second)},
		3 * time.Second: {line(fixtures.In, 0), line(fixtures.Out, time.Second), line(fixtures.In, 3*time.Second)}, // a pause of two seconds
		maxPause:        {line(fixtures.Out, 0), line(fixtures.In, time.Hour)},
	} {
		d := &director{run: &conformance.Run{Case: &fixtures.Case{Wire: wire}}}
		if got := d.idleWait(); got != want {
			t.Errorf("%v: waits %v, want %v", wire, got, want)
		}
	}
}

// TestWaitsOnceForAFault checks that a subject in real time that does not react to a fault
// is given the whole limit once, from the line of the fault on, and a second at each later
// wait. In virtual time each wait has the whole limit.
func TestWaitsOnceForAFault(t *testing.T) {
	for tier, want := range map[conformance.Tier]time.Duration{
		conformance.TierProcess: EndLimit + time.Second,
		conformance.TierWitness: 2 * EndLimit,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &conformance.Run{Tier: tier, Fault: &fault.Fault{Kind: fault.Terminal, Line: 3}}
			d := &director{run: r, env: idle{}, changed: make(chan struct{})}
			wait := func() time.Duration {
				began := time.Now()
				d.waitUntil(func() bool { return false }, d.idleWait())
				return time.Since(began)
			}
			if took := wait(); took != EndLimit {
				t.Errorf("%s: waits %v before the fault, want %v", tier, took, EndLimit)
			}
			var played conformance.PlayedLine
			played.Line.Line = 3
			r.Played = append(r.Played, played)
			if took := wait() + wait(); took != want {
				t.Errorf("%s: two waits after the fault take %v, want %v", tier, took, want)
			}
		})
	}
}
