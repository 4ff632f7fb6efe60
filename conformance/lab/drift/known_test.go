package drift_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestKnownChangesAreFound checks that each change that was measured by hand is found. `make
// matrix` compares all recordings, and not only those in which the changes show.
func TestKnownChangesAreFound(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it runs the whole corpus, which takes minutes with the race detector")
	}
	found, err := drift.FindKnownChanges(t.Context(), fixtures.Embedded(), map[string]conformance.Subject{
		"codex": backend.Adapter("codex", codex.New()), "claude": backend.Adapter("claude", claude.New()),
	}, racesample.Whole())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range found {
		if k.Finding == "" {
			t.Errorf("%s %s → %s: %s: no finding reports it", k.Runtime, k.From, k.To, k.Change)
		}
	}
	if len(found) < 40 {
		t.Errorf("%d known changes, want 40 or more", len(found))
	}
}
