package runner_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// BenchmarkDo replays a case without a fault and with each fault at one place, and
// judges it, as a run does for each case.
func BenchmarkDo(b *testing.B) {
	for runtime, s := range map[string]conformance.Subject{
		"codex/newest": backend.Adapter("codex", codex.New()), "claude/newest": backend.Adapter("claude", claude.New()),
	} {
		b.Run(s.Name(), func(b *testing.B) {
			cfg := conformance.Config{
				Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: backend.WithGoldens(fixtures.Embedded()),
				Cases: []string{runtime + "/tool/parallel"}, Places: 1, Seed: 1,
			}
			jobs, err := runner.Jobs(cfg)
			if err != nil {
				b.Fatal(err)
			}
			harms := 0
			for b.Loop() {
				_, n, err := runner.Do(cfg, jobs[0])
				if err != nil {
					b.Fatal(err)
				}
				harms += n
			}
			b.ReportMetric(float64(harms)/float64(b.N), "harms/op")
			b.ReportAllocs()
		})
	}
}
