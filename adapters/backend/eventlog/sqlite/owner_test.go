package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
)

// TestOwn lets one log own a file; a second one of the same file, also by a link, is refused until it closes.
func TestOwn(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log.db")
	first := openLog(t, path, sqlite.Options{})
	g.Expect(first.Own("http://127.0.0.1:4141")).To(Succeed())
	link := filepath.Join(t.TempDir(), "link.db")
	g.Expect(os.Symlink(path, link)).To(Succeed())
	for _, name := range []string{path, link} {
		second := openLog(t, name, sqlite.Options{})
		err := second.Own("http://127.0.0.1:4242")
		owned, ok := errors.AsType[*sqlite.OwnedError](err)
		g.Expect(ok).To(BeTrue(), "%v", err)
		g.Expect(*owned).To(Equal(sqlite.OwnedError{Path: name, PID: os.Getpid(), URL: "http://127.0.0.1:4141"}))
		g.Expect(second.Append(t.Context(), delta("s"+name, 1))).To(Succeed(), "any program may append")
		g.Expect(second.Close()).To(Succeed())
	}
	g.Expect(first.Close()).To(Succeed())
	third := openLog(t, path, sqlite.Options{})
	g.Expect(third.Own("http://a")).To(Succeed(), "with a shorter address than before")
	fourth := openLog(t, path, sqlite.Options{})
	g.Expect(fourth.Own("http://b")).To(MatchError(ContainSubstring("at http://a runs its sessions")))
}
