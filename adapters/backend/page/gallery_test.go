package page_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

const markdownText = `## What I found

The *server* drops the **last** line, because ` + "`Read`" + ` returns it with ` + "`io.EOF`" + `. See <https://pkg.go.dev/io#Reader>.

1. Read the line first.
2. Then look at the error:

` + "```go\nn, err := r.Read(b)\nif n > 0 {\n\tuse(b[:n])\n}\n```" + `

| file | lines |
|---|---:|
| server.go | 12 |

> No test covers it.
`

const diffText = "@@ -10,4 +10,5 @@ func read\n \tn, err := r.Read(b)\n-\tif err != nil {\n+\tuse(b[:n])\n+\tif err != nil && n == 0 {\n \t\treturn err\n"

// gallery returns the events of a session that shows each kind of block in each state. add
// is appended to each text that a model or a runtime chooses.
func gallery(add string) []event.Event {
	g := &galleryBuilder{}
	no, cost := 1, 0.42
	raw := func(format string, args ...any) event.Raw { return event.Raw(fmt.Sprintf(format, args...)) }
	quoted := strings.Trim(string(mustJSON(add)), `"`)
	g.turn = 0
	g.add(event.SessionReady{SessionID: "s1", Runtime: "claude", Model: "claude-opus-5-5" + add, Cwd: "/work/server" + add, Mode: "ask"})
	g.add(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: "The settings file is old." + add})
	g.begin("Why does the last line get lost? Please *fix* it." + add)
	g.add(event.Thinking{Text: "The reader returns n > 0 together with io.EOF." + add, BlockID: "k1"}, event.Thinking{Done: true, BlockID: "k1"})
	g.add(event.Plan{Steps: []event.PlanStep{{Text: "Find the reader" + add, Status: event.StepCompleted}, {Text: "Mend it", Status: event.StepInProgress}, {Text: "Run the tests", Status: event.StepPending}}})
	g.tool("t-grep", "Grep", raw(`{"pattern":"Read\\(%s"}`, quoted), "server.go:12: n, err := r.Read(b)\nclient.go:40: r.Read(p)"+add, event.ToolOK)
	g.add(event.ToolStart{ToolUseID: "t-edit", Tool: "Edit", FilePath: "server.go", Input: raw(`{"file_path":"server.go%s"}`, quoted)},
		event.ToolResult{ToolUseID: "t-edit", Status: event.ToolOK, Changes: []event.FileChange{{Path: "server.go" + add, Kind: event.ChangeUpdate, Diff: diffText + add}, {Path: "notes.md", Kind: event.ChangeAdd, Diff: "The last line has no newline.\n"}, {Path: "old.go", Kind: event.ChangeMove, MoveTo: "new.go"}}})
	g.add(event.ToolStart{ToolUseID: "t-test", Tool: "Bash", Command: "go test ./..." + add, Input: raw(`{"command":"go test"}`)}, event.ToolOutput{ToolUseID: "t-test", Text: "--- FAIL: TestLast\n"},
		event.ToolResult{ToolUseID: "t-test", Output: "--- FAIL: TestLast\n    want 2 lines, got 1\nFAIL" + add, Status: event.ToolError, IsError: true, ExitCode: &no})
	g.tool("t-rm", "Bash", raw(`{"command":"rm -rf build"}`), "The user denied it.", event.ToolDenied)
	g.tool("t-long", "Bash", raw(`{"command":"yes"}`), strings.Repeat("a line of a long output\n", 4000), event.ToolOK)
	g.add(event.ToolStart{ToolUseID: "t-web", Tool: "WebSearch", Query: "io.Reader EOF" + add, Input: raw(`{"query":"io.Reader EOF"}`)}, event.ToolResult{ToolUseID: "t-web", Output: "pkg.go.dev/io", Status: event.ToolOK},
		event.ToolStart{ToolUseID: "t-page", Tool: "WebFetch", URL: "https://pkg.go.dev/io" + add, Pattern: "EOF" + add, Input: raw(`{"url":"https://pkg.go.dev/io"}`)}, event.ToolResult{ToolUseID: "t-page", Output: "EOF is the error", Truncated: true, Status: event.ToolOK},
		event.ToolStart{ToolUseID: "t-odd", Tool: "WebFetch", URL: "javascript:alert(1)" + add, Input: raw(`{}`)}, event.ToolResult{ToolUseID: "t-odd", Status: event.ToolError, IsError: true},
		event.ToolStart{ToolUseID: "t-image", Tool: "Read", FilePath: "plot.png", Input: raw(`{"file_path":"plot.png"}`)}, event.ToolResult{ToolUseID: "t-image", Status: event.ToolOK, Media: []event.Media{{Kind: event.MediaImage, MIME: "image/png" + add, Size: 48213, SHA256: "ab"}}})
	g.tool("mcp", "mcp__hotel__book", raw(`{"nights":2,"guest":{"name":"Ada","tags":["a","b"],"note":null}}`), `{"ok":true}`, event.ToolOK)
	g.tool("t-server", "Bash", raw(`{"command":"go run ./server"}`), "", event.ToolBackgrounded)
	g.add(event.Task{TaskID: "bg", Kind: event.TaskCommand, ToolUseID: "t-server", Name: "go run ./server", Status: event.TaskRunning})
	g.add(event.ToolStart{ToolUseID: "t-agent", Tool: "Task", SubagentSpawn: true, SubagentName: "reviewer", Input: raw(`{"description":"Review the change"}`)},
		event.Task{TaskID: "a1", Kind: event.TaskSubagent, ToolUseID: "t-agent", Name: "reviewer" + add, Status: event.TaskRunning, Text: "Review the change" + add})
	g.sub("a1", event.Delta{Text: "I read the *diff*." + add, MessageID: "m9", BlockID: "s1"}, event.BlockEnd{BlockID: "s1", Status: event.BlockComplete},
		event.ToolStart{ToolUseID: "t-sub", Tool: "Read", FilePath: "server.go", Input: raw(`{"file_path":"server.go"}`)}, event.ToolResult{ToolUseID: "t-sub", Output: "package main", Status: event.ToolOK})
	g.add(event.Task{TaskID: "a1", Kind: event.TaskSubagent, ToolUseID: "t-agent", Status: event.TaskCompleted, Usage: &event.Tokens{Total: 1234}}, event.ToolResult{ToolUseID: "t-agent", Output: "It is right.", Status: event.ToolOK})
	g.text("b1", markdownText+add)
	g.add(event.ComponentUpdate{ComponentID: "c1", ComponentName: "card" + add, Surface: "chat", Props: raw(`{"title":"Coverage%s","percent":81.5,"files":["server.go","client.go"]}`, quoted)},
		event.ComponentUpdate{ComponentID: "p1", ComponentName: "plan", Surface: "panel", Props: raw(`{"steps":["look","leap"]}`)})
	g.add(event.PermissionRequest{RequestID: "q0", ToolName: "Bash", ToolInput: raw(`{"command":"git push"}`)}, event.PermissionResolved{RequestID: "q0", ToolName: "Bash", Decision: event.DecisionDeny, By: event.ByUser})
	g.add(event.Interrupt{InterruptID: "i0", ComponentName: "AskUserQuestion", Surface: "chat", Props: raw(`{"questions":[{"question":"Which database?","options":[{"label":"SQLite"}]}]}`)},
		event.InterruptResolved{InterruptID: "i0", Value: raw(`{"Which database?":"SQLite%s"}`, quoted), By: event.ByUser})
	g.add(toyFact{FactID: "f1", Text: "a fact without a card" + add})
	g.add(event.Compaction{Phase: event.PhaseStart}, event.Compaction{Phase: event.PhaseEnd, Tokens: 12000}, event.Checkpoint{CheckpointID: "cp1" + add, Action: event.CheckpointCreated})
	g.add(event.Usage{Tokens: event.Tokens{Input: 20000, Output: 900, Total: 20900}, Cost: &cost, Context: &event.Context{Used: 150000, Window: 200000}}, event.Done{})
	g.begin("Go on.")
	g.add(event.ToolStart{ToolUseID: "t-cut", Tool: "Bash", Command: "sleep 60", Input: raw(`{"command":"sleep 60"}`)}, event.Delta{Text: "I wait for", MessageID: "m2", BlockID: "b2"},
		event.BlockEnd{BlockID: "b2", Status: event.BlockInterrupted}, event.ToolResult{ToolUseID: "t-cut", Status: event.ToolInterrupted}, event.Done{Stopped: true, Reason: "stopped"})
	g.begin("Again.")
	g.add(event.Error{Code: event.ErrorOverloaded, Message: "The model is overloaded." + add})
	g.begin("Once more.")
	g.add(event.Thinking{Text: "Which database does the user want?", BlockID: "k4"},
		event.ToolStart{ToolUseID: "t-busy", Tool: "Bash", Command: "make docs", Input: raw(`{"command":"make docs"}`)},
		event.ToolStart{ToolUseID: "t-run", Tool: "Bash", Command: "make", Input: raw(`{"command":"make"}`)}, event.ToolOutput{ToolUseID: "t-run", Text: "cc -c main.c\n" + add},
		event.ToolProgress{ToolUseID: "t-run", Message: "half of it" + add, Progress: new(1.0), Total: new(2.0), ElapsedMS: 30_000},
		event.PermissionRequest{RequestID: "q1", ToolUseID: "t-run", ToolName: "Bash" + add, ToolInput: raw(`{"command":"make install%s"}`, quoted), Reason: "It writes outside of the folder." + add},
		event.Interrupt{InterruptID: "i1", ComponentName: "AskUserQuestion", Surface: "chat", Props: raw(`{"questions":[{"question":"Which parts?%s","header":"Parts","multiSelect":true,"options":[{"label":"Server","description":"what listens"},{"label":"Docs","description":"Docs"}]}]}`, quoted)},
		event.Interrupt{InterruptID: "i2", ComponentName: "elicitation", Surface: "chat", Props: raw(`{"message":"How many nights?%s","requestedSchema":{"type":"object","properties":{"nights":{"type":"integer","title":"Nights"},"late":{"type":"boolean"},"room":{"type":"string","enum":["single","double"]}},"required":["nights"]}}`, quoted)},
		event.Interrupt{InterruptID: "i3", ComponentName: "ExitPlanMode", Surface: "chat", Props: raw(`{"plan":"1. Mend the reader\n2. Add a **test**%s"}`, quoted)},
		event.Queue{MessageIDs: []string{"m8", "m9"}})
	return g.events
}

// toyFact is a type of event that the page has no card for.
type toyFact struct {
	FactID string `json:"fact_id"`
	Text   string `json:"text"`
}

func (toyFact) EventType() event.Type { return "toy_fact" }
func (d toyFact) EventKey() string    { return d.FactID }

var _ = event.Register[toyFact](event.Row{Key: "fact_id"})

type galleryBuilder struct {
	events []event.Event
	turn   int
}

func (g *galleryBuilder) sub(agent string, data ...event.Data) {
	for _, d := range data {
		n := len(g.events) + 1
		e := event.Event{Data: d, Seq: int64(n), SessionID: "s1", TS: time.Date(2026, 1, 1, 0, 0, 0, n*int(100*time.Millisecond), time.UTC), SubagentID: agent}
		if g.turn > 0 {
			e.Turn = g.turn
		}
		g.events = append(g.events, e)
	}
}

func (g *galleryBuilder) add(data ...event.Data) { g.sub("", data...) }

func (g *galleryBuilder) begin(text string) {
	g.turn++
	id := fmt.Sprint("m", g.turn)
	g.add(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{id}}, event.UserMessage{MessageID: id, Text: text, Via: event.ViaTurn})
}

func (g *galleryBuilder) tool(id, name string, input event.Raw, output string, status event.ToolStatus) {
	g.add(event.ToolStart{ToolUseID: id, Tool: name, Input: input}, event.ToolResult{ToolUseID: id, Output: output, Status: status})
}

func (g *galleryBuilder) text(block, text string) {
	for len(text) > 0 {
		n := min(len(text), 7)
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		g.add(event.Delta{Text: text[:n], MessageID: "m1", BlockID: block})
		text = text[n:]
	}
	g.add(event.BlockEnd{BlockID: block, Status: event.BlockComplete})
}
