package jsonl_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// addBroken adds programs with and without a defect to programs.
func addBroken() {
	maps.Copy(programs, map[string]func(){
		"bridge":       (&bridge{runtime: "claude"}).run,
		"bridge codex": (&bridge{runtime: "codex"}).run,
		"no word for interrupted": (&bridge{runtime: "claude", without: []string{"tool_result.status"}, event: func(e event.Event, write func(event.Event)) {
			if d, ok := e.Data.(event.ToolResult); ok && d.Status == event.ToolInterrupted {
				d.Status, d.IsError = event.ToolError, true
				e.Data = d
			}
			write(e)
		}}).run,
		"one message": (&bridge{runtime: "claude", takes: 1}).run,
	})
	for _, ability := range jsonl.Abilities() {
		for _, runtime := range []string{"claude", "codex"} {
			programs[runtime+" cannot "+ability] = (&bridge{runtime: runtime, cannot: ability}).run
		}
	}
	for name, b := range brokenPrograms {
		b.bridge.runtime = "claude"
		programs[name] = b.bridge.run
	}
}

// once changes the n-th event of a type.
func once(typ event.Type, n int, do func(e event.Event, write func(event.Event))) func(event.Event, func(event.Event)) {
	seen := 0
	return func(e event.Event, write func(event.Event)) {
		if e.Type() == typ {
			if seen++; seen == n {
				do(e, write)
				return
			}
		}
		write(e)
	}
}

func dropped(event.Event, func(event.Event)) {}

func doubled(e event.Event, write func(event.Event)) { write(e); write(e) }

// brokenPrograms are programs with one defect, and the checks that must fail.
var brokenPrograms = map[string]struct {
	bridge *bridge
	on     string
	fails  []string
}{
	"drops a delta": {
		&bridge{event: once(event.TypeDelta, 2, dropped)},
		"text/plain", []string{"text.once", "order.seq"},
	},
	"doubles a delta": {
		&bridge{event: once(event.TypeDelta, 2, doubled)},
		"text/plain", []string{"text.once", "order.seq"},
	},
	"drops the end of a turn": {
		&bridge{event: once(event.TypeDone, 1, dropped)},
		"text/plain", []string{"turn.one-terminal", "order.seq"},
	},
	"drops a result": {
		&bridge{event: once(event.TypeToolResult, 1, dropped)},
		"permission/allow", []string{"tool.paired", "order.seq"},
	},
	"drops a question": {
		&bridge{event: once(event.TypePermissionRequest, 1, dropped)},
		"permission/allow", []string{"permission.asked"},
	},
	"answers a tool of another name": {
		&bridge{event: once(event.TypeToolResult, 1, func(e event.Event, write func(event.Event)) {
			d := e.Data.(event.ToolResult)
			d.ToolUseID = "another"
			e.Data = d
			write(e)
		})},
		"permission/allow", []string{"tool.paired"},
	},
	"never stops": {
		&bridge{event: once(event.TypeDone, 1, func(e event.Event, write func(event.Event)) {
			for {
				write(event.Event{Data: event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "again"}, TS: e.TS, Seq: e.Seq, SessionID: e.SessionID, Turn: e.Turn})
			}
		})},
		"text/plain", []string{"turn.within-budget"},
	},
	"repeats megabytes": {
		&bridge{event: once(event.TypeDone, 1, func(e event.Event, write func(event.Event)) {
			for range 100 {
				write(event.Event{Data: event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: strings.Repeat("x", 1<<20)}, TS: e.TS, Seq: e.Seq, SessionID: e.SessionID, Turn: e.Turn})
			}
			write(e)
		})},
		"text/plain", []string{"turn.within-budget"},
	},
	"writes a line of 17 MiB": {
		&bridge{event: once(event.TypeDone, 1, func(e event.Event, write func(event.Event)) {
			write(event.Event{Data: event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: strings.Repeat("x", 17<<20)}, TS: e.TS, Seq: e.Seq, SessionID: e.SessionID, Turn: e.Turn})
			write(e)
		})},
		"text/plain", []string{"turn.within-budget"},
	},
	"replies with a wrong id": {
		&bridge{reply: func(do string, id int) []int {
			if do == "send" {
				return []int{id + 7}
			}
			return []int{id}
		}},
		"text/plain", []string{"session.returns"},
	},
	"replies twice": {
		&bridge{reply: func(do string, id int) []int {
			if do == "send" {
				return []int{id, id}
			}
			return []int{id}
		}},
		"text/plain", []string{"session.returns"},
	},
}

// choice is the faults that a test tries.
type choice struct {
	any   bool
	names []string // none: a sample of all, as `turnspec run` tries them
}

var (
	noFaults  = choice{}
	allFaults = choice{any: true}
	// The limit for the start and the one for a stall reach the program: nothing else ends these
	// runs in seconds.
	startFault = choice{true, []string{"no-handshake"}}
	stallFault = choice{true, []string{"missing-end"}}
	// endFaults end the session, its open, or a turn, each in another way; or they change nothing,
	// or add a notice.
	endFaults = choice{true, []string{"kill", "exit-without-newline", "no-program", "duplicate-end", "garbage-line", "unknown-message"}}
)

// judged runs cases against a subject. It returns the checks that failed, with their
// problems. With faults a failure is tried a second time, as for a user: the subject has
// short limits then, which a busy machine can exceed.
func judged(t *testing.T, s conformance.Subject, faults choice, cases ...string) (map[string][]string, *conformance.Report) {
	t.Helper()
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Cases: cases, Workers: 4, Places: 1, SingleTry: !faults.any,
		Checks: slices.DeleteFunc(checks.All(), func(c *conformance.Check) bool { return len(c.Faults) > 0 && !faults.any }),
	}
	for _, name := range faults.names {
		cfg.Faults = append(cfg.Faults, conformance.FaultAt{Name: name})
	}
	rep, err := runner.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string][]string{}
	for _, r := range rep.Results {
		for _, p := range r.Problems {
			if r.Verdict.Bad() {
				failed[r.Check.ID] = append(failed[r.Check.ID], r.Case+": "+p.Text+p.Diff)
			}
		}
		if r.Verdict == conformance.Unrecorded || r.Verdict == conformance.HarnessError {
			failed[r.Check.ID] = append(failed[r.Check.ID], r.Case+": "+string(r.Verdict)+": "+r.Reason)
		}
	}
	return failed, rep
}

// TestBridgedReferenceConforms runs a reference adapter behind the protocol. It tries a few
// faults of each kind on one case, or all on all cases if TURNSPEC_MATRIX is whole.
func TestBridgedReferenceConforms(t *testing.T) {
	t.Parallel()
	plain := []string{plain}
	for name, x := range map[string]struct {
		runtime string
		faults  choice
		cases   []string
	}{
		"bridge": {"claude", noFaults, []string{
			"claude/newest/text/plain", "claude/newest/permission/deny-then-stop", "claude/newest/stop/mid-text",
			"claude/newest/session/resume-in-a-new-process", "claude/newest/question/one", "claude/newest/tool/parallel",
		}},
		"bridge codex": {"codex", noFaults, []string{
			"codex/newest/text/plain", "codex/newest/permission/allow", "codex/newest/stop/mid-text", "codex/newest/session/resume-in-a-new-process",
		}},
		"bridge with a stall":         {"claude", stallFault, plain},
		"bridge with no handshake":    {"claude", startFault, plain},
		"bridge with faults that end": {"claude", endFaults, plain},
		"bridge with a cut stdout":    {"claude", choice{true, []string{"close-stdout", "split-every-byte"}}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, _, ofFaults := strings.Cut(name, " with ")
			g := gomega.NewWithT(t)
			cases, faults := racesample.Sample(x.cases, 4), x.faults
			switch {
			case ofFaults && racesample.Enabled:
				t.Skip("faults are minutes of waiting, and `make test` tries them")
			case ofFaults && racesample.Whole():
				t.Skip("the other subtests try all faults")
			case racesample.Whole() && !racesample.Enabled:
				faults = allFaults
			}
			failed, rep := judged(t, of(t, program, x.runtime), faults, cases...)
			g.Expect(failed).To(gomega.BeEmpty())
			passed := 0
			for _, r := range rep.Results {
				if r.Verdict == conformance.Pass {
					passed++
				}
			}
			g.Expect(passed).To(gomega.BeNumerically(">", 12*len(cases)), "most checks made assertions")
			switch {
			case len(faults.names) > 0:
				g.Expect(rep.FaultRuns).To(gomega.BeNumerically(">=", len(faults.names)))
			case faults.any:
				g.Expect(rep.FaultRuns).To(gomega.BeNumerically(">=", 6*len(cases)))
			}
		})
	}
}

// TestBrokenProgramsFail checks that each defect fails the checks that are named
// with it.
func TestBrokenProgramsFail(t *testing.T) {
	t.Parallel()
	for name, b := range brokenPrograms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "repeats megabytes" && racesample.Enabled {
				t.Skip("with the race detector the suite reads less than a megabyte a second; it is run without")
			}
			g := gomega.NewWithT(t)
			failed, _ := judged(t, of(t, name, "claude"), noFaults, "claude/newest/"+b.on)
			for _, id := range b.fails {
				g.Expect(failed).To(gomega.HaveKey(id))
			}
			t.Log(slices.Sorted(maps.Keys(failed)))
		})
	}
}

// TestOneMessageAtATime: a program that refuses a message while a turn runs is not
// expressible. One that refuses a message when no turn runs fails.
func TestOneMessageAtATime(t *testing.T) {
	t.Parallel()
	verdicts := func(id string) map[conformance.Verdict]int {
		_, rep := judged(t, of(t, "one message", "claude"), noFaults, id)
		out := map[conformance.Verdict]int{}
		for _, r := range rep.Results {
			out[r.Verdict]++
		}
		return out
	}
	g := gomega.NewWithT(t)
	during := verdicts("claude/newest/turn/message-during-thinking")
	g.Expect(during).To(gomega.HaveKey(conformance.NotExpressible))
	g.Expect(during).NotTo(gomega.HaveKey(conformance.Fail))
	after := verdicts("claude/newest/turn/two-turns-one-process")
	g.Expect(after).To(gomega.HaveKey(conformance.Fail))
}

// TestInterruptedCallMayBeAnError: a program without a status interrupted may emit
// an error with the text that the model received.
func TestInterruptedCallMayBeAnError(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	failed, rep := judged(t, of(t, "no word for interrupted", "claude"), noFaults, "claude/newest/stop/mid-tool-then-next-turn")
	g.Expect(failed).To(gomega.BeEmpty())
	g.Expect(slices.ContainsFunc(rep.Results, func(r conformance.Result) bool {
		return r.Check.ID == "tool.output" && r.Verdict == conformance.Pass
	})).To(gomega.BeTrue())
}
