package judge_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLocate checks that a problem names the event at which the texts begin to
// differ.
func TestLocate(t *testing.T) {
	run := &conformance.Run{Scenario: &fixtures.Scenario{ID: "a/b"}}
	for _, d := range []event.Data{
		event.TurnStart{}, event.Thinking{Text: "Hm"}, event.Delta{Text: "One, "}, event.Delta{Text: "two."}, event.Delta{Text: "two."}, event.Done{},
	} {
		run.Events = append(run.Events, conformance.Event{Event: event.Event{Seq: int64(len(run.Events) + 1), Turn: 1, Data: d}})
	}
	for name, x := range map[string]struct {
		want, got string
		seq       int64
	}{
		"twice":              {"One, two.", "One, two.two.", 5},
		"paragraphs":         {"One,\n\ntwo.", "One,\n\ntwo.\n\ntwo.", 5},
		"another word":       {"One, one.", "One, two.two.", 4},
		"too little":         {"One, two.two. Three.", "One, two.two.", 6},
		"thinking":           {"Ha", "Hm", 2},
		"not what they say":  {"One", "A summary", 0},
		"nothing of it came": {"One", "", 0},
	} {
		c := conformance.Check{ID: "test.x", Judge: func(_ *conformance.Trial, f *conformance.Finding) { f.Diff("differs", x.want, x.got) }}
		if got := judge.Apply(&c, &conformance.Trial{Run: run}, conformance.TierWitness).Problems[0].Seq; got != x.seq {
			t.Errorf("%s: event %d, want %d", name, got, x.seq)
		}
	}
}
