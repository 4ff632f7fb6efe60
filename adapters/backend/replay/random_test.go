package replay

import (
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// toyFact and toyStep are types of events that the reducer has no case for.
type (
	toyFact struct {
		FactID string    `json:"fact_id"`
		Value  event.Raw `json:"value,omitzero"`
	}
	toyStep struct {
		ToolUseID string `json:"tool_use_id"`
		Text      string `json:"text,omitempty"`
	}
)

func (toyFact) EventType() event.Type { return "toy_fact" }
func (d toyFact) EventKey() string    { return d.FactID }
func (toyStep) EventType() event.Type { return "toy_step" }
func (d toyStep) EventKey() string    { return d.ToolUseID }

var (
	_ = event.Register[toyFact](event.Row{Key: "fact_id"})
	_ = event.Register[toyStep](event.Row{Key: "tool_use_id", Transient: true})
)

// randomSource draws the values of random events: a rand.Rand or rapid.
type randomSource interface{ IntN(n int) int }

// randomEvents returns n events that need not make sense together.
func randomEvents(r randomSource, n int) []event.Event {
	id := func(p string) string { return fmt.Sprintf("%s%d", p, r.IntN(4)) }
	text := func() string {
		return []string{"", "a", "word ", "\n", "\n\nb", "é", "\xff\xfe", "\u2028", "\x1b[31m"}[r.IntN(9)]
	}
	raw := func() event.Raw {
		return event.Raw([]string{`{ "a": "\u0041\/\ud800", "b":[1.0e0] }`, `null`, `[]`, `{}`, "{\"a\":\"\xff\"}"}[r.IntN(5)])
	}
	code := r.IntN(3)
	makers := []func() event.Data{
		func() event.Data {
			return event.SessionReady{SessionID: "s", Runtime: "codex", Model: text(), Resumed: r.IntN(2) == 0}
		},
		func() event.Data { return event.SessionEnd{Reason: text(), ExitCode: &code} },
		func() event.Data { return event.TurnStart{Cause: event.CauseTask} },
		func() event.Data {
			return event.UserMessage{MessageID: id("m"), Text: text(), Via: event.ViaSteer, Attachments: []event.Attachment{{Path: text()}}[:r.IntN(2)]}
		},
		func() event.Data { return event.Queue{MessageIDs: []string{id("m")}} },
		func() event.Data { return event.Delta{Text: text(), MessageID: id("m"), BlockID: id("b")} },
		func() event.Data { return event.Delta{Text: text(), MessageID: id("m")} },
		func() event.Data { return event.Thinking{Text: text(), Done: r.IntN(2) == 0, BlockID: id("b")} },
		func() event.Data { return event.Thinking{Text: text(), Done: r.IntN(2) == 0} },
		func() event.Data {
			s := []event.BlockStatus{"complete", "replaced", "interrupted", "retracted"}[r.IntN(4)]
			return event.BlockEnd{BlockID: id("b"), Status: s, Text: text()}
		},
		func() event.Data {
			return event.ToolStart{ToolUseID: id("k"), Tool: []string{"", "\xff", "Bash", "weather", "plan"}[r.IntN(5)], Input: raw(), SubagentSpawn: r.IntN(2) == 0, SubagentName: text(), Command: text(), Query: text(), URL: text()}
		},
		func() event.Data {
			return event.ToolInput{ToolUseID: id("k"), Tool: []string{"", "Bash"}[r.IntN(2)], Text: text(), Dropped: r.IntN(4) == 0}
		},
		func() event.Data {
			p := event.ToolProgress{ToolUseID: id("k"), Message: text(), ElapsedMS: int64(r.IntN(3) * 1000)}
			if r.IntN(2) == 0 {
				p.Progress, p.Total = new(float64(r.IntN(3))), new(2.5)
			}
			return p
		},
		func() event.Data { return event.ToolOutput{ToolUseID: id("k"), Text: text()} },
		func() event.Data {
			s := []event.ToolStatus{"ok", "error", "denied", "interrupted", "backgrounded"}[r.IntN(5)]
			return event.ToolResult{ToolUseID: id("k"), Output: text(), Status: s, Changes: []event.FileChange{{Path: text(), Kind: "add", Diff: text()}}, Truncated: r.IntN(2) == 0, Media: []event.Media{{Kind: event.MediaImage, MIME: text(), Size: 1}}[:r.IntN(2)]}
		},
		func() event.Data {
			s := []event.TaskStatus{"running", "completed", "failed", "stopped", "interrupted"}[r.IntN(5)]
			t := event.Task{TaskID: id("k"), Kind: event.TaskSubagent, Status: s, Text: text()}
			if r.IntN(2) == 0 {
				t.ToolUseID = id("k")
			}
			if r.IntN(2) == 0 {
				t.ParentID = id("k")
			}
			return t
		},
		func() event.Data {
			return event.PermissionRequest{RequestID: id("r"), ToolInput: raw(), Options: []string{text()}}
		},
		func() event.Data {
			return event.PermissionResolved{RequestID: id("r"), Allowed: r.IntN(2) == 0, Decision: "deny", By: "user"}
		},
		func() event.Data { return toyFact{id("f"), raw()} },
		func() event.Data { return toyStep{id("k"), text()} },
		func() event.Data { return event.Interrupt{InterruptID: id("r"), Props: raw()} },
		func() event.Data { return event.InterruptResolved{InterruptID: id("r"), Value: raw(), By: "withdrawn"} },
		func() event.Data { return event.Plan{Steps: []event.PlanStep{{Text: text(), Status: "pending"}}} },
		func() event.Data {
			cost := float64(r.IntN(100)) / 8
			return event.Usage{Tokens: event.Tokens{Input: int64(r.IntN(9))}, Scope: []event.Scope{"", event.ScopeRequest, event.ScopeTurn, event.ScopeSession}[r.IntN(4)], Cost: []*float64{nil, &cost}[r.IntN(2)], Context: &event.Context{Used: 1}}
		},
		func() event.Data { return event.Compaction{Phase: []event.Phase{"start", "end"}[r.IntN(2)]} },
		func() event.Data {
			surface := []string{"", SurfaceChat, "panel"}[r.IntN(3)]
			return event.ComponentUpdate{ComponentID: id("c"), ComponentName: []string{"Card", "Board", "Map"}[r.IntN(3)], Surface: surface, Props: raw(), Merge: r.IntN(2) == 0}
		},
		func() event.Data { return event.ComponentRemove{ComponentID: id("c")} },
		func() event.Data { return event.ModelChanged{Value: text()} },
		func() event.Data { return event.ModeChanged{Value: text()} },
		func() event.Data { return event.Checkpoint{CheckpointID: id("c"), Action: "created"} },
		func() event.Data { return event.Notice{Level: "info", Code: "garbage", Text: text(), Raw: raw()} },
		func() event.Data {
			return event.Result{Text: text(), Stats: []*event.Stats{nil, {Rounds: r.IntN(3), DurationMS: 7}}[r.IntN(2)]}
		},
		func() event.Data { return event.Error{Code: "crash", Message: text()} },
		func() event.Data { return event.Done{Stopped: r.IntN(2) == 0, Reason: text()} },
	}
	var out []event.Event
	turn := 1
	for i := range n {
		turn += r.IntN(12) / 11
		e := event.Event{Data: makers[r.IntN(len(makers))](), Seq: int64(i + 1), SessionID: "s", Turn: turn}
		e.TS = time.Date(2026, 11, 21, 10, 0, i/8, 0, time.UTC) // several with one time, so that only seq orders them
		if r.IntN(30) == 0 {
			e.Turn = 1 + r.IntN(turn) // an ended turn
		}
		if r.IntN(10) == 0 {
			e.Turn = 0
		}
		if r.IntN(4) == 0 {
			e.SubagentID = id("k")
		}
		out = append(out, e)
	}
	return out
}
