package reference_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestRecognizes checks that each line of the corpus that an adapter recognizes is one of
// its own runtime, and that it recognizes at least one line of each case of it.
func TestRecognizes(t *testing.T) {
	g := NewWithT(t)
	corpus := fixtures.Embedded()
	ids, err := corpus.CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	every := 5
	if racesample.Enabled {
		every = 100
	}
	tried := map[string]int{}
	for i, id := range ids {
		runtime, _, _ := fixtures.SplitCaseID(id)
		if reference.Of(runtime) == nil || i%every != 0 && tried[runtime] > 10 {
			continue
		}
		c, err := corpus.LoadCase(id)
		g.Expect(err).NotTo(HaveOccurred())
		tried[runtime]++
		lines, own := 0, false
		for _, l := range c.Wire {
			if l.Dir != fixtures.Out || l.Bytes == nil {
				continue
			}
			lines++
			for _, a := range reference.All() {
				if !a.Recognizes(l.Bytes) {
					continue
				}
				g.Expect(a.Capabilities().Runtime).To(Equal(runtime), "%s: %s", id, l.Bytes)
				own = true
			}
		}
		s, err := corpus.LoadScenario(c.Scenario)
		g.Expect(err).NotTo(HaveOccurred())
		if slices.Contains(s.Needs, "no-model") && !own {
			continue // only errors of the connection, in the form of each runtime over HTTP
		}
		g.Expect(own).To(Equal(lines > 0), id)
	}
	for _, name := range reference.Names() {
		g.Expect(tried[name]).To(BeNumerically(">", 10), name)
	}
}
