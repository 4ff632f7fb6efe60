package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// TestServeRefusesALogThatIsServed starts a second server on the file of one that runs a session.
func TestServeRefusesALogThatIsServed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := filepath.Join(t.TempDir(), "chats.db")
	first := startShared(t, log)
	status, answer := first.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(Equal(201), answer)

	second := exec.Command("turnspec", "serve", "--no-token", "--listen", "127.0.0.1:0", "--log", log)
	out, err := second.CombinedOutput()
	g.Expect(err).To(MatchError("exit status 2"))
	g.Expect(string(out)).To(ContainSubstring(fmt.Sprintf("the server with pid %d at %s runs its sessions", first.cmd.Process.Pid, first.url)))
	_, answer = first.call("GET", "/sessions/s", "")
	g.Expect(answer).To(ContainSubstring(`"live":true`))
	_, answer = first.call("GET", "/sessions/s/history", "")
	g.Expect(answer).NotTo(ContainSubstring("session_end"))

	g.Expect(first.cmd.Process.Signal(syscall.SIGKILL)).To(Succeed())
	_ = first.cmd.Wait()
	third := startShared(t, log)
	_, answer = third.call("GET", "/sessions/s/history", "")
	g.Expect(strings.Count(answer, `"session_end"`)).To(Equal(1), "the session of the killed server is ended")
}

// TestServersThatLeaveSessionsShareAFile starts servers as `turnspec run` does, one for each case at once.
func TestServersThatLeaveSessionsShareAFile(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := filepath.Join(t.TempDir(), "chats.db")
	first := startShared(t, log, "--recover", "leave")
	status, answer := first.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(Equal(201), answer)
	second := startShared(t, log, "--recover", "leave")
	status, answer = second.call("POST", "/sessions", `{"session_id":"t"}`)
	g.Expect(status).To(Equal(201), answer)
	_, answer = second.call("GET", "/sessions/s/history", "")
	g.Expect(answer).NotTo(ContainSubstring("session_end"))

	third := exec.Command("turnspec", "serve", "--no-token", "--listen", "127.0.0.1:0", "--log", log)
	out, err := third.CombinedOutput()
	g.Expect(err).To(MatchError("exit status 2"), "it would end their sessions")
	g.Expect(string(out)).To(ContainSubstring("runs its sessions"))
}
