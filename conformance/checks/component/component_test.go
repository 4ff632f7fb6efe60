package component_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/fixtures"
)

// TestScenariosOfferWhatThePackageOffers demands that scenarios describe the tools as
// package component does: the recorder offers the former and subjects the latter, and
// the model must receive the same.
func TestScenariosOfferWhatThePackageOffers(t *testing.T) {
	g := NewWithT(t)
	all, err := fixtures.Embedded().Scenarios()
	g.Expect(err).NotTo(HaveOccurred())
	seen := 0
	for _, s := range all {
		id := s.ID
		if s.Components == nil {
			continue
		}
		reg, err := component.Parse(s.Components)
		g.Expect(err).NotTo(HaveOccurred(), id)
		for _, tool := range s.Tools {
			for _, ours := range reg.Tools() {
				if ours.Name == tool.Name {
					seen++
					g.Expect(tool.Description).To(Equal(ours.Description), id+" "+tool.Name)
					g.Expect(string(tool.Schema)).To(MatchJSON(string(ours.Schema)), id+" "+tool.Name)
					g.Expect(tool.ReadOnly).To(Equal(ours.ReadOnly), id+" "+tool.Name)
				}
			}
		}
	}
	g.Expect(seen).To(BeNumerically(">", 5))
}
