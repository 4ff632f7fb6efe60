package backend_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// TestChecks checks that the list has each id once and topic by topic, and that only the
// back end has checks of the golden tier: a stranger who runs those of package checks
// must not fail by a defect of our reducer.
func TestChecks(t *testing.T) {
	g := NewWithT(t)
	var ids, topics []string
	for _, c := range backend.WithGoldens(fixtures.Embedded()) {
		g.Expect(ids).NotTo(ContainElement(c.ID))
		ids = append(ids, c.ID)
		ours := slices.Contains(c.Tiers, conformance.TierGolden)
		_, err := checks.Named(c.ID)
		g.Expect(err != nil).To(Equal(ours), c.ID)
		if topic, _, _ := strings.Cut(c.ID, "."); len(topics) == 0 || topics[len(topics)-1] != topic {
			g.Expect(topics).NotTo(ContainElement(topic))
			topics = append(topics, topic)
		}
	}
	g.Expect(ids).To(ContainElements("text.once", "text.paragraph-break", "replay.equals-live", "golden.chat"))

	named, err := backend.Named("replay", "text.once")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(named).To(HaveLen(8))
	_, err = backend.Named("replay.equals")
	g.Expect(err).To(MatchError(ContainSubstring("replay.equals-live")))
}

// TestAdapter checks that an adapter performs scenarios with a policy or components if the
// back end is around it, and that they are not expressible without.
func TestAdapter(t *testing.T) {
	for id, check := range map[string]string{
		"claude/newest/policy/denied-command": "policy.table", "claude/newest/component/shown-changed-and-removed": "component.remove",
	} {
		g := NewWithT(t)
		found, err := checks.Named(check)
		g.Expect(err).NotTo(HaveOccurred())
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: fixtures.Embedded(), Checks: found, Cases: []string{id},
			Subjects: []conformance.Subject{backend.Adapter("whole", claude.New()), conformance.Adapter("bare", claude.New())},
		})
		g.Expect(err).NotTo(HaveOccurred())
		got := map[string]conformance.Verdict{}
		for _, r := range rep.Results {
			got[r.Subject] = r.Verdict
		}
		g.Expect(got["whole"]).To(BeElementOf(conformance.Pass, conformance.Sent), id)
		g.Expect(got["bare"]).To(Equal(conformance.NotExpressible), id)
	}
}
