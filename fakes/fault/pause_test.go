package fault_test

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// TestAPauseLiesAmidATurnAndNowhereElse: what comes after it comes five minutes
// later, and nothing is lost.
func TestAPauseLiesAmidATurnAndNowhereElse(t *testing.T) {
	g := gomega.NewWithT(t)
	o := named(t, "long-pause")
	c := load(t, "claude/2.1.329/text/plain")
	places := o.Places(c)
	g.Expect(places).NotTo(gomega.BeEmpty())
	for _, place := range places {
		h := o.Apply(c, place)
		harmed := h.Wire(1, c.Wire)
		for i, w := range harmed {
			late := time.Duration(0)
			if i > place {
				late = 5 * time.Minute
			}
			g.Expect(w.T - c.Wire[i].T).To(gomega.Equal(late))
		}
		g.Expect(harmed[place].Dir).To(gomega.Equal(fixtures.Out))
		g.Expect(harmed[place+1].Dir).To(gomega.Equal(fixtures.Out))
	}
	for _, id := range []string{"claude/2.1.329/stop/mid-text", "claude/2.1.329/process/sigkill-in-mid-text", "codex/0.169.0/text/plain"} {
		g.Expect(o.Places(load(t, id))).To(gomega.BeEmpty(), id)
	}
}
