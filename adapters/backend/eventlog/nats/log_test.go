package nats_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/nats"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/testserver"
	"github.com/turnspec/turnspec/adapters/event"
)

func openLog(t *testing.T, server *testserver.NATS, name string) *nats.Log {
	t.Helper()
	log, err := nats.Open(t.Context(), server.URL(), nats.Options{Name: name})
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
func delta(session string, seq int64, text string) event.Event {
	return event.Event{
		SessionID: session, Seq: seq, Turn: 1, TS: time.Date(2026, 11, 21, 10, 0, 0, int(seq/7), time.UTC),
		Data: event.Delta{Text: text, MessageID: "m", BlockID: "b"},
	}
}

func TestConformance(t *testing.T) {
	server := testserver.StartNATS(t)
	names := map[eventlog.Log]string{}
	open := func(name string) (eventlog.Log, error) {
		log, err := nats.Open(t.Context(), server.URL(), nats.Options{Name: name})
		names[log] = name
		return log, err
	}
	logtest.Run(t, logtest.Store{
		Open:   func() (eventlog.Log, error) { return open(server.NewName()) },
		Reopen: func(closed eventlog.Log) (eventlog.Log, error) { return open(names[closed]) },
	})
}

// The server is restarted in the middle of a turn.
func TestRestart(t *testing.T) {
	server := testserver.StartNATS(t)
	logtest.RunRestart(t, logtest.Restartable{
		Open: func() (eventlog.Log, error) { return nats.Open(t.Context(), server.URL(), nats.Options{}) },
		Restart: func() {
			server.Stop()
			server.Start()
		},
	})
}

// An event that is larger than a message is stored in parts and read from anywhere.
func TestLargeEvents(t *testing.T) {
	g := NewWithT(t)
	server := testserver.StartNATS(t)
	name := server.NewName()
	log, other := openLog(t, server, name), openLog(t, server, name)
	var want []event.Event
	for seq := int64(1); seq <= 9; seq++ {
		text := "small"
		if seq%2 == 0 {
			text = strings.Repeat("large", 500_000)
		}
		want = append(want, delta("s", seq, text))
	}
	g.Expect(log.Append(t.Context(), want...)).To(Succeed())
	g.Expect(other.Append(t.Context(), want[3], want[7])).To(Succeed()) // the same again
	for after := range int64(9) {
		for _, from := range []eventlog.Log{log, openLog(t, server, name)} { // one knows where, the other searches
			page, err := from.Read(t.Context(), "s", after, 1)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(page).To(HaveLen(1))
			g.Expect(page[0].Data).To(Equal(want[after].Data))
		}
	}
	second := delta("s", 8, "another")
	g.Expect(other.Append(t.Context(), second)).To(BeAssignableToTypeOf(&eventlog.ConflictError{}))
}

// Of two programs that append different events, one is refused.
func TestTwoWriters(t *testing.T) {
	g := NewWithT(t)
	server := testserver.StartNATS(t)
	name := server.NewName()
	one, other := openLog(t, server, name), openLog(t, server, name)
	for seq := int64(1); seq <= 50; seq++ {
		results := make(chan error, 2)
		for text, log := range map[string]eventlog.Log{"one": one, "other": other} {
			go func() { results <- log.Append(t.Context(), delta("s", seq, text)) }()
		}
		first, second := <-results, <-results
		if first != nil {
			first, second = second, first
		}
		g.Expect(first).NotTo(HaveOccurred())
		g.Expect(second).To(BeAssignableToTypeOf(&eventlog.ConflictError{}))
	}
}

func TestExpire(t *testing.T) {
	g := NewWithT(t)
	server := testserver.StartNATS(t)
	log := openLog(t, server, server.NewName())
	later := delta("new", 1, "x")
	later.TS = later.TS.Add(time.Hour)
	g.Expect(log.Append(t.Context(), delta("old", 1, "x"), delta("old", 2, "x"), later)).To(Succeed())
	g.Expect(log.PutSnapshot(t.Context(), "old", 1, "k", []byte("x"))).To(Succeed())
	image := event.MediaOf(event.MediaImage, "image/png", []byte("x"))
	for _, session := range []string{"old", "new"} {
		g.Expect(log.PutMedia(t.Context(), session, image, []byte("x"))).To(Succeed())
	}
	for _, session := range []string{"old", "new"} {
		g.Expect(log.PutOwner(t.Context(), session, "alice")).To(Succeed())
	}
	_, err := log.Beat(t.Context(), lease.Server{Name: "server"}, time.Hour)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Claim(t.Context(), "old", "server")).To(Succeed())
	g.Expect(log.Expire(t.Context(), later.TS)).To(BeZero()) // a server runs it
	g.Expect(log.Release(t.Context(), "old", "server")).To(Succeed())
	g.Expect(log.Expire(t.Context(), later.TS)).To(Equal(1))
	_, err = log.Session(t.Context(), "old")
	g.Expect(err).To(MatchError(eventlog.ErrUnknownSession))
	g.Expect(log.Append(t.Context(), delta("old", 3, "x"))).To(BeAssignableToTypeOf(&eventlog.GapError{}))
	g.Expect(log.Append(t.Context(), delta("old", 1, "x"))).To(Succeed()) // the id can be used again
	seq, _, err := log.Snapshot(t.Context(), "old", "k", 9)
	g.Expect(seq, err).To(BeZero())
	g.Expect(log.ListMedia(t.Context(), "old")).To(BeEmpty())
	g.Expect(log.ListMedia(t.Context(), "new")).To(ConsistOf(image))
	g.Expect(log.Owners(t.Context())).To(Equal(map[string]string{"new": "alice"}))
}

// TestFullServer fills the server. An owner is refused too, so that a server of sessions learns
// of it before it opens one.
func TestFullServer(t *testing.T) {
	g := NewWithT(t)
	server := testserver.StartNATSWithRoom(t, 4<<20)
	log := openLog(t, server, server.NewName())
	g.Expect(log.PutOwner(t.Context(), "s", "alice")).To(Succeed())
	var err error
	text := strings.Repeat("x", 100_000)
	for seq := int64(1); err == nil && seq < 1000; seq++ {
		err = log.Append(t.Context(), delta("s", seq, text))
	}
	g.Expect(err).To(MatchError(eventlog.ErrFull))
	g.Expect(log.PutOwner(t.Context(), "s", "alice")).To(MatchError(eventlog.ErrFull))
	g.Expect(log.PutOwner(t.Context(), "new", "alice")).To(MatchError(eventlog.ErrFull))
}

func TestLeases(t *testing.T) {
	server := testserver.StartNATS(t)
	logtest.RunLeases(t, func() (lease.Leases, error) { return openLog(t, server, server.NewName()), nil })
}

func TestNoServer(t *testing.T) {
	g := NewWithT(t)
	_, err := nats.Open(t.Context(), "nats://someone:hidden@127.0.0.1:1", nats.Options{Busy: time.Millisecond})
	g.Expect(err).To(MatchError(eventlog.ErrBusy))
	g.Expect(err.Error()).NotTo(ContainSubstring("hidden"))
}
