package replay

import (
	"cmp"
	"fmt"
)

// Doing is the current activity of a session, for a status line.
type Doing struct {
	Kind  string `json:"kind"`  // permission, question, tool, text, thinking, compacting, retrying, working, background, idle, ended, failed
	Label string `json:"label"` // one line of limited length
	Busy  bool   `json:"busy"`  // the session runs or waits for the user
}

// Doing returns the session's activity. Open questions take precedence over running
// tools, those over text and reasoning, and those over background tasks. It reads
// the messages of the last turn.
func (v *View) Doing() Doing {
	switch v.chat.Status {
	case Failed:
		return Doing{Kind: "failed", Label: "Failed"}
	case Ended:
		return Doing{Kind: "ended", Label: cmp.Or("Ended"+withColon(foldLine(v.chat.EndReason)), "Ended")}
	}
	var ask, tool *Block
	turn := 0
	for m := range v.Backward() {
		if m.Turn > 0 && turn == 0 {
			turn = m.Turn
		}
		if m.Turn > 0 && m.Turn != turn {
			break
		}
		walkBlocks(m.Blocks, func(b *Block) {
			switch {
			case b.Status == Pending && ask == nil:
				ask = b
			case b.Kind == KindTool && b.Status == Running && !b.Tool.Spawn:
				tool = b
			case b.Kind == KindTool && b.Status == Running && tool == nil:
				tool = b
			}
		})
	}
	switch {
	case v.chat.Status == Waiting && ask != nil && ask.Kind == KindPermission:
		shown := Block{Tool: &Tool{Name: ask.Permission.Tool, Input: ask.Permission.Input}}
		return Doing{"permission", "Asks to run " + shown.Summary(), true}
	case v.chat.Status == Waiting:
		return Doing{"question", "Waits for your answer", true}
	case v.chat.Status == Running:
		return v.runningDoing(tool)
	}
	if n := len(v.runningTasks()); n > 0 {
		return Doing{"background", plural(n, "task", "tasks") + " in the background", true}
	}
	return Doing{Kind: "idle", Label: "Ready"}
}

func (v *View) runningDoing(tool *Block) Doing {
	switch v.chat.Activity {
	case ActivityCompacting:
		return Doing{"compacting", "Summarizes the history", true}
	case ActivityRetrying:
		return Doing{"retrying", "Tries again", true}
	}
	if tool != nil {
		return Doing{"tool", fmt.Sprintf("Runs %s", tool.Summary()), true}
	}
	switch v.chat.Activity {
	case ActivityThinking:
		return Doing{"thinking", "Thinks", true}
	case ActivityWriting:
		return Doing{"text", "Writes", true}
	}
	return Doing{"working", "Works", true}
}

func (v *View) runningTasks() []Task {
	var out []Task
	for _, t := range v.chat.Tasks {
		if t.Status == "running" {
			out = append(out, t)
		}
	}
	return out
}
