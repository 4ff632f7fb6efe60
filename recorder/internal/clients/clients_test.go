//go:build clients

package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// TestMain is three programs: the stand-in, if it was started under the name of a
// runtime; the outer process, which installs the clients and enters a network
// namespace; and the tests, which run there.
func TestMain(m *testing.M) {
	if handled, code := standin.Main(os.Args[0], os.Args[1:]); handled {
		os.Exit(code)
	}
	if !isolate.Isolated() {
		if err := install(os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "install the clients:", err)
			os.Exit(1)
		}
	}
	reexeced, code, err := isolate.Enter(os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case reexeced:
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// client is a client and the scenarios that it performs.
type client struct {
	name    string
	runtime string
	version string // of the runtime; "": the newest
	script  string
	agent   string            // the program of an ACP agent, below node_modules
	mode    map[string]string // the mode for each need of a scenario; "" for the others
	title   string            // that the agent gives its session, by a request outside of it
	plays   []string          // scenarios
}

var all = []client{
	{
		name: "claude-sdk", runtime: "claude", script: "claude-sdk.mjs",
		mode:  map[string]string{"": "bypassPermissions", "permission": "default"},
		plays: []string{"text/plain", "tool/text-tool-text-three-rounds", "permission/allow", "permission/deny-then-stop", "stop/mid-text", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
	{
		name: "claude-acp", runtime: "claude", script: "acp.mjs", agent: "@agentclientprotocol/claude-agent-acp/dist/index.js",
		mode: map[string]string{"": "bypassPermissions", "permission": "default"},
		// It registers a hook after each tool, so a case without hooks lacks lines.
		plays: []string{"text/plain", "hook/after-each-command", "permission/deny-then-stop", "stop/mid-text", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
	{
		name: "codex-acp", runtime: "codex", script: "acp.mjs", title: "Three rivers", agent: "@agentclientprotocol/codex-acp/dist/index.js",
		mode:  map[string]string{"": "agent-full-access", "permission": "workspace-write"},
		plays: []string{"text/plain", "tool/text-tool-text-three-rounds", "permission/asked-with-a-reason", "stop/mid-text", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
	{
		name: "codex-sdk", runtime: "codexexec", script: "codex-sdk.mjs",
		// It cannot ask and gets no deltas, so it is stopped during a tool.
		plays: []string{"text/plain", "tool/text-tool-text-three-rounds", "file/write-and-edit", "model/error-ends-the-turn", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
	{
		name: "pi-rpc", runtime: "pi", script: "pi-rpc.mjs",
		// Its client has no way to answer an extension.
		plays: []string{"text/plain", "tool/text-tool-text-three-rounds", "model/error-ends-the-turn", "stop/mid-text", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
	{
		name: "acp-sdk-codex", runtime: "acp", version: "codex-acp-2.6.0", script: "acp-sdk.mjs",
		mode:  map[string]string{"": "agent-full-access"},
		plays: []string{"file/write-and-edit", "stop/mid-text", "session/resume-in-a-new-process"},
	},
	{
		name: "acp-sdk-claude", runtime: "acp", version: "claude-agent-acp-0.49.0", script: "acp-sdk.mjs",
		mode:  map[string]string{"": "bypassPermissions", "permission": ""},
		plays: []string{"text/plain", "permission/allow"}, // the other agent performs the rest
	},
	{
		name: "opencode-sdk", runtime: "opencode", script: "opencode-sdk.mjs",
		mode:  map[string]string{"permission": "ask"},
		plays: []string{"text/plain", "tool/text-tool-text-three-rounds", "permission/allow", "stop/mid-text", "stop/mid-tool", "session/resume-in-a-new-process"},
	},
}

func TestClients(t *testing.T) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, id := range c.plays {
				t.Run(id, func(t *testing.T) { c.compareRuns(t, id) })
			}
		})
	}
}

// tries is how often the real runtime and the stand-in perform a scenario until one run of the runtime
// equals one of the stand-in. What a client writes depends on its timers and those of the runtime, so
// that two runs may differ. The stand-in is wrong if no run of it equals one of the runtime.
const tries = 3

func (c client) compareRuns(t *testing.T, id string) {
	t.Helper()
	g := NewWithT(t)
	scn, err := fixtures.LoadScenario(id)
	g.Expect(err).NotTo(HaveOccurred())
	rt, err := runtimes.Find("", c.runtime, c.version)
	g.Expect(err).NotTo(HaveOccurred())
	kept := filepath.Join(Folder(t), "seen", c.name, filepath.FromSlash(id))
	g.Expect(os.MkdirAll(kept, 0o755)).To(Succeed())
	var diff string
	var onStandIn, onRuntime [][]string
	for range tries {
		got, err := c.perform(t.Context(), scn, rt, kept+".stand-in.jsonl", (*side).onStandIn)
		g.Expect(err).NotTo(HaveOccurred(), "on the stand-in")
		want, err := c.perform(t.Context(), scn, rt, kept+".real.jsonl", (*side).onRuntime)
		g.Expect(err).NotTo(HaveOccurred(), "on the real runtime")
		onStandIn, onRuntime = append(onStandIn, got), append(onRuntime, want)
		for _, got := range onStandIn {
			for _, want := range onRuntime {
				if diff = diffOutput(want, got); diff == "" {
					return
				}
			}
		}
		t.Log("one run of the runtime differs from the stand-in:\n" + diff)
	}
	t.Errorf("the output of %s differs between each run of the stand-in (+) and of the runtime (-); it is in %s.*\n%s", c.name, kept, diff)
}

// Folder is where the clients are installed and their output is stored.
func Folder(t *testing.T) string {
	t.Helper()
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
