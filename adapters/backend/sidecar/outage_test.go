package sidecar_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// unsteady is a log whose next reads fail, each of its methods' for itself.
type unsteady struct {
	eventlog.Log
	err                    error
	read, follow, describe atomic.Int64 // calls that are still to fail
	store, own             atomic.Int64
}

func (u *unsteady) fails(left *atomic.Int64) bool { return left.Add(-1) >= 0 }

// Append implements eventlog.Log.
func (u *unsteady) Append(ctx context.Context, events ...event.Event) error {
	if u.fails(&u.store) {
		return u.err
	}
	return u.Log.Append(ctx, events...)
}

// PutOwner implements eventlog.Log.
func (u *unsteady) PutOwner(ctx context.Context, session, owner string) error {
	if u.fails(&u.own) {
		return u.err
	}
	return u.Log.PutOwner(ctx, session, owner)
}

// Read implements eventlog.Log.
func (u *unsteady) Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
	if u.fails(&u.read) {
		return nil, u.err
	}
	return u.Log.Read(ctx, session, after, limit)
}

// Session implements eventlog.Log.
func (u *unsteady) Session(ctx context.Context, session string) (eventlog.Info, error) {
	if u.fails(&u.describe) {
		return eventlog.Info{}, u.err
	}
	return u.Log.Session(ctx, session)
}

// Follow implements eventlog.Log. One that fails does so after three events.
func (u *unsteady) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	fails := u.fails(&u.follow)
	return func(yield func(event.Event, error) bool) {
		n := 0
		for e, err := range u.Log.Follow(ctx, session, after) {
			if n++; fails && n > 3 {
				yield(event.Event{}, u.err)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// errPassing is an error that passes, as of another program that holds the file's lock.
var errPassing = fmt.Errorf("log.db: read: %w", eventlog.ErrBusy)

// TestReadErrorsThatPass checks that a stream goes on after errors of the log that pass:
// nothing is lost or sent twice, and it ends when the session has.
func TestReadErrorsThatPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs bool
		fail func(*unsteady)
	}{
		"while old events of a running session are read": {true, func(u *unsteady) { u.read.Store(3) }},
		"while a session is followed":                    {false, func(u *unsteady) { u.follow.Store(3) }},
		"when a listener of a running session comes":     {true, func(u *unsteady) { u.describe.Store(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			log := &unsteady{Log: &eventlog.Memory{}, err: errPassing}
			x := newServer(t, sidecar.Config{Log: log})
			x.open("s")
			x.call("POST", "/sessions/s/message", `{"message":"300"}`) // more than the tail holds
			x.listen("/sessions/s/events").until("done")
			if !c.runs {
				x.call("DELETE", "/sessions/s", "")
			}
			c.fail(log)
			l := x.listen("/sessions/s/events?after=0")
			got := l.until("done")
			g.Expect(got).To(HaveLen(305))
			for i, f := range got {
				g.Expect(f.id).To(Equal(fmt.Sprint(i + 1)))
			}
			if c.runs {
				log.describe.Store(2) // while the server asks whether anything follows session_end
				x.call("DELETE", "/sessions/s", "")
			}
			g.Expect(l.until("")).To(HaveLen(1), "session_end, and the end of the stream")
		})
	}
}

// TestReadErrorsThatStay checks that a stream ends at an error that no retry mends.
func TestReadErrorsThatStay(t *testing.T) {
	t.Parallel()
	for _, err := range []error{eventlog.ErrCorrupt, eventlog.ErrClosed} {
		g := NewWithT(t)
		log := &unsteady{Log: &eventlog.Memory{}, err: err}
		x := newServer(t, sidecar.Config{Log: log})
		x.open("s")
		x.call("POST", "/sessions/s/message", `{"message":"300"}`)
		x.listen("/sessions/s/events").until("done")
		log.read.Store(1 << 40)
		began := time.Now()
		g.Expect(x.listen("/sessions/s/events?after=0").until("")).To(BeEmpty())
		g.Expect(time.Since(began)).To(BeNumerically("<", 10*time.Second))
		log.read.Store(0)
	}
}

// TestAddressOfTheLogIsPrivate checks that answers do not contain the address of a log, which may
// name a host and a user; LogUnavailable gets it.
func TestAddressOfTheLogIsPrivate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := &unsteady{Log: &eventlog.Memory{}, err: fmt.Errorf("postgres://ann@db.example/chats: read: %w", eventlog.ErrBusy)}
	reported := make(chan error, 1)
	x := newServer(t, sidecar.Config{Log: log, LogUnavailable: func(err error) { reported <- err }})
	x.open("s")
	log.read.Store(1)
	status, answer := x.call("GET", "/sessions/s/history", "")
	g.Expect(status).To(Equal(http.StatusServiceUnavailable))
	g.Expect(answer["error"]).To(Equal(map[string]any{"code": sidecar.CodeLog, "message": eventlog.ErrBusy.Error()}))
	g.Expect(reported).To(Receive(Equal(log.err)))
}

// TestLogFailed checks that a server reports that the log takes no events, and ends the session
// and its streams.
func TestLogFailed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := &unsteady{Log: &eventlog.Memory{}, err: eventlog.ErrReadOnly}
	failed := make(chan string, 1)
	x := newServer(t, sidecar.Config{Log: log, LogFailed: func(session string, err error) { failed <- fmt.Sprint(session, ": ", err) }})
	x.open("s")
	l := x.listen("/sessions/s/events")
	l.until("session_ready")
	log.store.Store(1)
	x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	g.Eventually(failed).WithTimeout(time.Minute).Should(Receive(Equal("s: " + eventlog.ErrReadOnly.Error())))
	g.Expect(l.until("")).To(BeEmpty())
	g.Eventually(func() any { _, run := x.call("GET", "/sessions/s", ""); return run["live"] }).WithTimeout(time.Minute).Should(BeFalse())
}

// TestUnknownEnd checks that a listener of a session that does not run is refused, and not left to
// wait, if the log cannot say whether the session has ended.
func TestUnknownEnd(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"text/event-stream", "text/event-stream;format=agui"} {
		g := NewWithT(t)
		log := &unsteady{Log: &eventlog.Memory{}, err: errPassing}
		x := newServer(t, sidecar.Config{Log: log})
		x.open("s")
		x.call("DELETE", "/sessions/s", "")
		log.read.Store(1)
		status, answer := x.call(http.MethodGet, "/sessions/s/events?after=2", "", "Accept", accept)
		g.Expect(status).To(Equal(http.StatusServiceUnavailable))
		g.Expect(code(answer)).To(Equal(sidecar.CodeLog))
		status, _ = x.call(http.MethodGet, "/sessions/s/events?after=2", "", "Accept", accept)
		g.Expect(status).To(Equal(http.StatusNoContent))
	}
}

// TestFullLog checks that a server whose log has no room says so, refuses what would make events,
// and goes on without loss when there is room again.
func TestFullLog(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := &unsteady{Log: &eventlog.Memory{}, err: fmt.Errorf("log.db: %w", eventlog.ErrFull)}
	reported := make(chan error, 9)
	x := newServer(t, sidecar.Config{Log: log, LogFull: func(err error) { reported <- err }})
	health := func() any { _, h := x.call("GET", "/health", ""); return h["ok"] }
	x.open("s")
	l := x.listen("/sessions/s/events")
	l.until("session_ready")
	g.Expect(health()).To(BeTrue())
	g.Expect(x.metric("turnspec_log_full")).To(Equal("0"))

	log.store.Store(1 << 40)
	status, _ := x.call("POST", "/sessions/s/message", `{"message":"3","message_id":"first"}`)
	g.Expect(status).To(Equal(http.StatusAccepted))
	g.Eventually(reported).WithTimeout(time.Minute).Should(Receive(MatchError(eventlog.ErrFull)))
	g.Expect(health()).To(BeFalse())
	g.Expect(x.metric("turnspec_log_full")).To(Equal("1"))
	g.Expect(x.metric("turnspec_log_waiting_sessions")).To(Equal("1"))
	g.Eventually(func() string { return x.metric("turnspec_log_waiting_events") }).WithTimeout(time.Minute).Should(Equal("7"))
	for path, body := range map[string]string{
		"/sessions":           `{"session_id":"other"}`,
		"/sessions/s/message": `{"message":"again"}`,
		"/sessions/s/steer":   `{"message":"again"}`,
		"/ag-ui":              `{"threadId":"new","runId":"r","messages":[{"id":"m","role":"user","content":"hi"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`,
	} {
		status, answer := x.call("POST", path, body)
		g.Expect(status).To(Equal(http.StatusInsufficientStorage), path)
		g.Expect(answer["error"]).To(HaveKeyWithValue("code", sidecar.CodeFull), path)
	}
	status, _ = x.call("POST", "/sessions/s/message", `{"message":"3","message_id":"first"}`)
	g.Expect(status).To(Equal(http.StatusOK), "a message that was accepted before")

	log.store.Store(0)
	g.Eventually(reported).WithTimeout(time.Minute).Should(Receive(BeNil()))
	g.Expect(l.until("done")).To(HaveLen(7), "what happened while the log was full")
	g.Expect(health()).To(BeTrue())
	status, _ = x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(http.StatusCreated))
	g.Expect(x.metric("turnspec_log_failed_sessions_total")).To(Equal("0"))
}

// TestFirstSessionOnAFullLog checks that the first session is refused as later ones are.
func TestFirstSessionOnAFullLog(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	log := &unsteady{Log: &eventlog.Memory{}, err: fmt.Errorf("log.db: %w", eventlog.ErrFull)}
	log.own.Store(3)
	x := newServer(t, sidecar.Config{Log: log})
	for path, body := range map[string]string{
		"/sessions":          `{"session_id":"s"}`,
		"/sessions/p/resume": `{"provider_session_id":"p"}`,
		"/api/chat":          chatBody("m1", "1"),
	} {
		status, answer := x.call("POST", path, body)
		g.Expect(status).To(Equal(http.StatusInsufficientStorage), path)
		g.Expect(code(answer)).To(Equal(sidecar.CodeFull), path)
	}
	g.Expect(x.adapter.opened).To(BeEmpty(), "no runtime was started for nothing")
	x.open("s")
}

// metric returns a value of /metrics.
func (x *server) metric(name string) string {
	x.t.Helper()
	r, err := http.Get(x.http.URL + "/metrics")
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	x.t.Fatalf("/metrics has no %s:\n%s", name, b)
	return ""
}
