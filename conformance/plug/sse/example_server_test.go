package sse_test

import (
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestExampleServerPasses grades the server of ROUTES.md, on cases in which the runtime
// also exits, is stopped, and would be resumed.
func TestExampleServerPasses(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("it looks for no races: the server is another program")
	}
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is missing")
		}
		t.Skip("node is missing")
	}
	s := &sse.Subject{Program: plug.Program{Title: "server.js", Of: "claude", Command: []string{"node", "examples/server.js"}}, URL: "http://127.0.0.1:0"}
	const version = "claude/2.1.329/"
	failed, passed := judged(t, s, 0, version+"text/plain", version+"process/sigterm-in-mid-text", version+"process/sigint-in-mid-text", version+"process/close-in-mid-tool",
		version+"stop/mid-text", version+"session/resume-after-stop", version+"turn/two-turns-one-process")
	g := NewWithT(t)
	g.Expect(failed).To(BeEmpty())
	for _, id := range []string{"text.once", "turn.one-terminal", "turn.stop", "session.returns"} {
		g.Expect(passed).To(HaveKey(id))
	}
}
