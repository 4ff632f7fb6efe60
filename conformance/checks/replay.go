package checks

import (
	"bytes"
	"math"
	"reflect"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
)

func replayChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "replay.any-prefix", Severity: conformance.Must, Source: "sessions that are opened while they run, and show half of the chat, or a part of it twice", Tiers: both,
			Sentence: "Reducing a prefix and then the rest equals reducing all: an open session loads right at any moment.",
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
					want, got, err := judge.Reopened(t.Run, newest, options...)
					if err != nil {
						f.Failf("the chat cannot be put away and opened again: %v", err)
						return
					}
					for i := range want {
						sameChat(f, "the chat that was opened in between is not the whole one", want[i], got[i])
					}
				}
			},
		},
		{
			ID: "replay.faithful", Severity: conformance.Must, Source: "chats that spin for ever since one event was lost", Tiers: both,
			Sentence: "The chat shows what the events tell, each thing in its place and as it ended, also when some were lost, late or told twice.",
			Judge:    judgeFaithful,
			Faults:   []string{"kill"}, JudgeFault: judgeFaithfulHarmed,
		},
		{
			ID: "replay.same-millisecond", Severity: conformance.Must, Source: "AgentRecall#503: events of one millisecond that come back scrambled", Tiers: both,
			Sentence: "The events of a session, stored in any order, come back in order.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				if len(t.Events) == 0 {
					return
				}
				want, err := judge.Chat(t.Run)
				if err != nil {
					f.Failf("the events cannot be stored and read back: %v", err)
					return
				}
				got, err := judge.Shuffled(t.Run)
				if err != nil {
					f.Failf("the events cannot be stored and read back: %v", err)
					return
				}
				sameChat(f, "the chat of events that were stored in another order is another one", want, got)
			},
		},
	}
}

// sameChat compares two chats block for block.
func sameChat(f *conformance.Finding, text string, want, got *replay.Chat) {
	f.Asserted(len(want.Messages))
	if reflect.DeepEqual(want, got) {
		return
	}
	w, err1 := pretty(want)
	g, err2 := pretty(got)
	switch {
	case err1 != nil || err2 != nil:
		f.Failf("the chat cannot be written: %v %v", err1, err2)
	case !bytes.Equal(w, g): // nothing and an empty list are written alike
		f.Diff(text, string(w)+"\n", string(g)+"\n")
	}
}
