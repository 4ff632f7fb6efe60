package specs_test

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/suite/specs"
	"github.com/turnspec/turnspec/fixtures"
)

// TestReferenceAdapter runs some cases as specs. Package suite's tests run all.
func TestReferenceAdapter(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	specs.Describe(t, conformance.Config{
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{conformance.Adapter("claude", claude.New())},
		Checks:   checks.All(),
		Cases:    []string{"claude/2.1.329/text/plain", "claude/2.1.329/text/two-blocks", "claude/2.1.329/misuse/without-handshake"},
	})
	ginkgo.RunSpecs(t, "turnspec")
}
