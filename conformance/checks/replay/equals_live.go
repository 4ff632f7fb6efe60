package replay

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
)

// EqualsLive is the check replay.equals-live.
var EqualsLive = &conformance.Check{
	ID: "replay.equals-live", Source: "AgentRecall#503: a stored chat that differs from the live one", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs:    []string{"delta.block_id"},
	Mend:     "Use one reducer for live and stored events. Copy data that is kept, because buffers may be used again.",
	Sentence: "Reducing the stored events gives the same chat as reducing the live ones, block for block.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		if len(t.Events) == 0 || t.Live == nil {
			return
		}
		stored, err := judge.Chat(t.Run)
		if err != nil {
			f.Asserted(1)
			f.Failf("the events cannot be stored and read back: %v", err)
			return
		}
		for _, m := range t.Live.Messages {
			f.Asserted(len(m.Blocks))
		}
		live, err1 := pretty(t.Live)
		back, err2 := pretty(stored)
		if err1 != nil || err2 != nil {
			f.Failf("the chat cannot be written: %v %v", err1, err2)
			return
		}
		if !bytes.Equal(live, back) {
			f.Diff("the stored chat differs from the live one", string(live)+"\n", string(back)+"\n")
		}
	},
}
