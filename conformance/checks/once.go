package checks

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// onceChecks are about what runs at once: sub-agents, messages that wait, turns
// that nobody asked for, stops that come twice, other threads.
func onceChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "subagent.parallel", Severity: conformance.Must, Source: "wire/codex: item ids are the provider's and not unique across threads", Tiers: both,
			Sentence: "What a sub-agent says is told whole under one subagent_id of its own, also of two at once and with equal item ids.",
			Judge:    judgeAgentsApart,
		},
		{
			ID: "tool.parallel", Severity: conformance.Must, Source: "wire/claude: results come in the order in which the tools end", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "Tools and agents that work at once may come in any order: what is told of each stays the same.",
			Faults:     []string{"reorder-independent"},
			JudgeFault: judgeReordered,
		},
		{
			ID: "subagent.background", Severity: conformance.Must, Source: "wire/claude: a sub-agent works on after the result", Tiers: both,
			Sentence: "A sub-agent's task is told from its beginning to its end, each once, and nothing of it follows its end, also where it outlives its parent's turn.",
			Judge:    judgeAgentTasks,
		},
		{
			ID: "turn.child-end-is-not-parent-end", Severity: conformance.Must, Source: "cc-connect#1816", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
			Sentence: "A sub-agent's end does not end the parent's turn.",
			Judge:    judgeChildEnds,
		},
		{
			ID: "turn.queued", Severity: conformance.Must, Source: "wire/claude: merge and injection", Tiers: both,
			Sentence: "A message sent during a turn is queued, merged or injected as the runtime does it; none that reached the model is lost or told twice, and the queue is empty in the end.",
			Judge:    judgeQueued,
		},
		{
			ID: "turn.unprompted", Severity: conformance.Must, Source: "wire/claude: a turn that a background task begins", Tiers: both,
			Sentence: "A turn that the runtime starts by itself is a turn of its own whose turn_start says cause task, and no other turn says so.",
			Judge:    judgeUnprompted,
		},
		{
			ID: "turn.stop-idempotent", Severity: conformance.Must, Source: "clients whose stop button can be pressed twice", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:       "Stopping twice, or with no turn running, is harmless.",
			JudgesWritten:  true,
			AlternateSteps: stopAgain,
			Judge:          judgeStopAgain,
		},
		{
			ID: "turn.after-stop", Severity: conformance.Must, Source: "adapters whose next turn inherits the stop", Tiers: both,
			Sentence: "The turn after a stopped one works and sees only its own events.",
			Judge:    judgeAfterStop,
		},
		{
			ID: "session.two-at-once", Severity: conformance.Must, Source: "wire/codex: two threads interleave line by line on one connection", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "What another thread of the same process says and does is no event of the session, also with equal item ids.",
			Judge:    judgeElsewhere,
		},
	}
}

// aside is the witness's name of the thread that a client opened beside the
// session's.
const aside = "aside"

// besides reports whether the witness's name is of no agent at all: of such a
// thread, or of a search that the runtime has made in a request of its own.
func besides(agent string) bool { return agent == aside || agent == "search" }

func judgeElsewhere(t *conformance.Trial, f *conformance.Finding) {
	var words, tools []string
	for _, q := range t.Witness {
		if q.Agent != aside {
			continue
		}
		for _, s := range q.Said {
			if s.Text != "" {
				words = append(words, s.Text)
			}
			if s.Tool != "" {
				tools = append(tools, s.ID)
			}
		}
		f.Asserted(1)
	}
	if f.Assertions == 0 {
		return
	}
	var all strings.Builder
	calls := map[string]int{}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Delta:
			all.WriteString(d.Text)
		case event.ToolStart:
			calls[d.ToolUseID]++
		}
		if e.SubagentID != "" && len(agentsOf(t.Run)) == 0 {
			f.At(e, "%s of a sub-agent %s, and there is none", e.Type(), e.SubagentID)
		}
		if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent && len(agentsOf(t.Run)) == 0 {
			f.At(e, "a task of a sub-agent %s, and there is none", d.TaskID)
		}
	}
	for _, w := range words {
		if strings.Contains(all.String(), w) {
			f.Failf("the session shows %q, which another thread said", w)
		}
	}
	for id, n := range calls {
		if n > 1 && slices.ContainsFunc(tools, func(s string) bool { return isTool(id, s) }) {
			f.Failf("tool %s starts %d times: another thread has the same id", id, n)
		}
	}
}
