package main

import (
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestServeNamesWhatWaits runs a turn that asks for permission: the session says that it needs input, until it is
// answered.
func TestServeNamesWhatWaits(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := startServer(t, exec.Command("turnspec", "serve", "--speed", "1000", "--no-token", "--case", "claude/newest/permission/allow"))
	s.call("POST", "/sessions", `{"session_id":"s"}`)
	s.call("POST", "/sessions/s/message", `{"message":"hello"}`)
	var run struct {
		State      string
		NeedsInput []string `json:"needs_input"`
	}
	read := func() []string {
		_, answer := s.call("GET", "/sessions/s", "")
		run.NeedsInput = nil
		g.Expect(json.Unmarshal([]byte(answer), &run)).To(Succeed(), answer)
		return run.NeedsInput
	}
	g.Eventually(read).WithTimeout(time.Minute).Should(HaveLen(1))
	_, metrics := s.call("GET", "/metrics", "")
	g.Expect(metrics).To(ContainSubstring("\nturnspec_sessions_need_input 1\n"))
	status, answer := s.call("POST", "/sessions/s/permission/"+run.NeedsInput[0], `{"decision":"allow"}`)
	g.Expect(status).To(Equal(202), answer)
	g.Eventually(read).WithTimeout(time.Minute).Should(BeEmpty())
	g.Eventually(func() string { read(); return run.State }).WithTimeout(time.Minute).Should(Equal("completed"))
}

// TestServeResolvesReferences reads the versions of a file that a tool changed, and the event that a reference names.
func TestServeResolvesReferences(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := startServer(t, exec.Command("turnspec", "serve", "--speed", "1000", "--no-token", "--case", "claude/newest/file/overwrite"))
	s.call("POST", "/sessions", `{"session_id":"s#1"}`)
	s.call("POST", "/sessions/s%231/message", `{"message":"hello"}`)
	var list struct {
		Artifacts []struct {
			Path     string
			Versions []struct{ ID, Ref, Diff string }
		}
	}
	g.Eventually(func() int {
		_, answer := s.call("GET", "/sessions/s%231/artifacts", "")
		g.Expect(json.Unmarshal([]byte(answer), &list)).To(Succeed(), answer)
		return len(list.Artifacts)
	}).WithTimeout(time.Minute).Should(Equal(1))
	first := list.Artifacts[0].Versions[0]
	g.Expect(first.ID).To(Equal(list.Artifacts[0].Path + "@1"))
	g.Expect(first.Ref).To(HavePrefix("s#1#"))
	status, answer := s.call("GET", "/refs/s%231%23"+first.Ref[len("s#1#"):], "")
	g.Expect(status).To(Equal(200), answer)
	g.Expect(answer).To(And(ContainSubstring(`"type":"tool_result"`), ContainSubstring(`"changes"`)))
	for ref, want := range map[string]int{"s%231%23999": 404, "nobody%231": 404, "s%231": 404, "s": 400, "s%23x": 400} {
		status, answer := s.call("GET", "/refs/"+ref, "")
		g.Expect(status).To(Equal(want), "%s: %s", ref, answer)
	}
}
