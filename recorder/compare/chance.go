package compare

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// sums are the members of Claude's results that add up what was spent since the
// session began.
var sums = []string{"modelUsage", "total_cost_usd", "subagent_stats"}

// settle drops sums from Claude's results whose amount is chance. What
// sub-agents had spent by then: they run beside the turn; the last result's sums
// are whole. And what a reply had cost whose stream the runtime closed: it counts
// as it gets to it, so that no later sum of such a recording is certain. A stop may
// come before there is a reply to close.
func (n *normalizer) settle() {
	closed := slices.ContainsFunc(n.c.Witness, func(q fixtures.Request) bool { return q.Ended == fixtures.EndedClosed }) ||
		slices.ContainsFunc(n.trees, func(t *tree) bool { return t != nil && t.str("request", "subtype") == "interrupt" })
	if len(n.tasks) == 0 && !closed {
		return
	}
	results := slices.DeleteFunc(slices.Clone(n.trees), func(t *tree) bool { return t == nil || t.str("type") != "result" })
	for i, t := range results {
		t.drop("model_usage_since_last_result")
		if i == len(results)-1 && !closed {
			continue
		}
		for _, name := range sums {
			t.drop(name)
		}
	}
}

// spoken are the witness's requests without those that chance makes: a turn that
// is stopped as it begins may have asked the model, or may not have come to it.
// What a request brought that was closed before a word was said, the next one of
// its agent brings as well.
func (n *normalizer) spoken() []fixtures.Request {
	var out []fixtures.Request
	brought := map[string][]string{} // by agent
	for _, q := range n.c.Witness {
		if q.Ended == fixtures.EndedClosed && len(q.Said) == 0 {
			brought[q.Agent] = append(brought[q.Agent], q.New...)
			continue
		}
		if before := brought[q.Agent]; before != nil {
			more := slices.DeleteFunc(slices.Clone(q.New), func(id string) bool { return slices.Contains(before, id) })
			q.New = slices.Concat(before, more)
			delete(brought, q.Agent)
		}
		out = append(out, q)
	}
	return out
}

// sortObject sorts the members of an object that is the whole of a text: Codex
// writes the answers to several questions in any order.
func (t *tree) sortObject() {
	v := jsontext.Value(t.text)
	if t.kind != '"' || !strings.HasPrefix(t.text, "{") || v.Canonicalize() != nil {
		return
	}
	t.text = string(v)
}

// unwritten are the messages that a killed process may or may not have written
// down: those of a reply that was cut off by the kill. A process that goes on
// with the session knows of them by chance.
func (n *normalizer) unwritten() []string {
	if n.c.Runtime != "claude" || !slices.ContainsFunc(n.c.Wire, func(w fixtures.WireLine) bool { return w.Dir == fixtures.Signal && w.Signal == "SIGKILL" }) {
		return nil
	}
	var out []string
	for _, q := range n.c.Witness {
		if q.Ended == fixtures.EndedClosed {
			out = append(out, q.New...)
		}
	}
	return out
}
