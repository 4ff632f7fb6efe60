package session

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// In the live tier the model shows which options reached it.
func TestOptionsReachTheModel(t *testing.T) {
	first := fixtures.Request{Req: 1, New: []string{"m1"}, History: []string{"m1"}}
	second := fixtures.Request{Req: 2, New: []string{"result:t1"}, History: []string{"m1"}}
	with := func(q fixtures.Request, change func(*fixtures.Request)) fixtures.Request {
		change(&q)
		return q
	}
	notes := func(q *fixtures.Request) { q.Workspace = []string{"NOTES.md"} }
	for name, x := range map[string]struct {
		runtime  string // codex has a recording whose requests name the folders
		opening  op.Opening
		witness  []fixtures.Request
		problems int
	}{
		"effort":            {"codex", op.Opening{Effort: "high"}, []fixtures.Request{with(first, func(q *fixtures.Request) { q.Effort = "high" })}, 0},
		"no effort":         {"codex", op.Opening{Effort: "high"}, []fixtures.Request{first, second}, 2},
		"folders":           {"codex", op.Opening{ExtraDirs: []string{"a", "b"}}, []fixtures.Request{with(first, func(q *fixtures.Request) { q.ExtraDirs = 2 })}, 0},
		"no folders":        {"codex", op.Opening{ExtraDirs: []string{"a", "b"}}, []fixtures.Request{first}, 1},
		"folders unseen":    {"claude", op.Opening{ExtraDirs: []string{"a", "b"}}, []fixtures.Request{first}, 0},
		"project":           {"claude", op.Opening{SettingSources: []string{"project"}}, []fixtures.Request{with(first, notes)}, 0},
		"project unread":    {"claude", op.Opening{SettingSources: []string{"project"}}, []fixtures.Request{first}, 1},
		"user":              {"claude", op.Opening{SettingSources: []string{"user"}}, []fixtures.Request{first}, 0},
		"user and project":  {"claude", op.Opening{SettingSources: []string{"user"}}, []fixtures.Request{with(first, notes)}, 1},
		"requests":          {"claude", op.Opening{MaxRequests: 2}, []fixtures.Request{first, second, first}, 0},
		"too many requests": {"claude", op.Opening{MaxRequests: 1}, []fixtures.Request{first, second}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, recording := &conformance.Finding{}, &fixtures.Case{}
			if x.runtime == "codex" {
				recording.Witness = []fixtures.Request{{ExtraDirs: 2}}
			}
			OpenOptions.Judge(&conformance.Trial{Run: &conformance.Run{
				Runtime: x.runtime, Tier: conformance.TierLive, Witness: x.witness, Recording: recording,
				Scenario: &fixtures.Scenario{Opening: x.opening, Workspace: map[string][]byte{"NOTES.md": nil}},
			}}, f)
			NewWithT(t).Expect(f.Problems).To(HaveLen(x.problems))
		})
	}
}

// In the live tier the model shows whether the instructions reached it.
func TestInstructionsReachTheModel(t *testing.T) {
	g := NewWithT(t)
	judge := func(witness ...fixtures.Request) *conformance.Finding {
		f := &conformance.Finding{}
		OpenOptions.Judge(&conformance.Trial{Run: &conformance.Run{
			Tier: conformance.TierLive, Scenario: &fixtures.Scenario{Opening: op.Opening{Instructions: "Be brief."}}, Witness: witness,
		}}, f)
		return f
	}
	g.Expect(judge(fixtures.Request{Req: 1, Instructed: true}, fixtures.Request{Req: 2, Agent: "alpha"}).Problems).To(BeEmpty())
	g.Expect(judge(fixtures.Request{Req: 1, Instructed: true}, fixtures.Request{Req: 2}).Problems).To(HaveLen(1))
}
