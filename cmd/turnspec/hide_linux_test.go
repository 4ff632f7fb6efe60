package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// TestRuntimesCannotReadTheServer lets a program in the place of codex read the environment of
// the server that started it, and its own. Both run as a user without privileges.
func TestRuntimesCannotReadTheServer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, err := os.MkdirTemp("", "turnspec-hidden") //nolint:usetesting // T.TempDir is closed to other users
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	g.Expect(os.Chmod(dir, 0o777)).To(Succeed())
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	program := filepath.Join(dir, "turnspec")
	if os.Link(self, program) != nil {
		b, err := os.ReadFile(self)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(program, b, 0o755)).To(Succeed())
	}
	codex := fmt.Sprintf("#!/bin/sh\ncat /proc/$PPID/environ > %[1]s/server 2>&1\nenv > %[1]s/own\n", dir)
	g.Expect(os.WriteFile(filepath.Join(dir, "codex"), []byte(codex), 0o755)).To(Succeed())

	serve := exec.Command(program, "serve", "--runtime", "codex", "--no-token", "--log", filepath.Join(dir, "log.db"), "--dir", dir)
	if os.Geteuid() == 0 { // who may read everything
		serve.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	server := startServer(t, serve, "PATH="+dir+":"+os.Getenv("PATH"), "TURNSPEC_TOKEN=secret-token", "PGPASSWORD=secret-password")
	status, answer := server.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(BeNumerically(">=", 400), answer) // that program is no codex
	own, err := os.ReadFile(filepath.Join(dir, "own"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(own)).To(And(ContainSubstring("PATH="), Not(ContainSubstring("secret"))))
	read, err := os.ReadFile(filepath.Join(dir, "server"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(read)).To(ContainSubstring("Permission denied"))
}
