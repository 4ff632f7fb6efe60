package checks_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
)

// TestAliases: an alias is no check, and what judges it is one.
func TestAliases(t *testing.T) {
	g := NewWithT(t)
	is := func(id string) bool {
		return slices.ContainsFunc(checks.All(), func(c *conformance.Check) bool { return c.ID == id })
	}
	for _, a := range checks.Aliases() {
		g.Expect(is(a.ID)).To(BeFalse(), a.ID)
		g.Expect(a.By).NotTo(BeEmpty(), a.ID)
		for _, id := range a.By {
			g.Expect(is(id)).To(BeTrue(), "%s is judged by %s", a.ID, id)
		}
	}
	_, ok := checks.AliasOf("text.once")
	g.Expect(ok).To(BeFalse())
}

// TestHarm: a check that wants faults judges them, and one that judges nothing
// else is not for the real runtimes, which nobody harms.
func TestHarm(t *testing.T) {
	g := NewWithT(t)
	for _, c := range checks.All() {
		g.Expect(c.JudgeFault != nil).To(Equal(len(c.Faults) > 0), c.ID)
		g.Expect(c.Judge != nil || c.JudgeFault != nil).To(BeTrue(), c.ID)
		if c.Judge == nil {
			g.Expect(c.Tiers).NotTo(ContainElement(conformance.TierLive), c.ID)
		}
	}
}
