package conformance_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestStranger runs an adapter that shares no code with ours through the suite. The
// checks for what it supports pass, others fail, and there is no harness error.
func TestStranger(t *testing.T) {
	g := NewWithT(t)
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{mine{}}, Checks: checks.All(),
		Cases: racesample.Sample([]string{"text/plain", "text/unicode-and-markdown", "thinking", "two-turns-one-process", "stop/mid-text", "session", "permission/allow"}, 2),
	})
	g.Expect(err).NotTo(HaveOccurred())
	got, played := map[string]conformance.Verdict{}, map[string]bool{}
	for _, r := range rep.Results {
		_, _, scenario := fixtures.SplitCaseID(r.Case)
		got[scenario+" "+r.Check.ID] = r.Verdict
		played[scenario] = true
		g.Expect(r.Verdict).NotTo(Equal(conformance.HarnessError), r.Reason)
	}
	for what, want := range map[string]conformance.Verdict{
		"text/plain text.once":                                   conformance.Pass,
		"text/plain text.order":                                  conformance.Pass,
		"text/plain turn.one-terminal":                           conformance.Pass,
		"text/plain order.seq":                                   conformance.Pass,
		"text/plain session.returns":                             conformance.Pass,
		"text/plain time.no-added-delay":                         conformance.Pass,
		"text/plain wire.split":                                  conformance.Pass,
		"text/plain wire.unknown":                                conformance.Fail, // it has no notices
		"text/plain turn.crash-ends":                             conformance.Fail,
		"text/plain tool.known":                                  conformance.NotApplicable,
		"text/plain session.resume-context":                      conformance.NotApplicable,
		"text/unicode-and-markdown text.once":                    conformance.Pass,
		"thinking/then-text thinking.delivered":                  conformance.Fail,
		"turn/two-turns-one-process turn.one-terminal":           conformance.Pass,
		"stop/mid-text turn.stop":                                conformance.Fail,
		"permission/allow permission.asked":                      conformance.Fail,
		"session/resume-in-a-new-process session.resume-context": conformance.Fail,
	} {
		scenario, _, _ := strings.Cut(what, " ")
		if got[what] != want && (played[scenario] || !racesample.Enabled) {
			t.Errorf("%s: %s, want %s", what, got[what], want)
		}
	}
	g.Expect(rep.Missing).To(BeEmpty(), "only some cases were asked for")
}
