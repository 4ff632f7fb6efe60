package perform

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// playing is an environment that has taken a time to play lines.
type playing struct {
	environment
	took time.Duration
}

func (p *playing) playTime() time.Duration { return p.took }
func (*playing) abort()                    {}

// TestBudgetOfStep checks the limits of a step: what is left of them begins again with the next
// step, and lines that were played make them larger.
func TestBudgetOfStep(t *testing.T) {
	line := func(n int) conformance.PlayedLine {
		return conformance.PlayedLine{Line: fixtures.WireLine{Bytes: make([]byte, n)}}
	}
	for name, x := range map[string]struct {
		played []conformance.PlayedLine
		events int
		size   int
		pauses time.Duration // of the lines that are played in the step
		after  time.Duration
		silent time.Duration
		want   string // "": it is within the budget
	}{
		"10,000 events":              {events: budgetEvents},
		"one more":                   {events: budgetEvents + 1, want: "10001 events, of at most 10000"},
		"20 for each line":           {played: make([]conformance.PlayedLine, 1000), events: 20_000},
		"16 MiB":                     {events: 16, size: 1 << 20},
		"17 MiB":                     {events: 17, size: 1 << 20, want: "17825792 bytes of events, of at most 16777216"},
		"33 MiB of a line of 10 MiB": {played: []conformance.PlayedLine{line(10 << 20)}, events: 33, size: 1 << 20},
		"30 seconds":                 {events: 1, after: budgetTime},
		"31 seconds":                 {events: 1, after: budgetTime + time.Second, want: "events still come after 31s, of at most 30s"},
		"31 seconds, and a pause":    {events: 1, after: budgetTime, silent: idleTime},
		"31 seconds, with pauses":    {events: 1, after: budgetTime + time.Second, pauses: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				env := &playing{}
				d := &director{run: &conformance.Run{Tier: conformance.TierProcess, Played: x.played}, env: env}
				d.init()
				step := fixtures.Step{Verb: fixtures.VerbWait, What: "end", ID: "m1"}
				for range 2 {
					d.beginBudget(step)
					for range budgetEvents {
						d.spend(0)
					}
				}
				d.beginBudget(step)
				env.took = x.pauses
				for range int(x.after / time.Second) {
					time.Sleep(time.Second)
					d.spendTime()
				}
				time.Sleep(x.silent)
				for range x.events {
					d.spend(x.size)
				}
				if got := d.run.OverBudget; (got == "") != (x.want == "") || !strings.Contains(got, x.want) || d.isAborted() != (got != "") {
					t.Errorf("got %q, want %q; the play was ended: %v", got, x.want, d.isAborted())
				}
			})
		})
	}
}
