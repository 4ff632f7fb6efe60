package perform_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// odd is a subject with the given events, and with methods that a test replaces.
type odd struct {
	open   func(context.Context, conformance.Open) error
	send   func(context.Context) error
	close  func(context.Context) error
	events []event.Event
	leak   bool // Close does not close the events
}

func (odd) Name() string    { return "odd" }
func (odd) Runtime() string { return "claude" }

func (o odd) Open(ctx context.Context, with conformance.Open) (adapters.Session, error) {
	if o.open != nil {
		if err := o.open(ctx, with); err != nil {
			return nil, err
		}
	}
	p, err := with.Launch.Launch(ctx, proc.Command{Argv: []string{"claude"}})
	if err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, p.Stdout()) }()
	go func() { _, _ = io.Copy(io.Discard, p.Stderr()) }()
	s := &oddSession{odd: o, process: p, out: make(chan event.Event), over: make(chan struct{})}
	go func() {
		for _, e := range o.events {
			s.out <- e
		}
		<-s.over
		if !o.leak {
			close(s.out)
		}
	}()
	return s, nil
}

type oddSession struct {
	odd
	process proc.Process
	out     chan event.Event
	over    chan struct{}
}

func (s *oddSession) Events() <-chan event.Event { return s.out }

func (s *oddSession) Send(ctx context.Context, _ adapters.Message) error {
	if s.send != nil {
		return s.send(ctx)
	}
	return nil
}

func (s *oddSession) Close(ctx context.Context) error {
	proc.End(s.process, proc.Grace{Stdin: time.Second, Term: time.Second})
	close(s.over)
	if s.close != nil {
		return s.close(ctx)
	}
	return nil
}

func (s *oddSession) Answer(context.Context, string, adapters.Answer) error { return nil }
func (s *oddSession) Stop(context.Context) error                            { return nil }

func play(t *testing.T, s conformance.Subject) *conformance.Run {
	t.Helper()
	c, err := fixtures.LoadCase("claude/newest/text/plain")
	if err != nil {
		t.Fatal(err)
	}
	scn, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	return perform.Virtual(s, perform.Recording{Case: c, Scenario: scn, Observers: []*conformance.Observer{textObserver}}, nil)
}

// errOf returns the error of the first step with this verb.
func errOf(r *conformance.Run, verb fixtures.Verb) error {
	for _, a := range r.Steps {
		if a.Step.Verb == verb {
			return a.Err
		}
	}
	return errors.New("the step was not begun")
}

// TestRunRecordsRefusalsPanicsAndHangs checks that a subject that refuses, panics or
// hangs in a step leaves a run with the step's error, and no harness error.
func TestRunRecordsRefusalsPanicsAndHangs(t *testing.T) {
	refuse := func(context.Context) error { return errors.New("no") }
	forever := func(context.Context) error { select {} }
	for name, x := range map[string]struct {
		subject odd
		verb    fixtures.Verb
		err     string // "": the step succeeds
		hang    bool
	}{
		"a good one":             {subject: odd{}, verb: fixtures.VerbClose},
		"open fails":             {odd{open: func(context.Context, conformance.Open) error { return errors.New("no such file") }}, fixtures.VerbOpen, "no such file", false},
		"open panics":            {odd{open: func(context.Context, conformance.Open) error { panic("nil map") }}, fixtures.VerbOpen, "open: panicked: nil map", false},
		"open waits for its ctx": {odd{open: func(ctx context.Context, _ conformance.Open) error { <-ctx.Done(); return ctx.Err() }}, fixtures.VerbOpen, "open: did not return within 10m0s", false},
		"send is refused":        {odd{send: refuse}, fixtures.VerbSend, "no", false},
		"send panics":            {odd{send: func(context.Context) error { panic("oops") }}, fixtures.VerbSend, "send: panicked: oops", false},
		"send never returns":     {odd{send: forever}, fixtures.VerbSend, "send: did not return within 10m0s, not even when its context was cancelled", true},
		"close never returns":    {odd{close: forever}, fixtures.VerbClose, "close: did not return within 10m0s, not even when its context was cancelled", true},
		"events stay open":       {odd{leak: true}, fixtures.VerbClose, "close: did not return: the events were not closed", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := play(t, x.subject)
			if err := errOf(r, x.verb); x.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(x.err))
			}
			g.Expect(r.Hang != "").To(Equal(x.hang), r.Hang)
			g.Expect(r.Harness).To(BeEmpty())
		})
	}
}

// TestRealTimeLimitEndsSpinningSubject checks that real time bounds a replay:
// virtual time never passes while a subject spins or waits for a lock.
func TestRealTimeLimitEndsSpinningSubject(t *testing.T) {
	g := NewWithT(t)
	c, err := fixtures.LoadCase("claude/newest/text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	scn, err := fixtures.LoadScenario(c.Scenario)
	g.Expect(err).NotTo(HaveOccurred())
	stop := make(chan struct{})
	spin := odd{send: func(context.Context) error {
		for {
			select {
			case <-stop: // made outside of the bubble, so waiting for it does not count as blocked
				return nil
			default: //nolint:staticcheck // it spins on purpose
			}
		}
	}}
	r := perform.Virtual(spin, perform.Recording{Case: c, Scenario: scn, RealTimeLimit: 50 * time.Millisecond}, nil)
	close(stop)
	g.Expect(r.Hang).To(HavePrefix("the subject did not come to rest within 50ms"))
	g.Expect(r.Events).To(BeEmpty())
}

// textObserver joins the text of the deltas of a run.
var textObserver = &conformance.Observer{Observe: func() conformance.Observation { return &deltas{} }}

type deltas struct{ text string }

func (d *deltas) Add(e event.Event) {
	if x, ok := e.Data.(event.Delta); ok {
		d.text += x.Text
	}
}

func (d *deltas) Result() (any, error) { return d.text, nil }

// TestRunRecordsEventsInOrder checks that the run holds the subject's events in
// their order, with the number of steps that had begun, and what an observer made of them.
func TestRunRecordsEventsInOrder(t *testing.T) {
	g := NewWithT(t)
	r := play(t, odd{events: []event.Event{
		{Seq: 1, Data: event.SessionReady{SessionID: "s1", ProviderSessionID: "p"}},
		{Seq: 2, Turn: 1, Data: event.Delta{Text: "hello", BlockID: "b", MessageID: "m"}},
	}})
	g.Expect(r.Events).To(HaveLen(2))
	g.Expect(r.Events[0].Steps).To(Equal(1), "during open")
	g.Expect(r.Observed[textObserver]).To(Equal("hello"))
}
