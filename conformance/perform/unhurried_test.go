package perform_test

import (
	"context"
	"strings"
	"testing"
	"time"

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

// unhurried is an adapter that sleeps before each call and before each decision of
// its Judge.
type unhurried struct{ adapters.Adapter }

// moment is far longer than most gaps between two lines, and shorter than the time
// that the director waits for a subject to act without a call.
const moment = 300 * time.Millisecond

func (a unhurried) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	time.Sleep(moment)
	if judge := o.Judge; judge != nil {
		o.Judge = func(ctx context.Context, c adapters.Call) adapters.Verdict {
			select {
			case <-time.After(moment):
			case <-ctx.Done():
			}
			return judge(ctx, c)
		}
	}
	s, err := a.Adapter.Open(ctx, o)
	return slowly{s}, err
}

type slowly struct{ adapters.Session }

func (s slowly) Send(ctx context.Context, m adapters.Message) error {
	time.Sleep(moment)
	return s.Session.Send(ctx, m)
}

func (s slowly) Stop(ctx context.Context) error {
	time.Sleep(moment)
	return s.Session.Stop(ctx)
}

func (s slowly) Answer(ctx context.Context, id string, a adapters.Answer) error {
	time.Sleep(moment)
	return s.Session.Answer(ctx, id, a)
}

// TestSlowSubjectPasses checks that a subject that sleeps before it acts passes,
// although the recorded runtime did not wait for that long.
func TestSlowSubjectPasses(t *testing.T) {
	for _, rt := range []string{"codex/newest", "claude/newest"} {
		name, _, _ := strings.Cut(rt, "/")
		a := unhurried{codex.New()}
		if name == "claude" {
			a = unhurried{claude.New()}
		}
		cfg := conformance.Config{
			Cases:      racesample.Sample([]string{rt + "/tool/text-tool-text*", rt + "/permission/allow", rt + "/permission/deny*", rt + "/policy/not-understood", rt + "/turn/two-turns-one-process"}, 2),
			Corpus:     fixtures.Embedded(),
			Subjects:   []conformance.Subject{backend.Adapter(name, a)},
			Checks:     checks.All(),
			Tiers:      []conformance.Tier{conformance.TierWitness},
			Places:     3,
			Exhaustive: racesample.Whole(), // `make matrix` sets it
		}
		jobs, err := runner.Jobs(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			results, _, err := runner.Do(cfg, j)
			if err != nil {
				t.Fatal(err)
			}
			looked := 0
			for _, r := range results {
				looked += r.Assertions
				for _, p := range r.Problems {
					t.Errorf("%s %s: %s", r.Case, r.Check.ID, p.Text)
				}
			}
			if looked == 0 {
				t.Error("no check made an assertion on", j.Case.ID)
			}
		}
	}
}
