package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

func openLog(t *testing.T, path string, o sqlite.Options) *sqlite.Log {
	t.Helper()
	log, err := sqlite.Open(t.Context(), path, o)
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

func deltas(session string, from, to int64) []event.Event {
	var out []event.Event
	for seq := from; seq <= to; seq++ {
		out = append(out, delta(session, seq))
	}
	return out
}

// readSeqs reads the session s and returns its last seq. A gap is an error.
func readSeqs(ctx context.Context, log eventlog.Log) (last int64, err error) {
	for e, err := range eventlog.All(ctx, log, "s", 0) {
		if err != nil {
			return last, err
		}
		if e.Seq != last+1 {
			return last, fmt.Errorf("seq %d is followed by %d", last, e.Seq)
		}
		last = e.Seq
	}
	return last, nil
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]sqlite.Options{"full": {}, "relaxed": {Relaxed: true, Poll: -1}} {
		t.Run(name, func(t *testing.T) {
			paths := map[eventlog.Log]string{}
			n := 0
			logtest.Run(t, logtest.Store{
				Open: func() (eventlog.Log, error) {
					n++
					path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", n))
					log, err := sqlite.Open(t.Context(), path, o)
					paths[log] = path
					return log, err
				},
				Reopen: func(closed eventlog.Log) (eventlog.Log, error) {
					log, err := sqlite.Open(t.Context(), paths[closed], o)
					paths[log] = paths[closed]
					return log, err
				},
			})
		})
	}
}

// Two logs that share only the file stand in for two programs.
func TestSeveralWritersOfOneFile(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "shared.db")
	one, other := openLog(t, path, sqlite.Options{}), openLog(t, path, sqlite.Options{Poll: time.Millisecond})
	reader := openLog(t, path, sqlite.Options{ReadOnly: true, Poll: time.Millisecond})

	const n = 300
	got := make(chan error, 2)
	for _, log := range []eventlog.Log{other, reader} {
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
	// Both append to one session in turn, so that neither may rely on its cache.
	for seq := int64(1); seq <= n; seq += 2 {
		g.Expect(one.Append(t.Context(), delta("s", seq))).To(Succeed())
		g.Expect(other.Append(t.Context(), delta("s", seq), delta("s", seq+1))).To(Succeed())
		g.Expect(other.Append(t.Context(), delta(fmt.Sprint("t", seq), 1))).To(Succeed())
		g.Expect(one.Append(t.Context(), delta(fmt.Sprint("t", seq), 2))).To(Succeed())
	}
	g.Expect(<-got).To(Succeed())
	g.Expect(<-got).To(Succeed())
	g.Expect(readSeqs(t.Context(), reader)).To(BeEquivalentTo(n))
	g.Expect(reader.Append(t.Context(), delta("s", n+1))).To(MatchError(eventlog.ErrReadOnly))
	g.Expect(reader.PutSnapshot(t.Context(), "s", 1, "k", nil)).To(MatchError(eventlog.ErrReadOnly))
}

// Servers that start at once create the file together.
func TestOpenTogether(t *testing.T) {
	for range 50 {
		path := filepath.Join(t.TempDir(), "new.db")
		var opened sync.WaitGroup
		for range 8 {
			opened.Go(func() {
				log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err == nil {
					err = log.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		opened.Wait()
	}
}

// A follower that does not read holds no transaction, so that the -wal file does
// not grow with the unread events.
func TestSlowFollowerHoldsNoTransaction(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "slow.db")
	log := openLog(t, path, sqlite.Options{Relaxed: true}.WithWALPages(1800))
	g.Expect(log.Append(t.Context(), delta("s", 1))).To(Succeed())
	n, batch := int64(60_000), int64(1000) // 13 MB
	if racesample.Enabled {
		n = 6000
	}
	seen := int64(0)
	for e, err := range log.Follow(t.Context(), "s", 0) {
		g.Expect(err).NotTo(HaveOccurred())
		if seen++; e.Seq != seen {
			t.Fatalf("want seq %d, got %d", seen, e.Seq)
		}
		if seen == 1 {
			for seq := int64(2); seq <= n; seq += batch {
				g.Expect(log.Append(t.Context(), deltas("s", seq, min(seq+batch-1, n))...)).To(Succeed())
			}
			g.Expect(fileSize(t, path+"-wal")).To(BeNumerically("<", 8<<20))
		}
		if seen == n {
			break
		}
	}
}

// A relaxed log is flushed after its commits. Others are by the commits themselves.
func TestRelaxedLogIsFlushed(t *testing.T) {
	g := NewWithT(t)
	relaxed := openLog(t, filepath.Join(t.TempDir(), "relaxed.db"), sqlite.Options{Relaxed: true})
	other := openLog(t, filepath.Join(t.TempDir(), "other.db"), sqlite.Options{})
	for n := int64(1); n <= 2; n++ {
		g.Expect(other.Append(t.Context(), delta("s", n))).To(Succeed())
		g.Expect(relaxed.Append(t.Context(), delta("s", n))).To(Succeed())
		g.Eventually(relaxed.Flushes).WithTimeout(time.Minute).Should(Equal(n))
	}
	g.Expect(other.Flushes()).To(BeZero())
}

// FILE-wal is copied into the file while the log is open, and does not grow after that.
// The limits are below those at which the writer would copy it.
func TestWALIsCopied(t *testing.T) {
	const pages, pageBytes = 900, 2048
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "copied.db")
	log := openLog(t, path, sqlite.Options{Relaxed: true}.WithWALPages(pages))
	const n, batch = 5000, 1000 // 600 pages, and more by the estimate
	for round := range int64(2) {
		for seq := round*n + 1; seq <= (round+1)*n; seq += batch {
			g.Expect(log.Append(t.Context(), deltas("s", seq, seq+batch-1)...)).To(Succeed())
		}
		g.Eventually(log.Copies).WithTimeout(time.Minute).Should(BeNumerically(">", round))
		g.Expect(fileSize(t, path)).To(BeNumerically(">", (round+1)*400*pageBytes))
		g.Expect(fileSize(t, path+"-wal")).To(BeNumerically("<", pages*pageBytes), "the second round is written to its beginning")
	}
}

// Reads use the primary key, and the list of sessions reads no events.
func TestQueriesUseTheKey(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "plan.db")
	log := openLog(t, path, sqlite.Options{})
	g.Expect(log.Append(t.Context(), delta("s", 1))).To(Succeed())
	for query, want := range sqlite.Plans(t, log) {
		for _, line := range want {
			g.Expect(line).NotTo(ContainSubstring("SCAN events"), query)
			g.Expect(line).NotTo(ContainSubstring("SCAN snapshots"), query)
			g.Expect(line).NotTo(ContainSubstring("TEMP B-TREE"), query)
		}
		g.Expect(want).To(ContainElement(ContainSubstring("SEARCH")), query)
	}
}

// rowOf returns the last seq that the row of the session a has.
func rowOf(t *testing.T, path string) (seq int64) {
	t.Helper()
	db, err := openRaw(path)
	if err == nil {
		err = errors.Join(db.QueryRow("SELECT last_seq FROM sessions WHERE id = 'a'").Scan(&seq), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// While a turn runs, the row of a session is not written with each event. Nobody who uses a Log notices.
func TestRowsLag(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "rows.db")
	log := openLog(t, path, sqlite.Options{})
	other := openLog(t, path, sqlite.Options{})
	var memory eventlog.Memory
	same := func() {
		t.Helper()
		want, err := memory.Sessions(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		for _, l := range []*sqlite.Log{log, other} {
			g.Expect(l.Sessions(t.Context())).To(Equal(want))
			for _, info := range want {
				g.Expect(l.Session(t.Context(), info.SessionID)).To(Equal(info))
			}
		}
	}
	add := func(l eventlog.Log, events ...event.Event) {
		t.Helper()
		g.Expect(memory.Append(t.Context(), events...)).To(Succeed())
		g.Expect(l.Append(t.Context(), events...)).To(Succeed())
	}
	most := int64(0)
	for seq := int64(1); seq <= 150; seq++ {
		add(log, delta("a", seq))
		add(log, delta("b", seq))
		row := rowOf(t, path)
		most = max(most, seq-row)
		if seq%50 == 1 {
			same()
		}
	}
	g.Expect(most).To(BeEquivalentTo(63))
	add(other, delta("a", 151)) // it has read the row, and the events since
	g.Expect(rowOf(t, path)).To(BeNumerically("<", 151))
	same()
	ready := delta("a", 152)
	ready.Data = event.SessionReady{SessionID: "a", Runtime: "claude", ProviderSessionID: "p"}
	add(log, ready)
	g.Expect(rowOf(t, path)).To(BeEquivalentTo(152))
	same()
	end := delta("a", 154)
	end.Data = event.Done{}
	add(log, delta("a", 153), end)
	g.Expect(rowOf(t, path)).To(BeEquivalentTo(154))
	same()

	// An event that cannot be read is in the list all the same.
	add(log, deltas("a", 155, 157)...)
	execRaw(t, path, `UPDATE events SET event = '{"type":"dream"}' WHERE session = 1 AND seq = 157`)
	info, err := log.Session(t.Context(), "a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Last.Seq).To(BeEquivalentTo(157))
	g.Expect(other.Append(t.Context(), delta("a", 158))).To(Succeed())
}
