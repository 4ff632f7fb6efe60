package checks

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func turnChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "turn.one-terminal", Severity: conformance.Must, Source: "openai/codex#35810, claude-code#25629", Tiers: both,
			Sentence: "Each turn ends in exactly one terminal event.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				ends := map[int]int{}
				for _, e := range t.Events {
					if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
						ends[e.Turn]++
					}
				}
				turns := turnsOf(t.Run)
				for _, n := range turns {
					f.Asserted(1)
					if ends[n] != 1 {
						f.Failf("turn %d has %d terminal events", n, ends[n])
					}
				}
				if len(turns) == 0 && has(t.Run, fixtures.VerbSend) {
					f.Failf("a message was sent, but no event belongs to a turn")
				}
			},
		},
		{
			ID: "turn.nothing-after-terminal", Severity: conformance.Must, Source: "adapters that show deltas after turn/completed", Tiers: both,
			Sentence:   "Nothing of a turn follows its terminal event; late wire is dropped or belongs to the next turn.",
			Faults:     []string{"late-delta", "late-item", "stale-line", "duplicate-end"},
			JudgeFault: judgeHarmless,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				ended := map[int]conformance.Event{}
				for _, e := range t.Events {
					if e.Turn == 0 || e.SubagentID != "" {
						continue
					}
					if end, ok := ended[e.Turn]; ok {
						if !e.Terminal() {
							f.At(e, "%s of turn %d follows its %s (seq %d)", e.Type(), e.Turn, end.Type(), end.Seq)
						}
						continue
					}
					if e.Terminal() {
						f.Asserted(1)
						ended[e.Turn] = e
					}
				}
			},
		},
		{
			ID: "turn.stop", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "A stopped turn ends in done with stopped:true within the limit, the partial text stays, open tools are closed as interrupted.",
			Judge:    judgeStop,
		},
		{
			ID: "turn.crash-ends", Severity: conformance.Must, Source: "adapters whose send hangs when the process dies", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "If the runtime dies, the turn ends in error within the limit, what was said stays, and Send returns.",
			Faults:     []string{"kill", "exit", "exit-without-newline", "cut-line", "close-stdout"},
			JudgeFault: judgeCrash,
		},
		{
			ID: "turn.stall-ends", Severity: conformance.Must, Source: "claude-code#59243", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
			Sentence:   "If the runtime goes silent for good, the turn ends in an error of code timeout; while a tool or a question is open nothing is asked of it. When the runtime is given up, all that waits is told.",
			Faults:     []string{"stall", "missing-end", "close-stdin", "no-reply"},
			JudgeFault: judgeStall,
		},
		{
			ID: "turn.lost-end", Severity: conformance.Must, Source: "claude-code#1920: no result at the end of the stream", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "A turn whose end the runtime loses, while it lives and goes on, ends in an error or as stopped, and the next one is told as a turn of its own.",
			Faults:     []string{"lost-end"},
			JudgeFault: judgeLost,
		},
		{
			ID: "turn.slow-lives", Severity: conformance.Must, Source: "time-outs that end the turn of a model which thinks", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "A runtime that says nothing for minutes, and answers what it is asked, is left alone: the turn goes on.",
			Faults:     []string{"long-pause"},
			JudgeFault: judgeSlow,
		},
		{
			ID: "turn.refused", Severity: conformance.Must, Source: "clients that wait for the end of a turn that never began", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "A request that the runtime refuses is told: the act fails, or an error or a notice comes; nothing waits for it for ever.",
			Faults:     []string{"error-reply"},
			JudgeFault: judgeRefused,
		},
	}
}

// judgeStop: the turn that ran when stop was called.
func judgeStop(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbStop {
			continue
		}
		running := 0
		for _, e := range t.Events {
			switch {
			case e.Steps > i || e.SubagentID != "":
			case e.Terminal() && e.Turn == running:
				running = 0
			case e.Type() == event.TypeTurnStart:
				running = e.Turn
			}
		}
		if running == 0 {
			continue // nothing ran: another check's
		}
		f.Asserted(1)
		if a.Err != nil {
			f.Failf("stop failed: %v", a.Err)
		}
		var end *conformance.Event
		open := map[string]bool{}
		for _, e := range t.Events {
			if e.Turn != running || e.SubagentID != "" {
				continue
			}
			switch d := e.Data.(type) {
			case event.ToolStart:
				open[d.ToolUseID] = true
			case event.ToolResult:
				// Where the subject has no word for an interrupted call, a call that ended
				// just before cannot be told from it.
				if e.Steps > i && t.Supports("tool_result.status") && d.Status != event.ToolInterrupted && d.Status != event.ToolBackgrounded {
					f.At(e, "tool %s was open when the turn was stopped, and is told as %s", d.ToolUseID, d.Status)
				}
				delete(open, d.ToolUseID)
			}
			if e.Terminal() && end == nil {
				end = &e
			}
		}
		for id := range open {
			f.Failf("tool %s has no result after the stop", id)
		}
		switch {
		case end == nil:
			f.Failf("turn %d has no terminal event after the stop", running)
		case end.At-a.At > perform.EndLimit:
			f.At(*end, "turn %d ends %v after the stop, the limit is %v", running, end.At-a.At, perform.EndLimit)
		default:
			if d, ok := end.Data.(event.Done); !ok || !d.Stopped {
				f.At(*end, "turn %d was stopped and ends in %s", running, describe(end.Data))
			}
		}
	}
	if f.Assertions > 0 {
		got := shown(t.Run)
		if want := expected(t.Run, got); len(got) < len(want) {
			f.Diff("the partial text did not stay", want+"\n", got+"\n")
		}
	}
}

func describe(d event.Data) string {
	switch d := d.(type) {
	case event.Done:
		return fmt.Sprintf("done (stopped: %v)", d.Stopped)
	case event.Error:
		return fmt.Sprintf("error %s: %s", d.Code, d.Message)
	}
	return string(d.EventType())
}
