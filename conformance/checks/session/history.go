package session

import (
	"bytes"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// History is the check session.history.
var History = &conformance.Check{
	ID: "session.history", Source: "adapters of chat completions that forget a stopped reply, an image or the results of a tool", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend: "Keep the conversation as the user saw it, and repeat it in each request: instructions, messages with their media, replies and what was shown of stopped ones, calls with their arguments, " +
		"results and denials. Offer the same tools each time.",
	Sentence:      "If a client repeats the conversation for the model, each request holds all of it, in order, nothing twice, and offers each tool.",
	JudgesWritten: true,
	Judge:         judgeConversation,
}

func judgeConversation(t *conformance.Trial, f *conformance.Finding) {
	rt := runindex.Runtime(t.Run)
	var sent []fixtures.WireLine // what the recording's client sent
	for _, w := range t.Case.Wire {
		if w.Dir == fixtures.In && rt.ReadInput(w.Bytes).Kind == standin.KindSend {
			sent = append(sent, w)
		}
	}
	next := 0
	for _, a := range t.ClientActions {
		if a.Kind != standin.KindSend {
			continue
		}
		if a.Matched != nil {
			next = slices.IndexFunc(sent, func(w fixtures.WireLine) bool { return bytes.Equal(w.Bytes, a.Matched.Bytes) && w.T == a.Matched.T })
		}
		if next < 0 || next == len(sent) {
			return // it is none of the recording
		}
		recorded := rt.ReadInput(sent[next].Bytes).Step
		if recorded.History == nil {
			return // the runtime keeps the conversation
		}
		next++
		written := rt.ReadInput([]byte(t.Recorded(string(a.Bytes)))).Step
		goesOn := recorded.Text == written.Text && len(recorded.Results) > 0 && len(written.Results) > 0 // with results, perhaps not all of them
		if a.Matched == nil && !goesOn && (recorded.Text == "" || !strings.HasSuffix(written.Text, recorded.Text)) {
			return // it sends something else
		}
		f.Asserted(1)
		f.Sent = true
		worded := wordedByClient(t.Scenario, recorded.History)
		want, got := conversation(recorded.History, worded), conversation(written.History, worded)
		if !strings.HasPrefix(want, wire.RoleSystem) && strings.HasPrefix(got, wire.RoleSystem) {
			_, got, _ = strings.Cut(got, "\n") // instructions of the subject's own
		}
		if want != got {
			f.Diff("the request for the message "+runindex.Clip(a.Text)+" does not hold the conversation", want, got)
		}
		for _, tool := range recorded.Offered {
			name, _, _ := strings.Cut(tool, ": ")
			whole := slices.ContainsFunc(t.Scenario.Tools, func(x fixtures.Tool) bool {
				return x.Name == name && x.Schema != nil && (t.Scenario.Components == nil || !adapters.IsComponentTool(name))
			})
			switch {
			case !slices.ContainsFunc(written.Offered, func(x string) bool { return strings.HasPrefix(x, name+": ") }):
				f.Failf("the request for the message %q does not offer the tool %s", runindex.Clip(a.Text), name)
			case whole && !slices.Contains(written.Offered, tool):
				f.Failf("the request for the message %q does not offer the tool %s as the client described it", runindex.Clip(a.Text), name)
			}
		}
	}
}

// wordedByClient returns the ids of the calls whose results the client words itself: failures of
// MCP servers, and media, for which there is no place in a result.
func wordedByClient(s *fixtures.Scenario, history []wire.Entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range history {
		name, _, _ := strings.Cut(e.Text, " ")
		for _, srv := range s.Servers {
			for _, tool := range srv.Tools {
				if e.Role == wire.RoleCall && name == fixtures.ServerTool(srv.Name, tool.Name) &&
					(tool.Fail != "" || tool.Dies || slices.ContainsFunc(tool.Result, func(c fixtures.Content) bool { return c.Image != "" })) {
					out[e.ID] = true
				}
			}
		}
	}
	return out
}

// conversation writes the parts of a conversation, one a line. What the model said in several
// pieces is one text. The texts of worded results are left out.
func conversation(parts []wire.Entry, worded map[string]bool) string {
	var b strings.Builder
	last := ""
	for _, e := range parts {
		text := strings.ReplaceAll(e.Text, "\n", "\\n")
		if e.Role == wire.RoleResult && worded[e.ID] {
			text = "…"
		}
		if e.Role == wire.RoleAssistant && last == wire.RoleAssistant {
			b.WriteString(text)
			continue
		}
		if last != "" {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimSpace(e.Role + " " + e.ID))
		b.WriteString(": " + text)
		last = e.Role
	}
	return b.String() + "\n"
}
