package sse_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/runner"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// asServer is the first argument if this program runs as one of servers.
const asServer = "turnspec-test-sidecar"

// servers are the sidecars that this program can run as, by name.
var servers = map[string]func(){
	"served":      func() { serveReference("claude", nil) },
	"whole":       (&sidecarServer{runtime: "claude"}).run,
	"plain":       (&sidecarServer{runtime: "claude", plain: true}).run,
	"plain codex": (&sidecarServer{runtime: "codex", plain: true}).run,
}

// TestMain makes this program the stand-in, a sidecar, or the tests.
func TestMain(m *testing.M) {
	conformance.Main()
	for name, b := range broken {
		b.server.runtime = "claude"
		servers[name] = b.server.run
	}
	for name, b := range brokenWriters {
		changed := false
		servers[name] = func() {
			serveReference("claude", changeStreams(func(_ int, frame string) string {
				if changed || !strings.Contains(frame, b.writer.contains) {
					return frame
				}
				changed = true
				return b.writer.change(frame)
			}))
		}
	}
	for _, name := range reference.Names() {
		servers["served "+name] = func() { serveReference(name, nil) }
	}
	for name, answer := range answersToOperations {
		servers[name] = func() { serveReference("claude", answerOperations(answer)) }
	}
	for name, b := range brokenSockets {
		servers[name] = func() { serveReference("claude", b.wrap) }
	}
	for name, b := range brokenSidecars {
		servers[name] = func() { serveReference("claude", b.wrap) }
	}
	for name, b := range brokenAtSignals {
		servers[name] = b.serve
	}
	if len(os.Args) == 3 && os.Args[1] == asServer {
		go exitWithParent()
		servers[os.Args[2]]()
		os.Exit(0)
	}
	logs, err := os.MkdirTemp("", "turnspec-logs")
	if err == nil {
		err = os.Setenv(envLogs, logs)
	}
	if err != nil {
		panic(err)
	}
	patient.Parallel()
	code := m.Run()
	_ = os.RemoveAll(logs)
	if pids := children(); code == 0 && len(pids) > 0 {
		fmt.Fprintln(os.Stderr, "sidecars that nobody has ended still run:", pids)
		code = 1
	}
	os.Exit(code)
}

// exitWithParent ends this sidecar if the test program was killed. It then closes the stdin of the
// sidecar, as it does before it sends SIGTERM, and is no longer its parent.
func exitWithParent() {
	parent := os.Getppid()
	_, _ = io.Copy(io.Discard, os.Stdin)
	for os.Getppid() == parent {
		time.Sleep(100 * time.Millisecond)
	}
	os.Exit(1)
}

// children returns the running children of this process, if the system lists them
// (Linux).
func children() []string {
	files, _ := filepath.Glob("/proc/self/task/*/children") // only Linux has them
	var pids []string
	for _, f := range files {
		b, _ := os.ReadFile(f) // the thread may have ended
		pids = append(pids, strings.Fields(string(b))...)
	}
	return pids
}

// of returns one of servers as a subject.
func of(t *testing.T, name, runtime string) *sse.Subject {
	t.Helper()
	if servers[name] == nil {
		t.Fatalf("no server %q", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &sse.Subject{Program: plug.Program{Title: name, Of: runtime, Command: []string{self, asServer, name}}, URL: "http://127.0.0.1:0"}
}

// once changes the n-th event of a type.
func once(typ event.Type, n int, do func(e event.Event, tell func(event.Event))) func(event.Event, func(event.Event)) {
	seen := 0
	return func(e event.Event, tell func(event.Event)) {
		if e.Type() == typ {
			if seen++; seen == n {
				do(e, tell)
				return
			}
		}
		tell(e)
	}
}

func dropped(event.Event, func(event.Event)) {}

func doubled(e event.Event, tell func(event.Event)) { tell(e); tell(e) }

// broken are sidecars of the plain form with one defect, the check that must fail,
// and those that may fail too.
var broken = map[string]struct {
	server    *sidecarServer
	on, fails string
	too       []string
}{
	"drops a delta":   {&sidecarServer{plain: true, event: once(event.TypeDelta, 2, dropped)}, "text/plain", "text.once", []string{"text.result"}},
	"doubles a delta": {&sidecarServer{plain: true, event: once(event.TypeDelta, 2, doubled)}, "text/plain", "text.once", []string{"text.result"}},
	"never ends a turn": {
		&sidecarServer{plain: true, event: once(event.TypeDone, 1, dropped)}, "text/plain", "turn.one-terminal", nil,
	},
	"says a piece after the end": {
		&sidecarServer{plain: true, event: once(event.TypeDone, 1, func(e event.Event, tell func(event.Event)) {
			tell(e)
			e.Data = event.Delta{Text: " And more.", MessageID: "m", BlockID: "b"}
			tell(e)
		})}, "text/plain", "turn.nothing-after-terminal", []string{"text.once", "text.result"},
	},
	"gives a result another id": {
		&sidecarServer{plain: true, event: once(event.TypeToolResult, 1, func(e event.Event, tell func(event.Event)) {
			d := e.Data.(event.ToolResult)
			d.ToolUseID += "x"
			e.Data = d
			tell(e)
		})}, "tool/text-tool-text-three-rounds", "tool.paired", []string{"tool.output"},
	},
	"invents a call": {
		&sidecarServer{plain: true, event: once(event.TypeToolStart, 1, func(e event.Event, tell func(event.Event)) {
			tell(e)
			d := e.Data.(event.ToolStart)
			d.ToolUseID = "toolu_nobody"
			e.Data = d
			tell(e)
			e.Data = event.ToolResult{ToolUseID: d.ToolUseID, Status: event.ToolOK}
			tell(e)
		})}, "tool/text-tool-text-three-rounds", "tool.known", nil,
	},
	"forgets a stop": {
		&sidecarServer{plain: true, event: once(event.TypeDone, 1, func(e event.Event, tell func(event.Event)) {
			e.Data = event.Done{}
			tell(e)
		})}, "stop/mid-text", "turn.stop", []string{"turn.end-stated"},
	},
	"asks twice": {
		&sidecarServer{plain: true, event: once(event.TypePermissionRequest, 1, func(e event.Event, tell func(event.Event)) {
			tell(e)
			d := e.Data.(event.PermissionRequest)
			d.RequestID += "again"
			e.Data = d
			tell(e)
		})}, "permission/allow", "permission.asked", nil,
	},
	"allows what was denied": {
		&sidecarServer{plain: true, answer: func(a *adapters.Answer) { a.Decision = event.DecisionAllow; a.Message = "" }},
		"permission/deny-then-stop", "permission.deny-enforced", []string{"wire.valid-input"},
	},
	"cuts the stream": {&sidecarServer{plain: true, cuts: true}, "text/plain", "session.returns", []string{"text.once", "session.call-results", "turn.end-stated"}},
	"counts wrong": {
		&sidecarServer{event: once(event.TypeDelta, 2, func(e event.Event, tell func(event.Event)) {
			e.Seq += 7
			tell(e)
		})}, "text/plain", "order.seq", nil,
	},
	"forgets a question": {
		&sidecarServer{event: once(event.TypePermissionResolved, 1, func(e event.Event, tell func(event.Event)) {
			e.Data = event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning} // so that seq has no gap
			tell(e)
		})}, "permission/allow", "permission.resolved", nil,
	},
}

// hanging are those of broken of which a run, perhaps with other steps, ends by a limit of the
// suite only.
var hanging = []string{"never ends a turn", "asks twice", "allows what was denied"}

// choice is the faults that a test tries.
type choice struct {
	any   bool
	names []string // none: a sample of all, as `turnspec run` tries them
	// once leaves out the checks that perform a case again with other steps: each run of a sidecar
	// that hangs takes as long as the suite waits for it.
	once bool
}

var (
	noFaults  = choice{}
	onceOnly  = choice{once: true}
	allFaults = choice{any: true}
	// endFaults end the session, its open, or a turn, each in another way; or they change nothing,
	// or add a notice. TestLimitsReachTheSidecar tries a stall.
	endFaults = choice{any: true, names: []string{"close-stdout", "kill", "exit-without-newline", "no-program", "duplicate-end", "garbage-line", "unknown-message", "split-every-byte"}}
)

// judged runs cases against a subject. It returns the checks that failed, with their
// problems, and those that passed. With faults a failure is tried a second time, as for a
// user: the subject has short limits then, which a busy machine can exceed.
func judged(t *testing.T, s conformance.Subject, faults choice, cases ...string) (failed map[string][]string, passed map[string]int) {
	t.Helper()
	return verdicts(report(t, s, faults, cases...))
}

// report runs cases against a subject.
func report(t *testing.T, s conformance.Subject, faults choice, cases ...string) *conformance.Report {
	t.Helper()
	var all []*conformance.Check
	for _, c := range checks.All() {
		if !faults.any {
			unfaulted := *c
			unfaulted.Faults = nil
			c = &unfaulted
		}
		if (c.Judge != nil || len(c.Faults) > 0) && (c.AlternateSteps == nil || !faults.once) {
			all = append(all, c)
		}
	}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: all, Cases: cases, Workers: 4, Places: 1, SingleTry: !faults.any,
	}
	for _, name := range faults.names {
		cfg.Faults = append(cfg.Faults, conformance.FaultAt{Name: name})
	}
	rep, err := runner.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// verdicts returns the checks that failed in a report, with their problems, and those that passed.
func verdicts(rep *conformance.Report) (failed map[string][]string, passed map[string]int) {
	failed, passed = map[string][]string{}, map[string]int{}
	for _, r := range rep.Results {
		switch {
		case r.Verdict == conformance.Fail && len(r.Problems) > 0:
			for _, p := range r.Problems {
				failed[r.Check.ID] = append(failed[r.Check.ID], r.Case+": "+p.Text+p.Diff)
			}
		case r.Verdict.Bad() || r.Verdict == conformance.Unrecorded:
			failed[r.Check.ID] = append(failed[r.Check.ID], r.Case+": "+string(r.Verdict)+": "+r.Reason)
		case r.Verdict.Judged():
			passed[r.Check.ID]++
		}
	}
	return failed, passed
}

var claudeCases = []string{
	"claude/newest/text/plain", "claude/newest/thinking/then-text", "claude/newest/tool/text-tool-text-three-rounds", "claude/newest/permission/allow",
	"claude/newest/permission/deny-then-stop", "claude/newest/stop/mid-text", "claude/newest/session/resume-in-a-new-process",
}

// plainCases are those of claudeCases that are performed in the plain form unless TURNSPEC_MATRIX
// is whole. A session of that form that is closed while a question is open takes ten seconds.
var plainCases = slices.DeleteFunc(slices.Clone(claudeCases), func(id string) bool { return strings.HasSuffix(id, "/permission/allow") })

var codexCases = []string{
	"codex/newest/text/plain", "codex/newest/permission/allow", "codex/newest/stop/mid-text", "codex/newest/session/resume-in-a-new-process",
}

// TestPlainSidecarPasses also checks that members that were filled in are not judged.
func TestPlainSidecarPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cases := plainCases
	if racesample.Whole() {
		cases = claudeCases
	}
	failed, passed := judged(t, of(t, "plain", "claude"), noFaults, cases...)
	g.Expect(failed).To(BeEmpty())
	for _, id := range []string{
		"text.once", "text.order", "thinking.delivered", "tool.known", "tool.paired", "tool.output", "permission.asked", "permission.answered-once",
		"permission.deny-enforced", "turn.one-terminal", "turn.nothing-after-terminal", "turn.stop", "wire.valid-input", "session.provider-id",
	} {
		g.Expect(passed).To(HaveKey(id), "it has given no verdict")
	}
	for _, id := range []string{"session.ready-first", "order.seq", "order.ts", "permission.resolved"} {
		g.Expect(passed).NotTo(HaveKey(id), "nobody can be praised for what was filled in")
	}
}

func TestPlainCodexSidecarPasses(t *testing.T) {
	t.Parallel()
	cases := []string{"codex/newest/text/plain", "codex/newest/stop/mid-text"}
	if racesample.Whole() {
		cases = codexCases
	}
	failed, _ := judged(t, of(t, "plain codex", "codex"), noFaults, cases...)
	NewWithT(t).Expect(failed).To(BeEmpty())
}

// TestBridgedReferenceConforms runs a reference adapter behind the sidecar package. It tries a
// few faults of each kind on one case, or all on two if TURNSPEC_MATRIX is whole.
func TestBridgedReferenceConforms(t *testing.T) {
	t.Parallel()
	const version = "claude/newest/"
	for name, x := range map[string]struct {
		faults choice
		cases  []string
		passes []string
	}{
		"without faults": {noFaults, []string{version + "thinking/then-text", version + "permission/deny-then-stop", version + "question/one"},
			[]string{"session.ready-first", "order.seq", "order.ts", "permission.resolved", "question.answered"}},
		"with other faults": {endFaults, []string{version + "text/plain"}, []string{"process.start-failure", "turn.crash-ends"}},
		"with all faults":   {allFaults, []string{version + "permission/allow", version + "question/one"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := x.cases
			switch {
			case x.faults.any && racesample.Enabled:
				t.Skip("faults are minutes of waiting, and `make test` tries them")
			case x.faults.any && len(x.faults.names) == 0 && !racesample.Whole():
				t.Skip("TURNSPEC_MATRIX=whole tries all faults")
			case !x.faults.any && racesample.Whole():
				cases = append(cases, claudeCases...)
			}
			g := NewWithT(t)
			failed, passed := judged(t, of(t, "served", "claude"), x.faults, cases...)
			g.Expect(failed).To(BeEmpty())
			for _, id := range x.passes {
				g.Expect(passed).To(HaveKey(id), "it has given no verdict")
			}
		})
	}
}

func TestBridgedCodexReferenceConforms(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cases := []string{"codex/newest/permission/allow"}
	if racesample.Whole() {
		faulted, _ := judged(t, of(t, "served codex", "codex"), allFaults, cases...)
		g.Expect(faulted).To(BeEmpty())
		cases = codexCases
	}
	failed, _ := judged(t, of(t, "served codex", "codex"), noFaults, cases...)
	g.Expect(failed).To(BeEmpty())
}

// TestBridgedReferencesConform runs the other reference adapters behind the sidecar package, on
// one case each and without faults.
func TestBridgedReferencesConform(t *testing.T) {
	t.Parallel()
	for _, name := range reference.Names() {
		if name == "claude" || name == "codex" {
			continue // the tests above run them
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			versions, err := fixtures.Embedded().Versions(name)
			g.Expect(err).NotTo(HaveOccurred())
			failed, passed := judged(t, of(t, "served "+name, name), noFaults, name+"/"+versions[0]+"/text/plain")
			g.Expect(failed).To(BeEmpty())
			g.Expect(passed).To(HaveKey("text.once"))
		})
	}
}

// Each broken sidecar has one defect. It must fail the check that is named with it,
// and may fail those in too.
func TestBrokenSidecarsFailTheirChecks(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(broken)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			b := broken[name]
			tried := noFaults
			if slices.Contains(hanging, name) {
				tried = onceOnly
			}
			failed, _ := judged(t, of(t, name, "claude"), tried, "claude/newest/"+b.on)
			g.Expect(failed).To(HaveKey(b.fails))
			delete(failed, b.fails)
			for _, id := range b.too {
				delete(failed, id)
			}
			g.Expect(failed).To(BeEmpty(), "nothing else is wrong with it")
		})
	}
}

// TestRunningSidecar starts a sidecar before the run, with the variables of a place.
// It serves one run after the other.
func TestRunningSidecar(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	place := t.TempDir()
	env, err := relay.Furnish(place, "claude", os.Environ())
	g.Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(self, asServer, "whole")
	cmd.Env = append(append(os.Environ(), env...), "PORT=0")
	_, err = cmd.StdinPipe() // it ends with this process
	g.Expect(err).NotTo(HaveOccurred())
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	s := &sse.Subject{Program: plug.Program{Of: "claude"}, URL: "http://" + strings.TrimSpace(address), StandinDir: place}
	g.Expect(s.Alone()).To(BeTrue())
	cases := []string{"claude/newest/text/plain", "claude/newest/stop/mid-text", "claude/newest/session/resume-in-a-new-process"}
	if racesample.Whole() {
		cases = claudeCases
	}
	failed, passed := judged(t, s, noFaults, cases...)
	g.Expect(failed).To(BeEmpty())
	g.Expect(passed).To(HaveKeyWithValue("text.once", len(cases)))
}
