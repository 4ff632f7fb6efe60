package runner_test

import (
	"context"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func TestMain(m *testing.M) {
	conformance.Main() // the test program is the stand-in of the process tier
	patient.Parallel()
	os.Exit(m.Run())
}

// muteAt is the reference adapter, except that the sessions with these numbers, counted
// from 1, emit no text.
type muteAt struct {
	conformance.Subject
	sessions []int
	opened   *atomic.Int32
}

func (m muteAt) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	s, err := m.Subject.Open(ctx, o)
	if n := int(m.opened.Add(1)); err != nil || !slices.Contains(m.sessions, n) {
		return s, err
	}
	out := muteSession{s, make(chan event.Event)}
	go func() {
		defer close(out.events)
		for e := range s.Events() {
			if e.Type() != event.TypeDelta {
				out.events <- e
			}
		}
	}()
	return out, nil
}

type muteSession struct {
	adapters.Session
	events chan event.Event
}

func (s muteSession) Events() <-chan event.Event { return s.events }

// TestFailureIsTriedAgainInRealTime checks that a check which fails and then passes is
// flaky, and that one which fails twice has failed. The sessions of a run are: without a
// fault, after a failure the same again, with a fault, and after a failure both again.
func TestFailureIsTriedAgainInRealTime(t *testing.T) {
	t.Parallel() // it waits in real time
	hasText := func(r *conformance.Run) bool {
		return slices.ContainsFunc(r.Events, func(e conformance.Event) bool { return e.Type() == event.TypeDelta })
	}
	check := &conformance.Check{
		ID: "test.text", Tiers: []conformance.Tier{conformance.TierWitness}, Faults: []string{"garbage-line"},
		Judge: func(trial *conformance.Trial, f *conformance.Finding) {
			if f.Asserted(1); !hasText(trial.Run) {
				f.Failf("there is no text")
			}
		},
		JudgeFault: func(_, faulted *conformance.Run, f *conformance.Finding) {
			if f.Asserted(1); !hasText(faulted) {
				f.Problems = append(f.Problems, conformance.Problem{Text: "there is no text", Fault: faulted.Fault})
			}
		},
	}
	known := conformance.KnownFailure{Check: "test.text", Case: "text", Reason: "x", At: "known.txt:1"}
	mayPass := known
	mayPass.MayPass = true
	for name, x := range map[string]struct {
		mute     []int
		onDemand bool
		known    []conformance.KnownFailure
		sessions int
		verdict  conformance.Verdict
		failed   bool
		stale    int
	}{
		"never":                          {sessions: 2, verdict: conformance.Pass},
		"without a fault":                {mute: []int{1}, sessions: 3, verdict: conformance.Flaky},
		"without a fault, twice":         {mute: []int{1, 2}, sessions: 3, verdict: conformance.Fail, failed: true},
		"with a fault":                   {mute: []int{2}, sessions: 4, verdict: conformance.Flaky},
		"with a fault, twice":            {mute: []int{2, 4}, sessions: 4, verdict: conformance.Fail, failed: true},
		"both":                           {mute: []int{1, 3}, sessions: 5, verdict: conformance.Flaky},
		"both, then with a fault":        {mute: []int{1, 3, 5}, sessions: 5, verdict: conformance.Fail, failed: true},
		"on demand":                      {mute: []int{1}, onDemand: true, sessions: 3, verdict: conformance.Flaky, failed: true},
		"known":                          {mute: []int{1}, onDemand: true, known: []conformance.KnownFailure{known}, sessions: 3, verdict: conformance.Flaky},
		"known, and it passes":           {known: []conformance.KnownFailure{known}, sessions: 2, verdict: conformance.Pass, failed: true, stale: 1},
		"known to come and go":           {mute: []int{1}, onDemand: true, known: []conformance.KnownFailure{mayPass}, sessions: 2, verdict: conformance.Fail},
		"known to come and go, and pass": {known: []conformance.KnownFailure{mayPass}, sessions: 2, verdict: conformance.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			s := muteAt{reference(), x.mute, &atomic.Int32{}}
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: few(t), Subjects: []conformance.Subject{s}, Checks: []*conformance.Check{check}, Cases: []string{"text/plain"},
				Tiers: []conformance.Tier{conformance.TierProcess}, FailOnFlaky: x.onDemand, KnownFailures: x.known,
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rep.Results).To(HaveLen(1))
			r := rep.Results[0]
			g.Expect(r.Verdict).To(Equal(x.verdict), r.Reason)
			g.Expect(int(s.opened.Load())).To(Equal(x.sessions), "%s %v", r.Reason, r.Problems)
			g.Expect(rep.FaultRuns).To(Equal(1), "a second try is no further run with a fault")
			g.Expect(rep.Failed()).To(Equal(x.failed))
			g.Expect(rep.Stale()).To(HaveLen(x.stale))
			if x.verdict == conformance.Flaky {
				g.Expect(r.Reason).To(ContainSubstring("pass"))
				g.Expect(r.Problems).NotTo(BeEmpty())
				g.Expect(r.Trial).NotTo(BeNil(), "the report shows the run that failed")
				g.Expect(r.KnownFailure != nil).To(Equal(len(x.known) > 0))
			}
		})
	}
}

// TestVirtualTimeHasNoSecondTry checks that a failure in virtual time, where a second try
// would be the same, stays a failure.
func TestVirtualTimeHasNoSecondTry(t *testing.T) {
	g := NewWithT(t)
	s := muteAt{reference(), []int{1}, &atomic.Int32{}}
	text := &conformance.Check{ID: "test.text", Tiers: []conformance.Tier{conformance.TierWitness}, Judge: func(trial *conformance.Trial, f *conformance.Finding) {
		f.Asserted(1)
		if !slices.ContainsFunc(trial.Events, func(e conformance.Event) bool { return e.Type() == event.TypeDelta }) {
			f.Failf("there is no text")
		}
	}}
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: few(t), Subjects: []conformance.Subject{s}, Checks: []*conformance.Check{text}, Cases: []string{"text/plain"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Results[0].Verdict).To(Equal(conformance.Fail))
	g.Expect(int(s.opened.Load())).To(Equal(1))
}

// impatient is the reference adapter, except that it emits no text if it is to have an
// answer to a request within less than a time.
type impatient struct {
	conformance.Subject
	needs time.Duration
}

func (i impatient) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	subject := i.Subject
	if o.Limits.Request > 0 && o.Limits.Request < i.needs {
		subject = muteAt{subject, []int{1}, &atomic.Int32{}}
	}
	s, err := subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return limited{s}, nil
}

type limited struct{ adapters.Session }

func (limited) TakesLimits() bool { return true }

// TestLimitsOfSecondTry checks which runs have limits, and that only a runtime that answers
// requests under the fault has more time to do so in the second try.
func TestLimitsOfSecondTry(t *testing.T) {
	limited := &conformance.Run{Limits: &adapters.Limits{}}
	for _, x := range []struct {
		operator       string
		plain          *conformance.Run
		request, again time.Duration // 0: no limits
	}{
		{"long-pause", limited, 2 * time.Second, 8 * time.Second},
		{"long-tool", limited, 2 * time.Second, 8 * time.Second},
		{"stall", limited, 2 * time.Second, 2 * time.Second},
		{"kill", limited, 0, 0},
		{"long-pause", &conformance.Run{}, 0, 0}, // the subject takes no limits
	} {
		g := NewWithT(t)
		op, err := fault.Named(x.operator)
		g.Expect(err).NotTo(HaveOccurred())
		f := &fault.Fault{Operator: x.operator, Kind: op.Kind}
		for again, want := range map[bool]time.Duration{false: x.request, true: x.again} {
			rec := runner.WithLimits(perform.Recording{}, f, x.plain, again)
			if want == 0 {
				g.Expect(rec.Limits).To(BeNil(), x.operator)
				continue
			}
			g.Expect(rec.Limits).NotTo(BeNil(), x.operator)
			g.Expect(*rec.Limits).To(Equal(adapters.Limits{Handshake: 3 * time.Second, Stop: 2 * time.Second, Idle: 2 * time.Second, Request: want}), x.operator)
		}
	}
}

// TestSecondTryIsPatient checks that a subject which was not answered in time under a
// long pause, as on a busy machine, has more time in the second try, and that one to
// which nothing is to be answered has not. The pauses take half a minute of real time, so
// they are made only if TURNSPEC_MATRIX is whole; TestLimitsOfSecondTry is quick.
func TestSecondTryIsPatient(t *testing.T) {
	t.Parallel() // it waits in real time
	for operator, verdict := range map[string]conformance.Verdict{"long-pause": conformance.Flaky, "stall": conformance.Fail} {
		t.Run(operator, func(t *testing.T) {
			if operator == "long-pause" && !racesample.Whole() {
				t.Skip("it takes half a minute; `make matrix` runs it")
			}
			t.Parallel()
			g := NewWithT(t)
			check := &conformance.Check{
				ID: "test.text", Tiers: []conformance.Tier{conformance.TierWitness}, Faults: []string{operator},
				JudgeFault: func(_, faulted *conformance.Run, f *conformance.Finding) {
					if f.Asserted(1); !slices.ContainsFunc(faulted.Events, func(e conformance.Event) bool { return e.Type() == event.TypeDelta }) {
						f.Failf("there is no text")
					}
				},
			}
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: few(t), Subjects: []conformance.Subject{impatient{reference(), 5 * time.Second}}, Checks: []*conformance.Check{check},
				Cases: []string{"text/plain"}, Tiers: []conformance.Tier{conformance.TierProcess},
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rep.Results).To(HaveLen(1))
			g.Expect(rep.Results[0].Verdict).To(Equal(verdict), rep.Results[0].Reason)
		})
	}
}

// TestTimeBudget checks that a run in real time tries all cases without faults first, and that what
// does not begin in its time is counted, is no pass, and leaves no known failure stale.
func TestTimeBudget(t *testing.T) {
	g := NewWithT(t)
	check := &conformance.Check{
		ID: "test.fault", Tiers: []conformance.Tier{conformance.TierWitness}, Faults: []string{"garbage-line", "burst"},
		JudgeFault: func(_, _ *conformance.Run, f *conformance.Finding) { f.Asserted(1) },
	}
	plain := &conformance.Check{ID: "test.plain", Tiers: []conformance.Tier{conformance.TierWitness}, Judge: func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(1) }}
	var seen []string
	cfg := conformance.Config{
		Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{plain, check}, Cases: []string{"text/plain"},
		Tiers:         []conformance.Tier{conformance.TierProcess},
		Progress:      func(_, _ int, id string) { seen = append(seen, id) },
		KnownFailures: []conformance.KnownFailure{{Check: "test.plain", Case: "text", Reason: "x"}},
	}
	verdicts := func() map[string]conformance.Verdict {
		rep, err := runner.Run(t.Context(), cfg)
		g.Expect(err).NotTo(HaveOccurred())
		out := map[string]conformance.Verdict{}
		for _, r := range rep.Results {
			out[r.Check.ID] = r.Verdict
		}
		g.Expect(rep.LeftOut.Any()).To(Equal(cfg.TimeBudget > 0))
		g.Expect(rep.Stale()).To(HaveLen(map[bool]int{true: 0, false: 1}[rep.LeftOut.Any()]))
		return out
	}
	g.Expect(verdicts()).To(Equal(map[string]conformance.Verdict{"test.plain": conformance.Pass, "test.fault": conformance.Pass}))
	g.Expect(seen).To(HaveLen(2), "%v", seen)
	g.Expect(seen[1]).To(Equal(seen[0] + " with faults"))
	cfg.TimeBudget = 1 // nothing begins within a nanosecond
	g.Expect(verdicts()).To(Equal(map[string]conformance.Verdict{"test.plain": conformance.NotTried, "test.fault": conformance.NotTried}))
}
