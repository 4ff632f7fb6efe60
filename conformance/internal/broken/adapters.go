package broken

import (
	"bytes"
	"io"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// each makes a mutation that looks at one event at a time.
func each(f func(e event.Event, out func(event.Event))) mutation {
	return mutation{events: func() func(event.Event, func(event.Event)) { return f }}
}

// All are the broken adapters, at least one a check.
func All() []Adapter {
	return slices.Concat(streams(), wires(), crashes(), lives(), delays(), contents(), crowds(), answering(), lax(), pipes(), bounds(), naming(), offering(), showing(), endings(), openings(), slow(), telling())
}

// streams are broken in what they emit.
func streams() []Adapter {
	return []Adapter{
		{
			Name: "talks-before-ready", Sentence: "tells of its start before session_ready",
			Fails: []string{"session.ready-first"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() == event.TypeSessionReady {
					out(event.Event{Data: event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: "starting"}, TS: e.TS, SessionID: e.SessionID})
				}
				out(e)
			}),
		},
		{
			Name: "own-id-for-the-runtimes", Sentence: "reports its own id as the runtime's",
			Fails: []string{"session.opened-as-asked", "session.provider-id", "session.resume-context"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.SessionReady); ok {
					d.ProviderSessionID = e.SessionID
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "ends-twice", Sentence: "says done for the result and for the end",
			Fails: []string{"turn.not-before-end", "turn.one-terminal"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if e.Type() == event.TypeDone {
					out(e)
				}
			}),
		},
		{
			Name: "usage-after-the-end", Sentence: "tells the usage of a turn when it is over",
			Fails: []string{"turn.nothing-after-terminal", "usage.told"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if e.Type() == event.TypeDone {
					e.Data = event.Usage{Tokens: event.Tokens{Input: 1}}
					out(e)
				}
			}),
		},
		{
			Name: "hides-a-crash", Sentence: "takes the end of the process for the end of the turn",
			Fails: []string{"turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Error); ok && d.Code == event.ErrorCrash {
					e.Data = event.Done{Stopped: true}
				}
				out(e)
			}),
		},
		{
			Name: "stop-looks-finished", Sentence: "ends a stopped turn like a finished one",
			Fails: []string{"replay.interrupted", "turn.lost-end", "turn.stop"},
			Only:  map[string]string{"turn.lost-end": "codex"}, // Claude Code's ends in an error
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Done); ok {
					d.Stopped = false
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "shows-the-result-too", Sentence: "shows the final text after it was streamed",
			Fails: []string{"text.block-boundary", "text.once", "text.result"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if d, ok := e.Data.(event.Result); ok && d.Text != "" {
					e.Data = event.Delta{Text: d.Text, MessageID: "result", BlockID: "result"}
					out(e)
				}
			}),
		},
		{
			Name: "swaps-deltas", Sentence: "hands two deltas over in the wrong order",
			Fails: []string{"order.ts", "permission.unsupported-request", "subagent.parallel", "text.order", "text.result", "time.backlog", "time.first-delta", "time.no-added-delay", "tool.parallel", "turn.after-stop", "turn.crash-ends", "turn.stall-ends", "wire.garbage", "wire.long-line", "wire.unknown"},
			Only:  map[string]string{"subagent.parallel": "codex", "tool.parallel": "claude", "wire.long-line": "claude"}, // Claude tells a sub-agent's text whole
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				var kept []event.Event
				return func(e event.Event, out func(event.Event)) {
					if e.Type() == event.TypeDelta && len(kept) == 0 {
						kept = append(kept, e)
						return
					}
					out(e)
					for _, k := range kept {
						out(k)
					}
					kept = nil
				}
			}},
		},
		{
			Name: "keeps-abandoned-text", Sentence: "keeps text that the runtime gave up and said again",
			Fails: []string{"text.once", "text.retracted"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockRetracted {
					d.Status = event.BlockComplete
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "one-block-for-all", Sentence: "glues paragraphs across tool calls",
			Fails: []string{"text.block-boundary", "text.once", "text.paragraph-break", "text.result", "turn.crash-ends", "turn.stall-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				switch d := e.Data.(type) {
				case event.Delta:
					d.BlockID = "text"
					e.Data = d
				case event.BlockEnd:
					if d.Status == event.BlockComplete {
						return
					}
				}
				out(e)
			}),
		},
		{
			Name: "no-thinking", Sentence: "listens to a method name that no runtime sends and drops the thinking",
			Fails: []string{"thinking.delivered", "turn.crash-ends", "turn.stall-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Thinking); !ok || d.Text == "" {
					out(e)
				}
			}),
		},
		{
			Name: "own-tool-ids", Sentence: "gives tools ids of its own",
			Fails: []string{"component.tool-linked", "tool.known"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				switch d := e.Data.(type) {
				case event.ToolStart:
					d.ToolUseID = "own-" + d.ToolUseID + "-x"
					e.Data = d
				case event.ToolOutput:
					d.ToolUseID = "own-" + d.ToolUseID + "-x"
					e.Data = d
				case event.ToolResult:
					d.ToolUseID = "own-" + d.ToolUseID + "-x"
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "spins-for-ever", Sentence: "leaves tools open when the turn ends",
			Fails: []string{"tool.interrupted", "tool.paired", "turn.crash-ends", "turn.stop"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok && (d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded) {
					return
				}
				out(e)
			}),
		},
		{
			Name: "summarizes-output", Sentence: "puts its own words where the tool's output belongs",
			Fails: []string{"component.tool-linked", "tool.output", "tool.streamed", "tool.web-search"},
			Only:  map[string]string{"tool.streamed": "codex", "tool.web-search": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok {
					d.Output = "The tool ran."
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "asks-without-the-tool", Sentence: "asks for permission without saying for what",
			Fails: []string{"permission.asked"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.PermissionRequest); ok {
					d.ToolName, d.ToolInput = "", event.Raw("{}")
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "knows-every-field", Sentence: "decodes strictly and drops what has a member that it does not know",
			Fails: []string{"wire.unknown"},
			mutation: mutation{read: func(chunk []byte) []byte {
				if bytes.Contains(chunk, []byte(`"weather":"fair"`)) {
					return []byte("\n")
				}
				return chunk
			}},
		},
		{
			Name: "dies-of-the-unknown", Sentence: "ends the turn at a message that it does not know",
			Fails: []string{"permission.unsupported-request", "wire.garbage", "wire.unknown"},
			Only:  map[string]string{"permission.unsupported-request": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeUnknownMessage {
					e.Data = event.Error{Code: event.ErrorProtocol, Message: "unknown message"}
				}
				out(e)
			}),
		},
		{
			Name: "counts-per-turn", Sentence: "begins seq anew in each turn",
			Fails: []string{"order.seq", "replay.faithful", "replay.same-millisecond", "text.paragraph-break"},
			mutation: mutation{raw: true, events: func() func(event.Event, func(event.Event)) {
				var turn int
				var seq int64
				return func(e event.Event, out func(event.Event)) {
					if e.Turn != turn {
						turn, seq = e.Turn, 0
					}
					seq++
					e.Seq = seq
					out(e)
				}
			}},
		},
		{
			Name: "reuses-its-buffer", Sentence: "hands out the buffer of a line and reads the next one into it",
			Fails: []string{"component.tool-linked", "permission.asked", "replay.any-prefix", "replay.components", "replay.equals-live", "replay.faithful", "replay.same-millisecond", "text.paragraph-break", "tool.known", "turn.crash-ends", "turn.stall-ends"},
			Only:  map[string]string{"permission.asked": "codex"}, // claude repeats the input of the call
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				var last event.Raw
				return func(e event.Event, out func(event.Event)) {
					out(e) // when it was taken, the listener is done with the one before
					if d, ok := e.Data.(event.ToolStart); ok {
						last = d.Input
					} else if e.Type() == event.TypeToolResult && len(last) > 0 {
						n := copy(last, `{"overwritten":""}`) // still JSON, with spaces behind
						copy(last[n:], bytes.Repeat([]byte(" "), len(last)))
					}
				}
			}},
		},
		{
			Name: "smooths", Sentence: "holds each delta back for 5 ms, to look smoother",
			Fails: []string{"permission.unsupported-request", "time.first-delta", "time.no-added-delay", "turn.crash-ends", "turn.stall-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() == event.TypeDelta {
					time.Sleep(5 * time.Millisecond)
				}
				out(e)
			}),
		},
	}
}

// wires are broken in what they read and write, or in what they open.
func wires() []Adapter {
	return []Adapter{
		{
			Name: "answers-twice", Sentence: "answers each question twice",
			Fails: []string{"permission.answered-once", "wire.own-lines"},
			mutation: mutation{written: func(line []byte, w io.Writer) error {
				_, err := w.Write(line)
				if bytes.Contains(line, []byte(`"decision"`)) || bytes.Contains(line, []byte(`"behavior"`)) {
					_, err = w.Write(line)
				}
				return err
			}},
		},
		{
			Name: "closes-before-it-answers", Sentence: "closes the session and leaves a question of the runtime without a reply",
			Fails:    []string{"permission.answered-once"},
			mutation: mutation{closing: func(p proc.Process) { _ = p.Stdin().Close() }},
		},
		{
			Name: "logs-to-the-runtime", Sentence: "writes its log where the runtime reads",
			Fails: []string{"wire.own-lines"},
			mutation: mutation{written: func(line []byte, w io.Writer) error {
				_, err := w.Write(append([]byte("debug: writing\n"), line...))
				return err
			}},
		},
		{
			Name: "allows-everything", Sentence: "sends allow whatever the user said",
			Fails: []string{"permission.deny-holds", "permission.resolved", "wire.own-lines"},
			Only:  map[string]string{"turn.stall-ends": "claude"},
			mutation: mutation{answer: func(a *adapters.Answer) {
				if a.Decision != "" {
					a.Decision = event.DecisionAllow
				}
			}},
		},
		{
			Name: "resumes-fresh", Sentence: "opens a new session instead of the old one",
			Fails: []string{"process.start-failure", "session.opened-as-asked", "session.resume-context"},
			Only:  map[string]string{"process.start-failure": "claude"},
			mutation: mutation{open: func(o *conformance.Open) {
				if !o.Fork {
					o.Resume = ""
				}
			}},
		},
		{
			Name: "reads-chunks", Sentence: "takes each read for a line",
			Fails: []string{"text.unicode", "time.backlog", "wire.long-line", "wire.split"},
			mutation: mutation{read: func(chunk []byte) []byte {
				return append(bytes.TrimRight(bytes.ReplaceAll(chunk, []byte("\n"), nil), "\r"), '\n')
			}},
		},
	}
}
