package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
)

// locks returns the POSIX locks that this program has on a file.
func locks(t *testing.T, path string) (out []string) {
	t.Helper()
	var stat syscall.Stat_t
	err := syscall.Stat(path, &stat)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 8 && f[4] == fmt.Sprint(os.Getpid()) && strings.HasSuffix(f[5], fmt.Sprint(":", stat.Ino)) {
			out = append(out, line)
		}
	}
	return out
}

// A log opens its file once more than SQLite, to flush it. If it closed that while another log of the program has
// the file open, the other would lose its locks, and a second program could overwrite what it reads.
func TestClosingALogLeavesTheLocksOfAnother(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log.db")
	link := filepath.Join(t.TempDir(), "link.db")
	for _, second := range []string{path, link} {
		log := openLog(t, path, sqlite.Options{})
		g.Expect(log.Append(t.Context(), delta(second, 1))).To(Succeed())
		if second == link {
			g.Expect(os.Link(path, link)).To(Succeed())
		}
		g.Expect(locks(t, path)).NotTo(BeEmpty())
		reader := openLog(t, second, sqlite.Options{ReadOnly: true})
		g.Expect(reader.Close()).To(Succeed())
		g.Expect(locks(t, path)).NotTo(BeEmpty())
		g.Expect(log.Close()).To(Succeed())
		g.Expect(locks(t, path)).To(BeEmpty())
	}
}
