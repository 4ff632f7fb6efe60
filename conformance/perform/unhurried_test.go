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
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// unhurried is an adapter that takes its time, before it does what it is asked to
// and before it answers a question of the policy's.
type unhurried struct{ adapters.Adapter }

// moment is far longer than most distances between two lines, and shorter than
// the director's patience with who must act by himself.
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

// TestASubjectMayTakeItsTime: who sleeps before it acts is late, and is not
// blamed for a runtime that would not have waited.
func TestASubjectMayTakeItsTime(t *testing.T) {
	for _, rt := range []string{"codex/0.169.0", "claude/2.1.329"} {
		name, _, _ := strings.Cut(rt, "/")
		a := unhurried{codex.New()}
		if name == "claude" {
			a = unhurried{claude.New()}
		}
		cfg := conformance.Config{
			Cases:    racesample.Sample([]string{rt + "/tool/text-tool-text*", rt + "/permission/allow", rt + "/permission/deny*", rt + "/policy/not-understood", rt + "/turn/two-turns-one-process"}, 2),
			Corpus:   fixtures.Embedded(),
			Subjects: []conformance.Subject{conformance.Adapter(name, a)},
			Checks:   checks.All(),
			Tiers:    []conformance.Tier{conformance.TierWitness},
		}
		if racesample.Enabled {
			cfg.Places = 1 // plays are ten times slower
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
				t.Error("nothing was looked at in", j.Case.ID)
			}
		}
	}
}
