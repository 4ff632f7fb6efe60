package requests_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/requests"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// TestStandInAgrees demands a reason for each change with which the stand-in does not do what the
// version was found to do. By day it takes the scenario of each version in which most was tried.
func TestStandInAgrees(t *testing.T) {
	corpus := fixtures.Embedded()
	tables, err := refusal.All(corpus)
	if err != nil || len(tables) == 0 {
		t.Fatal("want what is stored", err)
	}
	for _, table := range tables {
		t.Run(table.Runtime+"@"+table.Version, func(t *testing.T) {
			c := requests.Census{
				Corpus: corpus, Checks: checks.All(), Stored: table, Workers: 2,
				Runtime: runtimes.Runtime{Name: table.Runtime, Version: table.Version},
			}
			for _, a := range reference.All() {
				if a.Capabilities().Runtime == table.Runtime {
					c.Subject = backend.Adapter(table.Runtime, a)
				}
			}
			if !racesample.Whole() {
				c.Scenarios = []string{mostTried(table)}
			}
			rows, err := c.Run(t.Context())
			if err != nil || len(rows) == 0 {
				t.Fatal("want changes", err)
			}
			for _, r := range rows {
				if r.Verdict != requests.Agrees && r.Reason == "" {
					t.Errorf("%s %s in %s is %s: %s; the stand-in: %s; checks that fail: %v", r.Fact, r.Change, r.Scenario, r.Verdict, r.String(), r.StandIn.String(), r.Seen)
				}
			}
		})
	}
}

func mostTried(t *refusal.Table) string {
	tried, most := map[string]int{}, ""
	for _, c := range t.Changes {
		for _, s := range c.Scenarios {
			if tried[s]++; tried[s] > tried[most] {
				most = s
			}
		}
	}
	return most
}
