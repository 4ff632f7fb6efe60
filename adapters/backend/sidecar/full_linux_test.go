package sidecar_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// onSmallDisk opens a log on a file system that fill fills, and another call of it empties.
func onSmallDisk(t *testing.T) (log *sqlite.Log, fill, empty func()) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (TestFullLog has a log that says it is full): %v", err)
	}
	t.Cleanup(func() { g.Expect(syscall.Unmount(dir, syscall.MNT_DETACH)).To(Succeed()) })
	log, err := sqlite.Open(t.Context(), filepath.Join(dir, "log.db"), sqlite.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(log.Close()).To(Succeed()) })
	ballast := filepath.Join(dir, "ballast")
	return log, func() { g.Expect(os.WriteFile(ballast, make([]byte, 4<<20), 0o600)).To(MatchError(syscall.ENOSPC)) },
		func() { g.Expect(os.Remove(ballast)).To(Succeed()) }
}

// TestFullDisk fills the file system of the log while the server runs.
func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	log, fill, empty := onSmallDisk(t)
	x := newServer(t, sidecar.Config{Log: log})
	x.open("s")
	l := x.listen("/sessions/s/events")
	l.until("session_ready")

	fill()
	x.call("POST", "/sessions/s/message", `{"message":"300"}`)
	g.Eventually(func() string { return x.metric("turnspec_log_full") }).WithTimeout(time.Minute).Should(Equal("1"))
	status, _ := x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(http.StatusInsufficientStorage))

	empty()
	g.Expect(l.until("done")).To(HaveLen(304), "no event is lost")
	status, _ = x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(http.StatusCreated))
}

// TestFirstSessionOnAFullDisk opens the very first session, and resumes one, when no session waits for
// room that could have shown that there is none.
func TestFirstSessionOnAFullDisk(t *testing.T) {
	g := NewWithT(t)
	log, fill, empty := onSmallDisk(t)
	reported := make(chan error, 9)
	x := newServer(t, sidecar.Config{Log: log, LogUnavailable: func(err error) { reported <- err }})
	x.open("ended")
	x.listen("/sessions/ended/events").until("session_ready")
	x.call("DELETE", "/sessions/ended", "")

	fill()
	for range 3 {
		for _, path := range []string{"/sessions", "/sessions/ended/resume"} {
			status, answer := x.call("POST", path, "")
			g.Expect(status).To(Equal(http.StatusInsufficientStorage), path)
			g.Expect(code(answer)).To(Equal(sidecar.CodeFull), path)
			g.Expect(reported).To(Receive(MatchError(eventlog.ErrFull)), path)
		}
	}
	g.Expect(x.adapter.opened).To(HaveLen(1), "no runtime was started for nothing")

	empty()
	for _, path := range []string{"/sessions", "/sessions/ended/resume"} {
		status, _ := x.call("POST", path, "")
		g.Expect(status).To(Equal(http.StatusCreated), path)
	}
}
