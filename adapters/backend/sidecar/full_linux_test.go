package sidecar_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// TestFullDisk fills the file system of the log while the server runs.
func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (TestFullLog has a log that says it is full): %v", err)
	}
	t.Cleanup(func() { g.Expect(syscall.Unmount(dir, syscall.MNT_DETACH)).To(Succeed()) })
	log, err := sqlite.Open(t.Context(), filepath.Join(dir, "log.db"), sqlite.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(log.Close()).To(Succeed()) })
	x := newServer(t, sidecar.Config{Log: log})
	x.open("s")
	l := x.listen("/sessions/s/events")
	l.until("session_ready")

	ballast := filepath.Join(dir, "ballast")
	g.Expect(os.WriteFile(ballast, make([]byte, 4<<20), 0o600)).To(MatchError(syscall.ENOSPC))
	x.call("POST", "/sessions/s/message", `{"message":"300"}`)
	g.Eventually(func() string { return x.metric("turnspec_log_full") }).WithTimeout(time.Minute).Should(Equal("1"))
	status, _ := x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(http.StatusInsufficientStorage))

	g.Expect(os.Remove(ballast)).To(Succeed())
	g.Expect(l.until("done")).To(HaveLen(304), "no event is lost")
	status, _ = x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(http.StatusCreated))
}
