package jsonl_test

import (
	"context"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// matrixCases are enough for most broken adapters to fail a check.
var matrixCases = []string{
	"client/tool-fails", "component/shown-changed-and-removed", "file/write-and-edit", "mode/changed-between-turns", "permission/allow",
	"permission/deny-then-stop", "permission/deny-with-a-message", "plan/steps-are-ticked-off", "question/one", "session/resume-in-a-new-process",
	"stop/then-next-turn", "subagent/in-the-foreground", "text/plain", "text/unicode-and-markdown", "thinking/then-text", "tool/parallel",
	"turn/two-turns-one-process",
}

// matrixVersion is the version of the cases.
const matrixVersion = "claude/newest/"

// addMatrix adds a program for each broken adapter of the checks.
func addMatrix() {
	for _, a := range backend.Broken() {
		programs["broken "+a.Name] = (&bridge{runtime: "claude", wrap: func(s conformance.Subject) conformance.Subject { return launching{a.Subject(s)} }}).run
	}
}

// launching gives a broken adapter a launcher to wrap.
type launching struct{ conformance.Subject }

func (l launching) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	o.Launch = proc.Exec{}
	return l.Subject.Open(ctx, o)
}

// onlyInGo are broken adapters whose defect a program cannot show, or shows only in
// virtual time.
var onlyInGo = map[string]string{
	"waits-for-ever":          "its pending call ends the run before the refusal is judged",
	"ends-with-the-words":     "its turn has ended before the question, so that nothing is answered",
	"untyped-start-failure":   "a refusal of open has a code always",
	"reuses-its-buffer":       "its events are encoded before the buffer is reused",
	"breaks-characters":       "the kernel joins the single bytes that the runtime writes",
	"reads-chunks":            "the kernel cuts what the runtime writes in other places",
	"opens-elsewhere":         "a program is started in the folder of the suite",
	"declares-nothing":        "the protocol has no capabilities, but the list can",
	"declares-too-much":       "the protocol has no capabilities, but the list can",
	"gives-up-a-tool":         "its limit is minutes, and not one of those that open sets",
	"takes-thought-for-death": "its limit is minutes, and not one of those that open sets",
	"ends-late":               "its delay is longer than virtual time allows, and within the limit of real time",
	"stops-slowly":            "its delay is longer than virtual time allows, and within the limit of real time",
	"smooths":                 "its delay shows only where time is exact",
	"panics-in-close":         "a program that has exited is not called again",
	"answers-what-it-knows":   "a program that has exited is not called again",
	"never-returns-from-send": "a program that has exited is not called again",
	"takes-what-comes-late":   "a program that has exited is not called again",
}

// slowPrograms hang until a limit of the suite has passed. Only the whole matrix runs
// them.
var slowPrograms = []string{"serves-no-call", "sets-something-else", "hangs-when-it-cannot-start", "takes-a-lost-end-for-a-good-one", "reports-a-crash-late",
	"loses-the-end", "drops-questions", "waits-for-a-skipped-end", "talks-after-the-session", "leaves-stderr-unread", "knows-every-field", "stops-once"}

// failsOnlyInGo are checks that a broken adapter fails in Go alone, with the reason.
var failsOnlyInGo = map[string]string{
	"replays-at-a-resume session.resume-no-replay": "in real time the next message begins before the old ones arrive; turn.user-messages reports them",
	"drops-while-stopping race.send":               "in real time the turn may have ended before the message comes, so that it is not dropped",
}

// attempt is a check, limited to one fault or none, on a case.
type attempt struct {
	check *conformance.Check
	id    string
}

// maxAttempts is on how many cases a program may fail a check. In real time not each
// case shows each defect: the session may end first.
const maxAttempts = 3

// TestMatrix proves that a check judges a program as it judges a Go adapter: the same
// broken adapter, behind the protocol, fails the same checks.
func TestMatrix(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, a := range matrixAdapters() {
		want := failedInGo(t, a)
		if len(want) == 0 {
			continue // no case of the few shows the defect, or only virtual time does
		}
		compared++
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for id, attempts := range want {
				if failsOnlyInGo[a.Name+" "+id] != "" {
					continue
				}
				if !slices.ContainsFunc(attempts, func(x attempt) bool { return failsAsProgram(t, a, x) }) {
					t.Errorf("the Go adapter fails %s on %s, and the program does not", id, attempts[0].id)
				}
			}
		})
	}
	want := 10
	if racesample.Whole() {
		want = 30
	}
	if !racesample.Enabled && !testing.Short() && compared < want {
		t.Errorf("only %d broken adapters were compared, want at least %d", compared, want)
	}
}

// failsAsProgram reports whether the broken adapter fails a check behind the protocol.
func failsAsProgram(t *testing.T, a broken.Adapter, x attempt) bool {
	t.Helper()
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{of(t, "broken "+a.Name, "claude")}, Checks: []*conformance.Check{x.check},
		Cases: []string{x.id}, Places: 1, Seed: 1, SingleTry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(rep.Results, func(r conformance.Result) bool { return r.Verdict == conformance.Fail })
}

// matrixAdapters returns the broken adapters to compare: an eighth of them, chosen by
// their names so that a new one does not change which, unless TURNSPEC_MATRIX is whole.
func matrixAdapters() []broken.Adapter {
	all := slices.DeleteFunc(backend.Broken(), func(a broken.Adapter) bool { return a.Runtime == "codex" || onlyInGo[a.Name] != "" })
	switch {
	case racesample.Whole():
		return all
	case racesample.Enabled || testing.Short():
		return all[:3]
	}
	return slices.DeleteFunc(all, func(a broken.Adapter) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(a.Name)) // it never fails
		return h.Sum32()%8 != 0 || slices.Contains(slowPrograms, a.Name)
	})
}

// failedInGo runs a broken Go adapter and returns, for each check that it fails, cases
// with the one fault that shows it. It leaves out checks that need virtual time.
func failedInGo(t *testing.T, a broken.Adapter) map[string][]attempt {
	t.Helper()
	cs, err := backend.Named(a.Fails()...)
	if err != nil {
		t.Fatal(err)
	}
	cs = slices.DeleteFunc(cs, func(c *conformance.Check) bool {
		return c.NeedsLines || !slices.Contains(c.Tiers, conformance.TierWitness)
	})
	if len(cs) == 0 {
		return nil
	}
	var ids []string
	for _, id := range matrixCases {
		ids = append(ids, matrixVersion+id)
	}
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{a.Subject(backend.Adapter("claude", claude.New()))}, Checks: cs, Cases: ids,
		Tiers: []conformance.Tier{conformance.TierWitness}, Places: 1, Seed: 1, Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]attempt{}
	for _, r := range rep.Results {
		if r.Verdict != conformance.Fail || len(out[r.Check.ID]) == maxAttempts {
			continue
		}
		for _, p := range r.Problems {
			c := *r.Check
			switch c.Faults = nil; {
			case p.Fault != nil && !runner.TriedInRealTime(p.Fault.Operator):
				continue
			case p.Fault != nil:
				c.Faults = []string{p.Fault.Operator}
			}
			out[c.ID] = append(out[c.ID], attempt{&c, r.Case})
			break
		}
	}
	return out
}
