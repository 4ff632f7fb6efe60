package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
)

// Another program holds the file locked. Callers whose context is done leave, also if they are next, and the
// others are stored when the lock is gone, also if the log is being closed.
func TestCallersThatLeaveTheQueue(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "queue.db")
	log := openLog(t, path, sqlite.Options{Busy: time.Minute})
	g.Expect(log.Append(t.Context(), delta("first", 1))).To(Succeed())
	committing := func(want bool) { g.Eventually(log.Committing).WithTimeout(time.Minute).Should(Equal(want)) }
	committing(false) // a caller may be served before the commit has ended
	db, err := openRaw(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = db.Close() }()
	_, err = db.Exec("BEGIN IMMEDIATE")
	g.Expect(err).NotTo(HaveOccurred())

	var leaving, staying sync.WaitGroup
	left, stored := make(chan error, 4), make(chan error, 5)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := func(n int) { g.Eventually(log.Waiting).WithTimeout(time.Minute).Should(Equal(n)) }
	stay := func(name string) { stored <- log.Append(context.WithoutCancel(ctx), delta("stays "+name, 1)) }
	names := []string{"a", "b", "c", "d"}
	staying.Go(func() { stay("in the commit") })
	committing(true)
	waiting(0) // the commit has begun without those that come now
	for _, name := range names {
		leaving.Go(func() { left <- log.Append(ctx, delta("leaves "+name, 1)) })
	}
	waiting(4)
	for _, name := range names {
		staying.Go(func() { stay(name) })
	}
	waiting(8)
	cancel()
	leaving.Wait()
	for range 4 {
		g.Expect(<-left).To(MatchError(context.Canceled))
	}
	closed := make(chan error, 1)
	go func() { closed <- log.Close() }()
	late := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		return log.Append(ctx, delta("late", 1))
	}
	g.Eventually(late).WithTimeout(time.Minute).Should(MatchError(eventlog.ErrClosed))
	_, err = db.Exec("ROLLBACK")
	g.Expect(err).NotTo(HaveOccurred())
	staying.Wait()
	for range 5 {
		g.Expect(<-stored).To(Succeed())
	}
	g.Expect(<-closed).To(Succeed())
	reader := openLog(t, path, sqlite.Options{ReadOnly: true})
	for _, name := range append(names, "in the commit") {
		g.Expect(checkSession(t.Context(), reader, "stays "+name)).To(BeEquivalentTo(1))
	}
}
