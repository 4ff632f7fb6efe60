package conformance

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/fakes/fault"
	standin "github.com/turnspec/turnspec/fakes/runtime"
	"github.com/turnspec/turnspec/fixtures"
)

// Tier is a way of running checks.
type Tier string

// The tiers.
const (
	TierWitness Tier = "witness"
	TierGolden  Tier = "golden"
	TierTiming  Tier = "timing"
	TierLive    Tier = "live"
)

// Run is everything that happened when a subject performed a scenario once. It
// is what checks judge.
type Run struct {
	Tier     Tier
	Subject  string
	Runtime  string
	Scenario *fixtures.Scenario
	Case     *fixtures.Case // what was played; nil when live
	Harm     *fault.Harm    // what was done to its wire; nil: nothing
	Witness  []fixtures.Request

	Events []Seen
	Live   *replay.Chat // reduced as the events came
	Acts   []Done
	Opens  []Opened

	// Of a play:
	Played     []Played          // the lines that were played, with their time
	Wrote      []standin.Written // what the subject wrote to the runtime
	Unrecorded []string          // what it did that the case does not hold
	Violations []string          // what it did against what it was told

	// Of a live run:
	Workspace map[string][]byte // the files at the end
	Home      string

	recorded func(string) string // what a play rewrote, back into the recorded form

	Hang    string // why the run did not come to its end, or ""
	Harness string // why the harness could not let the subject perform, or ""
	Stopped bool   // the run ended early: an act could not be done
}

// Recorded puts the ids and folders of this run back into their recorded form,
// so that two runs can be compared, and a run with the witness.
func (r *Run) Recorded(text string) string {
	if r.recorded == nil {
		return text
	}
	return r.recorded(text)
}

// Seen is an event with the moment at which it reached the listener.
type Seen struct {
	event.Event
	At   time.Duration // since the start, in the run's time
	Line int           // how many wire lines had been played by then
	Acts int           // how many acts had begun by then
}

// Done is an act of the scenario and how it went.
type Done struct {
	Act fixtures.Act
	At  time.Duration
	Err error // nil: done
}

// Opened is how an Open went.
type Opened struct {
	Resume   string // the id it was to resume
	Provider string // the id that the runtime gave to the session
	Err      error
}

// Played is a wire line that was played.
type Played struct {
	Line fixtures.WireLine
	At   time.Duration
}

// Chat reduces the events as they are stored: through their JSON form, in the
// order of seq.
func (r *Run) Chat() (*replay.Chat, error) {
	stored := make([]event.Event, 0, len(r.Events))
	for _, e := range r.Events {
		b, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		back, err := event.Decode(b)
		if err != nil {
			return nil, err
		}
		stored = append(stored, back)
	}
	return replay.Reduce(stored), nil
}
