package turn

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// hangs reports a problem if a run with a fault did not end.
func hangs(r *conformance.Run, f *conformance.Finding) bool {
	if r.Hang == "" {
		return false
	}
	f.Asserted(1)
	f.Hungf("the subject hangs: %s", r.Hang)
	return true
}

// sameBefore demands that every step returned, and that the events for the lines
// before the fault are those of the run without it. n is how many events of r are for
// those lines.
func sameBefore(plain, r *conformance.Run, f *conformance.Finding) (n int, ok bool) {
	ok = true
	for _, a := range r.Steps {
		if perform.Unfinished(a.Err) {
			f.Failf("%v", a.Err)
			ok = false
		}
	}
	want, got := plain.Canonical(), r.Canonical()
	least, most := before(plain, r)
	same, n := faulted.CommonEvents(want[:most], got)
	if same < least && plain.Events[same].Line == linesBefore(plain, r) && beside(plain, plain.Events[same]) {
		least = same // the runtime exited at the call or question that caused the event and those after it
	}
	if r.Tier == conformance.TierProcess && same < least && len(got) >= least && faulted.ContainsAll(got[:least], want[:least]) {
		same, n = least, least // how events of the client's steps interleave depends on time
	}
	switch {
	case same < least && n < len(got):
		f.Failf("the events %s differ: event %d is %s, want %s", causeOf(plain, r, same), n+1, runindex.Clip(got[n]), runindex.Clip(want[same]))
	case same < least:
		f.Failf("an event %s is missing: event %d, %s", causeOf(plain, r, same), same+1, runindex.Clip(want[same]))
	}
	return n, ok && same >= least
}

// causeOf names what caused event i of the plain run: lines before the fault, or a call
// of the client that came after them.
func causeOf(plain, r *conformance.Run, i int) string {
	if n := plain.Events[i].Steps; n > 0 && n <= len(r.Steps) && r.Steps[n-1].At >= runindex.LineOf(r, r.Fault.Line).At && plain.Events[i].At == plain.Steps[n-1].At {
		return "for the call " + runindex.StepName(r.Steps[n-1].Step)
	}
	return "for the lines before the fault"
}

// before returns how many events of the plain run must be, and how many may be, in the
// faulted run too, because their cause is. They differ if the subject delays events:
// then the runtime may write further lines before an event for an earlier one.
func before(plain, harmed *conformance.Run) (least, most int) {
	if harmed.Tier == conformance.TierProcess {
		return beforeInRealTime(plain, harmed), len(plain.Events)
	}
	lines := linesBefore(plain, harmed)
	for least < len(plain.Events) && plain.Events[least].Line <= lines && plain.Events[least].Steps <= len(harmed.Steps) {
		least++
	}
	delays := delaysEvents(plain)
	limit := timeOf(plain, lines) + perform.PromptLimit
	for most = least; most < len(plain.Events); most++ {
		// An adapter that ends the turn as the runtime would have ended it hides the fault.
		if e := plain.Events[most]; e.At > limit || e.Terminal() && !delays {
			break
		}
	}
	return least, most
}

// timeOf returns when the line of that number was played.
func timeOf(r *conformance.Run, number int) time.Duration {
	if number == 0 {
		return 0
	}
	return r.Played[number-1].At
}

// delaysEvents reports whether an event of a run in virtual time was emitted when
// nothing happened.
func delaysEvents(r *conformance.Run) bool {
	moments := runindex.Moments(r)
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool { return !moments.Contain(e.At) })
}

// beside reports whether an event comes from a tool or the policy of the client, or from an MCP
// server that the client has started, and not from a line of the runtime.
func beside(r *conformance.Run, e conformance.Event) bool {
	s := r.Scenario
	switch e.Data.(type) {
	case event.ComponentUpdate, event.ComponentRemove, event.Interrupt, event.InterruptResolved:
		return s.Components != nil
	case event.PermissionResolved:
		return s.Policy != nil
	case event.ToolResult:
		return s.Components != nil || len(s.Tools) > 0 || len(s.Servers) > 0 && runindex.Runtime(r).ClientRunsTurns
	}
	return false
}

func linesBefore(plain, harmed *conformance.Run) int {
	lines := 0
	for _, p := range plain.Played {
		if p.Line.Line > harmed.Fault.Line || p.Line.Line == harmed.Fault.Line && harmed.Fault.CutsLine {
			if p.Line.Dir == fixtures.Out {
				break // a step that is recorded before the line may come after it
			}
			continue
		}
		lines++
	}
	return lines
}

// beforeInRealTime returns how many events of the plain run must be in the faulted run
// in real time, in which the line of an event is unknown: those before the last step
// that arrived before the line of the fault was played. What is missing there may only
// have arrived late.
func beforeInRealTime(plain, harmed *conformance.Run) int {
	acts := len(harmed.Steps)
	if acts > 0 && harmed.Steps[acts-1].Step.Verb == fixtures.VerbClose {
		acts-- // the runner closes the session at the end
	}
	least := 0
	lines := linesBefore(plain, harmed)
	for least < len(plain.Events) && plain.Events[least].Steps < acts && plain.Events[least].Line <= lines {
		least++
	}
	return least
}

// judgeOpenError demands that Open returned one of the codes, because the runtime
// exited or stopped writing before the session was ready. If the runtime rejects the
// open anyway, any code is allowed.
func judgeOpenError(plain, r *conformance.Run, n int, f *conformance.Finding, codes ...event.ErrorCode) {
	if len(r.Events) > n {
		f.Failf("Open failed, but the subject emitted %s", r.Events[n].Type())
	}
	last := len(r.Opens) - 1
	err := r.Opens[last].Err
	var typed *adapters.OpenError
	switch {
	case perform.Unfinished(err): // another check judges that
	case !errors.As(err, &typed) || typed.Code == "":
		f.Failf("the error of Open has none of the codes of event error (start_failure, invalid_request …): %v", err)
	case slices.Contains(codes, typed.Code):
	case last >= len(plain.Opens) || plain.Opens[last].Err == nil:
		f.Failf("the error of Open has code %q, want one of %q: %v", typed.Code, codes, err)
	}
}

// state holds the items that are open after some events.
type state struct {
	running int // the turn
	open    map[string]event.Type
	ended   bool
}

// add applies an event. Items without an id count as one.
func (s *state) add(e conformance.Event) {
	set := func(kind event.Type, id string, open bool) {
		k := e.SubagentID + " " + string(kind) + " " + id
		if delete(s.open, k); open {
			s.open[k] = kind
		}
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.running = e.Turn
	case event.Delta:
		set(event.TypeBlockEnd, d.BlockID, true)
	case event.BlockEnd:
		set(event.TypeBlockEnd, d.BlockID, false)
	case event.Thinking:
		if d.BlockID != "" {
			set(event.TypeThinking, d.BlockID, !d.Done)
		}
	case event.ToolInput:
		set(event.TypeToolInput, d.ToolUseID, !d.Dropped)
	case event.ToolStart:
		set(event.TypeToolInput, d.ToolUseID, false)
		set(event.TypeToolResult, d.ToolUseID, true)
	case event.ToolResult:
		set(event.TypeToolResult, d.ToolUseID, false)
	case event.Task:
		set(event.TypeTask, d.TaskID, d.Status == event.TaskRunning)
	case event.PermissionRequest:
		set(event.TypePermissionResolved, d.RequestID, true)
	case event.PermissionResolved:
		set(event.TypePermissionResolved, d.RequestID, false)
	case event.Interrupt:
		set(event.TypeInterruptResolved, d.InterruptID, true)
	case event.InterruptResolved:
		set(event.TypeInterruptResolved, d.InterruptID, false)
	case event.SessionReady:
		s.ended = false
	case event.SessionEnd:
		s.ended = true
	}
	if e.Terminal() && e.SubagentID == "" && e.Turn == s.running {
		s.running = 0
	}
}

// forget drops the open items of a turn that has ended: other checks judge them. A
// sub-agent may outlive the turn.
func (s *state) forget() {
	for k, kind := range s.open {
		if s.running == 0 && kind != event.TypeTask && strings.HasPrefix(k, " ") {
			delete(s.open, k)
		}
	}
}

// untaken returns a message that the subject accepted and that no turn took in the
// first n events, or "".
func untaken(r *conformance.Run, n int) string {
	taken := map[string]bool{}
	for _, e := range r.Events[:n] {
		switch d := e.Data.(type) {
		case event.TurnStart:
			for _, id := range d.MessageIDs {
				taken[id] = true
			}
		case event.UserMessage:
			taken[d.MessageID] = true
		}
	}
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbWithdraw && a.Err == nil {
			taken[a.Step.ID] = true // the user withdrew it
		}
	}
	for i, a := range r.Steps {
		for _, before := range r.Steps[:i] {
			if a.Step.What == fixtures.StopAll && a.Err == nil {
				taken[before.Step.ID] = true // likewise
			}
		}
	}
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbSend && a.Err == nil && !taken[a.Step.ID] {
			return a.Step.ID
		}
	}
	return ""
}

// closing reports whether an event is allowed between the exit of the runtime and the
// end of the session.
func closing(d event.Data) bool {
	switch d := d.(type) {
	case event.BlockEnd:
		return d.Status == event.BlockInterrupted
	case event.Thinking:
		return d.Done && d.Text == ""
	case event.ToolInput:
		return d.Dropped
	case event.ToolResult:
		return d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded
	case event.Task:
		return d.Status != event.TaskRunning && d.Status != event.TaskCompleted
	case event.PermissionResolved:
		return !d.Allowed
	case event.InterruptResolved:
		return true
	}
	return false
}
