package runner_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// deadly is the reference adapter, except that it calls do, which ends or blocks its
// process, when a message contains the text on.
type deadly struct {
	conformance.Subject
	on string
	do func()
}

func (d deadly) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	s, err := d.Subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return deadlySession{s, d}, nil
}

type deadlySession struct {
	adapters.Session
	d deadly
}

func (s deadlySession) Send(ctx context.Context, m adapters.Message) error {
	if strings.Contains(m.Text, s.d.on) {
		s.d.do()
	}
	return s.Session.Send(ctx, m)
}

// brokenByPanic is a named function, so that the test finds it in the stack.
func brokenByPanic() { panic("no such item") }

// TestIsolatedCrashFailsOnlyItsCase checks that a case that ends or blocks its process
// fails with the cause, and that the other cases are judged as usual. The test program
// is its own worker.
func TestIsolatedCrashFailsOnlyItsCase(t *testing.T) {
	for name, x := range map[string]struct {
		do   func()
		want []string
	}{
		"panic in a goroutine": {
			func() { go brokenByPanic(); select {} }, // only the end of the process ends this
			[]string{"the subject ended the process that it ran in: exit status 2", "panic: no such item", "brokenByPanic"},
		},
		"exit": {
			func() { os.Exit(3) },
			[]string{"the subject ended the process that it ran in: exit status 3"},
		},
		"busy loop": {
			func() {
				for n := 0; ; n++ {
					_ = n
				}
			},
			[]string{"did not come to rest within 2s of real time: it spins"},
		},
		"leak": {
			func() { go func() { <-make(chan struct{}) }() },
			[]string{"deadlock"},
		},
		"deadlock": {
			func() { <-make(chan struct{}) },
			[]string{"did not return within 10m0s, not even when its context was cancelled"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			judges, err := checks.Named("session.returns", "text.once", "turn.one-terminal")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			rep, err := runner.Run(context.Background(), conformance.Config{
				Corpus:   fixtures.Embedded(),
				Subjects: []conformance.Subject{deadly{conformance.Adapter("claude", claude.New()), "rivers", x.do}},
				Checks:   judges,
				Cases:    []string{"claude/newest/text/plain", "claude/newest/tool/parallel", "claude/newest/text/two-blocks"},
				Tiers:    []conformance.Tier{conformance.TierWitness},
				Isolate:  t.Name(), RealTimeLimit: 2 * time.Second,
			})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			var said strings.Builder
			for _, r := range rep.Results {
				if !strings.HasSuffix(r.Case, "/text/plain") {
					g.Expect(r.Verdict).NotTo(gomega.Equal(conformance.Fail), "%s %s %v", r.Case, r.Check.ID, r.Problems)
					continue
				}
				for _, p := range r.Problems {
					said.WriteString(p.Text + "\n")
				}
				if r.Check.ID == "session.returns" {
					g.Expect(r.Verdict).To(gomega.Equal(conformance.Fail))
				}
			}
			for _, w := range x.want {
				g.Expect(said.String()).To(gomega.ContainSubstring(w))
			}
			g.Expect(rep.Cases).To(gomega.Equal(3))
		})
	}
}

// TestIsolatedRunsTryTheSameFaults compares the number of runs with a fault in worker processes
// with that in this one: of a few cases, at all places, and where places are chosen.
func TestIsolatedRunsTryTheSameFaults(t *testing.T) {
	for name, cfg := range map[string]conformance.Config{
		"few cases":  {Cases: []string{"claude/newest/text/plain"}},
		"all places": {Cases: []string{"claude/newest/text/plain"}, Exhaustive: true},
		"many cases": {Cases: []string{"claude/newest/[a-l]*/*"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			cfg.Corpus, cfg.Seed, cfg.Workers = fixtures.Embedded(), 1, 2
			cfg.Subjects = []conformance.Subject{conformance.Adapter("claude", claude.New())}
			var err error
			cfg.Checks, err = checks.Named("wire.garbage", "turn.crash-ends")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			isolated := cfg
			isolated.Isolate = t.Name()
			there, err := runner.Run(t.Context(), isolated)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			here, err := runner.Run(t.Context(), cfg)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(there.FaultRuns).To(gomega.Equal(here.FaultRuns))
			g.Expect(here.FaultRuns).To(gomega.BeNumerically(">", 0))
		})
	}
}
