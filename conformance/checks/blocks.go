package checks

import (
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
)

// blockChecks are about where text and reasoning begin and end.
func blockChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "text.block-boundary", Severity: conformance.Must, Source: "wire/claude: a message has several blocks", Tiers: both,
			Sentence: "Two texts of the model are two blocks: what was said before a tool and what was said after it are never glued into one.",
			Judge:    judgeBoundaries,
		},
		{
			ID: "text.result", Severity: conformance.Must, Source: "adapters that show the result beside the stream", Tiers: both,
			Sentence: "result, where there is one, is the final text of its turn.",
			Judge:    judgeResult,
		},
		{
			ID: "text.unicode", Severity: conformance.Must, Source: "nerve#424: characters broken at the edge of a read", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "Text survives any split of the stream, inside a character or an escape too.",
			Faults:     []string{"split-every-byte"},
			JudgeFault: judgeUnicode,
		},
		{
			ID: "text.not-thinking", Severity: conformance.Must, Source: "chats that show reasoning as the answer", Tiers: both,
			Sentence: "No reasoning leaks into text, no text into thinking.",
			Judge:    judgeApart,
		},
		{
			ID: "thinking.closed", Severity: conformance.Must, Source: "bubbles that think for ever", Tiers: both,
			Sentence: "Thinking that was opened is closed (done:true) before text, a tool or the end of the turn supersedes it.",
			Judge:    judgeThinkingClosed,
		},
		{
			ID: "thinking.hidden", Severity: conformance.Must, Source: "claude-agent-sdk-typescript#337: thinking that is blank", Tiers: both,
			Sentence: "Reasoning without words makes no empty bubble in the chat.",
			Judge:    judgeHidden,
		},
	}
}

func judgeBoundaries(t *conformance.Trial, f *conformance.Finding) {
	pieces := kept(t.Run)
	for i := 1; i < len(pieces); i++ {
		a, b := strings.TrimSpace(pieces[i-1].text), strings.TrimSpace(pieces[i].text)
		if a == "" || b == "" || pieces[i-1].prefix {
			continue
		}
		f.Asserted(1)
		for _, x := range blocks(t.Run) {
			text := x.text.String()
			if at := strings.Index(text, a); at >= 0 && strings.HasPrefix(strings.TrimSpace(text[at+len(a):]), b) {
				f.At(x.first, "block %s holds two texts of the model: %q", x.id, clip(text))
			}
		}
	}
}

func judgeResult(t *conformance.Trial, f *conformance.Finding) {
	if t.Scenario.Schema != nil {
		return // the result is a document
	}
	own := ownTurns(t.Run)
	for _, e := range t.Events {
		d, is := e.Data.(event.Result)
		if !is || d.Text == "" || e.SubagentID != "" || own[e.Turn] {
			continue
		}
		var said strings.Builder
		for _, b := range blocks(t.Run) {
			if b.turn == e.Turn && !b.retracted {
				said.WriteString(b.text.String())
			}
		}
		if said.Len() == 0 {
			continue // the runtime itself speaks
		}
		f.Asserted(1)
		lines := strings.Split(strings.TrimSpace(d.Text), "\n")
		whole := strings.HasSuffix(strip(said.String()), strip(lines[len(lines)-1]))
		for _, line := range lines { // of a plan in between the result may say nothing
			whole = whole && strings.Contains(strip(said.String()), strip(line))
		}
		if !whole {
			f.At(e, "the result of turn %d is %q, its text ends otherwise: %q", e.Turn, clip(d.Text), clip(said.String()))
		}
	}
}

// judgeUnicode looks at text that has more than one byte to a character.
func judgeUnicode(plain, r *conformance.Run, f *conformance.Finding) {
	want := shown(plain)
	if len(want) == len([]rune(want)) {
		return
	}
	f.Asserted(1)
	if got := shown(r); got != want {
		f.Problems = append(f.Problems, conformance.Problem{Fault: r.Fault, Text: r.Fault.String() + ": the text differs",
			Diff: conformance.Diff("undisturbed", want+"\n", "split", got+"\n")})
	}
}

func judgeApart(t *conformance.Trial, f *conformance.Finding) {
	var text, thoughts strings.Builder
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Delta:
			text.WriteString(d.Text)
		case event.Thinking:
			thoughts.WriteString(d.Text)
		}
	}
	for _, q := range t.Witness {
		for _, s := range q.Said {
			if s.Think != "" {
				f.Asserted(1)
				if strings.Contains(text.String(), s.Think) {
					f.Failf("the reasoning %q is told as text", clip(s.Think))
				}
			}
			if f.Assertions > 0 && len(s.Text) > 0 && strings.Contains(thoughts.String(), s.Text) {
				f.Failf("the text %q is told as reasoning", clip(s.Text))
			}
		}
	}
}

func judgeThinkingClosed(t *conformance.Trial, f *conformance.Finding) {
	open := map[string]string{} // agent → block
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Thinking:
			switch {
			case d.Done:
				delete(open, e.SubagentID)
			case d.Text != "":
				f.Asserted(1)
				open[e.SubagentID] = d.BlockID + " "
			}
			continue
		case event.BlockEnd:
			if open[e.SubagentID] == d.BlockID+" " {
				delete(open, e.SubagentID)
			}
			continue
		case event.Delta, event.ToolStart, event.Done, event.Error:
		default:
			continue
		}
		if id, is := open[e.SubagentID]; is {
			f.At(e, "%s comes while thinking %sis open", e.Type(), id)
			delete(open, e.SubagentID)
		}
	}
}

func judgeHidden(t *conformance.Trial, f *conformance.Finding) {
	for _, e := range t.Events {
		if d, is := e.Data.(event.Thinking); is && strings.TrimSpace(d.Text) == "" && !d.Done {
			f.Asserted(1)
		}
	}
	if judge.LiveChat(t.Run) == nil {
		return
	}
	var look func(blocks []replay.Block)
	look = func(blocks []replay.Block) {
		for _, b := range blocks {
			if b.Kind == replay.KindThinking && strings.TrimSpace(b.Text) == "" {
				f.Failf("the chat has a bubble of thinking without words (block %s)", b.ID)
			}
			look(b.Blocks)
		}
	}
	for _, m := range judge.LiveChat(t.Run).Messages {
		look(m.Blocks)
	}
}
