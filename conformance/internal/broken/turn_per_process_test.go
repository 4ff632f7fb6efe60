package broken_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// TestProcessPerTurn breaks an adapter whose runtime has a process for each turn, in the ways in
// which such adapters go wrong. Each must fail the checks that it names and no other.
func TestProcessPerTurn(t *testing.T) {
	for _, x := range []struct {
		scenario string
		fails    []string
		adapter  broken.Adapter
	}{
		{scenario: "turn/two-turns-one-process", fails: []string{
			"session.returns", "time.no-added-delay", "turn.crash-ends", "turn.stall-ends",
			"wire.garbage", "wire.long-line", "wire.same-chunk", "wire.split", "wire.stderr", "wire.unknown",
		}, adapter: broken.Adapter{
			Name: "ends-with-the-process", Sentence: "ends a turn five seconds after its line, when the process has exited",
			Mutation: broken.Mutation{Relay: func(in <-chan event.Event, out chan<- event.Event) {
				for e := range in {
					if _, ends := e.Data.(event.Done); ends {
						time.Sleep(5 * time.Second)
					}
					out <- e
				}
			}},
		}},
		{scenario: "model/empty-stream", fails: []string{
			"race.close", "race.stop", "turn.crash-ends", "turn.nothing-after-terminal", "turn.notices", "turn.one-terminal", "turn.retry-is-not-error",
		}, adapter: broken.Adapter{
			Name: "reconnecting-is-the-end", Sentence: "ends a turn in an error when the runtime reconnects",
			Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeRetry {
					e.Data = event.Error{Code: event.ErrorNetwork, Message: d.Text}
				}
				out(e)
			}),
		}},
		{scenario: "usage/of-two-turns", fails: []string{"usage.reported"}, adapter: broken.Adapter{
			Name: "adds-up-the-usage", Sentence: "adds the usage of each turn to that of the turns before, which it holds already",
			Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
				var sum event.Tokens
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Usage); ok {
						sum.Input, sum.Output, sum.Cached, sum.Reasoning = sum.Input+d.Tokens.Input, sum.Output+d.Tokens.Output, sum.Cached+d.Tokens.Cached, sum.Reasoning+d.Tokens.Reasoning
						d.Tokens = sum
						e.Data = d
					}
					out(e)
				}
			}},
		}},
	} {
		t.Run(x.adapter.Name, func(t *testing.T) {
			g := NewWithT(t)
			failed := map[string]bool{}
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: fixtures.Embedded(), Checks: checks.All(), Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming},
				Subjects: []conformance.Subject{x.adapter.Subject(backend.Adapter("codexexec", reference.Of("codexexec")))},
				Cases:    []string{"codexexec/*/" + x.scenario}, Places: 1, Seed: 1,
			})
			g.Expect(err).NotTo(HaveOccurred())
			for _, r := range rep.Results {
				if r.Verdict.Bad() {
					failed[r.Check.ID] = true
				}
			}
			g.Expect(slices.Sorted(maps.Keys(failed))).To(Equal(x.fails))
		})
	}
}
