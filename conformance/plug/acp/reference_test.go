package acp_test

import (
	"context"
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/acpagent"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/subjecttest"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// asReference is the argument if this program runs as the reference adapter of Claude Code behind ACP.
const asReference = "turnspec-test-reference-agent"

func beReference() {
	// Claude Code takes the mode that never asks only if it was allowed at the start.
	o := adapters.Options{Opening: op.Opening{Args: []string{"--allow-dangerously-skip-permissions"}}}
	if err := acpagent.Run(context.Background(), acpagent.Config{Adapter: reference.Of("claude"), Options: o, Version: "1"}, os.Stdin, os.Stdout); err != nil {
		panic(err)
	}
}

// TestReferenceAgentPasses runs an adapter as an ACP agent.
func TestReferenceAgentPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	ids := slices.Concat(cases, []string{
		"permission/deny-then-stop", "permission/two-reads-answered-in-reverse", "permission/stop-while-asked", "stop/two-parallel-tools", "subagent/in-the-foreground",
		"plan/steps-are-ticked-off", "model/error-ends-the-turn", "session/resume-in-a-new-process", "question/one", "process/close-in-mid-tool", "turn/two-turns-one-process",
		"background/message-in-the-unprompted-turn", "background/two-unprompted-turns", "background/ends-during-the-next-turn", "model/stream-fails-auth", "model/overloaded-once",
		"session/resume-after-stop",
	})
	var all []string
	for _, id := range racesample.Sample(ids, 4) {
		all = append(all, version+id)
	}
	bad, passed := subjecttest.Run(t, &acp.Subject{Program: plug.Program{Title: "reference", Of: "claude", Command: []string{self, asReference}}}, all...)
	g.Expect(bad).To(BeEmpty())
	if racesample.Enabled {
		return
	}
	for _, id := range []string{
		"text.once", "text.order", "thinking.delivered", "tool.known", "tool.paired", "tool.output", "permission.asked", "permission.answered-once",
		"permission.deny-enforced", "turn.one-terminal", "turn.nothing-after-terminal", "turn.stop", "session.resume-context", "session.call-results", "wire.valid-input",
	} {
		g.Expect(passed).To(HaveKey(id), "no verdict")
	}
}

// TestReplyPrecedesTheNextTurn plays a turn that the runtime begins by itself together with the end of the one
// before. Its updates must follow the reply to the prompt: before it they would belong to that turn.
func TestReplyPrecedesTheNextTurn(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("faults are seconds of waiting")
	}
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	chosen := slices.DeleteFunc(checks.All(), func(c *conformance.Check) bool { return c.ID != "wire.same-chunk" })
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Checks: chosen, Cases: []string{version + "background/message-in-the-unprompted-turn"}, Places: 1, Exhaustive: true, SingleTry: true,
		Subjects: []conformance.Subject{&acp.Subject{Program: plug.Program{Title: "reference", Of: "claude", Command: []string{self, asReference}}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Results).To(HaveLen(1))
	g.Expect(rep.Results[0].Verdict).To(Equal(conformance.Pass), "%v", rep.Results[0].Problems)
}
