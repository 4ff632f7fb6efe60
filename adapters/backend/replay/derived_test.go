package replay

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

func TestSummaries(t *testing.T) {
	one := 1
	tests := []struct {
		start            event.ToolStart
		result           event.ToolResult
		summary, outcome string
		category         Category
	}{
		{event.ToolStart{Tool: "Bash", Command: "git status"}, event.ToolResult{Output: "clean\n", Status: "ok"}, "Bash: git status", "clean", CategoryTerminal},
		{event.ToolStart{Tool: "Bash", Input: event.Raw(`{"command":"go test"}`)}, event.ToolResult{Output: "FAIL", IsError: true, ExitCode: &one, Status: "error"}, "Bash: go test", "exit 1", CategoryTerminal},
		{event.ToolStart{Tool: "Bash", Command: "cat a.go", IsFileRead: true}, event.ToolResult{Output: "a\n\nb\n", Status: "ok"}, "Bash: cat a.go", "2 lines", CategoryFile},
		{event.ToolStart{Tool: "Read", FilePath: "src/x.go", Input: event.Raw(`{"offset":10,"limit":20}`)}, event.ToolResult{Output: "x", Status: "ok"}, "Read: src/x.go (lines 10–29)", "1 line", CategoryFile},
		{event.ToolStart{Tool: "Read", FilePath: "src/x.go"}, event.ToolResult{Status: "denied"}, "Read: src/x.go", "denied", CategoryFile},
		{event.ToolStart{Tool: "Edit", FilePath: "n.txt"}, event.ToolResult{Status: "ok", Changes: []event.FileChange{{Path: "n.txt", Kind: "update", Diff: "--- a\n+++ b\n@@ -1 +1,2 @@\n-one\n+ONE\n+two\n"}}}, "Edit: n.txt", "+2 −1", CategoryCode},
		{event.ToolStart{Tool: "Edit", Input: event.Raw(`{"changes":[{"path":"a"},{"path":"b"}]}`)}, event.ToolResult{Status: "interrupted"}, "Edit: 2 files", "interrupted", CategoryCode},
		{event.ToolStart{Tool: "Glob", Pattern: "**/*.ts"}, event.ToolResult{Output: "a\nb\nc\n", Status: "ok"}, "Glob: **/*.ts", "3 files **/*.ts", CategoryFile},
		{event.ToolStart{Tool: "Grep", Pattern: "x", SearchPath: "sub"}, event.ToolResult{Output: "a:x\n", Status: "ok"}, `Grep: "x" in sub`, `1 match "x"`, CategoryFile},
		{event.ToolStart{Tool: "WebSearch", Input: event.Raw(`{"query":"weather in Bern"}`)}, event.ToolResult{Status: "ok"}, "WebSearch: weather in Bern", "done", CategoryWeb},
		{event.ToolStart{Tool: "WebFetch", Input: event.Raw(`{"url":"https://weather.example/bern?x=1"}`)}, event.ToolResult{Status: "backgrounded"}, "WebFetch: weather.example/bern", "in the background", CategoryWeb},
		{event.ToolStart{Tool: "mcp__hotel__book", Input: event.Raw(`{"room":7}`)}, event.ToolResult{Status: "ok"}, `hotel/book: {"room":7}`, "done", CategoryMCP},
		{event.ToolStart{Tool: "Agent", SubagentSpawn: true, SubagentName: "scout", Input: event.Raw(`{"prompt":"Count."}`)}, event.ToolResult{Output: "Two.", Status: "ok"}, "Agent: scout", "Two.", CategoryAgent},
		{event.ToolStart{Tool: "SendMessage", Input: event.Raw(`{"to":"scout","message":"And fish?"}`)}, event.ToolResult{Status: "ok"}, "SendMessage: scout: And fish?", "done", CategoryAgent},
		{event.ToolStart{Tool: "wait", Input: event.Raw(`{"receiverThreadIds":["a","b"]}`)}, event.ToolResult{Status: "error", Output: "no such agent"}, "wait: a, b", "no such agent", CategoryAgent},
		{event.ToolStart{Tool: "Odd", Input: event.Raw(`{"command":7,"path":"p"}`)}, event.ToolResult{Status: "ok"}, "Odd: p", "done", CategoryOther},
	}
	for _, tt := range tests {
		g := NewWithT(t)
		tt.start.ToolUseID, tt.result.ToolUseID = "t", "t"
		c := Reduce(numbered(tt.start, tt.result))
		b := &c.Messages[0].Blocks[0]
		g.Expect(b.Summary()).To(Equal(tt.summary))
		g.Expect(b.Outcome()).To(Equal(tt.outcome), tt.summary)
		g.Expect(b.Tool.Category()).To(Equal(tt.category), tt.summary)
	}
	g := NewWithT(t)
	long := Block{Tool: &Tool{Name: "Bash", Command: strings.Repeat("x\n", 1000)}, Status: Running}
	g.Expect(len([]rune(long.Summary()))).To(BeNumerically("<", 120))
	g.Expect(long.Summary()).NotTo(ContainSubstring("\n"))
	g.Expect(long.Outcome()).To(Equal("running…"))
	text := Block{Kind: KindText}
	g.Expect(text.Summary() + text.Outcome()).To(BeEmpty())
}

func TestChangedLines(t *testing.T) {
	for name, c := range map[string]struct {
		diff           string
		added, removed int
	}{
		"hunk":                    {"@@ -1 +1,2 @@\n-one\n+ONE\n+two\n", 2, 1},
		"file headers":            {"--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-one\n+ONE\n", 1, 1},
		"lines like file headers": {"@@ -1,2 +1,2 @@\n--- x\n-++i\n+++x\n+++ y\n", 2, 2},
		"flags":                   {"--- a\n+++ b\n@@ -1 +1 @@\n---verbose\n+--quiet\n", 1, 1},
		"two files":               {"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\ndiff --git c d\n--- c\n+++ d\n@@ -1 +1 @@\n-c\n\\ No newline at end of file\n+d\n", 2, 2},
		"no hunk header":          {"-one\n+ONE\n two\n", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			added, removed := countChanges([]event.FileChange{{Path: "n.txt", Kind: event.ChangeUpdate, Diff: c.diff}})
			g.Expect([]int{added, removed}).To(Equal([]int{c.added, c.removed}))
		})
	}
}

func TestExchanges(t *testing.T) {
	g := NewWithT(t)
	for input, want := range map[string]Exchange{
		`{"prompt":"Count the fish.","receiverThreadIds":["k"]}`: {Verb: "send", To: []string{"k"}, Text: "Count the fish."},
		`{"agentPath":"/root/scout"}`:                            {Verb: "send", To: []string{"/root/scout"}},
	} {
		got, is := (&Tool{Name: "sendInput", Input: event.Raw(input)}).Exchange()
		g.Expect(is).To(BeTrue())
		g.Expect(got).To(Equal(want))
	}
	stop, _ := (&Tool{Name: "TaskStop", Input: event.Raw(`{"task_id":"k"}`)}).Exchange()
	g.Expect(stop).To(Equal(Exchange{Verb: "interrupt", To: []string{"k"}}))
	for _, name := range []string{"agents_message", "mcp__client__agents_message"} {
		message := &Tool{Name: name, Input: event.Raw(`{"to":"codex","message":"How many?"}`)}
		got, _ := message.Exchange()
		g.Expect(got).To(Equal(Exchange{Verb: "send", To: []string{"codex"}, Text: "How many?"}))
		g.Expect(message.Category()).To(Equal(CategoryAgent))
	}
	_, is := (&Tool{Name: "Bash"}).Exchange()
	g.Expect(is).To(BeFalse())

	// A message to a sub-agent in a later turn and its answer are below the call that
	// sent it.
	task := func(tool, text string, s event.TaskStatus) event.Task {
		return event.Task{TaskID: "k", Kind: event.TaskSubagent, ToolUseID: tool, Status: s, Text: text}
	}
	c := Reduce(numbered(
		event.ToolStart{ToolUseID: "t", Tool: "Agent", SubagentSpawn: true}, task("t", "", "running"), event.ToolResult{ToolUseID: "t", Status: "backgrounded"},
		event.Done{}, fromAgent("k", delta("1", "Two birds.")), inTurn(0, task("t", "Two birds.", "completed")),
		inTurn(2, event.ToolStart{ToolUseID: "u", Tool: "SendMessage", Input: event.Raw(`{"to":"k","message":"And fish?"}`)}),
		inTurn(2, task("u", "", "running")), inTurn(2, toolOK("u", "sent")), event.Event{Turn: 2, SubagentID: "k", Data: delta("2", "One fish.")}, inTurn(2, task("u", "One fish.", "completed")),
	))
	g.Expect(chatShape(c)).To(Equal("assistant/complete[tool:backgrounded:[subagent:complete:Two birds.[text:complete:Two birds.]]] | " +
		"assistant/running[tool:ok:sent[subagent:complete:One fish.[text:complete:One fish.]]]"))
}

func TestFlatFields(t *testing.T) {
	g := NewWithT(t)
	c := Reduce(numbered(
		event.UserMessage{MessageID: "m1", Text: "Go."},
		thinking("h", "hm", true), delta("a", "One."), bashStart("t"), toolOK("t", "x"), delta("b", "Two."),
		fromAgent("k", delta("c", "not this")), event.PermissionRequest{RequestID: "r", ToolName: "Bash"},
		event.Interrupt{InterruptID: "i"}, event.Plan{Steps: []event.PlanStep{{Text: "a"}}},
	))
	user, f := c.Messages[0].Flat(), c.Messages[1].Flat()
	g.Expect(user).To(Equal(Flat{ID: "m1", Role: RoleUser, Content: "Go.", Done: true}))
	g.Expect(f.Content).To(Equal("One.\n\nTwo."))
	g.Expect(f.Thinking).To(Equal(Thoughts{"hm", true}))
	g.Expect(f.Tools).To(HaveLen(1))
	g.Expect(f.Subagents).To(HaveLen(1))
	g.Expect(f.Permission.ID + f.Question.ID).To(Equal("ri"))
	g.Expect(f.Plan.Steps).To(HaveLen(1))
	g.Expect(f.Done || f.Interrupted).To(BeFalse())

	stopped := Reduce(numbered(delta("a", "One"), bashStart("t"), event.Done{Stopped: true})).Messages[0].Flat()
	g.Expect(stopped.Interrupted && stopped.Done).To(BeTrue())
	failed := Reduce(numbered(event.Error{Code: event.ErrorAuth, Message: "no"})).Messages[0].Flat()
	g.Expect(failed.Error).To(Equal("auth: no"))
	steered := Reduce(numbered(delta("a", "One"), event.UserMessage{MessageID: "m2"}, event.Done{Stopped: true})).Messages[0].Flat()
	g.Expect(steered.Interrupted).To(BeTrue(), "its text was cut off")
}

// spread puts the events a second apart.
func spread(events []event.Event) []event.Event {
	for i := range events {
		events[i].TS = events[i].TS.Add(time.Duration(i) * time.Second)
	}
	return events
}

// The last message of an older turn may come after the current turn.
// TestFiguresAreOnAShownMessage retracts all that a turn says after a message of the user: the
// figures are on the message before, because the last one is hidden.
func TestFiguresAreOnAShownMessage(t *testing.T) {
	g := NewWithT(t)
	c := Reduce(numbered(delta("a", "one"), event.UserMessage{MessageID: "m", Text: "hi"}, delta("b", "two"), blockEnd("b", event.BlockRetracted), event.Done{}, delta("c", "late")))
	g.Expect(chatShape(c)).To(Equal("assistant/complete[text:complete:one text:complete:late] | user/complete[text:complete:hi]"))
	g.Expect(c.Messages[0].Figures).NotTo(BeNil())
}

func TestStatsOfOverlappingTurns(t *testing.T) {
	g := NewWithT(t)
	r := New()
	for _, e := range numbered(inTurn(1, event.TurnStart{}), inTurn(2, event.UserMessage{MessageID: "m"}), inTurn(2, bashStart("t")), inTurn(0, event.SessionEnd{})) {
		r.Add(e)
	}
	c := r.Chat()
	g.Expect(chatShape(c)).To(Equal("user/complete[] | assistant/stopped[tool:interrupted:] | assistant/stopped[]"))
	g.Expect(c.Stats(2).ToolCalls).To(Equal(1))
	g.Expect(r.View().Stats(2)).To(Equal(c.Stats(2)))
}

func TestStats(t *testing.T) {
	g := NewWithT(t)
	cost := []float64{0.5, 0.75}
	read := event.ToolStart{ToolUseID: "r", Tool: "Read", FilePath: "a.go", IsFileRead: true}
	events := spread(numbered(
		inTurn(1, event.Usage{Tokens: event.Tokens{Input: 1}, Cost: &cost[0]}), inTurn(1, event.Done{}), // 0, 1
		inTurn(2, event.TurnStart{}), inTurn(2, bashStart("t")), inTurn(2, read), inTurn(2, toolOK("r", "x")), inTurn(2, toolOK("t", "")), // 2 … 6
		event.Event{Turn: 2, SubagentID: "k", Data: event.ToolStart{ToolUseID: "e", Tool: "Edit", FilePath: "b.go"}},
		event.Event{Turn: 2, SubagentID: "k", Data: event.ToolResult{ToolUseID: "e", Status: "ok", Changes: []event.FileChange{{Path: "b.go", Kind: "add", Diff: "1\n2\n"}}}},
		inTurn(2, event.ToolStart{ToolUseID: "w", Tool: "Write", FilePath: "c.go"}), inTurn(2, event.ToolResult{ToolUseID: "w", Status: "denied"}),
		inTurn(2, event.Task{TaskID: "k", Kind: event.TaskSubagent, Status: "completed", Usage: &event.Tokens{Input: 3, Output: 4}}),
		inTurn(2, event.Usage{Tokens: event.Tokens{Input: 9, Output: 2}, Cost: &cost[1]}),
		inTurn(2, event.Result{Text: "x", Stats: &event.Stats{DurationMS: 77, Rounds: 3}}), inTurn(2, event.Done{}), // 13, 14
	))
	c := Reduce(events)
	s := c.Stats(2)
	figures := s.Figures
	s.Figures = nil
	g.Expect(s).To(Equal(Stats{
		ToolCalls: 4, ByTool: map[string]int{"Bash": 1, "Read": 1, "Edit": 1, "Write": 1}, Denied: 1, Subagents: 1,
		FileReads: 1, FileWrites: 2, Commands: 1, Read: []string{"a.go"}, Changed: []string{"b.go"}, Added: 2,
		ToolMS: 3000 + 1000 + 1000 + 1000, SubagentsTok: 7,
	}))
	g.Expect(figures.End.Sub(figures.Start)).To(Equal(12 * time.Second))
	g.Expect(figures.Tokens.Input).To(BeEquivalentTo(9))
	g.Expect(figures.Cost).To(HaveValue(Equal(0.25)))
	g.Expect(figures.Rounds).To(Equal(3))
	g.Expect(figures.DurationMS).To(BeEquivalentTo(77))
	g.Expect(c.Stats(3)).To(Equal(Stats{}))
	r := New()
	for _, e := range events {
		r.Add(e)
		g.Expect(r.View().Stats(2)).To(Equal(r.Chat().Stats(2)))
	}
}

func TestDoing(t *testing.T) {
	g := NewWithT(t)
	steps := []struct {
		item        any
		kind, label string
	}{
		{inTurn(0, event.SessionReady{SessionID: "s"}), "idle", "Ready"},
		{event.TurnStart{}, "working", "Works"},
		{thinking("", "", false), "thinking", "Thinks"},
		{delta("a", "x"), "text", "Writes"},
		{bashStart("t"), "tool", "Runs Bash: echo one"},
		{bashStart("u"), "tool", "Runs Bash: echo one"},
		{delta("a", "x"), "tool", "Runs Bash: echo one"},
		{toolOK("u", ""), "tool", "Runs Bash: echo one"},
		{event.PermissionRequest{RequestID: "r", ToolName: "Bash", ToolInput: event.Raw(`{"command":"rm -r build"}`)}, "permission", "Asks to run Bash: rm -r build"},
		{event.PermissionResolved{RequestID: "r", Allowed: true}, "tool", "Runs Bash: echo one"},
		{toolOK("t", ""), "working", "Works"},
		{event.Interrupt{InterruptID: "i"}, "question", "Waits for your answer"},
		{event.InterruptResolved{InterruptID: "i"}, "working", "Works"},
		{event.Notice{Level: "warning", Code: event.NoticeRetry}, "retrying", "Tries again"},
		{event.Compaction{Phase: "start"}, "compacting", "Summarizes the history"},
		{event.Task{TaskID: "k", Kind: event.TaskCommand, Status: "running"}, "compacting", "Summarizes the history"},
		{event.Done{}, "background", "1 task in the background"},
		{inTurn(0, event.Task{TaskID: "k", Kind: event.TaskCommand, Status: "completed"}), "idle", "Ready"},
		{inTurn(0, event.SessionEnd{Reason: "closed"}), "ended", "Ended: closed"},
		{inTurn(0, event.SessionReady{}), "idle", "Ready"},
		{inTurn(0, event.Error{Code: "crash"}), "failed", "Failed"},
	}
	var items []any
	for _, s := range steps {
		items = append(items, s.item)
	}
	r := New()
	for i, e := range numbered(items...) {
		r.Add(e)
		d := r.View().Doing()
		g.Expect(d.Kind).To(Equal(steps[i].kind), "after %d: %T", i, e.Data)
		g.Expect(d.Label).To(Equal(steps[i].label), "after %d: %T", i, e.Data)
		g.Expect(d.Busy).To(Equal(d.Kind != "idle" && d.Kind != "ended" && d.Kind != "failed"))
	}
}
