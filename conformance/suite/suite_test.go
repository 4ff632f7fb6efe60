package suite_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
)

// TestReferenceAdapters: there are no known failures in the reference adapters.
func TestReferenceAdapters(t *testing.T) {
	suite.Run(t, conformance.Config{
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())},
		Checks:   checks.All(),
		Golden:   true,
		Places:   8,
	})
}
