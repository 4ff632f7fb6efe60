package conversation_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/internal/subjecttest"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/conversation"
)

// asRunner is the first argument if this program runs as a runner. The second one is its
// runtime, and the third one its defect.
const asRunner = "turnspec-test-runner"

// TestMain makes this program the stand-in, a runner, or the tests.
func TestMain(m *testing.M) {
	conformance.Main()
	if len(os.Args) > 3 && os.Args[1] == asRunner {
		os.Exit(beRunner(os.Args[2], os.Args[3], os.Args[4:]))
	}
	patient.Parallel()
	os.Exit(m.Run())
}

// beRunner is the main function of a runner.
func beRunner(runtime, defect string, args []string) int {
	value := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	b := defects[defect]
	go func() {
		s := <-signals
		if s == b.exitsAt {
			os.Exit(1)
		}
		cancel(errors.New(s.String()))
	}()
	var in io.Reader = os.Stdin
	if b.input != nil {
		in = &changedLines{r: os.Stdin, change: b.input}
	}
	err := runner.Run(ctx, runner.Config{
		Adapter: reference.Of(runtime),
		Options: adapters.Options{
			Opening: op.Opening{Dir: value("--cwd"), Mode: message.Mode(value("--permission-mode")), Resume: value("--resume"), Fork: slices.Contains(args, "--fork")},
		},
	}, in, &changedWriter{w: os.Stdout, change: b.output})
	if err != nil {
		return 1
	}
	return 0
}

// defect is what is wrong with a runner: the lines of its output or input are changed. n counts
// the lines that hold the same type.
type defect struct {
	output func(kind, line string, n int) string
	input  func(line string) string
	// exitsAt is a signal at which it exits without an end of its conversation.
	exitsAt os.Signal
	// What it fails on a scenario: one check, and others that may fail too.
	scenario, check string
	too             []string
}

// changes returns a defect of the messages of one type.
func changes(kind string, change func(line string, n int) string) func(string, string, int) string {
	return func(k, line string, n int) string {
		if k == kind {
			return change(line, n)
		}
		return line
	}
}

func drop(string, int) string           { return "" }
func double(line string, _ int) string  { return line + line }
func otherID(line string, _ int) string { return strings.Replace(line, `"id":"`, `"id":"other-`, 1) }
func garbage(line string, _ int) string { return "INFO: turn complete\n" + line }
func allowed(line string) string {
	return strings.Replace(line, `"decision":"deny"`, `"decision":"allow"`, 1)
}
func goOn(line string, _ int) string {
	return line + `{"type":"assistant_text","content":"one more","block_id":"9"}` + "\n"
}

// defects are the runners of the tests. Each but right has one defect.
var defects = map[string]defect{
	"right":                    {},
	"drops text":               {output: changes("assistant_text", drop), scenario: "text/plain", check: "text.once"},
	"doubles text":             {output: changes("assistant_text", double), scenario: "text/plain", check: "text.once"},
	"drops thinking":           {output: changes("thinking_delta", drop), scenario: "thinking/then-text", check: "thinking.delivered"},
	"ends another tool":        {output: changes("tool_end", otherID), scenario: "tool/text-tool-text-three-rounds", check: "tool.paired", too: []string{"tool.interrupted"}},
	"never ends a tool":        {output: changes("tool_end", drop), scenario: "tool/text-tool-text-three-rounds", check: "tool.paired", too: []string{"tool.interrupted"}},
	"ends no turn":             {output: changes("turn_complete", drop), scenario: "text/plain", check: "turn.one-terminal"},
	"goes on after the turn":   {output: changes("turn_complete", goOn), scenario: "text/plain", check: "turn.nothing-after-terminal", too: []string{"text.once", "text.block-boundary"}},
	"hides the stop":           {output: changes("interrupted", drop), scenario: "stop/mid-text", check: "turn.stop", too: []string{"turn.end-stated"}},
	"allows what was denied":   {input: allowed, scenario: "permission/deny-with-a-message", check: "permission.deny-enforced", too: []string{"wire.valid-input", "permission.resolved"}},
	"asks twice":               {output: changes("permission_request", double), scenario: "permission/allow", check: "permission.asked", too: []string{"permission.resolved"}},
	"hides the answer":         {output: changes("permission_resolved", drop), scenario: "permission/allow", check: "permission.resolved"},
	"logs to stdout":           {output: changes("turn_complete", garbage), scenario: "text/plain", check: "session.returns", too: []string{"process.graceful-close"}},
	"talks after shutdown":     {output: changes("shutdown", goOn), scenario: "text/plain", check: "session.returns"},
	"ends without a shutdown":  {output: changes("shutdown", drop), scenario: "text/plain", check: "session.returns"},
	"exits at SIGTERM":         {exitsAt: syscall.SIGTERM, scenario: "text/plain", check: "process.sigterm"},
	"exits at SIGINT":          {exitsAt: syscall.SIGINT, scenario: "text/plain", check: "process.sigint"},
	"exits at SIGHUP":          {exitsAt: syscall.SIGHUP, scenario: "text/plain", check: "process.sighup"},
	"forgets the runtime's id": {output: changes("session_started", func(string, int) string { return `{"type":"session_started"}` + "\n" }), scenario: "text/plain", check: "session.provider-id"},
}

// changedWriter changes the lines that are written.
type changedWriter struct {
	w      io.Writer
	change func(kind, line string, n int) string
	rest   []byte
	n      map[string]int
}

func (c *changedWriter) Write(b []byte) (int, error) {
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.rest = append(c.rest, b...)
	for {
		i := bytes.IndexByte(c.rest, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := string(c.rest[:i+1])
		c.rest = c.rest[i+1:]
		if c.change != nil {
			kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
			line = c.change(kind, line, c.n[kind])
			c.n[kind]++
		}
		if _, err := io.WriteString(c.w, line); err != nil {
			return 0, err
		}
	}
}

// changedLines changes what is read. A read of a pipe returns whole lines.
type changedLines struct {
	r      io.Reader
	change func(string) string
	rest   []byte
}

func (c *changedLines) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		buf := make([]byte, 64<<10)
		n, err := c.r.Read(buf)
		if err != nil {
			return 0, err
		}
		c.rest = []byte(c.change(string(buf[:n])))
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// run judges a runner with a defect.
func run(t *testing.T, runtime, defect string, cases ...string) (failed map[string]string, passed map[string]int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	judge := subjecttest.Run
	if defect == "ends no turn" {
		judge = subjecttest.RunOnce
	}
	return judge(t, &conversation.Subject{Program: plug.Program{Title: defect, Of: runtime, Command: []string{self, asRunner, runtime, defect}}}, cases...)
}

func TestCorrectRunnerPasses(t *testing.T) {
	for runtime, cases := range map[string][]string{
		"claude": {
			"claude/newest/text/plain", "claude/newest/thinking/then-text", "claude/newest/tool/text-tool-text-three-rounds", "claude/newest/permission/allow",
			"claude/newest/permission/deny-with-a-message", "claude/newest/stop/mid-text", "claude/newest/plan/rejected-then-approved",
			"claude/newest/model/cut-in-mid-thinking", "claude/newest/session/resume-after-kill",
		},
		"codex": {"codex/newest/text/plain", "codex/newest/permission/allow", "codex/newest/stop/mid-text"},
		"pi":    {"pi/0.87.1/text/plain", "pi/0.87.1/stop/mid-text"},
	} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			bad, passed := run(t, runtime, "right", cases...)
			g.Expect(bad).To(BeEmpty())
			for _, id := range []string{"text.once", "text.order", "turn.one-terminal", "turn.stop", "session.provider-id", "session.returns", "wire.valid-input", "process.sigterm", "process.sigint", "process.sighup"} {
				g.Expect(passed).To(HaveKey(id), "no verdict")
			}
			g.Expect(passed).NotTo(HaveKey("order.seq"), "the messages have no numbers")
		})
	}
}

// TestRunnersOfAllRuntimesPass runs a runner on each runtime that the test above does not.
func TestRunnersOfAllRuntimesPass(t *testing.T) {
	cases := map[string][]string{
		"acp":         {"acp/claude-agent-acp-0.49.0/text/plain", "acp/claude-agent-acp-0.49.0/permission/allow"},
		"chat":        {"chat/1-plain/text/plain", "chat/1-plain/stop/mid-text"},
		"codexexec":   {"codexexec/newest/text/plain"},
		"opencode":    {"opencode/1.18.33/text/plain", "opencode/1.18.33/permission/allow"},
		"opencoderun": {"opencoderun/1.18.33/text/plain"},
	}
	for _, runtime := range reference.Names() {
		if slices.Contains([]string{"claude", "codex", "pi"}, runtime) {
			continue
		}
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			g.Expect(cases).To(HaveKey(runtime), "name a case of it")
			bad, passed := run(t, runtime, "right", cases[runtime]...)
			g.Expect(bad).To(BeEmpty())
			for _, id := range []string{"text.once", "text.order", "turn.one-terminal", "session.returns", "wire.valid-input", "process.sigterm"} {
				g.Expect(passed).To(HaveKey(id), "no verdict")
			}
		})
	}
}

func TestBrokenRunnersFailTheirChecks(t *testing.T) {
	for name, b := range defects {
		if b.scenario == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			bad, _ := run(t, "claude", name, "claude/newest/"+b.scenario)
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
		{[]string{"no-such-runner"}, "next: run it by hand"},
		{[]string{"sh", "-c", "echo broken >&2; exit 3", "sh"}, "broken"},
		{[]string{"sh", "-c", "echo rain", "sh"}, "no message: rain"},
		{nil, "no command"},
	} {
		g := NewWithT(t)
		s := &conversation.Subject{Program: plug.Program{Of: "claude", Command: c.command}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := s.Open(ctx, conformance.Open{Opening: op.Opening{SessionID: "s1", Dir: t.TempDir()}})
		cancel()
		g.Expect(err).To(MatchError(ContainSubstring(c.says)))
		var typed *adapters.OpenError
		g.Expect(errors.As(err, &typed)).To(BeTrue())
	}
}

// TestMessageTypes checks that each message that the runner of this module writes is known,
// except the lists, which no scenario asks a runner for, and no other one.
func TestMessageTypes(t *testing.T) {
	want := slices.DeleteFunc(message.Types(), func(name string) bool { return name == message.Listing{}.Type() })
	slices.Sort(want)
	NewWithT(t).Expect(conversation.MessageTypes()).To(Equal(want))
}
