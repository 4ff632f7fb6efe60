package replay

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/conformance/checks/component"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Components is the check replay.components.
var Components = &conformance.Check{
	ID: "replay.components", Source: "surfaces that are empty when a session is loaded again", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs:    []string{"component_update"},
	Mend:     "Store updates and removals of components like other events, and apply them in the reducer.",
	Sentence: "Component blocks, surfaces and interrupts are in the stored chat as the agent left them.",
	Judge:    judgeStoredComponents,
}

func judgeStoredComponents(t *conformance.Trial, f *conformance.Finding) {
	k, ok := component.KindsOf(t.Scenario)
	if !ok {
		return
	}
	want := k.Asked(t.Run)
	f.Asserted(want.Tried + want.Took + len(want.Asks))
	if want.Tried+want.Took+len(want.Asks) == 0 {
		return
	}
	stored, err := chats.Stored(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	var beside, within, asks []string
	for _, c := range stored.Components {
		if !k.Reserved(c.ID) {
			beside = append(beside, fmt.Sprintf("%s: %s on %s: %s", c.ID, c.Name, c.Surface, runindex.Canonical(c.Props)))
		}
	}
	for _, m := range stored.Messages {
		eachBlock(m.Blocks, func(b *replay.Block) {
			switch {
			case b.Kind == replay.KindComponent:
				within = append(within, fmt.Sprintf("%s: %s on %s: %s", b.ID, b.Component.Name, b.Component.Surface, runindex.Canonical(b.Component.Props)))
			case b.Kind == replay.KindInterrupt && b.Status != replay.Pending:
				asks = append(asks, fmt.Sprintf("%s on %s: %s", b.Interrupt.Component, b.Interrupt.Surface, runindex.Canonical(b.Interrupt.Props)))
			}
		})
	}
	var all, chat []string
	for _, id := range want.Order {
		if strings.Contains(want.Now[id], " on "+replay.SurfaceChat+": ") {
			chat = append(chat, want.Now[id])
		} else {
			all = append(all, want.Now[id])
		}
	}
	for _, x := range []struct {
		what      string
		want, got []string
	}{{"the surfaces of the stored chat", all, beside}, {"the components in the messages of the stored chat", chat, within}, {"the questions of the stored chat", want.Asks, asks}} {
		if w, g := strings.Join(x.want, "\n")+"\n", strings.Join(x.got, "\n")+"\n"; w != g {
			f.Diff(x.what+" are not as the model left them", w, g)
		}
	}
}
