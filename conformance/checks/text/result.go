package text

import (
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Result is the check text.result.
var Result = &conformance.Check{
	ID: "text.result", Source: "adapters that show the result in addition to the stream", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"block_end.text", "delta", "delta.text", "result.text"},
	Needs:    []string{"result"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Take result.text from the runtime's final message of the turn, not from the text of all blocks.",
	Sentence: "If a turn has a result, it has one, which is the final text of the turn.",
	Judge:    judgeResult,
}

func judgeResult(t *conformance.Trial, f *conformance.Finding) {
	if t.Scenario.Schema != nil {
		return // the result is a document
	}
	x := runindex.Of(t.Run)
	results := map[string]bool{} // sessions and turns that have one
	for e, d := range runindex.EventsOf[event.Result](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		turn := e.SessionID + " " + strconv.Itoa(e.Turn)
		if results[turn] {
			f.At(e, "turn %d has a second result", e.Turn)
		}
		results[turn] = true
		if d.Text == "" || x.CommandTurn(e.Turn) {
			continue
		}
		text := x.TextOf(e.Turn)
		if text == "" {
			continue // the result is the runtime's own text
		}
		f.Asserted(1)
		lines := strings.Split(strings.TrimSpace(d.Text), "\n")
		whole := strings.HasSuffix(strip(text), strip(lines[len(lines)-1]))
		for _, line := range lines { // the result may leave out a plan
			whole = whole && strings.Contains(strip(text), strip(line))
		}
		if !whole {
			f.At(e, "the result of turn %d is %q, its text ends with %q", e.Turn, runindex.Clip(d.Text), runindex.Clip(text))
		}
	}
}
