package sse_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// brokenAtSignals are sidecars that a signal harms, and the checks that must fail.
var brokenAtSignals = map[string]struct {
	serve func()
	fails []string
}{
	"loses sessions at SIGTERM": {func() { serveExitingAt(syscall.SIGTERM) }, []string{"process.sigterm"}},
	"loses sessions at SIGINT":  {func() { serveExitingAt(syscall.SIGINT) }, []string{"process.sigint"}},
	"loses sessions at SIGHUP":  {func() { serveExitingAt(syscall.SIGHUP) }, []string{"process.sighup"}},
	"ignores SIGHUP": {func() {
		signal.Ignore(syscall.SIGHUP)
		serveSignalled(syscall.SIGTERM, syscall.SIGINT)
	}, []string{"process.sighup"}},
	"leaves its runtime at SIGINT": {func() {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, syscall.SIGINT)
		go func() {
			<-interrupts
			keepPipesOpen()
			os.Exit(1)
		}()
		serveSignalled(syscall.SIGTERM, syscall.SIGHUP)
	}, []string{"process.sigint"}},
	"loses an event when it is started again": {func() { serveReference("claude", loseAfterRestart) }, []string{"process.sigterm", "process.sigint", "process.sighup"}},
}

// serveSignalled serves until one of the signals comes.
func serveSignalled(signals ...os.Signal) {
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	serveUntil(ctx, "claude", filepath.Join(os.Getenv(envLogs), "claude.db"), nil)
}

// serveExitingAt serves, with a log that only this process has, and exits at a signal
// without an end of its sessions.
func serveExitingAt(exits os.Signal) {
	var handled []os.Signal
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if s != exits {
			handled = append(handled, s)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), handled...)
	defer stop()
	serveUntil(ctx, "claude", filepath.Join(os.Getenv(envLogs), strconv.Itoa(os.Getpid())+".db"), nil)
}

// keepPipesOpen starts a program that inherits the pipes of this process for some seconds,
// so that a runtime does not notice that its client is gone.
func keepPipesOpen() {
	cmd := exec.Command("sleep", "30")
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(name, "pipe:") {
				cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fd), name))
			}
		}
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// loseAfterRestart loses an event of each stream, in a process that opened no session.
func loseAfterRestart(next http.Handler) http.Handler {
	var opened atomic.Bool
	lossy := changeReturns(func(n int, frame string) string {
		if n == 2 {
			return ""
		}
		return frame
	})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			opened.Store(true)
		}
		if opened.Load() {
			next.ServeHTTP(w, r)
			return
		}
		lossy.ServeHTTP(w, r)
	})
}

// TestBrokenAtSignals proves the checks of signals.
func TestBrokenAtSignals(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the system does not list open files, which a broken sidecar passes on")
	}
	for name, b := range brokenAtSignals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			failed, _ := judged(t, of(t, name, "claude"), noFaults, "claude/newest/text/plain")
			for _, id := range b.fails {
				g.Expect(failed).To(HaveKey(id))
				delete(failed, id)
			}
			g.Expect(failed).To(BeEmpty(), "it has one defect")
		})
	}
}
