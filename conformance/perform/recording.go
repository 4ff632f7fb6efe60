package perform

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// Recording is a case and what belongs to it. It may be shared by replays, which
// do not change it.
type Recording struct {
	Case      *fixtures.Case
	Scenario  *fixtures.Scenario
	Lifecycle *fixtures.ReadReplies // answers to reads; nil: the corpus holds none
	// Requests is what the version does with changed requests; nil: the corpus does not hold it.
	Requests *refusal.Table
	// Prepared is the case prepared for many replays; nil: each replay prepares it.
	Prepared *standin.Prepared
	// Observers are given the events by Virtual, for Run.Observed.
	Observers []*conformance.Observer
	// Limits are passed to the subject if it takes limits; nil: it keeps its own.
	Limits *adapters.Limits
	// RealTimeLimit bounds a replay in virtual time; 0: DefaultRealTimeLimit.
	RealTimeLimit time.Duration
}

// newPlay returns a stand-in that replays the case with a fault, or without one.
func (rec *Recording) newPlay(f *fault.Fault) (*standin.Play, error) {
	o := standin.Options{Manual: true, Holds: true, ReadReplies: rec.Lifecycle, Requests: rec.Requests}
	if f != nil {
		f.ApplyTo(&o)
	}
	if rec.Prepared != nil {
		return rec.Prepared.New(o)
	}
	return standin.New(rec.Case, o)
}

func newRun(tier conformance.Tier, s conformance.Subject, rec Recording, f *fault.Fault) *conformance.Run {
	c := rec.Case
	return &conformance.Run{
		Tier: tier, Subject: s.Name(), Runtime: c.Runtime, Version: c.Version,
		Scenario: rec.Scenario, Case: c, Fault: f, Witness: c.Witness, StallWait: StallLimit,
	}
}

// recordPlay copies into the run what the stand-in saw.
func recordPlay(r *conformance.Run, play *standin.Play) {
	r.ClientActions, r.Unrecorded, r.Violations = play.ClientActions(), play.Unrecorded(), play.Violations()
	r.RuntimeRequests, r.Started, r.Settings = play.RuntimeRequests(), play.Started(), play.Settings()
	r.ToRecorded = play.Recorded
}

// recordedEffects implements the methods of steps.Environment that do nothing in a
// replay, because the recording holds their effects.
type recordedEffects struct{}

func (recordedEffects) playTime() time.Duration { return 0 }
func (recordedEffects) abort()                  {}

func (recordedEffects) Write(context.Context, string, string) error { return nil }
func (recordedEffects) Kill(context.Context, string) error          { return nil }
func (recordedEffects) Aside(context.Context, string, string) error { return nil }

// skipRefused skips the recorded request of a step that the runtime refuses, if
// the subject refused the step itself and so never wrote the request.
func skipRefused(play *standin.Play, s fixtures.Step) bool {
	if b := play.State().Barrier; !s.Refused || b == nil || b.Kind != standin.KindSession {
		return false
	}
	play.Skip()
	return true
}

// Loader loads recordings and reads each file of the corpus once.
type Loader struct {
	Corpus     fixtures.Corpus
	scenarios  map[string]*fixtures.Scenario
	lifecycles map[string]*fixtures.ReadReplies
	requests   map[string]*refusal.Table
}

// Load returns the case with its scenario and its lifecycle.
func (l *Loader) Load(c *fixtures.Case) (Recording, error) {
	if l.scenarios == nil {
		l.scenarios, l.lifecycles = map[string]*fixtures.Scenario{}, map[string]*fixtures.ReadReplies{}
		l.requests = map[string]*refusal.Table{}
	}
	scn, have := l.scenarios[c.Scenario]
	if !have {
		var err error
		if scn, err = l.Corpus.LoadScenario(c.Scenario); err != nil {
			return Recording{}, err
		}
		l.scenarios[c.Scenario] = scn
	}
	version := path.Join(c.Runtime, c.Version)
	life, have := l.lifecycles[version]
	if !have {
		var err error
		// A corpus need not hold a lifecycle for each version.
		if life, err = l.Corpus.LoadReadReplies(c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Recording{}, err
		}
		l.lifecycles[version] = life
	}
	requests, have := l.requests[version]
	if !have {
		var err error
		if requests, err = refusal.Load(l.Corpus, c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Recording{}, err
		}
		l.requests[version] = requests
	}
	return Recording{Case: c, Scenario: scn, Lifecycle: life, Requests: requests}, nil
}
