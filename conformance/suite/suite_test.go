package suite_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/internal/raced"
)

// TestReferenceAdapters: there are no known failures in the reference adapters.
func TestReferenceAdapters(t *testing.T) {
	suite.Run(t, conformance.Config{
		Cases:    sample(t),
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())},
		Checks:   checks.All(),
		Golden:   true,
		Places:   1,
	})
}

// sample: with the race detector, which makes plays ten times slower, some of the
// newest cases, to look for races; else all.
func sample(t *testing.T) []string {
	t.Helper()
	if !raced.Enabled {
		return nil
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, id := range fixtures.Newest(all) {
		if rt, _, _ := fixtures.SplitCaseID(id); i%10 == 0 && rt != "codexexec" {
			out = append(out, id)
		}
	}
	return out
}
