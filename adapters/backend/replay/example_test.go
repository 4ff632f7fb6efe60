package replay_test

import (
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// exampleEvents returns the events of a session in which the user stops a turn.
func exampleEvents() []event.Event {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var out []event.Event
	for i, d := range []event.Data{
		event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{"m1"}},
		event.UserMessage{MessageID: "m1", Text: "What has changed?", Via: event.ViaTurn},
		event.Delta{Text: "I look ", MessageID: "a", BlockID: "1.1"},
		event.Delta{Text: "at it.", MessageID: "a", BlockID: "1.1"},
		event.BlockEnd{BlockID: "1.1", Status: event.BlockComplete},
		event.ToolStart{ToolUseID: "t1", Tool: "Bash", Command: "git status"},
		event.ToolResult{ToolUseID: "t1", Output: "nothing to commit\n", Status: event.ToolOK},
		event.ToolStart{ToolUseID: "t2", Tool: "Read", FilePath: "notes.txt", Input: event.Raw(`{"file_path":"notes.txt","offset":1,"limit":20}`)},
		event.ToolResult{ToolUseID: "t2", Status: event.ToolInterrupted},
		event.Done{Stopped: true},
	} {
		out = append(out, event.Event{Data: d, Seq: int64(i + 1), SessionID: "s1", Turn: 1, TS: at.Add(time.Duration(i) * time.Second)})
	}
	return out
}

// Draw a chat from its blocks, in order.
func Example() {
	chat := replay.Reduce(exampleEvents())
	for _, m := range chat.Messages {
		fmt.Println(m.Role, m.Status)
		for _, b := range m.Blocks {
			switch b.Kind {
			case replay.KindText:
				fmt.Println(" ", b.Text)
			case replay.KindTool:
				fmt.Println(" ", b.Summary(), "→", b.Outcome())
			}
		}
	}
	// Output:
	// user complete
	//   What has changed?
	// assistant stopped
	//   I look at it.
	//   Bash: git status → nothing to commit
	//   Read: notes.txt (lines 1–20) → interrupted
}

// Take a view whenever the chat is drawn. Another goroutine may read it while events
// are added.
func ExampleReducer_View() {
	r := replay.New()
	for _, e := range exampleEvents() {
		r.Add(e)
		fmt.Println(r.View().Doing().Label)
	}
	// Output:
	// Works
	// Works
	// Writes
	// Writes
	// Writes
	// Runs Bash: git status
	// Works
	// Runs Read: notes.txt (lines 1–20)
	// Works
	// Ready
}

// Flat returns derived fields for readers that use no blocks.
func ExampleMessage_Flat() {
	chat := replay.Reduce(exampleEvents())
	f := chat.Messages[1].Flat()
	fmt.Printf("%q, %d tools, interrupted: %v\n", f.Content, len(f.Tools), f.Interrupted)
	s := chat.Stats(1)
	fmt.Println(s.ToolCalls, "calls in", s.Figures.End.Sub(s.Figures.Start), "of them interrupted:", s.Interrupted)
	// Output:
	// "I look at it.", 2 tools, interrupted: true
	// 2 calls in 9s of them interrupted: 1
}

// A restored reducer goes on as if it had all events.
func ExampleRestore() {
	events := exampleEvents()
	r := replay.New()
	for _, e := range events[:5] {
		r.Add(e)
	}
	data, err := r.Snapshot(50)
	if err != nil {
		panic(err)
	}
	again, err := replay.Restore(data)
	if err != nil {
		again = replay.New() // the snapshot is of another version: add all events
	}
	for _, e := range events {
		again.Add(e) // events up to Seq are ignored
	}
	fmt.Println(again.Chat().Text(1))
	// Output: I look at it.
}
