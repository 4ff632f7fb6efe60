package broken_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// traps are defects that the wire of one runtime invites. In each scenario, on each of
// its versions that performs it, an adapter fails exactly the checks that it names.
var traps = []struct {
	runtime, scenario string   // or a version of a runtime, or an agent: pi/0.73.1, acp/opencode
	fails             []string // as the case was recorded
	faulted           []string // with a fault alone, on one version at least
	adapter           broken.Adapter
}{
	{"pi", "model/server-error-once", []string{"text.once", "turn.end-stated", "turn.notices", "turn.retry-is-not-error"}, []string{"wire.garbage", "wire.unknown"}, endsWithTheFirstRun},
	{"pi", "model/cut-in-mid-text-then-retried", []string{"text.once", "turn.end-stated", "turn.notices", "turn.retry-is-not-error"}, []string{"wire.garbage"}, endsWithTheFirstRun},
	{"pi", "thinking/then-text", []string{"text.once"}, nil, emitsTheSnapshot},
	{"pi", "tool/output-while-it-runs", []string{"tool.streamed"}, nil, emitsTheOutputSoFar},
	{"pi", "stop/mid-tool", []string{"turn.end-stated", "turn.stop"}, nil, reportsTheEmptyRound},
	{"pi", "queue/steer-and-follow-up", []string{"text.once", "turn.not-before-end", "turn.queued", "turn.steer"}, []string{"turn.crash-ends", "turn.stall-ends", "wire.garbage", "wire.unknown"}, endsBeforeTheQueue},
	{"pi", "session/opened-with-instructions", []string{"session.open-options"}, nil, dropsTheInstructions},
	{"pi/1.6.0", "text/same-words-in-two-turns", []string{"text.message-id"}, nil, repeatsAMessageID},
	{"pi/0.73.1", "thinking/then-text", nil, []string{"turn.refused"}, waitsForTheID},
	{"codexexec", "session/opened-with-instructions", []string{"session.open-options"}, nil, dropsTheInstructions},
	{"opencode", "stop/mid-text", []string{"turn.nothing-after-terminal"}, []string{"turn.crash-ends", "turn.stall-ends"}, endsWithTheFirstIdle},
	{"opencode", "stop/then-next-turn", []string{"turn.one-terminal"}, []string{"race.close", "race.send", "race.stop"}, endsWithEachIdle},
	{"opencode", "stop/mid-tool", []string{"turn.stop"}, []string{"turn.crash-ends", "turn.stall-ends"}, reportsAnAbortedToolComplete},
	{"opencode", "tool/output-while-it-runs", []string{"tool.streamed"}, nil, emitsTheOutputSoFar},
	{"opencode", "model/ends-without-its-end", []string{"text.once"}, nil, retractsWhatIsKept},
	{"opencode/1.15.13", "model/cut-in-mid-thinking", nil, []string{"turn.retries-end"}, waitsForEachAttempt},
	{"opencode", "session/fork-with-tools", []string{"text.message-id", "text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"opencoderun", "model/refuses-auth", []string{"turn.end-stated", "turn.error-is-error"}, nil, takesTheExitForSuccess},
	{"opencoderun", "tool/text-tool-text-three-rounds", []string{"text.once", "tool.known"}, []string{"wire.garbage", "wire.unknown"}, endsWithTheFirstStep},
	{"opencoderun", "session/opened-with-an-effort", []string{"session.open-options"}, nil, dropsTheEffort},
	{"acp/codex-acp", "session/resume-in-a-new-process", []string{"text.message-id", "text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"acp/claude-agent-acp", "session/resume-in-a-new-process", []string{"text.message-id", "text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"acp/opencode", "session/resume-in-a-new-process", []string{"text.message-id", "text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"acp/copilot", "session/resume-in-a-new-process", []string{"text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"acp/qwen-code", "session/resume-in-a-new-process", []string{"text.once", "turn.activity-first"}, nil, replaysTheHistory},
	{"acp", "stop/while-asked", []string{"permission.answered-once", "session.idle-stays-open"}, []string{"turn.crash-ends"}, leavesTheQuestionOpen},
	{"acp/claude-agent-acp-0.101.0", "mcp/takes-its-question-back", []string{"permission.withdrawn"}, nil, settlesAtTheEnd},
	{"acp/codex-acp", "stop/mid-tool", []string{"tool.paired", "turn.nothing-after-terminal"}, []string{"turn.stall-ends"}, emitsAResultAfterTheEnd},
	{"acp/claude-agent-acp-0.49.0", "stop/mid-tool", []string{"tool.paired", "turn.nothing-after-terminal"}, []string{"turn.stall-ends"}, emitsAResultAfterTheEnd},
	{"acp/opencode", "stop/mid-tool", []string{"order.ts", "tool.paired", "turn.nothing-after-terminal"}, []string{"turn.crash-ends", "turn.stall-ends"}, emitsAResultAfterTheEnd},
	{"acp", "file/write-and-edit", []string{"tool.known", "tool.paired"}, nil, startsACallAgain},
	{"opencode", "text/plain", []string{"session.call-results", "text.once", "turn.one-terminal", "wire.valid-input"}, nil, misnamesAnAction},
	{"acp/codex-acp", "text/plain", []string{"session.call-results", "text.once", "turn.one-terminal", "wire.valid-input"}, nil, listsNoServers},
	{"acp/claude-agent-acp", "text/plain", []string{"session.call-results", "text.once", "turn.one-terminal", "wire.valid-input"}, nil, listsNoServers},
	{"acp/opencode", "text/plain", []string{"session.call-results", "text.once", "turn.one-terminal", "wire.valid-input"}, nil, listsNoServers},
	{"acp/claude-agent-acp", "permission/allow", []string{"wire.valid-input"}, nil, choosesNothing},
	{"acp/opencode", "permission/allow", []string{"wire.valid-input"}, nil, choosesNothing},
	{"pi", "session/opened-with-a-model", []string{"session.open-options"}, nil, dropsTheModel},
	{"codexexec", "session/opened-with-a-model", []string{"session.described", "session.open-options"}, nil, dropsTheModel},
	{"opencode", "session/opened-with-a-model", []string{"session.described", "session.open-options"}, nil, dropsTheModel},
	{"opencoderun", "session/opened-with-a-model", []string{"session.described", "session.open-options"}, nil, dropsTheModel},
	{"acp/claude-agent-acp", "session/opened-with-a-model", []string{"session.call-results", "session.resume-context", "text.once", "turn.one-terminal"}, nil, dropsTheModel},
	{"acp/opencode", "session/opened-with-a-model", []string{"session.open-options", "text.once"}, nil, dropsTheModel},
	{"codex/newest", "permission/more-rights-allowed", []string{"permission.answered-once", "wire.valid-input"}, nil, grantsNoRights},
	{"pi", "session/opened-with-an-effort", []string{"session.open-options"}, nil, dropsTheEffort},
	{"codexexec", "session/opened-with-an-effort", []string{"session.open-options"}, nil, dropsTheEffort},
	{"opencode", "session/opened-with-an-effort", []string{"session.open-options"}, nil, dropsTheEffort},
	{"acp/codex-acp", "session/opened-with-an-effort", []string{"session.call-results", "text.once", "turn.one-terminal"}, nil, dropsTheEffort},
	{"acp/claude-agent-acp", "session/opened-with-an-effort", []string{"session.call-results", "text.once", "turn.one-terminal"}, nil, dropsTheEffort},
	{"acp/opencode", "session/opened-with-an-effort", []string{"session.open-options", "text.once", "turn.queued"}, []string{"turn.stall-ends"}, dropsTheEffort},
	{"claude/newest", "text/plain", []string{"text.once", "turn.one-terminal", "wire.valid-input"}, []string{"turn.stall-ends"}, namesNoRole},
	{"chat", "session/opened-with-an-effort", []string{"session.open-options"}, nil, dropsTheEffort},
	{"chat", "session/opened-with-an-effort", []string{"session.open-options"}, nil, forgetsTheEffortLater},
	{"opencode/newest", "session/opened-with-instructions", []string{"session.open-options"}, nil, statesSettingsOnce},
	{"opencode/newest", "session/opened-with-an-effort", []string{"session.open-options"}, nil, statesSettingsOnce},
	{"opencode/newest", "question/stopped-while-open", []string{"session.open-options"}, nil, statesSettingsOnce},
	{"acp/codex-acp", "plan/emptied", []string{"tool.plan"}, nil, keepsAnEmptiedPlan},
	{"acp/claude-agent-acp", "plan/emptied", []string{"tool.plan"}, nil, keepsAnEmptiedPlan},
	{"codex/newest", "plan/emptied", []string{"tool.plan"}, nil, keepsAnEmptiedPlan},
	{"opencode/newest", "plan/emptied", []string{"tool.plan"}, nil, keepsAnEmptiedPlan},
	{"chat/1-plain", "session/opened-with-an-effort", []string{"session.history", "text.once", "wire.valid-input"}, nil, misspellsTheEffort},
	{"chat/1-plain", "text/plain", []string{"text.once", "wire.valid-input"}, nil, quotesABoolean},
	{"chat/1-plain", "usage/of-two-turns", []string{"usage.reported"}, nil, asksForNoUsage},
	{"chat", "limit/requests-with-a-client-tool", []string{"session.open-options"}, nil, asksWithoutALimit},
	{"chat", "client/stopped-while-a-tool-runs", []string{"session.history", "text.once", "turn.after-stop", "turn.stop", "wire.valid-input"}, nil, leavesACallOpen},
	{"chat", "client/arguments-in-alternating-pieces", []string{"session.history", "tool.client-called"}, []string{"tool.parallel"}, appendsToTheLastCall},
	{"chat/1-one-index", "client/two-tools-at-once", []string{"session.history"}, nil, takesTheIndexForTheCall},
	{"chat/1-without-index", "client/two-tools-at-once", []string{"text.once", "tool.client-called", "tool.known", "turn.not-before-end"}, nil, needsAnIndex},
	{"chat/1-parts", "thinking/then-text", []string{"text.once", "thinking.delivered"}, []string{"wire.unknown"}, readsTextContentOnly},
	{"chat/1-messages", "text/two-blocks", []string{"text.once"}, nil, readsDeltasOnly},
	{"chat/1-messages", "model/stream-fails-auth", []string{"wire.valid-input"}, nil, readsNestedErrorsOnly},
	{"chat/1-details", "thinking/then-text", []string{"thinking.delivered"}, nil, readsNoDetails},
	{"chat/1-unfinished", "text/plain", []string{"wire.valid-input"}, nil, needsAReason},
	{"chat", "model/stops-at-its-limit", []string{"turn.end-stated"}, nil, hidesTheLimit},
	{"chat", "model/cut-in-mid-text-then-retried", []string{"text.once", "text.retracted"}, nil, keepsTheFailedAttempt},
	{"claude", "permission/two-reads-answered-in-reverse", []string{"permission.asked"}, nil, asksWithoutAReason},
	{"claude", "process/sigterm-in-mid-tool", []string{"turn.error-words"}, []string{"turn.crash-ends"}, blamesTheModelForASignal},
	{"codex", "file/patch-moves-two", []string{"tool.file-change"}, nil, updatesMovedFiles},
	{"codex/newest", "mcp/fails-to-start", []string{"turn.notices"}, nil, reportsNoWarning},
	{"claude/newest", "text/plain", []string{"text.result"}, nil, repeatsTheResult},
	{"codex/newest", "tool/shell-cat", []string{"tool.truncated"}, nil, cutsEachOutput},
	{"pi", "file/overwrite", []string{"tool.file-change"}, nil, addsEachFile},
	{"opencode", "file/overwrite", []string{"tool.file-change"}, nil, addsEachFile},
	{"acp/claude-agent-acp", "file/overwrite", []string{"tool.file-change"}, nil, addsEachFile},
	{"codex/newest", "subagent/fails-beside-the-turn", []string{"subagent.task"}, nil, completesAFailedAgent},
	{"claude/newest", "plan/task-deleted", []string{"tool.plan"}, nil, keepsADeletedStep},
	{"claude/newest", "mcp/with-variables", []string{"session.open-options"}, nil, forgetsTheVariables},
	{"codex/newest", "mcp/with-variables", []string{"session.open-options"}, nil, forgetsTheVariables},
	{"opencode/newest", "mcp/with-variables", []string{"session.open-options"}, nil, forgetsTheVariables},
	{"acp/codex-acp", "mcp/with-variables", []string{"session.open-options"}, nil, forgetsTheVariables},
	{"claude/newest", "image/one-in-each-of-two-turns", []string{"turn.files"}, nil, sendsAllAsPNG},
	{"pi/1.6.0", "image/one-in-each-of-two-turns", []string{"turn.files"}, nil, sendsAllAsPNG},
	{"opencode/newest", "image/one-in-each-of-two-turns", []string{"turn.files"}, nil, sendsNoName},
	{"acp/claude-agent-acp", "text/plain", []string{"usage.stated"}, nil, hidesTheContext},
	{"acp/codex-acp", "text/plain", []string{"usage.stated"}, nil, hidesTheContext},
	{"claude", "session/fork-at-a-message", []string{"session.open-options", "session.resume-context"}, nil, forksAtTheEnd},
	{"codex/newest", "session/fork-at-a-message", []string{"session.open-options", "session.resume-context"}, nil, forksAtTheEnd},
	{"claude", "subagent/nested", []string{"subagent.task"}, nil, orphansNestedAgents},
	{"claude", "client/two-tools-at-once", []string{"tool.client-offered"}, nil, offersNoHint},
}

// TestTraps plays the reference and the broken adapter in each trap. By day those that fail nothing
// with a fault alone are not tried with faults, and the reference only by the suite itself.
func TestTraps(t *testing.T) {
	all, err := fixtures.Embedded().CaseIDs()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, x := range traps {
		t.Run(x.adapter.Name+"/"+x.runtime+"/"+x.scenario, func(t *testing.T) {
			g := NewWithT(t)
			version := fixtures.Embedded().Resolve(x.runtime)
			ids := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
				return !strings.HasPrefix(id, version+"/") && !strings.HasPrefix(id, version+"-") || !strings.HasSuffix(id, "/"+x.scenario)
			})
			g.Expect(ids).NotTo(BeEmpty())
			runtime, _, _ := strings.Cut(x.runtime, "/")
			reference := backend.Adapter(runtime, reference.Of(runtime))
			faulted := map[string]bool{}
			for _, id := range ids {
				if racesample.Whole() {
					if plain, under := failedChecks(t, reference, id, true); len(plain)+len(under) > 0 {
						t.Errorf("the reference fails %v %v on %s", plain, under, id)
					}
				}
				plain, under := failedChecks(t, x.adapter.Subject(reference), id, racesample.Whole() || len(x.faulted) > 0)
				if !slices.Equal(plain, x.fails) {
					t.Errorf("%s fails %q on %s, want %q", x.adapter.Name, plain, id, x.fails)
				}
				for _, check := range under {
					faulted[check] = true
				}
			}
			if got := slices.Sorted(maps.Keys(faulted)); !slices.Equal(got, x.faulted) {
				t.Errorf("%s fails %q with a fault, want %q", x.adapter.Name, got, x.faulted)
			}
		})
	}
}

// failedChecks returns the checks that the subject fails in a case, and those that it fails
// with a fault alone, sorted.
func failedChecks(t *testing.T, s conformance.Subject, id string, withFaults bool) (plain, faulted []string) {
	t.Helper()
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: checks.All(), Cases: []string{id}, Places: places, Seed: 1,
		Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming},
	}
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		j.WithoutFaults = !withFaults
		results, _, err := runner.Do(cfg, j)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			switch {
			case !r.Verdict.Bad():
			case slices.ContainsFunc(r.Problems, func(p conformance.Problem) bool { return p.Fault == nil }):
				plain = append(plain, r.Check.ID)
			default:
				faulted = append(faulted, r.Check.ID)
			}
		}
	}
	slices.Sort(plain)
	slices.Sort(faulted)
	return slices.Compact(plain), slices.Compact(faulted)
}
