package checks

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// saidBy is the text that a sub-agent must be seen to say, and whether the last
// of it may be cut short.
func saidBy(r *conformance.Run, agent string) (text string, cut bool) {
	var b strings.Builder
	for i, q := range r.Witness {
		if q.Agent != agent || q.Ended == fixtures.EndedFailed || abandonedBy(r.Witness, i) {
			continue
		}
		for _, s := range q.Said {
			b.WriteString(s.Text)
		}
		cut = cut || q.Ended != fixtures.EndedComplete
	}
	return b.String(), cut
}

// abandonedBy reports whether the request was repeated by the same agent.
func abandonedBy(reqs []fixtures.Request, i int) bool {
	for _, q := range reqs[i+1:] {
		if q.Agent == reqs[i].Agent {
			return reqs[i].Ended == fixtures.EndedCut && slices.Contains(q.New, "retry")
		}
	}
	return false
}

func agentsOf(r *conformance.Run) []string {
	var out []string
	for _, q := range r.Witness {
		if q.Agent != "" && !besides(q.Agent) && !slices.Contains(out, q.Agent) {
			out = append(out, q.Agent)
		}
	}
	return out
}

// textByAgent is what the events leave of each sub-agent's text.
func textByAgent(r *conformance.Run) map[string]string {
	texts := map[string]string{}
	type block struct{ sub, id string }
	var order []block
	of := map[block]string{}
	for _, e := range r.Events {
		if e.SubagentID == "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.Delta:
			k := block{e.SubagentID, d.BlockID}
			if _, known := of[k]; !known {
				order = append(order, k)
			}
			of[k] += d.Text
		case event.BlockEnd:
			switch k := (block{e.SubagentID, d.BlockID}); d.Status {
			case event.BlockReplaced:
				of[k] = d.Text
			case event.BlockRetracted:
				of[k] = ""
			}
		}
	}
	for _, k := range order {
		texts[k.sub] += of[k]
	}
	return texts
}

// silent reports whether the wire of that version does not tell what a
// sub-agent in the foreground says.
func silent(r *conformance.Run) bool {
	return r.Runtime == "claude" && (r.Case == nil || fixtures.CompareVersions(r.Case.Version, "2.1.329") < 0)
}

func judgeAgentsApart(t *conformance.Trial, f *conformance.Finding) {
	texts := textByAgent(t.Run)
	taken := map[string]string{} // subagent_id → the agent whose text it holds
	for _, agent := range agentsOf(t.Run) {
		want, cut := saidBy(t.Run, agent)
		if want == "" || silent(t.Run) {
			continue
		}
		f.Asserted(1)
		found := ""
		for id, got := range texts {
			if taken[id] == "" && (got == want || cut && got != "" && strings.HasPrefix(want, got)) {
				found = id
			}
		}
		if found == "" && !cut {
			f.Failf("no subagent_id has the text of %s, %q; there are %q", agent, want, texts)
		}
		taken[found] = agent
	}
}

func judgeAgentTasks(t *conformance.Trial, f *conformance.Finding) {
	runs := map[string]bool{}
	for _, e := range t.Events {
		if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent {
			f.Asserted(1)
			running, known := runs[d.TaskID]
			switch {
			case d.Status == event.TaskRunning:
				runs[d.TaskID] = true
			case !known:
				f.At(e, "task %s ends and was never told to run", d.TaskID)
			case !running:
				f.At(e, "task %s ends a second time", d.TaskID)
			default:
				runs[d.TaskID] = false
			}
			continue
		}
		if running, known := runs[e.SubagentID]; known && !running && e.SubagentID != "" && e.Type() != event.TypeNotice {
			f.At(e, "%s of sub-agent %s follows the end of its task", e.Type(), e.SubagentID)
		}
	}
	for id, running := range runs {
		if running {
			f.Failf("the end of task %s is not told", id)
		}
	}
	if len(agentsOf(t.Run)) > len(runs) {
		f.Asserted(1)
		f.Failf("%d sub-agents asked the model, but only %d have a task", len(agentsOf(t.Run)), len(runs))
	}
}

// childEnd is a line by which a runtime tells that a sub-agent's work is over.
func childEnd(r *conformance.Run, line []byte) bool {
	var l struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Method  string `json:"method"`
		Params  struct {
			ThreadID string `json:"threadId"`
		} `json:"params"`
	}
	if !decodeLine(line, &l) {
		return false
	}
	if l.Type == "system" && l.Subtype == "task_notification" {
		return true
	}
	return l.Method == "turn/completed" && l.Params.ThreadID != session(r)
}

// session is the recorded id of the session's thread.
func session(r *conformance.Run) string {
	for _, p := range r.Played {
		if id := threadOf(p.Line.Bytes); id != "" {
			return id
		}
	}
	return ""
}

func threadOf(line []byte) string {
	var l struct {
		ID     int `json:"id"`
		Result struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		} `json:"result"`
	}
	if !decodeLine(line, &l) {
		return ""
	}
	return l.Result.Thread.ID
}

func judgeChildEnds(t *conformance.Trial, f *conformance.Finding) {
	if len(agentsOf(t.Run)) == 0 {
		return
	}
	for i, p := range t.Played {
		if p.Line.Dir != fixtures.Out || !childEnd(t.Run, p.Line.Bytes) {
			continue
		}
		running := 0
		for _, e := range t.Events {
			switch {
			case e.Line > i+1 || e.SubagentID != "":
			case e.Type() == event.TypeTurnStart:
				running = e.Turn
			case e.Terminal() && e.Line <= i && e.Turn == running:
				running = 0
			case e.Terminal() && e.Turn == running:
				f.At(e, "turn %d ends in %s at the line that ends a sub-agent", e.Turn, describe(e.Data))
			}
		}
		if running != 0 {
			f.Asserted(1)
		}
	}
}
