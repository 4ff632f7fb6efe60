package runner_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/backend/golden"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// altered is the codex adapter with a changed Open or Stop.
type altered struct {
	conformance.Subject
	open func(o *conformance.Open)
	stop func(err error) error
}

func (a altered) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if a.open != nil {
		a.open(&o)
	}
	s, err := a.Subject.Open(ctx, o)
	return alteredSession{s, a.stop}, err
}

type alteredSession struct {
	adapters.Session
	stop func(err error) error
}

func (s alteredSession) Stop(ctx context.Context) error {
	err := s.Session.Stop(ctx)
	if s.stop != nil {
		err = s.stop(err)
	}
	return err
}

// TestGoldenFailsIfWrittenLinesDiffer checks that golden.wrote fails if an argument,
// a variable or a written line differs or a step fails, although no event differs.
func TestGoldenFailsIfWrittenLinesDiffer(t *testing.T) {
	for name, x := range map[string]struct {
		altered
		want conformance.Verdict
	}{
		"nothing":  {altered{}, conformance.Pass},
		"argument": {altered{open: func(o *conformance.Open) { o.Args = append(o.Args, "-c", "hide_agent_reasoning=false") }}, conformance.Fail},
		"variable": {altered{open: func(o *conformance.Open) { o.Env = append(o.Env, "RUST_LOG=debug") }}, conformance.Fail},
		"line":     {altered{open: func(o *conformance.Open) { o.Model = "gpt-5.5" }}, conformance.Fail},
		"failure":  {altered{stop: func(error) error { return errors.New("not today") }}, conformance.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			x.Subject = backend.Adapter("codex", codex.New())
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{x.altered}, Checks: golden.Checks(fixtures.Embedded()),
				Cases: []string{"codex/newest/stop/mid-text"},
			})
			g.Expect(err).NotTo(HaveOccurred())
			got := map[string]conformance.Verdict{}
			for _, r := range rep.Results {
				got[r.Check.ID] = r.Verdict
			}
			g.Expect(got).To(Equal(map[string]conformance.Verdict{
				"golden.events": conformance.Pass, "golden.chat": conformance.Pass, "golden.wrote": x.want,
			}))
		})
	}
}
