package acp_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/internal/subjecttest"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
)

// TestMain makes this program the stand-in, the agent, or the tests.
func TestMain(m *testing.M) {
	conformance.Main()
	if len(os.Args) == 3 && os.Args[1] == asAgent {
		beAgent(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == asReference {
		beReference()
		return
	}
	patient.Parallel()
	os.Exit(m.Run())
}

const version = "claude/newest/"

// cases are the scenarios that show the defects of the agents.
var cases = []string{"text/plain", "thinking/then-text", "tool/text-tool-text-three-rounds", "permission/allow", "stop/mid-text"}

// run judges an agent with a defect. The ids are those of scenarios.
func run(t *testing.T, broken string, ids ...string) (failed map[string]string, passed map[string]int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var cases []string
	for _, id := range ids {
		cases = append(cases, version+id)
	}
	judge := subjecttest.Run
	if broken == neverReplies {
		judge = subjecttest.RunOnce
	}
	return judge(t, &acp.Subject{Program: plug.Program{Title: broken, Of: "claude", Command: []string{self, asAgent, broken}}}, cases...)
}

func TestCorrectAgentPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	bad, passed := run(t, right, append(cases, "permission/deny-then-stop", "stop/two-parallel-tools", "subagent/in-the-foreground")...)
	g.Expect(bad).To(BeEmpty())
	for _, id := range []string{
		"text.once", "text.order", "thinking.delivered", "tool.known", "tool.paired", "tool.output", "permission.asked",
		"permission.answered-once", "permission.deny-enforced", "turn.one-terminal", "turn.nothing-after-terminal", "turn.stop", "wire.valid-input",
	} {
		g.Expect(passed).To(HaveKey(id), "no verdict")
	}
	for _, id := range []string{"session.provider-id", "order.seq", "permission.resolved"} {
		g.Expect(passed).NotTo(HaveKey(id), "the protocol does not support it")
	}
}

// Each broken agent has one defect. It must fail the check that is named with it,
// and may fail those in too.
func TestBrokenAgentsFailTheirChecks(t *testing.T) {
	t.Parallel()
	for _, b := range []struct {
		broken, scenario, check string
		too                     []string
	}{
		{dropsChunk, "text/plain", "text.once", nil},
		{doublesChunk, "text/plain", "text.once", nil},
		{otherToolID, "tool/text-tool-text-three-rounds", "tool.paired", nil},
		{invents, "tool/text-tool-text-three-rounds", "tool.known", nil},
		{neverReplies, "text/plain", "turn.one-terminal", nil},
		// The runtime may have stated the end of the turn before it sees that the agent is gone.
		{exits, "text/plain", "session.returns", []string{"text.once", "turn.end-stated"}},
		{lateChunk, "text/plain", "turn.nothing-after-terminal", []string{"text.once"}},
		{forgetsCancel, "stop/mid-text", "turn.stop", []string{"turn.end-stated"}},
		{asksTwice, "permission/allow", "permission.asked", nil},
		{allowsDenied, "permission/deny-then-stop", "permission.deny-enforced", []string{"wire.valid-input"}},
	} {
		t.Run(b.broken, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			bad, _ := run(t, b.broken, b.scenario)
			g.Expect(bad).To(HaveKey(b.check))
			delete(bad, b.check)
			for _, id := range b.too {
				delete(bad, id)
			}
			g.Expect(bad).To(BeEmpty(), "it has one defect")
		})
	}
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		command []string
		says    string
	}{
		{[]string{"no-such-agent"}, "next: run it by hand"},
		{[]string{"sh", "-c", "echo broken >&2; exit 3"}, "broken"},
		{nil, "no command"},
	} {
		g := NewWithT(t)
		s := &acp.Subject{Program: plug.Program{Of: "claude", Command: c.command}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := s.Open(ctx, conformance.Open{Opening: op.Opening{SessionID: "s1", Dir: t.TempDir()}})
		cancel()
		g.Expect(err).To(MatchError(ContainSubstring(c.says)))
		var typed *adapters.OpenError
		g.Expect(errors.As(err, &typed)).To(BeTrue())
	}
}
