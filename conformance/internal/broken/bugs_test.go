package broken_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/defects"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

var update = flag.Bool("update", false, "write ../../BUGS.md")

// bug is a defect that users of real adapters have reported, the broken adapter
// that has it, and the check that catches it in a scenario.
type bug struct{ what, reported, adapter, check, scenario string }

var bugs = []bug{
	{"text comes twice", "ex_mcp#14, parsar#308", "shows-the-result-too", "text.once", "text/plain"},
	{"paragraphs are glued across tool calls", "houston#1076, sigit#65", "one-block-for-all", "text.paragraph-break", "tool/text-tool-text-three-rounds"},
	{"an unknown message kills the stream", "claude-agent-sdk-python#599", "dies-of-the-unknown", "wire.unknown", "text/plain"},
	{"the channel of permissions is closed, and a question gets no reply", "claude-agent-sdk-python#1105", "closes-before-it-answers", "permission.answered-once", "permission/allow"},
	{"nobody is asked any more: what was denied runs", "claude-code#34046", "allows-everything", "permission.deny-enforced", "permission/deny-then-stop"},
	{"a start that failed looks like a hang", "claude-agent-sdk-python#387", "hangs-when-it-cannot-start", "process.start-failure", "process/bad-flag"},
	{"neither a result nor an exit comes, and the turn runs for ever", "claude-code#59243", "waits-for-ever", "turn.stall-ends", "text/plain"},
	{"the end of a turn is lost", "openai/codex#35810", "loses-the-end", "turn.one-terminal", "text/plain"},
	{"a turn ends too early", "multica#7554", "ends-with-the-words", "turn.not-before-end", "tool/text-tool-text-three-rounds"},
	{"a turn ends twice", "claude-code#25629", "ends-twice", "turn.one-terminal", "text/plain"},
	{"the end of a child thread ends the parent's turn", "cc-connect#1816", "ends-with-the-child", "turn.child-end-is-not-parent-end", "subagent/ends-while-the-parent-talks"},
	{"what sub-agents do stands flat among what the parent does", "", "flattens-sub-agents", "subagent.attributed", "subagent/outlives-the-turn"},
	{"a tool spins for ever", "hermes-agent#114395", "spins-for-ever", "tool.paired", "stop/mid-tool"},
	{"a tool call appears that the model never made", "hermes-agent#114395", "invents-a-tool", "tool.known", "tool/text-tool-text-three-rounds"},
	{"the history differs from what was seen live", "AgentRecall#503", "reuses-its-buffer", "replay.equals-live", "tool/text-tool-text-three-rounds"},
	{"events come in another order", "AgentRecall#503", "swaps-deltas", "text.order", "text/plain"},
	{"a bubble of thinking is blank", "claude-agent-sdk-typescript#337", "thinks-blank", "thinking.hidden", "thinking/then-text"},
	{"a big frame kills the turn", "openclaw#71793", "reads-short-lines", "wire.long-line", "text/plain"},
}

const bugsFile = "../../BUGS.md"

// TestBugs: each public bug is caught by the check that is named for it, and the
// table in BUGS.md says so.
func TestBugs(t *testing.T) {
	g := NewWithT(t)
	var table strings.Builder
	table.WriteString(`# Public bugs, and what catches them

What users of adapters have reported. Each is made again by a broken adapter, the reference with one mutation, and is caught by a check on
the recordings of both runtimes. ` + "`turnspec explain CHECK`" + ` says more. Written by ` + "`go test ./conformance/internal/broken -run TestBugs -update`" + `.

| the bug | reported | the broken adapter | the check |
|---|---|---|---|
`)
	for i, b := range bugs {
		fmt.Fprintf(&table, "| %s | %s | `%s` | `%s` |\n", b.what, b.reported, b.adapter, b.check)
		if quick() && i%6 != 0 {
			continue
		}
		t.Run(b.adapter, func(t *testing.T) { caught(t, b) })
	}
	if *update {
		g.Expect(os.WriteFile(bugsFile, []byte(table.String()), 0o644)).To(Succeed())
	}
	stored, err := os.ReadFile(bugsFile)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(stored)).To(Equal(table.String()), "run with -update")
}

func caught(t *testing.T, b bug) {
	t.Helper()
	g := NewWithT(t)
	d, err := defects.Named(b.adapter)
	g.Expect(err).NotTo(HaveOccurred())
	check, err := checks.Named(b.check)
	g.Expect(err).NotTo(HaveOccurred())
	all, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	for _, ref := range references() {
		ids := slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
			runtime, _, scenario := fixtures.SplitCaseID(id)
			return runtime != ref.Runtime() || scenario != b.scenario
		})
		g.Expect(ids).NotTo(BeEmpty(), "%s has no case of %s", ref.Runtime(), b.scenario)
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{d.Subject(ref)}, Checks: check, Cases: ids, Places: 4, Reference: true,
		})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rep.Results {
			g.Expect(r.Verdict).To(Equal(conformance.Fail), "%s, %s on %s", b.adapter, r.Check.ID, r.Case)
		}
	}
}
