package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
)

// testdata/v1.db is a file of version 1.
func TestMigrate(t *testing.T) {
	g := NewWithT(t)
	b, err := os.ReadFile("testdata/v1.db")
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(t.TempDir(), "old.db")
	g.Expect(os.WriteFile(path, b, 0o600)).To(Succeed())
	check := func(log *sqlite.Log) {
		infos, err := log.Sessions(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(infos).To(HaveLen(2))
		g.Expect(checkSession(t.Context(), log, "a")).To(BeEquivalentTo(12))
		g.Expect(checkSession(t.Context(), log, "b")).To(BeEquivalentTo(3))
		g.Expect(log.ListMedia(t.Context(), "a")).To(BeEmpty())
		g.Expect(log.Owner(t.Context(), "a")).To(BeEmpty())
		g.Expect(log.Owners(t.Context())).To(BeEmpty())
		_, _, err = log.Media(t.Context(), "a", "00")
		g.Expect(err).To(MatchError(eventlog.ErrUnknownMedia))
	}
	// Opening it read-only leaves it unchanged.
	reader := openLog(t, path, sqlite.Options{ReadOnly: true})
	g.Expect(reader.Version()).To(Equal(1))
	check(reader)
	g.Expect(reader.Close()).To(Succeed())
	same, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(Equal(b))

	// Several logs open it concurrently and one of them migrates it.
	opened := make(chan error, 4)
	logs := make(chan *sqlite.Log, 4)
	for range 4 {
		go func() {
			log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			opened <- err
			logs <- log
		}()
	}
	for range 4 {
		g.Expect(<-opened).To(Succeed())
	}
	for i := range int64(4) {
		log := <-logs
		g.Expect(log.Version()).To(Equal(sqlite.NewestVersion()))
		g.Expect(log.Append(t.Context(), delta("a", 13+i))).To(Succeed())
		g.Expect(log.PutMedia(t.Context(), "b", event.MediaOf(event.MediaImage, "image/png", nil), nil)).To(Succeed())
		g.Expect(log.PutOwner(t.Context(), "a", "alice")).To(Succeed())
		g.Expect(log.PutSnapshot(t.Context(), "a", 13+i, "k", fmt.Appendf(nil, "a at %d", 13+i))).To(Succeed())
		g.Expect(checkSession(t.Context(), log, "a")).To(BeEquivalentTo(13 + i))
		g.Expect(log.Close()).To(Succeed())
	}
	g.Expect(integrityCheck(path)).To(Equal("ok"))
}
