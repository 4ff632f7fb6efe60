package ledger_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

func newLedger() (*ledger.Ledger, *[]event.Event) {
	var evs []event.Event
	l := ledger.New(event.SessionReady{SessionID: "s", Runtime: "r"}, event.Position{Seq: 7, Turn: 2}, func(e event.Event) { evs = append(evs, e) })
	l.SetTime(time.Unix(100, 0))
	return l, &evs
}

func eventTypes(evs []event.Event) (out []event.Type) {
	for _, e := range evs {
		out = append(out, e.Type())
	}
	return out
}

func TestSessionReadyComesFirstAndNumberingContinues(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	l.Session(event.Notice{Code: event.NoticeWarning})
	g.Expect(*evs).To(BeEmpty())
	l.SessionReady(event.SessionReady{Runtime: "r"})
	l.TurnStart(event.TurnStart{})
	g.Expect(eventTypes(*evs)).To(Equal([]event.Type{event.TypeSessionReady, event.TypeNotice, event.TypeTurnStart, event.TypeThinking}))
	g.Expect((*evs)[0].Seq).To(Equal(int64(8)))
	g.Expect((*evs)[2].Turn).To(Equal(3))
	g.Expect(l.Position()).To(Equal(event.Position{Seq: 11, Turn: 3}))
}

func TestEventsDroppedBeforeSessionReadyAreCounted(t *testing.T) {
	const early = 256 // maxEarly
	g := NewWithT(t)
	l, evs := newLedger()
	for range early + 3 {
		l.Session(event.Notice{Code: event.NoticeGarbage})
	}
	l.SessionReady(event.SessionReady{})
	g.Expect(*evs).To(HaveLen(1 + early + 1))
	last, _ := (*evs)[1+early].Data.(event.Notice)
	g.Expect(last.Code).To(Equal(event.NoticeWarning))
	g.Expect(last.Text).To(HavePrefix("3 more events"))
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	l, evs := newLedger()
	l.SessionReady(event.SessionReady{})
	l.SetTime(time.Unix(50, 0))
	l.Session(event.Notice{})
	NewWithT(t).Expect((*evs)[1].TS).To(Equal(time.Unix(100, 0)))
}

func TestDoneClosesOpenItemsInOrder(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	s := l.TurnStart(event.TurnStart{})
	s.Thinking("r", "hm")
	s.Delta("b", "m", "hi")
	s.ToolStart(event.ToolStart{ToolUseID: "t1", Tool: "Bash"})
	s.ToolStart(event.ToolStart{ToolUseID: "t2", Tool: "Bash"})
	s.Background("t2", "job")
	s.Permission(event.PermissionRequest{RequestID: "q", ToolName: "Bash"})
	*evs = nil
	l.Done(event.Done{Stopped: true})
	g.Expect(eventTypes(*evs)).To(Equal([]event.Type{event.TypeBlockEnd, event.TypePermissionResolved, event.TypeToolResult, event.TypeToolResult, event.TypeDone}))
	g.Expect((*evs)[2].Data.(event.ToolResult).Status).To(Equal(event.ToolInterrupted))
	g.Expect((*evs)[3].Data.(event.ToolResult).Status).To(Equal(event.ToolBackgrounded))
	g.Expect(s.ToolResult(event.ToolResult{ToolUseID: "t1"})).To(BeFalse(), "a second result")
	g.Expect(l.Turn()).To(BeNil())
}

func TestThinkingIsClosedBeforeTextOfAnOpenBlock(t *testing.T) {
	l, evs := newLedger()
	s := l.TurnStart(event.TurnStart{})
	s.Delta("b", "m", "one")
	s.Thinking("r", "hm")
	*evs = nil
	s.Delta("b", "m", "two")
	g := NewWithT(t)
	g.Expect(eventTypes(*evs)).To(Equal([]event.Type{event.TypeThinking, event.TypeDelta}))
	g.Expect((*evs)[0].Data.(event.Thinking).Done).To(BeTrue())
}

func TestResumedSubagentGetsNewBlockIDs(t *testing.T) {
	l, evs := newLedger()
	l.TurnStart(event.TurnStart{})
	l.Sub("a").Delta("b", "m", "one")
	l.EndSub("a")
	l.Sub("a").Delta("b", "m", "two")
	var ids []string
	for _, e := range *evs {
		if d, ok := e.Data.(event.Delta); ok {
			ids = append(ids, d.BlockID)
		}
	}
	NewWithT(t).Expect(ids).To(Equal([]string{"a/3.1", "a/3.2"}))
}

func TestTaskOutlivesItsTurn(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	l.TurnStart(event.TurnStart{})
	l.Task(event.Task{TaskID: "j", Status: event.TaskRunning})
	l.Done(event.Done{})
	l.TurnStart(event.TurnStart{})
	*evs = nil
	l.Task(event.Task{TaskID: "j", Status: event.TaskRunning, Text: "piece"})
	l.SessionEnd(nil, event.SessionEnd{Reason: "closed"})
	g.Expect(eventTypes(*evs)).To(Equal([]event.Type{event.TypeTask, event.TypeTask, event.TypeDone, event.TypeSessionEnd}))
	g.Expect((*evs)[0].Turn).To(BeZero())
	g.Expect((*evs)[1].Data.(event.Task).Status).To(Equal(event.TaskInterrupted))
	g.Expect(l.TaskOpen("j")).To(BeFalse())
}

func TestSubagentsCloseInStartOrder(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	l.TurnStart(event.TurnStart{})
	for _, id := range []string{"c", "a", "b"} {
		l.Sub(id).ToolStart(event.ToolStart{ToolUseID: "t"})
	}
	*evs = nil
	l.SessionEnd(&event.Error{Code: event.ErrorCrash}, event.SessionEnd{})
	var subs []string
	for _, e := range *evs {
		subs = append(subs, e.SubagentID)
	}
	g.Expect(subs).To(Equal([]string{"c", "a", "b", "", ""}))
	l.Session(event.Notice{})
	g.Expect(*evs).To(HaveLen(5), "nothing follows session_end")
}

func TestUnnamedToolIsOpenUntilItsTurnEnds(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	l.SessionReady(event.SessionReady{})
	s := l.TurnStart(event.TurnStart{})
	*evs = nil
	s.ToolUnnamed("t1")
	s.ToolUnnamed("t1")
	s.ToolUnnamed("t2")
	g.Expect(s.ToolsOpen()).To(Equal(2))
	g.Expect(*evs).To(BeEmpty())
	s.ToolStart(event.ToolStart{ToolUseID: "t1", Tool: "WebFetch"})
	s.ToolUnnamed("t1")
	g.Expect(s.ToolsOpen()).To(Equal(2))
	s.ToolResult(event.ToolResult{ToolUseID: "t1"})
	s.ToolUnnamed("t1")
	g.Expect(s.ToolsOpen()).To(Equal(1))
	l.Done(event.Done{})
	g.Expect(s.ToolsOpen()).To(BeZero())
	g.Expect(eventTypes(*evs)).To(Equal([]event.Type{event.TypeToolStart, event.TypeToolResult, event.TypeDone}))
}

func TestProgressIsOfOpenToolsAlone(t *testing.T) {
	g := NewWithT(t)
	l, evs := newLedger()
	s := l.TurnStart(event.TurnStart{})
	half := event.ToolProgress{ToolUseID: "t1", Message: "half of it"}
	s.Emit(half)
	s.ToolStart(event.ToolStart{ToolUseID: "t1", Tool: "Bash"})
	*evs = nil
	s.Emit(half)
	s.Emit(event.ToolProgress{ToolUseID: "t1", Progress: new(0.0)})
	s.Emit(event.ToolProgress{ToolUseID: "t1"}) // it states nothing
	s.Emit(event.ToolProgress{Message: "of no tool"})
	s.ToolResult(event.ToolResult{ToolUseID: "t1", Status: event.ToolOK})
	s.Emit(half)
	var got []event.Type
	for _, e := range *evs {
		got = append(got, e.Type())
	}
	g.Expect(got).To(Equal([]event.Type{event.TypeToolProgress, event.TypeToolProgress, event.TypeToolResult}))
}
