package replay

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// EqualsLive is the check replay.equals-live.
var EqualsLive = &conformance.Check{
	ID: "replay.equals-live", Source: "AgentRecall#503: a stored chat that differs from the live one", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs: []string{"delta.block_id"}, Observer: chats.Observer,
	Mend:     "Use one reducer for live and stored events. Copy data that is kept, because buffers may be used again.",
	Sentence: "Reducing the stored events gives the same chat as reducing the live ones, block for block.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		live := chats.Observed(t.Run)
		if len(t.Events) == 0 || live == nil {
			return
		}
		stored, err := chats.Stored(t.Run)
		if err != nil {
			f.Asserted(1)
			f.Failf("the events cannot be stored and read back: %v", err)
			return
		}
		for _, m := range live.Messages {
			f.Asserted(len(m.Blocks))
		}
		shown, err1 := pretty(live)
		back, err2 := pretty(stored)
		if err1 != nil || err2 != nil {
			f.Failf("the chat cannot be written: %v %v", err1, err2)
			return
		}
		if !bytes.Equal(shown, back) {
			f.Diff("the stored chat differs from the live one", string(shown)+"\n", string(back)+"\n")
		}
	},
}
