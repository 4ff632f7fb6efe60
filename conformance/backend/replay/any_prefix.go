package replay

import (
	"math"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// AnyPrefix is the check replay.any-prefix.
var AnyPrefix = &conformance.Check{
	ID: "replay.any-prefix", Source: "chats that are loaded while they run, and show a part twice or not at all", Tiers: []conformance.Tier{conformance.TierGolden},
	Mend:     "Keep all state that the reducer needs in the chat that it reduces to, so that it can continue from any event.",
	Sentence: "Reducing a prefix and then the rest equals reducing all: a running session can be loaded at any moment.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		var options []replay.Option
		if t.Scenario.Components != nil {
			reg, err := component.Parse(t.Scenario.Components)
			if err != nil {
				f.Failf("the components of the scenario: %v", err)
				return
			}
			options = append(options, replay.WithRegistry(reg))
		}
		for _, newest := range []int{math.MaxInt, 1} {
			want, got, err := chats.Reopened(t.Run, newest, options...)
			if err != nil {
				f.Failf("the chat cannot be restored from its snapshot: %v", err)
				return
			}
			for i := range want {
				sameChat(f, "the chat that was restored in the middle differs from the whole one", want[i], got[i])
			}
		}
	},
}
