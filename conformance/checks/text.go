package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func textChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "text.once", Severity: conformance.Must, Source: "ex_mcp#14, parsar#308: text shown twice", Tiers: both,
			Sentence: "The deltas of a turn, joined, are the text that the model said, exactly once.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Asserted(len(kept(t.Run)))
				got := shown(t.Run)
				want := expected(t.Run, got)
				if sorted(got) != sorted(want) {
					f.Diff("the text is not what the model said", paragraphs(want), paragraphs(got))
					return
				}
				judgeTurns(t.Run, f)
			},
		},
		{
			ID: "text.order", Severity: conformance.Must, Source: "AgentRecall#503: tokens scrambled on reload", Tiers: both,
			Sentence: "Text comes in the order in which the model said it, also in bursts within one millisecond.",
			Judge:    judgeOrder,
		},
		{
			ID: "text.retracted", Severity: conformance.Must, Source: "Claude Code abandons blocks of a cut stream; Codex says a retried message in a new item", Tiers: both,
			Sentence: "Deltas that the runtime abandoned (cut stream, retried) do not stay in the final text.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				reqs := mainRequests(t.Run)
				bs := blocks(t.Run)
				for i, q := range reqs {
					if !abandoned(reqs, i) {
						continue
					}
					for j, s := range q.Said {
						if s.Text == "" || !broken(q, j) {
							continue
						}
						f.Asserted(1)
						for _, b := range bs {
							if text := b.text.String(); !b.retracted && text != "" && strings.HasPrefix(s.Text, text) && saidLater(bs, b, reqs[i+1]) {
								f.At(b.first, "%q was cut and said again, and still stands in the text", text)
							}
						}
					}
				}
			},
		},
		{
			ID: "text.paragraph-break", Severity: conformance.Must, Source: "houston#1076, sigit#65: paragraphs glued across tool calls", Tiers: both,
			Sentence: "In the chat, text before and after a tool, and two blocks of text, are separated by a blank line, live and in replay; never doubled, never at the start.",
			Judge:    judgeParagraphs,
		},
	}
}

// saidLater reports whether a block after b begins what a request said.
func saidLater(bs []*block, b *block, q fixtures.Request) bool {
	for _, later := range bs[slices.Index(bs, b)+1:] {
		for _, s := range q.Said {
			if s.Text != "" && strings.HasPrefix(later.text.String(), s.Text) {
				return true
			}
		}
	}
	return false
}

// judgeTurns: the text stands in the turn whose message it answers, as far as
// messages tell turns apart.
func judgeTurns(r *conformance.Run, f *conformance.Finding) {
	turns, want, got := turnsOfRequests(r), map[int]string{}, map[int]string{}
	for _, p := range kept(r) {
		if turns[p.req] == 0 || p.prefix {
			return // a turn that the runtime began by itself, or text of unknown length
		}
		want[turns[p.req]] += p.text
	}
	for _, b := range blocks(r) {
		if !b.retracted {
			got[b.turn] += b.text.String()
		}
	}
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if sorted(want[n]) != sorted(got[n]) {
			f.Diff(fmt.Sprintf("the text of turn %d is not what the model said to its messages", n), paragraphs(want[n]), paragraphs(got[n]))
		}
	}
}

// turnsOfRequests tells by the messages that a request brings in which turn the
// subject puts what it says; 0 is not known.
func turnsOfRequests(r *conformance.Run) map[int]int {
	taken := map[string]int{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			for _, id := range d.MessageIDs {
				taken[id] = e.Turn
			}
		case event.UserMessage:
			if e.Turn > 0 {
				taken[d.MessageID] = e.Turn
			}
		}
	}
	out := map[int]int{}
	turn := 0
	for _, q := range mainRequests(r) {
		for _, id := range q.New {
			switch n, ok := taken[id]; {
			case ok:
				turn = n
			case !strings.HasPrefix(id, "result:") && id != "retry":
				turn = 0
			}
		}
		out[q.Req] = turn
	}
	return out
}

func sorted(s string) string {
	r := []rune(s)
	slices.Sort(r)
	return string(r)
}

// paragraphs breaks a long text into lines, for a diff that can be read.
func paragraphs(s string) string {
	return strings.ReplaceAll(s, ". ", ".\n") + "\n"
}

// judgeOrder: with nothing lost and nothing doubled the text must be equal;
// else what can be found must come in order.
func judgeOrder(t *conformance.Trial, f *conformance.Finding) {
	pieces := kept(t.Run)
	f.Asserted(len(pieces))
	got := shown(t.Run)
	want := expected(t.Run, got)
	if sorted(got) == sorted(want) {
		if got != want {
			f.Diff("the text is all there, but not in order", paragraphs(want), paragraphs(got))
		}
		return
	}
	last := -1
	for _, p := range pieces {
		i := strings.Index(got[max(last, 0):], p.text)
		if i >= 0 {
			last = max(last, 0) + i
		} else if strings.Contains(got, p.text) && !p.prefix {
			f.Failf("%q comes before what the model said before it", p.text)
		}
	}
}

// judgeParagraphs: the visible text of the chat, live and stored, is the kept
// blocks with one blank line between.
func judgeParagraphs(t *conformance.Trial, f *conformance.Finding) {
	for _, e := range t.Events {
		if e.SessionID != t.Events[0].SessionID {
			return // a chat of its own for each session: together they are none
		}
	}
	var blocks []string
	if got := shown(t.Run); strip(got) != strip(expected(t.Run, got)) {
		return // text is lost, doubled or out of order: other checks say so
	}
	for _, p := range kept(t.Run) {
		if p.prefix {
			return // where it ends is not known
		}
		if strings.TrimSpace(p.text) != "" { // a block of line ends need not be shown
			blocks = append(blocks, p.text)
		}
	}
	if len(blocks) < 2 {
		return
	}
	f.Asserted(len(blocks) - 1)
	want := joined(blocks)
	stored, err := judge.Chat(t.Run)
	if err != nil {
		f.Failf("the events cannot be stored and read back: %v", err)
		return
	}
	for _, view := range []struct {
		name string
		chat *replay.Chat
	}{{"live", judge.LiveChat(t.Run)}, {"stored", stored}} {
		if text := visible(view.chat); text != want {
			f.Diff("the "+view.name+" chat has other paragraphs", want+"\n", text+"\n")
			return
		}
	}
}

func strip(s string) string { return strings.Join(strings.Fields(s), "") }

// joined puts exactly one blank line between blocks, counting the line ends
// that the blocks bring.
func joined(blocks []string) string {
	var b strings.Builder
	for _, x := range blocks {
		if b.Len() > 0 {
			s := b.String()
			have := len(s) - len(strings.TrimRight(s, "\n")) + len(x) - len(strings.TrimLeft(x, "\n"))
			for ; have < 2; have++ {
				b.WriteByte('\n')
			}
		}
		b.WriteString(x)
	}
	return b.String()
}

// visible is all of a chat's assistant text; turns are paragraphs too.
func visible(c *replay.Chat) string {
	var texts []string
	for _, m := range c.Messages {
		if m.Role == replay.RoleAssistant {
			if text := m.Text(); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return joined(texts)
}
