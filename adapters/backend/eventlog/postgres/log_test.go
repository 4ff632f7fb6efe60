package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/postgres"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/testserver"
	"github.com/turnspec/turnspec/adapters/event"
)

func openLog(t *testing.T, url string) *postgres.Log {
	t.Helper()
	log, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// delta returns the event of a session at a seq.
func delta(session string, seq int64) event.Event {
	return event.Event{
		SessionID: session, Seq: seq, Turn: 1, TS: time.Date(2026, 11, 21, 10, 0, 0, int(seq/7), time.UTC),
		Data: event.Delta{Text: fmt.Sprintf("word %d of %s ", seq, session), MessageID: "msg_0123456789", BlockID: "msg_0123456789:0"},
	}
}

// TestPostgres has the tests of one server, which takes a second to start.
func TestPostgres(t *testing.T) {
	server := testserver.StartPostgres(t)
	ignore := goleak.IgnoreCurrent()
	for name, test := range map[string]func(*testing.T, *testserver.Postgres){
		"conformance":      testConformance,
		"several programs": testSeveralPrograms,
		"migration":        testMigration,
		"indexes":          testIndexes,
		"rejects":          testRejects,
		"expire":           testExpire,
		"full":             testFull,
		"leases":           testLeases,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
	goleak.VerifyNone(t, ignore)
}

func testConformance(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	urls := map[eventlog.Log]string{}
	logtest.Run(t, logtest.Store{
		Open: func() (eventlog.Log, error) {
			url := server.NewSchema()
			log, err := postgres.Open(t.Context(), url, postgres.Options{})
			urls[log] = url
			return log, err
		},
		Reopen: func(closed eventlog.Log) (eventlog.Log, error) {
			log, err := postgres.Open(t.Context(), urls[closed], postgres.Options{})
			urls[log] = urls[closed]
			return log, err
		},
	})
}

// Two logs that share only the database stand in for two programs.
func testSeveralPrograms(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	url := server.NewSchema()
	one, other := openLog(t, url), openLog(t, url)
	const n = 300
	got := make(chan error, 2)
	for _, log := range []eventlog.Log{one, other} {
		go func() {
			want := int64(1)
			for e, err := range log.Follow(t.Context(), "s", 0) {
				if err == nil && e.Seq != want {
					err = fmt.Errorf("want seq %d, got %d", want, e.Seq)
				}
				if err != nil || want == n {
					got <- err
					return
				}
				want++
			}
		}()
	}
	for seq := int64(1); seq <= n; seq += 2 {
		g.Expect(one.Append(t.Context(), delta("s", seq))).To(Succeed())
		g.Expect(other.Append(t.Context(), delta("s", seq), delta("s", seq+1))).To(Succeed())
	}
	g.Expect(<-got).To(Succeed())
	g.Expect(<-got).To(Succeed())

	// Both create sessions, and append different events to one, at the same time.
	results := make(chan error, 2)
	for _, log := range []eventlog.Log{one, other} {
		go func() {
			for i := range 50 {
				id := fmt.Sprint("raced ", i)
				if err := log.Append(context.Background(), delta(id, 1), delta(id, 2)); err != nil {
					results <- err
					return
				}
			}
			mine := delta("contested", 1)
			mine.TS = time.Now()
			results <- log.Append(context.Background(), mine)
		}()
	}
	first, second := <-results, <-results
	if first != nil {
		first, second = second, first
	}
	g.Expect(first).NotTo(HaveOccurred())
	g.Expect(second).To(BeAssignableToTypeOf(&eventlog.ConflictError{}))
	infos, err := one.Sessions(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(infos).To(HaveLen(52))
}

// A database of a newer version is refused, and several programs may create the tables
// at once.
func testMigration(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	url := server.NewSchema()
	opened := make(chan error, 4)
	for range cap(opened) {
		go func() {
			log, err := postgres.Open(context.Background(), url, postgres.Options{})
			if err == nil {
				err = log.Close()
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		g.Expect(<-opened).To(Succeed())
	}
	server.Exec(url, "UPDATE turnspec_version SET version = 1000")
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	g.Expect(err).To(MatchError(eventlog.ErrNewer))
}

// Reads use indexes, so that their cost does not depend on the number of sessions.
func testIndexes(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	url := server.NewSchema()
	log := openLog(t, url)
	for i := range 40 {
		var events []event.Event
		for seq := int64(1); seq <= 100; seq++ {
			events = append(events, delta(fmt.Sprint("s", i), seq))
		}
		g.Expect(log.Append(t.Context(), events...)).To(Succeed())
	}
	server.Exec(url, "ANALYZE turnspec_events; ANALYZE turnspec_sessions")
	for name, query := range postgres.Queries("'s7'") {
		plan := strings.Join(server.Exec(url, "EXPLAIN "+query), "\n")
		g.Expect(plan).NotTo(ContainSubstring("Seq Scan on turnspec_events"), name)
		g.Expect(plan).NotTo(ContainSubstring("Seq Scan on turnspec_snapshots"), name)
	}
}

func testRejects(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	_, err := postgres.Open(t.Context(), "postgres://someone:hidden@127.0.0.1:1/none", postgres.Options{Busy: time.Millisecond})
	g.Expect(err).To(MatchError(eventlog.ErrBusy))
	g.Expect(err.Error()).To(And(ContainSubstring("127.0.0.1:1/none"), Not(ContainSubstring("hidden"))))
	_, err = postgres.Open(t.Context(), "postgres://[", postgres.Options{})
	g.Expect(err).To(HaveOccurred())

	url := server.NewSchema()
	log := openLog(t, url)
	g.Expect(log.Append(t.Context(), delta("a\x00b", 1))).To(BeAssignableToTypeOf(&eventlog.InvalidError{}))
	g.Expect(log.Append(t.Context(), delta("s", 1))).To(Succeed())
	server.Exec(url, "UPDATE turnspec_events SET event = 'x'")
	_, err = log.Read(t.Context(), "s", 0, 0)
	g.Expect(err).To(MatchError(eventlog.ErrCorrupt))
	server.Exec(url, "DELETE FROM turnspec_events")
	g.Expect(log.Append(t.Context(), delta("s", 1))).To(MatchError(eventlog.ErrCorrupt))
}

func testExpire(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	url := server.NewSchema()
	log := openLog(t, url)
	later := delta("new", 1)
	later.TS = later.TS.Add(time.Hour)
	g.Expect(log.Append(t.Context(), delta("old", 1), delta("old", 2), later)).To(Succeed())
	g.Expect(log.PutSnapshot(t.Context(), "old", 1, "k", []byte("x"))).To(Succeed())
	image := event.MediaOf(event.MediaImage, "image/png", []byte("x"))
	for _, session := range []string{"old", "new"} {
		g.Expect(log.PutMedia(t.Context(), session, image, []byte("x"))).To(Succeed())
	}
	for _, session := range []string{"old", "new"} {
		g.Expect(log.PutOwner(t.Context(), session, "alice")).To(Succeed())
	}
	g.Expect(log.Claim(t.Context(), "old", "server")).To(Succeed())
	g.Expect(log.Expire(t.Context(), later.TS)).To(BeZero()) // a server runs it
	g.Expect(log.Release(t.Context(), "old", "server")).To(Succeed())
	g.Expect(log.Expire(t.Context(), later.TS)).To(Equal(1))
	_, err := log.Session(t.Context(), "old")
	g.Expect(err).To(MatchError(eventlog.ErrUnknownSession))
	g.Expect(server.Exec(url, "SELECT count(*) FROM turnspec_events UNION ALL SELECT count(*) FROM turnspec_snapshots UNION ALL SELECT count(*) FROM turnspec_media")).To(Equal([]string{"1", "0", "1"}))
	g.Expect(log.Owners(t.Context())).To(Equal(map[string]string{"new": "alice"}))
	g.Expect(log.Append(t.Context(), delta("old", 1))).To(Succeed()) // the id can be used again
}

// testFull lets a trigger report what PostgreSQL does when its disk is full. An owner is refused, so
// that a server of sessions learns of it before it opens one, also if the owner is stored already.
func testFull(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	g := NewWithT(t)
	url := server.NewSchema()
	log := openLog(t, url)
	g.Expect(log.PutOwner(t.Context(), "known", "alice")).To(Succeed())
	server.Exec(url, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$`)
	server.Exec(url, `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON turnspec_owners FOR EACH ROW EXECUTE FUNCTION refuse()`)
	for _, session := range []string{"known", "new"} {
		g.Expect(log.PutOwner(t.Context(), session, "alice")).To(MatchError(eventlog.ErrFull))
	}
	server.Exec(url, `DROP TRIGGER full_disk ON turnspec_owners`)
	g.Expect(log.PutOwner(t.Context(), "new", "alice")).To(Succeed())
}

func testLeases(t *testing.T, server *testserver.Postgres) { //nolint:thelper // a subtest
	url := server.NewSchema()
	logtest.RunLeases(t, func() (lease.Leases, error) { return openLog(t, url), nil })
}
