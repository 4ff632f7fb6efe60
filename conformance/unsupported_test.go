package conformance_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// limited is the reference adapter without some of its abilities. Its sessions hide
// the optional methods of the reference.
type limited struct {
	conformance.Subject
	open func(conformance.Open) bool // whether Open supports the options; nil: all
	stop bool                        // supports Stop
	ask  bool                        // supports Answer
	only bool                        // has the four required methods only
}

func (l limited) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if l.open != nil && !l.open(o) {
		return nil, fmt.Errorf("open: %w", adapters.ErrUnsupported)
	}
	s, err := l.Subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if l.only {
		return required{s, l}, nil
	}
	return optional{required{s, l}}, nil
}

type required struct {
	adapters.Session
	l limited
}

func (r required) Stop(ctx context.Context) error {
	if !r.l.stop {
		return adapters.ErrUnsupported
	}
	return r.Session.Stop(ctx)
}

func (r required) Answer(ctx context.Context, id string, a adapters.Answer) error {
	if !r.l.ask {
		return adapters.ErrUnsupported
	}
	return r.Session.Answer(ctx, id, a)
}

// optional has the optional methods of the reference too.
type optional struct{ required }

func (o optional) Unwrap() adapters.Session { return o.Session }

// TestUnsupported checks that no case fails for a subject that returns
// adapters.ErrUnsupported from Open or from a method, or that lacks optional methods.
func TestUnsupported(t *testing.T) {
	for _, x := range []struct {
		name  string
		lacks func(conformance.Subject) limited
		cases []string // where the ability is needed
	}{
		{"optional methods", func(s conformance.Subject) limited {
			return limited{Subject: s, stop: true, ask: true, only: true}
		}, []string{"history", "mode", "compaction", "turn/steer*", "session", "background", "queue"}},
		{"Stop", func(s conformance.Subject) limited { return limited{Subject: s, ask: true} }, []string{"stop"}},
		{"Answer", func(s conformance.Subject) limited { return limited{Subject: s, stop: true} }, []string{"permission", "question", "plan"}},
		{"options of Open", func(s conformance.Subject) limited {
			return limited{Subject: s, stop: true, ask: true, open: func(o conformance.Open) bool {
				return o.Resume == "" && o.Model == "" && !o.Checkpoints && o.Policy == nil && len(o.MCP) == 0 &&
					len(o.Tools) == 0 && len(o.Hooks) == 0 && o.Schema == nil && o.Components == nil && (o.Mode == adapters.ModeAsk || o.Mode == adapters.ModeNever)
			}}
		}, []string{"session", "policy", "mcp", "client", "hook", "schema", "component", "mode", "plan"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []conformance.Subject{backend.Adapter("claude", claude.New()), backend.Adapter("codex", codex.New())} {
				judgeLimited(t, x.lacks(s), x.cases)
			}
		})
	}
}

func judgeLimited(t *testing.T, s conformance.Subject, topics []string) {
	t.Helper()
	version := fixtures.Embedded().Resolve(s.Runtime()+"/newest") + "/"
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := conformance.Config{Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}}
	for _, c := range checks.All() { // a fault adds nothing to what a step supports
		plain := *c
		plain.Faults, plain.JudgeFault = nil, nil
		cfg.Checks = append(cfg.Checks, &plain)
	}
	for _, id := range ids {
		for _, topic := range topics {
			if conformance.Match(version+topic, id) {
				cfg.Cases = append(cfg.Cases, id)
			}
		}
	}
	cfg.Cases = racesample.Sample(cfg.Cases, 10)
	rep, err := runner.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	unsupported := 0
	for _, r := range rep.Results {
		if r.Verdict == conformance.NotExpressible {
			unsupported++
		}
		if r.Verdict.Bad() {
			t.Errorf("%s %s: %s %s %v", r.Case, r.Check.ID, r.Verdict, r.Reason, r.Problems)
		}
	}
	if unsupported == 0 {
		t.Errorf("%s: every verdict is expressible, so the test does not show what is not", s.Runtime())
	}
}
