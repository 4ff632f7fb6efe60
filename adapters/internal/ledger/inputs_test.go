package ledger_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

func TestInputsAreAnnouncedAndStartOrAreDropped(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	l.StreamInputs = true
	s := l.TurnStart(event.TurnStart{})
	*evs = nil
	s.Input("t1", "too early")
	s.InputStart("t1", "Bash")
	s.Input("t1", `{"comm`)
	s.Input("t1", "")
	s.InputStart("t1", "Bash")
	s.InputStart("t2", "Read")
	s.ToolStart(event.ToolStart{ToolUseID: "t1", Tool: "Bash"})
	s.Input("t1", "too late")
	s.InputStart("t1", "Bash")
	s.InputStart("", "Bash")
	l.Done(event.Done{})
	s.InputStart("t1", "Bash")
	var got []any
	for _, e := range *evs {
		if d, ok := e.Data.(event.ToolInput); ok {
			got = append(got, d)
		}
	}
	g.Expect(got).To(Equal([]any{
		event.ToolInput{ToolUseID: "t1", Tool: "Bash"}, event.ToolInput{ToolUseID: "t1", Text: `{"comm`},
		event.ToolInput{ToolUseID: "t2", Tool: "Read"}, event.ToolInput{ToolUseID: "t2", Dropped: true},
	}))
	last := (*evs)[len(*evs)-1]
	g.Expect(last.Type()).To(Equal(event.TypeDone), "inputs are dropped before the end")
}

func TestInputsAreNotEmittedUnlessAskedFor(t *testing.T) {
	l, evs := newLedger()
	s := l.TurnStart(event.TurnStart{})
	*evs = nil
	s.InputStart("t1", "Bash")
	s.Input("t1", "{}")
	s.DropInputs()
	NewWithT(t).Expect(*evs).To(BeEmpty())
}
