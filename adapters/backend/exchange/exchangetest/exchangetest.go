// Package exchangetest judges exchanges between agents by the events of their sessions.
// It is not part of the stable interface.
package exchangetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// Rule is what an exchange must do.
type Rule string

// The rules.
const (
	EndsOnce Rule = "ends-once" // its task begins once and ends once, and no event of it follows the end
	SentOnce Rule = "sent-once" // one session receives the message, once
	EndsWith Rule = "ends-with" // it ends when the receiver's turn or session does, and as that did
	Answer   Rule = "answer"    // a completed one has the final text of the turn that took its message
	Returned Rule = "returned"  // the answer reaches the sender once: as the result of the call, or as a message
)

// Problem is a rule that an exchange breaks.
type Problem struct {
	Rule     Rule
	Exchange string
	Text     string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Exchange, p.Rule, p.Text) }

// Report is what Judge found.
type Report struct {
	Exchanges int
	Problems  []Problem
}

// Judge judges the exchanges of a server by the events of all its sessions, by their ids.
// No turn may run and no message may wait while the events are taken, except in sessions
// that ended.
func Judge(sessions map[string][]event.Event) Report {
	var r Report
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		for _, x := range sentBy(sessions[id]) {
			r.Exchanges++
			x.judge(sessions, func(rule Rule, format string, args ...any) {
				r.Problems = append(r.Problems, Problem{rule, x.id, fmt.Sprintf(format, args...)})
			})
		}
	}
	return r
}

// sent is an exchange as its sender's events show it.
type sent struct {
	id, call, receiver string
	begun, ended       int
	after              int // events that follow the end
	status             event.TaskStatus
	text               string
	result             *event.ToolResult
	answers            []string // texts of the messages that brought it
}

// sentBy returns the exchanges of a sender, in the order of their beginnings.
func sentBy(events []event.Event) []*sent {
	var all []*sent
	byID, byCall := map[string]*sent{}, map[string]*sent{}
	for _, e := range events {
		if x := byID[e.SubagentID]; x != nil && x.ended > 0 {
			x.after++
		}
		switch d := e.Data.(type) {
		case event.Task:
			of, _ := exchange.Of(d.TaskID)
			if of == "" {
				continue
			}
			x := byID[of]
			if x == nil {
				x = &sent{id: of, call: d.ToolUseID, receiver: d.Name}
				byID[of], byCall[d.ToolUseID] = x, x
				all = append(all, x)
			}
			if d.Status == event.TaskRunning {
				x.begun++
				continue
			}
			x.ended++
			x.status, x.text = d.Status, d.Text
		case event.ToolResult:
			if x := byCall[d.ToolUseID]; x != nil && e.SubagentID == "" {
				x.result = &d
			}
		case event.UserMessage:
			of, answer := exchange.Of(d.MessageID)
			if x := byID[of]; x != nil && answer {
				x.answers = append(x.answers, d.Text)
			}
		}
	}
	return all
}

func (x *sent) judge(sessions map[string][]event.Event, problem func(Rule, string, ...any)) {
	if x.begun != 1 || x.ended > 1 || x.after > 0 {
		problem(EndsOnce, "its task began %d times and ended %d times, and %d events followed the end", x.begun, x.ended, x.after)
	}
	x.judgeReceiver(sessions, problem)
	if x.ended == 0 {
		problem(EndsOnce, "its task has not ended")
		return
	}
	x.judgeReturn(problem)
}

// judgeReceiver compares the exchange with the events of its receiver.
func (x *sent) judgeReceiver(sessions map[string][]event.Event, problem func(Rule, string, ...any)) {
	var in []string
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		for _, e := range sessions[id] {
			if d, is := e.Data.(event.UserMessage); is && d.MessageID == x.id {
				in = append(in, id)
			}
		}
	}
	if len(in) > 1 || len(in) == 1 && in[0] != x.receiver {
		problem(SentOnce, "its message was received by %s", strings.Join(in, ", "))
		return
	}
	if len(in) == 0 {
		if x.ended > 0 && (x.status == event.TaskCompleted || x.status == event.TaskStopped) {
			problem(SentOnce, "it is %s, but session %s did not receive its message", x.status, x.receiver)
		}
		return
	}
	end, final := turnWith(sessions[x.receiver], x.id)
	switch {
	case end != "" && x.ended == 0:
		problem(EndsWith, "the turn of session %s with its message is %s, and the exchange runs", x.receiver, end)
	case x.status == event.TaskCompleted && end != event.TaskCompleted:
		problem(EndsWith, "it is completed, and the turn of session %s is %q", x.receiver, end)
	case x.status == event.TaskStopped && end != event.TaskStopped:
		problem(EndsWith, "it is stopped, and the turn of session %s is %q", x.receiver, end)
	case x.status == event.TaskCompleted && x.text != final:
		problem(Answer, "its answer is %.200q, and the turn's final text is %.200q", x.text, final)
	}
}

// turnWith returns how the turn with a message ended, or "" if it runs, and its final
// text.
func turnWith(events []event.Event, message string) (end event.TaskStatus, final string) {
	turn := 0
	for _, e := range events {
		if e.SubagentID != "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.UserMessage:
			if d.MessageID == message {
				turn = e.Turn
			}
		case event.Done:
			if turn != 0 && e.Turn == turn && end == "" {
				end = event.TaskCompleted
				if d.Stopped {
					end = event.TaskStopped
				}
			}
		case event.Error:
			if turn != 0 && (e.Turn == turn || e.Turn == 0) && end == "" {
				end = event.TaskFailed
			}
		case event.SessionEnd:
			if turn != 0 && end == "" {
				end = event.TaskFailed
			}
		}
	}
	for _, m := range replay.Reduce(events).Messages {
		if m.Turn != turn || m.Role != replay.RoleAssistant {
			continue
		}
		for _, b := range m.Blocks {
			if b.Kind == replay.KindText && strings.TrimSpace(b.Text) != "" {
				final = b.Text
			}
		}
	}
	return end, final
}

// judgeReturn judges how the answer reached the sender.
func (x *sent) judgeReturn(problem func(Rule, string, ...any)) {
	var reply exchange.Reply
	if x.result != nil && !x.result.IsError {
		_ = json.Unmarshal([]byte(x.result.Output), &reply) // what it lacks is judged
	}
	waits := x.result == nil || x.result.IsError || reply.Status != event.TaskRunning
	switch {
	case waits && len(x.answers) > 0:
		problem(Returned, "the call returned the answer, and %d messages bring it again", len(x.answers))
	case waits && x.status == event.TaskCompleted && reply.Answer != x.text:
		problem(Returned, "the call returned %.200q, and the answer is %.200q", reply.Answer, x.text)
	case waits || x.status == event.TaskInterrupted:
	case len(x.answers) != 1:
		problem(Returned, "%d messages bring the answer to the sender", len(x.answers))
	case !strings.HasSuffix(x.answers[0], x.text):
		problem(Returned, "the message to the sender is %.200q, and the answer is %.200q", x.answers[0], x.text)
	}
}
