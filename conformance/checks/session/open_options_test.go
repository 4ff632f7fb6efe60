package session

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// In the live tier the model shows whether the instructions reached it.
func TestInstructionsReachTheModel(t *testing.T) {
	g := NewWithT(t)
	judge := func(witness ...fixtures.Request) *conformance.Finding {
		f := &conformance.Finding{}
		OpenOptions.Judge(&conformance.Trial{Run: &conformance.Run{
			Tier: conformance.TierLive, Scenario: &fixtures.Scenario{Instructions: "Be brief."}, Witness: witness,
		}}, f)
		return f
	}
	g.Expect(judge(fixtures.Request{Req: 1, Instructed: true}, fixtures.Request{Req: 2, Agent: "alpha"}).Problems).To(BeEmpty())
	g.Expect(judge(fixtures.Request{Req: 1, Instructed: true}, fixtures.Request{Req: 2}).Problems).To(HaveLen(1))
}
