package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// numbered numbers events. Data alone becomes an event of turn 1.
func numbered(items ...any) []event.Event {
	var out []event.Event
	for i, item := range items {
		e, ok := item.(event.Event)
		if !ok {
			e = event.Event{Data: item.(event.Data), Turn: 1}
		}
		e.Seq, e.SessionID = int64(i+1), "s"
		e.TS = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		out = append(out, e)
	}
	return out
}

func fromAgent(id string, d event.Data) event.Event {
	return event.Event{Data: d, Turn: 1, SubagentID: id}
}

func inTurn(turn int, d event.Data) event.Event { return event.Event{Data: d, Turn: turn} }

func delta(block, text string) event.Delta {
	return event.Delta{Text: text, MessageID: "m", BlockID: block}
}

func blockEnd(block string, s event.BlockStatus) event.BlockEnd {
	return event.BlockEnd{BlockID: block, Status: s}
}

func bashStart(id string) event.ToolStart {
	return event.ToolStart{ToolUseID: id, Tool: "Bash", Command: "echo one"}
}

func toolOK(id, output string) event.ToolResult {
	return event.ToolResult{ToolUseID: id, Output: output, Status: event.ToolOK}
}

func thinking(id, text string, done bool) event.Thinking {
	return event.Thinking{Text: text, BlockID: id, Done: done}
}

// chatShape writes messages as role/status[kind:status:text …], for short tables.
func chatShape(c *Chat) string {
	var b strings.Builder
	for i, m := range c.Messages {
		if i > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, "%s/%s", m.Role, m.Status)
		b.WriteString(blockShapes(m.Blocks))
	}
	return b.String()
}

func blockShapes(blocks []Block) string {
	var out []string
	for _, b := range blocks {
		text := b.Text
		if b.Tool != nil {
			text = b.Tool.Output + b.Tool.InputText
		}
		s := fmt.Sprintf("%s:%s:%s", b.Kind, b.Status, text)
		if len(b.Blocks) > 0 || b.Kind == KindSubagent {
			s += blockShapes(b.Blocks)
		}
		out = append(out, s)
	}
	return "[" + strings.Join(out, " ") + "]"
}

func TestTextHasParagraphs(t *testing.T) {
	unnamed := func(s string) event.Delta { return event.Delta{Text: s, MessageID: "m"} }
	tests := []struct {
		name  string
		items []any
		want  string
	}{
		{"deltas of one block are joined", []any{delta("a", "one "), delta("a", "two")}, "one two"},
		{"a tool between", []any{delta("a", "one"), bashStart("t"), toolOK("t", ""), delta("b", "two")}, "one\n\ntwo"},
		{"two blocks with nothing between", []any{delta("a", "one"), delta("b", "two")}, "one\n\ntwo"},
		{"a newline before", []any{delta("a", "one\n"), delta("b", "two")}, "one\n\ntwo"},
		{"two newlines before", []any{delta("a", "one\n\n"), delta("b", "two")}, "one\n\ntwo"},
		{"four newlines before", []any{delta("a", "one\n\n\n\n"), delta("b", "two")}, "one\n\ntwo"},
		{"newlines after", []any{delta("a", "one"), delta("b", "\n\ntwo")}, "one\n\ntwo"},
		{"newlines on both sides", []any{delta("a", "one\n"), delta("b", "\ntwo")}, "one\n\ntwo"},
		{"CRLF", []any{delta("a", "one\r\n"), delta("b", "\r\ntwo")}, "one\n\ntwo"},
		{"an indent after the boundary stays", []any{delta("a", "one"), delta("b", "\n    two")}, "one\n\n    two"},
		{"a block of newlines alone", []any{delta("a", "one"), delta("n", "\n\n"), bashStart("t"), delta("b", "two")}, "one\n\ntwo"},
		{"never at the start", []any{bashStart("t"), toolOK("t", ""), delta("a", "one")}, "one"},
		{"newlines alone at the start", []any{delta("n", "\n\n"), bashStart("t"), delta("a", "one")}, "one"},
		{"newlines at start and end stay", []any{delta("a", "\none\n")}, "\none\n"},
		{"paragraphs within a block stay", []any{delta("a", "one\n\n\n"), delta("a", "two")}, "one\n\n\ntwo"},
		{"a block goes on after a tool", []any{delta("a", "one "), bashStart("t"), delta("a", "two"), delta("b", "three")}, "one two\n\nthree"},
		{"thinking between", []any{delta("a", "one"), thinking("h", "hm", true), delta("b", "two")}, "one\n\ntwo"},
		{"deltas without block_id", []any{unnamed("one "), unnamed("two")}, "one two"},
		{"without block_id, with a tool between", []any{unnamed("one"), bashStart("t"), unnamed("two")}, "one\n\ntwo"},
		{"without block_id, with a result between", []any{bashStart("t"), unnamed("one "), toolOK("t", "x"), unnamed("two")}, "one two"},
		{"without block_id, with thinking between", []any{unnamed("one"), thinking("", "hm", false), unnamed("two")}, "one\n\ntwo"},
		{"without block_id, with only activity between", []any{unnamed("one "), thinking("", "", false), unnamed("two")}, "one two"},
		{"without block_id, with a notice between", []any{unnamed("one "), event.Notice{Level: "info", Code: "garbage"}, unnamed("two")}, "one two"},
		{"without block_id, with a plan between", []any{unnamed("one"), event.Plan{}, unnamed("two")}, "one\n\ntwo"},
		{"without block_id, with a plan's update between", []any{event.Plan{}, unnamed("one"), event.Plan{}, unnamed("two")}, "one\n\ntwo"},
		{"a sub-agent's result", []any{bashStart("t"), fromAgent("k", event.Result{Text: "not this"}), event.Result{Text: "one"}}, "one"},
		{"without block_id, of another message", []any{unnamed("one"), event.Delta{Text: "two", MessageID: "n"}}, "one\n\ntwo"},
		{"a question between", []any{unnamed("one"), event.PermissionRequest{RequestID: "r"}, unnamed("two")}, "one\n\ntwo"},
		{"retracted", []any{delta("a", "one"), blockEnd("a", event.BlockRetracted), delta("b", "two")}, "two"},
		{"retracted in the middle", []any{delta("a", "one"), delta("b", "two"), blockEnd("b", event.BlockRetracted), delta("c", "three")}, "one\n\nthree"},
		{"retracted and repeated with its id", []any{delta("a", "one"), blockEnd("a", event.BlockRetracted), delta("a", "two")}, "two"},
		{"replaced", []any{delta("a", "oen"), event.BlockEnd{BlockID: "a", Status: event.BlockReplaced, Text: "one"}}, "one"},
		{"replaced without deltas", []any{event.BlockEnd{BlockID: "a", Status: event.BlockReplaced, Text: "one"}}, "one"},
		{"replaced by nothing", []any{delta("a", "one"), event.BlockEnd{BlockID: "a", Status: event.BlockReplaced}, delta("b", "two")}, "two"},
		{"interrupted stays", []any{delta("a", "one"), blockEnd("a", event.BlockInterrupted), delta("b", "two")}, "one\n\ntwo"},
		{"complete with its text", []any{delta("a", "one"), event.BlockEnd{BlockID: "a", Status: event.BlockComplete, Text: "one"}}, "one"},
		{"result repeats no text", []any{delta("a", "one"), event.Result{Text: "one"}}, "one"},
		{"result is the text if there is none", []any{bashStart("t"), toolOK("t", ""), event.Result{Text: "one"}}, "one"},
		{"result after everything was retracted", []any{delta("a", "x"), blockEnd("a", event.BlockRetracted), event.Result{Text: "one"}}, "one"},
		{"a sub-agent's text is not the parent's", []any{delta("a", "one "), fromAgent("k", delta("a", "not this")), delta("a", "two")}, "one two"},
		{"a steer", []any{delta("a", "one"), event.UserMessage{MessageID: "m2", Text: "but", Via: event.ViaSteer}, delta("b", "two")}, "one\n\ntwo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			c := Reduce(numbered(tt.items...))
			g.Expect(c.Text(1)).To(Equal(tt.want))
			g.Expect(c.Text(2)).To(BeEmpty())
		})
	}
}

func TestProgressOfATool(t *testing.T) {
	half := event.ToolProgress{ToolUseID: "t", Message: "half of it", Progress: new(1.0), Total: new(2.0)}
	late := event.ToolProgress{ToolUseID: "t", ElapsedMS: 90_000}
	for _, tt := range []struct {
		name string
		data []any
		want string // the outcome of each tool
	}{
		{"words and counts", []any{bashStart("t"), half}, "running, half of it, 1 of 2"},
		{"the last one counts", []any{bashStart("t"), half, late}, "running, 1m30s"},
		{"a count without its end", []any{bashStart("t"), event.ToolProgress{ToolUseID: "t", Progress: new(0.5)}}, "running, 0.5"},
		{"the result ends it", []any{bashStart("t"), half, toolOK("t", "built")}, "built"},
		{"the turn ends it", []any{bashStart("t"), half, event.Done{Stopped: true}}, "interrupted"},
		{"a tool in the background has none", []any{bashStart("t"), half, event.ToolResult{ToolUseID: "t", Status: event.ToolBackgrounded}, late}, "in the background"},
		{"none after the result", []any{bashStart("t"), toolOK("t", "built"), half}, "built"},
		{"none of an unknown tool", []any{half}, ""},
	} {
		g := NewWithT(t)
		var got []string
		for _, m := range Reduce(numbered(tt.data...)).Messages {
			for i := range m.Blocks {
				got = append(got, m.Blocks[i].Outcome())
				g.Expect(m.Blocks[i].Tool.Progress != nil).To(Equal(m.Blocks[i].Status == Running), tt.name)
			}
		}
		g.Expect(strings.Join(got, " ")).To(Equal(tt.want), tt.name)
	}
}

func TestMessagesAndBlocks(t *testing.T) {
	user := event.UserMessage{MessageID: "m1", Text: "hi", Via: event.ViaTurn}
	stop := event.Done{Stopped: true}
	tests := []struct {
		name  string
		items []any
		want  string
	}{
		{"a turn", []any{event.TurnStart{Cause: event.CauseUser}, user, delta("a", "one"), blockEnd("a", event.BlockComplete), event.Done{}},
			"user/complete[text:complete:hi] | assistant/complete[text:complete:one]"},
		{"a turn without text", []any{user, thinking("", "", false), event.Done{}}, "user/complete[text:complete:hi]"},
		{"a stop before anything", []any{user, stop}, "user/complete[text:complete:hi] | assistant/stopped[]"},
		{"a stop: text first, then its tools", []any{delta("a", "one"), bashStart("t"), blockEnd("a", event.BlockInterrupted), event.ToolResult{ToolUseID: "t", Status: event.ToolInterrupted}, stop},
			"assistant/stopped[text:interrupted:one tool:interrupted:]"},
		{"a stop closes open blocks", []any{thinking("h", "hm", false), delta("a", "one"), bashStart("t"), event.ToolOutput{ToolUseID: "t", Text: "x"}, event.PermissionRequest{RequestID: "r"}, stop},
			"assistant/stopped[thinking:interrupted:hm text:interrupted:one tool:interrupted:x permission:withdrawn:]"},
		{"an end closes open blocks", []any{delta("a", "one"), bashStart("t"), event.Done{}}, "assistant/complete[text:complete:one tool:interrupted:]"},
		{"a failure", []any{delta("a", "one"), event.Error{Code: event.ErrorAuth, Message: "no"}}, "assistant/failed[text:interrupted:one error:failed:]"},
		{"a second end", []any{delta("a", "one"), stop, event.Done{}, event.Error{}}, "assistant/stopped[text:interrupted:one]"},
		{"late text is not lost", []any{delta("a", "one"), event.Done{}, delta("a", " late")}, "assistant/complete[text:complete:one late]"},
		{"blocks after the end are closed", []any{delta("a", "one"), event.Done{}, delta("b", "late"), thinking("h", "hm", false), bashStart("t"), event.ToolOutput{ToolUseID: "t", Text: "x"}, event.Compaction{Phase: "start"}},
			"assistant/complete[text:complete:one text:complete:late thinking:complete:hm tool:interrupted:x compaction:complete:]"},
		{"blocks after a stop are interrupted", []any{delta("a", "one"), stop, delta("b", "late"), bashStart("t"), toolOK("t", "x")},
			"assistant/stopped[text:interrupted:one text:interrupted:late tool:ok:x]"},
		{"an input that is written", []any{delta("a", "one"), event.ToolInput{ToolUseID: "t", Tool: "Bash"}, event.ToolInput{ToolUseID: "t", Text: `{"co`}}, `assistant/running[text:running:one tool:writing:{"co]`},
		{"an input that begins again", []any{event.ToolInput{ToolUseID: "t", Tool: "Bash", Text: "x"}, event.ToolInput{ToolUseID: "t", Dropped: true}, event.ToolInput{ToolUseID: "t", Tool: "Bash", Text: "y"}}, "assistant/running[tool:writing:y]"},
		{"a call takes the place of its input", []any{event.ToolInput{ToolUseID: "t", Tool: "Bash", Text: "{"}, delta("a", "one"), bashStart("t"), event.ToolInput{ToolUseID: "t", Text: "late"}}, "assistant/running[text:running:one tool:running:]"},
		{"a dropped input", []any{event.Delta{Text: "one", MessageID: "m"}, event.ToolInput{ToolUseID: "t", Tool: "Bash", Text: "{"}, event.ToolInput{ToolUseID: "t", Dropped: true}, event.Delta{Text: "two", MessageID: "m"}}, "assistant/running[text:running:onetwo]"},
		{"an input that nothing ended", []any{event.ToolInput{ToolUseID: "t", Tool: "Bash", Text: "{"}, stop}, "assistant/stopped[]"},
		{"a sub-agent of a call whose input is dropped", []any{event.ToolInput{ToolUseID: "t", Tool: "Agent"}, event.Task{TaskID: "k", Kind: event.TaskSubagent, ToolUseID: "t", Status: event.TaskRunning}, event.ToolInput{ToolUseID: "t", Dropped: true}},
			"assistant/running[subagent:running:[]]"},
		{"a late input", []any{delta("a", "one"), event.Done{}, event.ToolInput{ToolUseID: "t", Tool: "Bash"}}, "assistant/complete[text:complete:one]"},
		{"streamed output", []any{bashStart("t"), event.ToolOutput{ToolUseID: "t", Text: "a"}, event.ToolOutput{ToolUseID: "t", Text: "b"}}, "assistant/running[tool:running:ab]"},
		{"the result's output", []any{bashStart("t"), event.ToolOutput{ToolUseID: "t", Text: "a"}, toolOK("t", "ab"), event.ToolOutput{ToolUseID: "t", Text: "b"}}, "assistant/running[tool:ok:ab]"},
		{"an empty result keeps the stream", []any{bashStart("t"), event.ToolOutput{ToolUseID: "t", Text: "a"}, event.ToolResult{ToolUseID: "t", Status: event.ToolInterrupted}}, "assistant/running[tool:interrupted:a]"},
		{"output goes on in the background", []any{bashStart("t"), event.ToolResult{ToolUseID: "t", Output: "a", Status: event.ToolBackgrounded}, event.ToolOutput{ToolUseID: "t", Text: "b"}, event.Done{}}, "assistant/complete[tool:backgrounded:ab]"},
		{"the start may be missing", []any{event.ToolOutput{ToolUseID: "t", Text: "a"}, bashStart("t"), toolOK("u", "b")}, "assistant/running[tool:running:a tool:ok:b]"},
		{"parallel tools", []any{bashStart("t"), bashStart("u"), toolOK("u", "2"), toolOK("t", "1")}, "assistant/running[tool:ok:1 tool:ok:2]"},
		{"thinking accumulates and closes", []any{thinking("h", "", false), thinking("h", "a", false), thinking("h", "b", false), thinking("h", "", true)}, "assistant/running[thinking:complete:ab]"},
		{"thinking without block_id", []any{thinking("", "a", false), thinking("", "b", true), thinking("", "c", true)}, "assistant/running[thinking:complete:ab thinking:complete:c]"},
		{"hidden thinking", []any{thinking("h", "", false), thinking("h", "", true)}, ""},
		{"thinking and text of one id", []any{thinking("a", "h", false), delta("a", "t")}, "assistant/running[thinking:running:h text:running:t]"},
		{"permission", []any{event.PermissionRequest{RequestID: "r"}, event.PermissionResolved{RequestID: "r", Allowed: true, Decision: "allow", By: "user"}}, "assistant/running[permission:allowed:]"},
		{"permission withdrawn", []any{event.PermissionRequest{RequestID: "r"}, event.PermissionResolved{RequestID: "r", Decision: "deny", By: "withdrawn"}}, "assistant/running[permission:withdrawn:]"},
		{"permission cancelled, unasked", []any{event.PermissionResolved{RequestID: "r", Decision: "cancel", By: "user"}}, "assistant/running[permission:cancelled:]"},
		{"a question", []any{event.Interrupt{InterruptID: "i"}, event.InterruptResolved{InterruptID: "i", Value: event.Raw(`1`), By: "user"}}, "assistant/running[interrupt:answered:]"},
		{"one plan", []any{event.Plan{Steps: []event.PlanStep{{Text: "a", Status: "pending"}}}, delta("a", "x"), event.Plan{}}, "assistant/running[plan:: text:running:x]"},
		{"compaction", []any{event.Compaction{Phase: "start"}, event.Compaction{Phase: "end", Tokens: 7}, event.Compaction{Phase: "end"}}, "assistant/running[compaction:complete: compaction:complete:]"},
		{"a notice of the session", []any{delta("a", "one"), inTurn(0, event.Notice{Level: "info", Code: "warning", Text: "w"}), delta("a", " two"), inTurn(0, event.Checkpoint{CheckpointID: "c", Action: "restored"})},
			"assistant/running[text:running:one two] | session/complete[notice::w checkpoint:restored:]"},
		{"a steer", []any{delta("a", "one"), user, delta("a", " more"), delta("b", "two"), stop},
			"assistant/complete[text:interrupted:one more] | user/complete[text:complete:hi] | assistant/stopped[text:interrupted:two]"},
		{"retracted to nothing", []any{delta("a", "one"), blockEnd("a", event.BlockRetracted)}, ""},
		{"two turns", []any{delta("a", "one"), event.Done{}, inTurn(2, delta("b", "two"))}, "assistant/complete[text:complete:one] | assistant/running[text:running:two]"},
		{"a session that ends within a turn", []any{delta("a", "one"), inTurn(0, event.SessionEnd{Reason: "crash"})}, "assistant/stopped[text:interrupted:one]"},
		{"a session that was resumed after a loss", []any{delta("a", "one"), inTurn(0, event.SessionReady{}), inTurn(2, delta("b", "two"))}, "assistant/stopped[text:interrupted:one] | assistant/running[text:running:two]"},
		{"an error of the session", []any{inTurn(0, event.Error{Code: "crash", Message: "gone"})}, "session/failed[error:failed:]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(chatShape(Reduce(numbered(tt.items...)))).To(Equal(tt.want))
		})
	}
}

func TestSubagents(t *testing.T) {
	spawn := event.ToolStart{ToolUseID: "t", Tool: "Task", SubagentSpawn: true, SubagentName: "counter"}
	task := func(id, tool string, s event.TaskStatus) event.Task {
		return event.Task{TaskID: id, Kind: event.TaskSubagent, ToolUseID: tool, Status: s}
	}
	tests := []struct {
		name  string
		items []any
		want  string
	}{
		{"linked by its task", []any{spawn, task("k", "t", "running"), fromAgent("k", delta("a", "in")), delta("b", "out"), task("k", "t", "completed"), toolOK("t", "r")},
			"assistant/running[tool:ok:r[subagent:complete:[text:complete:in]] text:running:out]"},
		{"linked by the tool's id", []any{spawn, fromAgent("t", bashStart("u")), toolOK("t", "r")},
			"assistant/running[tool:ok:r[subagent:complete:[tool:interrupted:]]]"},
		{"the link arrives later", []any{fromAgent("k", delta("a", "in")), spawn, task("k", "t", "running")},
			"assistant/running[tool:running:[subagent:running:[text:running:in]]]"},
		{"the tool starts later", []any{task("k", "t", "running"), fromAgent("k", delta("a", "in")), spawn},
			"assistant/running[tool:running:[subagent:running:[text:running:in]]]"},
		{"the tool's start is lost", []any{task("k", "t", "running"), fromAgent("k", delta("a", "in")), toolOK("t", "r")},
			"assistant/running[tool:ok:r[subagent:running:[text:running:in]]]"},
		{"blocks of an ended one", []any{task("k", "", "failed"), fromAgent("k", delta("a", "in")), task("l", "", "completed"), fromAgent("l", delta("b", "in"))},
			"assistant/running[subagent:failed:[text:interrupted:in] subagent:complete:[text:complete:in]]"},
		{"never linked", []any{fromAgent("k", delta("a", "in")), event.Done{}}, "assistant/complete[subagent:complete:[text:complete:in]]"},
		{"two with equal ids", []any{fromAgent("k", delta("a", "1")), fromAgent("l", delta("a", "2")), fromAgent("k", bashStart("t")), fromAgent("l", bashStart("t")), fromAgent("l", toolOK("t", "x"))},
			"assistant/running[subagent:running:[text:running:1 tool:running:] subagent:running:[text:running:2 tool:ok:x]]"},
		{"one that outlives its turn", []any{spawn, task("k", "t", "running"), event.ToolResult{ToolUseID: "t", Status: "backgrounded"}, event.Done{}, fromAgent("k", delta("a", "late")), inTurn(0, task("k", "", "completed"))},
			"assistant/complete[tool:backgrounded:[subagent:complete:[text:complete:late]]]"},
		{"its tool was stopped", []any{spawn, fromAgent("t", delta("a", "in")), event.Done{Stopped: true}},
			"assistant/stopped[tool:interrupted:[subagent:interrupted:[text:interrupted:in]]]"},
		{"nested", []any{spawn, fromAgent("t", event.ToolStart{ToolUseID: "u", Tool: "Task", SubagentSpawn: true}), fromAgent("u", delta("a", "deep"))},
			"assistant/running[tool:running:[subagent:running:[tool:running:[subagent:running:[text:running:deep]]]]]"},
		{"nested by its parent", []any{task("k", "", "running"), event.Task{TaskID: "l", Kind: "subagent", ParentID: "k", Status: "running"}, fromAgent("l", delta("a", "deep"))},
			"assistant/running[subagent:running:[subagent:running:[text:running:deep]]]"},
		{"linked by the tool's id, later", []any{fromAgent("t", delta("a", "in")), spawn},
			"assistant/running[tool:running:[subagent:running:[text:running:in]]]"},
		{"linked once", []any{spawn, task("k", "t", "running"), bashStart("u"), task("k", "u", "running")},
			"assistant/running[tool:running:[subagent:running:[]] tool:running:]"},
		{"a tool in the background does not end it", []any{spawn, fromAgent("t", delta("a", "in")), event.ToolResult{ToolUseID: "t", Status: "backgrounded"}, event.Done{}},
			"assistant/complete[tool:backgrounded:[subagent:running:[text:running:in]]]"},
		{"its task takes precedence over its tool", []any{spawn, task("k", "t", "running"), toolOK("t", "launched"), event.Done{}},
			"assistant/complete[tool:ok:launched[subagent:running:[]]]"},
		{"one that outlives its parent", []any{task("k", "", "running"), event.Task{TaskID: "l", Kind: "subagent", ParentID: "k", Status: "running"}, task("k", "", "completed")},
			"assistant/running[subagent:complete:[subagent:running:[]]]"},
		{"its question outlives the turn", []any{task("k", "", "running"), fromAgent("k", event.PermissionRequest{RequestID: "r"}), event.Done{}},
			"assistant/complete[subagent:running:[permission:pending:]]"},
		{"the session's end ends it", []any{task("k", "", "running"), fromAgent("k", event.PermissionRequest{RequestID: "r"}), event.Done{}, inTurn(0, event.SessionEnd{})},
			"assistant/complete[subagent:interrupted:[permission:withdrawn:]]"},
		{"a resumed session has lost it", []any{task("k", "", "running"), fromAgent("k", delta("a", "in")), event.Done{}, inTurn(0, event.SessionReady{})},
			"assistant/complete[subagent:interrupted:[text:interrupted:in]]"},
		{"no circle", []any{fromAgent("t", event.ToolStart{ToolUseID: "t", Tool: "Task", SubagentSpawn: true})},
			"assistant/running[subagent:running:[tool:running:]]"},
		{"its error is its own", []any{fromAgent("k", delta("a", "in")), fromAgent("k", event.Error{Code: "limit"}), delta("b", "out")},
			"assistant/running[subagent:failed:[text:interrupted:in error:failed:] text:running:out]"},
		{"its end is its own", []any{fromAgent("k", delta("a", "in")), fromAgent("k", event.Done{}), delta("b", "out")},
			"assistant/running[subagent:complete:[text:complete:in] text:running:out]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			c := Reduce(numbered(tt.items...))
			g.Expect(chatShape(c)).To(Equal(tt.want))
			g.Expect(c.Text(1)).NotTo(ContainSubstring("in"))
		})
	}
	g := NewWithT(t)
	c := Reduce(numbered(spawn, task("k", "t", "running")))
	g.Expect(c.Messages[0].Blocks[0].Blocks[0].Subagent.Name).To(Equal("counter"))
	g.Expect(c.Tasks).To(HaveLen(1))
}

// TestSubagentKeepsItsNewestUsage lets a sub-agent work twice and end without a usage.
func TestSubagentKeepsItsNewestUsage(t *testing.T) {
	task := func(s event.TaskStatus, u *event.Tokens) event.Task {
		return event.Task{TaskID: "k", Kind: event.TaskSubagent, Status: s, Usage: u}
	}
	c := Reduce(numbered(task("running", nil), task("completed", &event.Tokens{Input: 1}), task("running", nil),
		fromAgent("k", event.Usage{Tokens: event.Tokens{Input: 2}}), task("interrupted", nil)))
	NewWithT(t).Expect(c.Messages[0].Blocks[0].Subagent.Usage.Input).To(BeEquivalentTo(2))
}

func TestStatusAndActivity(t *testing.T) {
	g := NewWithT(t)
	code := 3
	steps := []struct {
		item     any
		status   Status
		activity string
	}{
		{inTurn(0, event.SessionReady{SessionID: "s", Runtime: "codex", Model: "m1"}), Idle, ""},
		{inTurn(0, event.Queue{MessageIDs: []string{"m2"}}), Idle, ""},
		{event.TurnStart{Cause: event.CauseTask}, Running, "working"},
		{thinking("", "", false), Running, "thinking"},
		{delta("a", "x"), Running, "writing"},
		{bashStart("t"), Running, "tool Bash"},
		{fromAgent("k", delta("a", "y")), Running, "tool Bash"},
		{event.PermissionRequest{RequestID: "r"}, Waiting, "tool Bash"},
		{event.PermissionResolved{RequestID: "r", Allowed: true}, Running, "tool Bash"},
		{toolOK("t", ""), Running, "working"},
		{event.Notice{Level: "warning", Code: event.NoticeRetry}, Running, "retrying"},
		{event.Compaction{Phase: "start"}, Running, "compacting"},
		{inTurn(0, event.ModelChanged{Value: "m2"}), Running, "compacting"},
		{event.Done{ExitCode: &code}, Idle, ""},
		{event.Done{}, Idle, ""},
		{event.Done{}, Idle, ""},
		{inTurn(2, event.TurnStart{}), Running, "working"},
		{inTurn(2, event.Done{}), Idle, ""},
		{inTurn(2, delta("z", "late")), Idle, ""},
		{inTurn(0, event.SessionEnd{Reason: "closed", ExitCode: &code}), Ended, ""},
		{inTurn(0, event.SessionReady{SessionID: "s", Resumed: true}), Idle, ""},
		{inTurn(0, event.Error{Code: "crash"}), Failed, ""},
		{inTurn(0, event.SessionEnd{Reason: "crash"}), Failed, ""},
	}
	var items []any
	for _, s := range steps {
		items = append(items, s.item)
	}
	r := New()
	for i, e := range numbered(items...) {
		r.Add(e)
		c := r.Chat()
		g.Expect(c.Status).To(Equal(steps[i].status), "after %d: %T", i, e.Data)
		g.Expect(c.Activity).To(Equal(steps[i].activity), "after %d: %T", i, e.Data)
		switch i {
		case 1:
			g.Expect(c.Queue).To(Equal([]string{"m2"}))
		case 12:
			g.Expect(c.Model).To(Equal("m2"))
		case 13:
			g.Expect(c.Messages[0].ExitCode).To(HaveValue(Equal(3)))
			g.Expect(c.Messages[0].Cause).To(Equal(event.CauseTask))
		case 19:
			g.Expect(c.EndReason).To(Equal("closed"))
		case 20:
			g.Expect(c.EndReason).To(BeEmpty())
			g.Expect(c.Queue).To(BeEmpty())
		}
	}
}

func TestComponentsAndUsage(t *testing.T) {
	g := NewWithT(t)
	cost := 0.5
	update := func(id, props string, merge bool) event.ComponentUpdate {
		return event.ComponentUpdate{ComponentID: id, ComponentName: "Chart", Surface: "panel", Props: event.Raw(props), Merge: merge}
	}
	c := Reduce(numbered(
		update("a", `{"x":1,"y":{"z":1}}`, false), update("b", `{}`, false), update("a", `{"y": 2, "w":3}`, true),
		event.ComponentRemove{ComponentID: "b"}, event.ComponentRemove{ComponentID: "b"}, update("c", `[1]`, true),
		event.Usage{Tokens: event.Tokens{Input: 1}, Cost: &cost}, event.Usage{Tokens: event.Tokens{Input: 2}},
		fromAgent("k", event.Usage{Tokens: event.Tokens{Input: 9}}),
	))
	g.Expect(c.Components).To(Equal([]Component{
		{ID: "a", Name: "Chart", Surface: "panel", Status: Ready, Props: event.Raw(`{"w":3,"x":1,"y":2}`)},
		{ID: "c", Name: "Chart", Surface: "panel", Status: Ready, Props: event.Raw(`[1]`)},
	}))
	g.Expect(c.Usage.Tokens.Input).To(BeEquivalentTo(2))
	g.Expect(c.Usage.Cost).To(HaveValue(Equal(0.5)))
	g.Expect(c.Messages[0].Blocks[0].Subagent.Usage.Input).To(BeEquivalentTo(9))
}

func TestJSONOmitsEmptyFields(t *testing.T) {
	g := NewWithT(t)
	c := Reduce(numbered(event.UserMessage{MessageID: "m1", Text: "hi", Via: "turn"}, toolOK("t", ""), event.Done{}))
	b, err := c.JSON()
	g.Expect(err).NotTo(HaveOccurred())
	compact := event.Raw(b).Clone()
	g.Expect(compact.Compact()).To(Succeed())
	const ts = `"2026-11-21T10:00:00Z"`
	g.Expect(string(compact)).To(Equal(`{"session_id":"s","status":"idle","messages":[` +
		`{"role":"user","id":"m1","turn":1,"status":"complete","via":"turn","blocks":[{"kind":"text","status":"complete","text":"hi","start":` + ts + `}],"number":1,"seq":1,"start":` + ts + `},` +
		`{"role":"assistant","id":"turn-1","turn":1,"status":"complete","blocks":[{"kind":"tool","id":"t","status":"ok","tool":{},"start":` + ts + `,"end":` + ts + `}],` +
		`"number":2,"seq":2,"start":` + ts + `,"end":` + ts + `,"figures":{"start":` + ts + `,"end":` + ts + `}}]}`))
	var back Chat
	g.Expect(json.Unmarshal(b, &back)).To(Succeed())
	g.Expect(back).To(Equal(*c))
}
