package broken

import (
	"bytes"
	"errors"

	"github.com/turnspec/turnspec/adapters/event"
)

// crowds are broken where several things run at once.
func crowds() []Adapter {
	return []Adapter{
		{
			Name: "mixes-sub-agents", Sentence: "tells what every sub-agent says under the id of the first",
			Fails:   []string{"subagent.background", "subagent.parallel"},
			Runtime: "codex", Why: "on claude, which tells their words whole, it leaves them open at a crash too",
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				first := ""
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Delta); ok && e.SubagentID != "" {
						if first == "" {
							first = e.SubagentID
						}
						e.SubagentID, e.Data = first, d
					}
					out(e)
				}
			}},
		},
		{
			Name: "says-it-twice-for-sub-agents", Sentence: "tells what a sub-agent says a second time",
			Fails: []string{"subagent.parallel"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() == event.TypeDelta && e.SubagentID != "" {
					out(e)
				}
				out(e)
			}),
		},
		{
			Name: "forgets-sub-agents", Sentence: "does not tell when a sub-agent has ended",
			Fails: []string{"subagent.background", "turn.crash-ends", "turn.stall-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent && d.Status != event.TaskRunning {
					d.Status = event.TaskRunning
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "ends-with-the-child", Sentence: "takes the end of a sub-agent for the end of the turn",
			Fails: []string{"tool.interrupted", "turn.child-end-is-not-parent-end", "turn.crash-ends", "turn.lost-end", "turn.not-before-end", "turn.nothing-after-terminal", "turn.one-terminal"},
			Only:  map[string]string{"turn.lost-end": "claude"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent && d.Status != event.TaskRunning && e.Turn > 0 {
					e.Data, e.SubagentID = event.Done{}, ""
					out(e)
				}
			}),
		},
		{
			Name: "loses-what-waited", Sentence: "does not tell of a message that was put into the running turn",
			Fails: []string{"turn.queued", "turn.steer"},
			Only:  map[string]string{"turn.steer": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.UserMessage); ok && d.Via != event.ViaTurn {
					return
				}
				out(e)
			}),
		},
		{
			Name: "begins-by-itself", Sentence: "says of every turn that the runtime began it by itself",
			Fails: []string{"turn.unprompted"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.TurnStart); ok {
					d.Cause, d.MessageIDs = event.CauseTask, []string{}
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "stops-once", Sentence: "fails when it is told to stop a second time",
			Fails: []string{"turn.stop-idempotent"},
			mutation: mutation{stop: func(before int) error {
				if before > 0 {
					return errors.New("no turn runs")
				}
				return nil
			}},
		},
		{
			Name: "stays-stopped", Sentence: "tells the turn after a stopped one as stopped too",
			Fails: []string{"turn.after-stop"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				stopped := false
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Done); ok {
						stopped = stopped || d.Stopped
						d.Stopped = stopped
						e.Data = d
					}
					out(e)
				}
			}},
		},
		{
			Name: "adopts-strangers", Sentence: "takes another thread of the process for a sub-agent",
			Fails:   []string{"session.two-at-once", "wire.split"},
			Runtime: "codex", Why: "a process of claude is one session",
			mutation: mutation{read: func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte(`"thread/started"`), []byte(`"thread/archived"`))
			}},
		},
	}
}
