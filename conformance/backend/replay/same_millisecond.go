package replay

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// SameMillisecond is the check replay.same-millisecond.
var SameMillisecond = &conformance.Check{
	ID: "replay.same-millisecond", Source: "AgentRecall#503: events of one millisecond that come back scrambled", Tiers: []conformance.Tier{conformance.TierGolden},
	Mend:     "Sort stored events by seq, not by ts.",
	Sentence: "The events of a session, stored in any order, come back in order.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		if len(t.Events) == 0 {
			return
		}
		want, err := chats.Stored(t.Run)
		if err != nil {
			f.Failf("the events cannot be stored and read back: %v", err)
			return
		}
		got, err := chats.Shuffled(t.Run)
		if err != nil {
			f.Failf("the events cannot be stored and read back: %v", err)
			return
		}
		sameChat(f, "the chat differs if the events are stored in another order", want, got)
	},
}
