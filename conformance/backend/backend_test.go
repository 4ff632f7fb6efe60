package backend_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
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
