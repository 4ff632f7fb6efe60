package replay

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// randomSource is what a stream of events is drawn from: of rand or of rapid.
type randomSource interface{ IntN(n int) int }

// randomEvents makes events without regard to sense: what a reducer must bear.
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
		func() event.Data { return event.SessionReady{SessionID: "s", Runtime: "codex", Model: text()} },
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
			return event.ToolStart{ToolUseID: id("k"), Tool: []string{"", "\xff", "Bash", "weather", "plan"}[r.IntN(5)], Input: raw(), SubagentSpawn: r.IntN(2) == 0, SubagentName: text(), Command: text()}
		},
		func() event.Data { return event.ToolOutput{ToolUseID: id("k"), Text: text()} },
		func() event.Data {
			s := []event.ToolStatus{"ok", "error", "denied", "interrupted", "backgrounded"}[r.IntN(5)]
			return event.ToolResult{ToolUseID: id("k"), Output: text(), Status: s, Changes: []event.FileChange{{Path: text(), Kind: "add", Diff: text()}}}
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
		func() event.Data { return event.Interrupt{InterruptID: id("r"), Props: raw()} },
		func() event.Data { return event.InterruptResolved{InterruptID: id("r"), Value: raw(), By: "withdrawn"} },
		func() event.Data { return event.Plan{Steps: []event.PlanStep{{Text: text(), Status: "pending"}}} },
		func() event.Data {
			cost := float64(r.IntN(100)) / 8
			return event.Usage{Tokens: event.Tokens{Input: int64(r.IntN(9))}, Cost: []*float64{nil, &cost}[r.IntN(2)], Context: &event.Context{Used: 1}}
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
		e.TS = time.Date(2026, 11, 21, 10, 0, i/8, 0, time.UTC) // many in one moment: only seq orders
		if r.IntN(30) == 0 {
			e.Turn = 1 + r.IntN(turn) // one that is over
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

func chatJSON(t *testing.T, c *Chat) string {
	t.Helper()
	b, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// forRandomEvents runs a property over many event lists, and names the seed of a
// failure.
func forRandomEvents(t *testing.T, property func(g Gomega, r *rand.Rand, events []event.Event)) {
	t.Helper()
	seeds := uint64(60)
	if racesample.Enabled {
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		events := randomEvents(r, 1+r.IntN(120))
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { property(NewWithT(t), r, events) })
	}
}

func reduceLive(events []event.Event) *Chat {
	r := New()
	for _, e := range events {
		r.Add(e)
	}
	return r.Chat()
}

func TestStoredEqualsLive(t *testing.T) {
	forRandomEvents(t, func(g Gomega, r *rand.Rand, events []event.Event) {
		want := chatJSON(t, reduceLive(events))
		var stored bytes.Buffer
		enc := event.NewEncoder(&stored)
		for _, e := range events {
			g.Expect(enc.Encode(e)).To(Succeed())
		}
		lines := strings.SplitAfter(strings.TrimSuffix(stored.String(), "\n"), "\n")
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		var read []event.Event
		for _, l := range lines {
			e, err := event.Decode([]byte(l))
			g.Expect(err).NotTo(HaveOccurred(), l)
			read = append(read, e)
		}
		before := fmt.Sprint(read)
		g.Expect(chatJSON(t, Reduce(read))).To(Equal(want))
		g.Expect(Reduce(read)).To(Equal(reduceLive(events)), "also where the JSON form is the same")
		g.Expect(fmt.Sprint(read)).To(Equal(before), "the caller's events are left as they are")
	})
}

func TestAnyPrefixThenTheRest(t *testing.T) {
	forRandomEvents(t, func(g Gomega, _ *rand.Rand, events []event.Event) {
		r := New()
		var chats []*Chat
		var texts []string
		for i, e := range events {
			r.Add(e)
			c := r.Chat()
			chats, texts = append(chats, c), append(texts, chatJSON(t, c))
			if i%7 == 0 {
				g.Expect(texts[i]).To(Equal(chatJSON(t, Reduce(events[:i+1]))), "a snapshot is what its prefix makes")
			}
		}
		g.Expect(chatJSON(t, r.Chat())).To(Equal(chatJSON(t, reduceLive(events))), "looking changes nothing")
		for i, c := range chats {
			g.Expect(chatJSON(t, c)).To(Equal(texts[i]), "a chat that was handed out stays")
		}
	})
}

func TestDeliveredTwice(t *testing.T) {
	forRandomEvents(t, func(g Gomega, r *rand.Rand, events []event.Event) {
		red := New()
		for i := range events {
			red.Add(events[i])
			if r.IntN(10) == 0 {
				for _, e := range events[r.IntN(i+1) : i+1] {
					red.Add(e)
				}
			}
		}
		g.Expect(red.Seq()).To(BeEquivalentTo(len(events)))
		g.Expect(chatJSON(t, red.Chat())).To(Equal(chatJSON(t, reduceLive(events))))
	})
}

func TestNothingIsAliased(t *testing.T) {
	g := NewWithT(t)
	buf := []byte(`{"a":1}`)
	list, steps, options := []string{"m"}, []event.PlanStep{{Text: "a"}}, []string{"o"}
	changes, files, code := []event.FileChange{{Path: "p"}}, []event.Attachment{{Name: "n"}}, 1
	usage := event.Tokens{Input: 1}
	r := New()
	for _, e := range numbered(
		event.UserMessage{MessageID: "m", Attachments: files}, event.Queue{MessageIDs: list},
		event.ToolStart{ToolUseID: "t", Input: buf}, event.ToolResult{ToolUseID: "t", Changes: changes, ExitCode: &code},
		event.PermissionRequest{RequestID: "r", ToolInput: buf, Options: options},
		event.Interrupt{InterruptID: "i", Props: buf}, event.InterruptResolved{InterruptID: "i", Value: buf},
		event.Plan{Steps: steps}, event.ComponentUpdate{ComponentID: "c", Props: buf},
		event.Task{TaskID: "k", Kind: event.TaskSubagent, Usage: &usage},
		event.Done{ExitCode: &code},
	) {
		r.Add(e)
	}
	before := chatJSON(t, r.Chat())
	copy(buf, "xxxxxxx")
	list[0], steps[0].Text, options[0], changes[0].Path, files[0].Name, code, usage.Input = "x", "x", "x", "x", "x", 9, 9
	for _, m := range r.open {
		m.blocks.walkNodes((*node).markStale)
		m.markStale()
	}
	g.Expect(chatJSON(t, r.Chat())).To(Equal(before))
}

// A block of very many pieces must cost what its text costs, and looking at the
// chat meanwhile must not copy it each time.
func TestManyDeltas(t *testing.T) {
	g := NewWithT(t)
	const n = 200_000
	r := New()
	for i := range 2000 {
		r.Add(event.Event{Data: bashStart(fmt.Sprint("t", i)), SessionID: "s", Turn: 1 + i})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		r.Add(event.Event{Data: event.Delta{Text: "piece ", MessageID: "m", BlockID: "b"}, Seq: int64(i + 1), SessionID: "s", Turn: 2000})
		if i%1000 == 0 {
			r.View()
		}
	}
	g.Expect(r.Chat().Text(2000)).To(HaveLen(6 * n))
	runtime.ReadMemStats(&after)
	// Copying the text at each look would be 120 MB more; at each piece 120 GB.
	g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 40<<20))
	allocs := testing.AllocsPerRun(100, func() { r.Chat() })
	g.Expect(allocs).To(BeNumerically("<", 10), "messages that did not change are not built again")
}

func TestSessionsDoNotMix(t *testing.T) {
	g := NewWithT(t)
	var both []event.Event
	for _, s := range []string{"b", "a"} {
		for _, e := range numbered(delta("x", s), event.Done{}) {
			e.SessionID = s
			both = append(both, e)
		}
	}
	g.Expect(chatShape(Reduce(both))).To(Equal("assistant/complete[text:complete:a] | assistant/complete[text:complete:b]"))
}
