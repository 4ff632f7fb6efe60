package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
)

func TestServers(t *testing.T) {
	g := gomega.NewWithT(t)
	project, user := filepath.Join(t.TempDir(), ".mcp.json"), filepath.Join(t.TempDir(), "servers.json")
	g.Expect(runner.ReadServers(project)).To(gomega.BeEmpty(), "there is no file")
	g.Expect(os.WriteFile(project, []byte(`{"mcpServers":{"b":{"command":"b"},"a":{"command":"a","args":["x"],"env":{"K":"v"}}}}`), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(user, []byte(`{"mcpServers":{"b":{"type":"stdio","command":"mine"}}}`), 0o600)).To(gomega.Succeed())
	first, err := runner.ReadServers(project)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	second, err := runner.ReadServers(user)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	builtIn := []adapters.MCPServer{{Name: "c", Command: "c"}}
	g.Expect(runner.MergeServers(builtIn, first, second)).To(gomega.Equal([]adapters.MCPServer{
		{Name: "a", Command: "a", Args: []string{"x"}, Env: map[string]string{"K": "v"}}, {Name: "b", Command: "mine"}, {Name: "c", Command: "c"},
	}))
	for _, wrong := range []string{"rain", `{"mcpServers":{"w":{"type":"carrier-pigeon"}}}`} {
		g.Expect(os.WriteFile(user, []byte(wrong), 0o600)).To(gomega.Succeed())
		_, err := runner.ReadServers(user)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(user)))
	}
}
