package sse_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// nodeServer returns a server in JavaScript as a subject. It skips the test if the server
// cannot run here.
func nodeServer(t *testing.T, file string) *sse.Subject {
	t.Helper()
	if racesample.Enabled {
		t.Skip("it looks for no races: the server is another program")
	}
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is missing")
		}
		t.Skip("node is missing")
	}
	return &sse.Subject{Program: plug.Program{Title: filepath.Base(file), Of: "claude", Command: []string{"node", file}}, URL: "http://127.0.0.1:0"}
}

// TestExampleServerPasses grades the server of ROUTES.md, on cases in which the runtime
// also exits, is stopped, and would be resumed.
func TestExampleServerPasses(t *testing.T) {
	t.Parallel()
	s := nodeServer(t, "examples/server.js")
	const version = "claude/newest/"
	cases := []string{version + "text/plain", version + "process/sigterm-in-mid-text", version + "stop/mid-text", version + "turn/two-turns-one-process"}
	if racesample.Whole() {
		cases = append(cases, version+"process/sigint-in-mid-text", version+"process/close-in-mid-tool", version+"session/resume-after-stop")
	}
	failed, passed := judged(t, s, noFaults, cases...)
	g := NewWithT(t)
	g.Expect(failed).To(BeEmpty())
	for _, id := range []string{"text.once", "turn.one-terminal", "turn.stop", "session.returns"} {
		g.Expect(passed).To(HaveKey(id))
	}
}

// chatServer returns a server whose reply to a message is the stream of the turn.
func chatServer(t *testing.T, file, dialect string) *sse.Subject {
	t.Helper()
	s := nodeServer(t, file)
	m, err := mapping.Builtin(dialect)
	if strings.HasSuffix(dialect, ".json") {
		var b []byte
		if b, err = os.ReadFile(dialect); err == nil {
			m, err = mapping.Parse(dialect, b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Dialect = backend.Strict(m)
	return s
}

// TestChatServerPasses grades the other server of ROUTES.md, in both of its vocabularies. In that
// of AG-UI it could send the work of sub-agents, which a file says that it does not.
func TestChatServerPasses(t *testing.T) {
	t.Parallel()
	const version = "claude/newest/"
	for _, dialect := range []string{"usechat", "examples/chat.json"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := chatServer(t, "examples/chat.js", dialect)
			cases := []string{version + "text/plain", version + "thinking/then-text", version + "tool/text-tool-text-three-rounds", version + "turn/two-turns-one-process",
				version + "session/resume-in-a-new-process", version + "model/error-ends-the-turn"}
			if racesample.Whole() {
				cases = append(cases, version+"thinking/empty", version+"process/sigterm-in-mid-text", version+"process/close-in-mid-tool", version+"stop/mid-text",
					version+"permission/allow", version+"subagent/in-the-foreground")
			}
			failed, passed := judged(t, s, noFaults, cases...)
			g := NewWithT(t)
			g.Expect(failed).To(BeEmpty())
			for _, id := range append(mapping.Checks(), "text.once", "text.order", "turn.one-terminal", "thinking.delivered", "tool.known", "tool.paired", "tool.output", "session.returns") {
				g.Expect(passed).To(HaveKey(id), "it has given no verdict")
			}
			for _, id := range []string{"turn.stop", "permission.asked", "process.start-failure"} {
				g.Expect(passed).NotTo(HaveKey(id), "there is no request for it")
			}
		})
	}
}

// TestBrokenChatServers changes one line of the server each. The check that must fail says what is
// wrong.
func TestBrokenChatServers(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("examples/chat.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]struct{ dialect, from, to, fails, says string }{
		"leaves a part open":              {"usechat", `send({ type: ` + "`${kind}-end`" + `, id })`, "{}", "dialect.open", "part-open"},
		"ends a reply without finish":     {"usechat", `send({ type: "finish" })`, "{}", "dialect.open", "unfinished"},
		"sends a run without RUN_STARTED": {"agui-agent", `send({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" })`, "{}", "dialect.order", "run-missing"},
		"answers with JSON":               {"usechat", `"content-type": "text/event-stream"`, `"content-type": "application/json"`, "session.returns", "want a stream of events (text/event-stream)"},
		"has another route":               {"usechat", `case "POST /api/chat"`, `case "POST /chat"`, "session.returns", "there is no such route"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			g.Expect(string(source)).To(ContainSubstring(b.from))
			file := filepath.Join(t.TempDir(), "chat.js")
			g.Expect(os.WriteFile(file, []byte(strings.Replace(string(source), b.from, b.to, 1)), 0o600)).To(Succeed())
			failed, _ := judged(t, chatServer(t, file, b.dialect), noFaults, "claude/newest/text/plain")
			g.Expect(failed).To(HaveKeyWithValue(b.fails, ContainElement(ContainSubstring(b.says))))
		})
	}
}
