package session

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ConcurrentThreads is the check session.concurrent-threads.
var ConcurrentThreads = &conformance.Check{
	ID: "session.concurrent-threads", Source: "wire/codex: two threads interleave line by line on one connection", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.two-at-once"},
	Mend:     "Read the thread id of each line and drop lines of threads that are not the session's. Do not identify items by the item id alone.",
	Sentence: "Text and tool calls of another thread of the same process are no events of the session, also with equal item ids.",
	Judge:    judgeOtherThreads,
}

func judgeOtherThreads(t *conformance.Trial, f *conformance.Finding) {
	var words, tools []string
	for _, q := range t.Witness {
		if q.Agent != runindex.AsideThread {
			continue
		}
		for _, s := range q.Output {
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
		if e.SubagentID != "" && len(runindex.Subagents(t.Run)) == 0 {
			f.At(e, "%s has subagent_id %s, but there is no sub-agent", e.Type(), e.SubagentID)
		}
		if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent && len(runindex.Subagents(t.Run)) == 0 {
			f.At(e, "task %s is of a sub-agent, but there is none", d.TaskID)
		}
	}
	for _, w := range words {
		if strings.Contains(all.String(), w) {
			f.Failf("the session holds %q, which is text of another thread", w)
		}
	}
	for id, n := range calls {
		if n > 1 && slices.ContainsFunc(tools, func(s string) bool { return runindex.SameCall(t.Run, id, s) }) {
			f.Failf("tool %s starts %d times: another thread has the same id", id, n)
		}
	}
}
