//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// TestServePreparesSessions opens a session with instructions, sub-agents and MCP servers that the flags name. The
// runtime is a stand-in that notes its arguments and what it reads.
func TestServePreparesSessions(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	home := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(home, filepath.FromSlash(name))
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(text), mode)).To(Succeed())
		return file
	}
	seen := filepath.Join(home, "seen")
	write("bin/claude", "#!/bin/sh\nprintf '%s\\n' \"$@\" >'"+seen+"'\ntee -a '"+seen+"' | turnspec play claude --case claude/newest/text/plain --speed 1000 \"$@\"\n", 0o700)
	rules := write("rules.md", "Speak like a heron.", 0o600)
	write("templates/claude/bird-clerk.md", "---\nname: bird-clerk\ndescription: Counts birds.\n---\nCount what is on the list.\n", 0o600)
	write("work/.mcp.json", `{"mcpServers":{"herons":{"command":"heron-server"}}}`, 0o600)
	work := filepath.Join(home, "work")

	cmd := exec.Command("turnspec", "serve", "--runtime", "claude", "--no-token", "--log", filepath.Join(home, "log.db"), "--model", "heron-1",
		"--instructions-file", rules, "--agent-files", filepath.Join(home, "templates"), "--project-servers")
	server := startServer(t, cmd, "PATH="+filepath.Join(home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	status, answer := server.call("POST", "/sessions", `{"session_id":"s","params":{"workingDir":"`+work+`"}}`)
	g.Expect(status).To(Equal(201), answer)
	b, err := os.ReadFile(seen)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(And(ContainSubstring("Speak like a heron."), ContainSubstring("heron-server"), ContainSubstring("heron-1")))
	g.Expect(os.ReadFile(filepath.Join(work, ".claude/agents/bird-clerk.md"))).To(ContainSubstring("Count what is on the list."))

	write("templates/claude/bird-clerk.md", "no definition", 0o600)
	status, answer = server.call("POST", "/sessions", `{"session_id":"t","params":{"workingDir":"`+home+`"}}`)
	g.Expect(status).To(Equal(422), answer)
	g.Expect(answer).To(ContainSubstring("bird-clerk.md:1"))
}
