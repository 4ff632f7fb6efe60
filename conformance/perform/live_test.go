package perform_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
)

// silent is a subject that opens without a runtime and emits no events.
type silent struct{ opened chan struct{} }

func (silent) Name() string    { return "silent" }
func (silent) Runtime() string { return "claude" }

func (s silent) Open(_ context.Context, o conformance.Open) (adapters.Session, error) {
	if o.Launch == nil {
		return nil, context.Canceled
	}
	close(s.opened)
	out := &silentSession{events: make(chan event.Event)}
	return out, nil
}

type silentSession struct {
	oddSession
	events chan event.Event
}

func (s *silentSession) Events() <-chan event.Event                   { return s.events }
func (s *silentSession) Send(context.Context, adapters.Message) error { return nil }
func (s *silentSession) Close(context.Context) error                  { close(s.events); return nil }

// TestLiveCancelled checks that a live run without events ends when it is cancelled,
// reports context.Canceled for its wait, and leaks no goroutine.
func TestLiveCancelled(t *testing.T) {
	g := NewWithT(t)
	leaks := goleak.IgnoreCurrent()
	scn, err := fixtures.LoadScenario("text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	srv, err := model.Start(scn, model.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	s := silent{make(chan struct{})}
	go func() {
		<-s.opened
		cancel()
	}()
	r := perform.Live(ctx, s, scn, perform.Runtime{Name: "claude", Dir: t.TempDir(), Model: srv})
	g.Expect(r.EndedEarly).To(BeTrue())
	g.Expect(r.Events).To(BeEmpty())
	g.Expect(errOf(r, fixtures.VerbOpen)).NotTo(HaveOccurred(), "Launch is set for a live run too")
	g.Expect(errOf(r, fixtures.VerbWait)).To(MatchError(context.Canceled))
	goleak.VerifyNone(t, leaks)
}
