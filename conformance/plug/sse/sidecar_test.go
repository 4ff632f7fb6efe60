package sse_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// judged runs cases against a subject. It returns the checks that failed, with their
// problems, and those that passed.
func judged(t *testing.T, s conformance.Subject, places int, cases ...string) (failed map[string][]string, passed map[string]int) {
	t.Helper()
	var all []*conformance.Check
	for _, c := range checks.All() {
		if places == 0 {
			unharmed := *c
			unharmed.Faults = nil
			c = &unharmed
		}
		if c.Judge != nil || len(c.Faults) > 0 {
			all = append(all, c)
		}
	}
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: all, Cases: cases, Workers: 4, Places: max(places, 1), SingleTry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
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

// places is at how many places of a case faults are tried: none with the race detector,
// because faults are minutes of waiting, and `make test` tries them.
func places() int {
	if racesample.Enabled {
		return 0
	}
	return 1
}

var claudeCases = []string{
	"claude/2.1.329/text/plain", "claude/2.1.329/thinking/then-text", "claude/2.1.329/tool/text-tool-text-three-rounds", "claude/2.1.329/permission/allow",
	"claude/2.1.329/permission/deny-then-stop", "claude/2.1.329/stop/mid-text", "claude/2.1.329/session/resume-in-a-new-process",
}

var codexCases = []string{
	"codex/0.169.0/text/plain", "codex/0.169.0/permission/allow", "codex/0.169.0/stop/mid-text", "codex/0.169.0/session/resume-in-a-new-process",
}

// TestPlainSidecarPasses also checks that members that were filled in are not judged.
func TestPlainSidecarPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	failed, passed := judged(t, of(t, "plain", "claude"), 0, claudeCases...)
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
	failed, _ := judged(t, of(t, "plain codex", "codex"), 0, codexCases...)
	NewWithT(t).Expect(failed).To(BeEmpty())
}

// TestBridgedReferenceConforms runs a reference adapter behind the sidecar package, with
// faults in two cases.
func TestBridgedReferenceConforms(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	faulted, passed := judged(t, of(t, "served", "claude"), places(), "claude/2.1.329/permission/allow", "claude/2.1.329/question/one")
	g.Expect(faulted).To(BeEmpty())
	failed, more := judged(t, of(t, "served", "claude"), 0, racesample.Sample(claudeCases, 4)...)
	g.Expect(failed).To(BeEmpty())
	maps.Copy(passed, more)
	for _, id := range []string{"session.ready-first", "order.seq", "order.ts", "permission.resolved", "question.answered"} {
		g.Expect(passed).To(HaveKey(id), "it has given no verdict")
	}
}

func TestBridgedCodexReferenceConforms(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	faulted, _ := judged(t, of(t, "served codex", "codex"), places(), "codex/0.169.0/permission/allow")
	g.Expect(faulted).To(BeEmpty())
	failed, _ := judged(t, of(t, "served codex", "codex"), 0, racesample.Sample(codexCases, 4)...)
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
			failed, passed := judged(t, of(t, "served "+name, name), 0, name+"/"+versions[0]+"/text/plain")
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
			failed, _ := judged(t, of(t, name, "claude"), 0, "claude/2.1.329/"+b.on)
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
	failed, passed := judged(t, s, 0, claudeCases...)
	g.Expect(failed).To(BeEmpty())
	g.Expect(passed).To(HaveKeyWithValue("text.once", len(claudeCases)))
}
