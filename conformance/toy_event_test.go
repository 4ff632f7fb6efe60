package conformance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/report"
)

// ToyFact is a type of event that only this test knows. A later one of the same fact replaces it.
type ToyFact struct {
	FactID string `json:"fact_id"`
	Text   string `json:"text,omitempty"`
}

// ToyStep is another one, of a tool that runs.
type ToyStep struct {
	ToolUseID string `json:"tool_use_id"`
	Step      int    `json:"step,omitzero"`
}

// The methods that go generate writes for a type of package event.
func (ToyFact) EventType() event.Type { return "toy_fact" }
func (d ToyFact) EventKey() string    { return d.FactID }
func (ToyStep) EventType() event.Type { return "toy_step" }
func (d ToyStep) EventKey() string    { return d.ToolUseID }

var (
	toyFact = event.Register[ToyFact](event.Row{Key: "fact_id"})
	toyStep = event.Register[ToyStep](event.Row{Key: "tool_use_id", Transient: true})
)

// toyEvents is a session with events of both types.
func toyEvents() []event.Event {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var out []event.Event
	for i, e := range []event.Event{
		{Data: event.SessionReady{SessionID: "s", Runtime: "toy"}},
		{Turn: 1, Data: event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{"m1"}}},
		{Turn: 1, Data: event.ToolStart{ToolUseID: "t1", Tool: "Bash", Input: event.Raw(`{}`)}},
		{Turn: 1, Data: ToyStep{ToolUseID: "t1", Step: 1}},
		{Turn: 1, Data: ToyFact{FactID: "f1", Text: "first"}},
		{Turn: 1, Data: ToyFact{FactID: "f2", Text: "other"}},
		{Turn: 1, Data: ToyStep{ToolUseID: "t1", Step: 2}},
		{Turn: 1, Data: ToyFact{FactID: "f1", Text: "last"}},
		{Turn: 1, Data: event.ToolResult{ToolUseID: "t1", Output: "x", Status: event.ToolOK}},
		{Turn: 1, Data: ToyStep{ToolUseID: "t1", Step: 3}},
		{Turn: 1, Data: event.Done{}},
	} {
		e.TS, e.Seq, e.SessionID = start.Add(time.Duration(i)*time.Second), int64(i+1), "s"
		out = append(out, e)
	}
	return out
}

// blocksOf returns the blocks of a kind of a chat as ID TEXT, nested ones too.
func blocksOf(blocks []replay.Block, kind string) (out []string) {
	for i := range blocks {
		if b := &blocks[i]; string(b.Kind) == kind {
			out = append(out, b.ID+" "+b.Text)
		}
		out = append(out, blocksOf(blocks[i].Blocks, kind)...)
	}
	return out
}

// TestToyEvent adds types of events as adapters/event describes, by their structs and rows. All
// that carries events carries them, though no code has a case for them.
func TestToyEvent(t *testing.T) {
	events := toyEvents()

	t.Run("decoder", func(t *testing.T) {
		g := NewWithT(t)
		for _, e := range events {
			line, err := e.AppendJSON(nil)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := event.Decode(line)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(e))
		}
		_, err := event.Decode([]byte(`{"type":"toy_fact","data":{"text":"x"},"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s"}`))
		g.Expect(err).To(MatchError("data.fact_id: missing"))
	})

	t.Run("reducer", func(t *testing.T) {
		g := NewWithT(t)
		r := replay.New()
		for _, e := range events[:8] {
			r.Add(e)
		}
		running := r.Chat()
		g.Expect(blocksOf(running.Messages[0].Blocks[0].Blocks, "toy_step")).To(Equal([]string{`t1 {"tool_use_id":"t1","step":2}`}), "in its tool")
		facts := []string{`f1 {"fact_id":"f1","text":"last"}`, `f2 {"fact_id":"f2","text":"other"}`}
		g.Expect(blocksOf(running.Messages[0].Blocks, "toy_fact")).To(Equal(facts), "the last value of each key")
		for _, e := range events[8:] {
			r.Add(e)
		}
		g.Expect(blocksOf(r.Chat().Messages[0].Blocks, "toy_step")).To(BeEmpty(), "its tool has ended")
		g.Expect(blocksOf(r.Chat().Messages[0].Blocks, "toy_fact")).To(Equal(facts))
		var text strings.Builder
		g.Expect(r.Chat().Render(&text, replay.RenderOptions{})).To(Succeed())
		g.Expect(text.String()).To(ContainSubstring(`[toy_fact: {"fact_id":"f1","text":"last"}]`))
	})

	t.Run("page", func(t *testing.T) {
		g := NewWithT(t)
		r := replay.New()
		for _, e := range events {
			r.Add(e)
		}
		v := r.View()
		var d page.Differ
		patch, err := json.Marshal(d.Next(slices.Collect(v.Messages()), v, false))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(patch)).To(ContainSubstring(`"kind":"toy_fact","id":"f1"`))
		g.Expect(string(patch)).To(ContainSubstring(`last`))
	})

	for _, name := range []string{"agui", "uistream", "agentui"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d, _ := dialects.Of(name)
			m, err := mapping.Builtin(name)
			g.Expect(err).NotTo(HaveOccurred())
			m = backend.Strict(m)
			g.Expect(m.Types()).To(ContainElements(toyFact, toyStep))
			g.Expect(m.Names(toyFact, "text")).To(BeTrue())
			g.Expect(m.Names(toyFact, "other")).To(BeFalse())
			g.Expect(m.OnlyIfSeen("toy_fact.text")).To(BeTrue(), "servers of others do not send it")
			translate, reader, checker := d.New(), m.NewReader(), m.NewChecker()
			var got []string
			for _, e := range events {
				for _, message := range translate(e) {
					g.Expect(checker.Add(message.Line)).To(BeEmpty(), "%s", message.Line)
					read, err := reader.Read(message.Line)
					g.Expect(err).NotTo(HaveOccurred())
					for _, e := range read {
						data, err := json.Marshal(e.Data)
						g.Expect(err).NotTo(HaveOccurred())
						if strings.HasPrefix(string(e.Type), "toy_") {
							got = append(got, string(e.Type)+" "+string(data))
						}
					}
				}
			}
			g.Expect(got).To(Equal([]string{
				`toy_step {"step":1,"tool_use_id":"t1"}`, `toy_fact {"fact_id":"f1","text":"first"}`, `toy_fact {"fact_id":"f2","text":"other"}`,
				`toy_step {"step":2,"tool_use_id":"t1"}`, `toy_fact {"fact_id":"f1","text":"last"}`, `toy_step {"step":3,"tool_use_id":"t1"}`,
			}))
		})
	}

	t.Run("wsmessages", func(t *testing.T) {
		g := NewWithT(t)
		d, _ := dialects.Of("wsmessages")
		g.Expect(d.LeftOut()).To(HaveKey(toyFact))
	})

	t.Run("plugs", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(plug.Inexpressible("toy_fact", []event.Type{event.TypeDelta}, nil)).To(BeTrue(), "no list of what a vocabulary lacks names it")
		g.Expect(plug.Inexpressible("delta", []event.Type{event.TypeDelta}, nil)).To(BeFalse())
	})

	t.Run("report", func(t *testing.T) {
		g := NewWithT(t)
		run := &conformance.Run{}
		for i, e := range events {
			run.Events = append(run.Events, conformance.Event{Event: e, At: time.Duration(i) * time.Second})
		}
		check := &conformance.Check{ID: "toy.check"}
		doc := report.New(&conformance.Report{Results: []conformance.Result{{
			Check: check, Case: "toy/1/text/plain", Verdict: conformance.Fail, Trial: &conformance.Trial{Run: run},
			Problems: []conformance.Problem{{Text: "x"}},
		}}}, report.About{DrawChat: chats.Bubbles})
		g.Expect(doc.Plays).To(HaveLen(1))
		var shown []string
		for _, b := range doc.Plays[0].Chat {
			if b.Kind == "toy_fact" {
				shown = append(shown, b.Text)
				if strings.Contains(b.Text, "f1") {
					g.Expect([]int64{b.From / 1e9, b.To / 1e9}).To(Equal([]int64{4, 7}), "the time of the events with its key")
				}
			}
		}
		g.Expect(shown).To(HaveLen(2))
	})
}
