package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
)

// mountSmall mounts a file system of 2 MiB on a folder.
func mountSmall(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m")
}

// TestFullDisk fills a real file system if it may mount one.
func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("a small file system cannot be mounted here (TestFullFile limits the file instead): %v", err)
	}
	defer func() { g.Expect(syscall.Unmount(dir, syscall.MNT_DETACH)).To(Succeed()) }()
	path, ballast := filepath.Join(dir, "full.db"), filepath.Join(dir, "ballast")
	log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.PutOwner(t.Context(), "known", "alice")).To(Succeed())
	g.Expect(os.WriteFile(ballast, make([]byte, 512<<10), 0o600)).To(Succeed())
	last, err := appendUntilError(t.Context(), log, 100_000)
	g.Expect(err).To(MatchError(eventlog.ErrFull))
	g.Expect(readSeqs(t.Context(), log)).To(Equal(last))
	// Also one that is stored already, as when a session is resumed.
	for range 3 {
		g.Expect(log.PutOwner(t.Context(), "s", "alice")).To(MatchError(eventlog.ErrFull))
		g.Expect(log.PutOwner(t.Context(), "known", "alice")).To(MatchError(eventlog.ErrFull))
	}

	g.Expect(os.Remove(ballast)).To(Succeed())
	g.Expect(log.Append(t.Context(), deltas("s", last+1, last+10)...)).To(Succeed())
	g.Expect(log.Close()).To(Succeed())
	g.Expect(integrityCheck(path)).To(Equal("ok"))

	// No space to create a file.
	g.Expect(os.WriteFile(ballast, make([]byte, 2<<20), 0o600)).To(MatchError(syscall.ENOSPC))
	_, err = sqlite.Open(t.Context(), filepath.Join(dir, "another.db"), sqlite.Options{})
	g.Expect(err).To(MatchError(eventlog.ErrFull))
}

// Root may write to any file, so the child runs as another user then.
func TestFileThatMayNotBeWritten(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.Chmod(filepath.Dir(dir), 0o755)).To(Succeed()) // the other user needs access
	defer func() { g.Expect(os.Chmod(dir, 0o700)).To(Succeed()) }()
	path, program := filepath.Join(dir, "log.db"), filepath.Join(dir, "program")
	log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Append(t.Context(), deltas("s", 1, 3)...)).To(Succeed())
	g.Expect(log.Close()).To(Succeed())
	g.Expect(fileSize(t, path)).To(BeNumerically(">", 0))
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), "chats hold secrets")

	b, err := os.ReadFile(os.Args[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(program, b, 0o755)).To(Succeed())
	g.Expect(os.Chmod(path, 0o444)).To(Succeed())
	g.Expect(os.Chmod(dir, 0o555)).To(Succeed())
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), envReadOnly+"="+path)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	g.Expect(string(out)).To(ContainSubstring("writing: true"))
	g.Expect(string(out)).To(ContainSubstring("change its permissions"))
	g.Expect(string(out)).To(ContainSubstring("reading: 3 <nil>"))
}
