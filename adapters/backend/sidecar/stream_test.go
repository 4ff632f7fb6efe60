package sidecar_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestListenersAgree checks that listeners that come, leave and return anywhere receive
// each event once, in order, as the log has them.
func TestListenersAgree(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	const deltas = 400
	listeners := 6
	if os.Getenv("TURNSPEC_CRASH_ROUNDS") != "" {
		listeners = 120
	}
	var cuts atomic.Int64
	results := make(chan []frame)
	for i := range listeners {
		go func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			var all []frame
			header := []string{}
			for len(all) == 0 || all[len(all)-1].name != "done" {
				l := x.listen("/sessions/s/events", header...)
				for range 1 + random.IntN(90) {
					f, more := l.next()
					if !more {
						break
					}
					all = append(all, f)
					header = []string{"Last-Event-ID", f.id}
					if f.name == "done" {
						break
					}
				}
				l.close()
				cuts.Add(1)
			}
			results <- all
		}()
	}
	x.call("POST", "/sessions/s/message", fmt.Sprintf(`{"message":"%d"}`, deltas))
	for range listeners {
		all := <-results
		g.Expect(all).To(HaveLen(deltas + 5))
		for i, f := range all {
			g.Expect(f.id).To(Equal(strconv.Itoa(i + 1)))
		}
	}
	t.Logf("%d listeners, cut %d times", listeners, cuts.Load())
}

func TestStreamOfAnEndedSession(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	x.call("POST", "/sessions/s/message", `{"message":"3"}`)
	x.listen("/sessions/s/events").until("done")
	status, run := x.call("DELETE", "/sessions/s", "")
	g.Expect(status).To(Equal(200))
	g.Expect(run["state"]).To(Equal("completed"))
	all := x.listen("/sessions/s/events").until("")
	g.Expect(all[0].name).To(Equal("session_ready"))
	last := all[len(all)-1]
	g.Expect(last.name).To(Equal("session_end"))
	status, _ = x.call("GET", "/sessions/s/events?after="+last.id, "")
	g.Expect(status).To(Equal(http.StatusNoContent))
	status, answer := x.call("POST", "/sessions/s/message", `{"message":"3"}`)
	g.Expect(status).To(Equal(410))
	g.Expect(code(answer)).To(Equal(sidecar.CodeClosed))

	// After it is resumed, an old cursor continues into the new part.
	status, _ = x.call("POST", "/sessions/s/resume", "")
	g.Expect(status).To(Equal(201))
	g.Expect(x.adapter.opened[1].Resume).To(Equal("p-s"))
	next, _ := x.listen("/sessions/s/events?after=" + last.id).next()
	g.Expect(next.name).To(Equal("session_ready"))
	status, answer = x.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(Equal(200), "%v", answer)
}

func TestHeartbeat(t *testing.T) {
	x := newServer(t, sidecar.Config{Heartbeat: time.Millisecond})
	x.open("s")
	for _, path := range []string{"/sessions/s/events", "/events"} {
		l := x.listen(path)
		for l.lines.Scan() && l.lines.Text() != ": heartbeat" {
		}
		if err := l.lines.Err(); err != nil {
			t.Errorf("%s: no heartbeat: %v", path, err)
		}
		l.close()
	}
}

// TestHeartbeatOfASession checks that a client can ask for comments more often than the
// server is configured for, within bounds.
func TestHeartbeatOfASession(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{Heartbeat: time.Hour})
	status, _ := x.call("POST", "/sessions", `{"session_id":"s","params":{"heartbeat_ms":1}}`)
	g.Expect(status).To(Equal(201))
	l := x.listen("/sessions/s/events")
	defer l.close()
	for l.lines.Scan() && l.lines.Text() != ": heartbeat" {
	}
	g.Expect(l.lines.Err()).NotTo(HaveOccurred())
}

// TestSlowListenerIsCut checks that a listener that receives live events late
// gets the event listener_cut and is cut, and that it can continue from there.
func TestSlowListenerIsCut(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{MaxLag: time.Nanosecond}) // each event is late
	x.open("s")
	g.Eventually(func() any { _, page := x.call("GET", "/sessions/s/history", ""); return page["events"] }).WithTimeout(time.Minute).
		Should(HaveLen(1), "session_ready is stored before the listener comes")
	l := x.listen("/sessions/s/events")
	l.until("session_ready")
	x.call("POST", "/sessions/s/message", `{"message":"20"}`)
	cut := l.until("")
	g.Expect(cut).To(HaveLen(1))
	g.Expect(cut[0]).To(Equal(frame{"", "listener_cut", `{"reason":"slow","last_seq":1}`}))
	g.Eventually(func() any { _, run := x.call("GET", "/sessions/s", ""); return run["state"] }).WithTimeout(time.Minute).Should(Equal("completed"))
	l = x.listen("/sessions/s/events?after=1")
	defer l.close()
	g.Expect(l.until("done")).To(HaveLen(24)) // stored events are not late
}

func TestListenersAreLimited(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{MaxListeners: 1})
	x.open("s")
	l := x.listen("/events")
	status, answer := x.call("GET", "/sessions/s/events", "")
	g.Expect(status).To(Equal(503))
	g.Expect(code(answer)).To(Equal(sidecar.CodeTooMany))
	l.close()
	g.Eventually(func() int {
		status, _ := x.call("GET", "/sessions/s/events?after=9", "")
		return status
	}).WithTimeout(time.Minute).Should(Equal(409), "its place is free again")
}

func TestFeed(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	feed := x.listen("/events")
	x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	feed.until("run.stream_ready")
	later := x.listen("/events") // it catches up with what runs
	f, _ := later.next()
	g.Expect(f.name).To(Equal("run.stream_ready"))
	g.Expect(f.data).To(ContainSubstring(`"session_id":"s"`))
	x.call("POST", "/sessions/s/stop", "")
	feed.until("run.completed")
	later.until("run.completed")
}

func TestHistoryAndChat(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for i := range 3 {
		x.call("POST", "/sessions/s/message", fmt.Sprintf(`{"message":"2","message_id":"m%d"}`, i))
	}
	l := x.listen("/sessions/s/events")
	for range 3 {
		l.until("done")
	}
	l.close()
	_, page := x.call("GET", "/sessions/s/history?limit=4", "")
	g.Expect(page["events"]).To(HaveLen(4))
	g.Expect(page["next"]).To(BeEquivalentTo(4))
	_, page = x.call("GET", "/sessions/s/history?after=4", "")
	g.Expect(page["events"]).To(HaveLen(15))
	_, chat := x.call("GET", "/sessions/s/chat?messages=2", "")
	g.Expect(chat["last_seq"]).To(BeEquivalentTo(19))
	g.Expect(chat["older"]).To(BeTrue())
	g.Expect(chat["chat"].(map[string]any)["messages"]).To(HaveLen(2))
	_, list := x.call("GET", "/sessions", "")
	g.Expect(list["sessions"]).To(HaveLen(1))
}

// TestRecover checks what a server does with sessions of one that was killed.
func TestRecover(t *testing.T) {
	for _, how := range []sidecar.Recovery{sidecar.RecoverClose, sidecar.RecoverResume} {
		t.Run(string(how), func(t *testing.T) {
			g := NewWithT(t)
			log := &eventlog.Memory{}
			killed := newServer(t, sidecar.Config{Log: notClosed{log}})
			killed.call("POST", "/sessions", `{"session_id":"s","params":{"workingDir":"/work/of/s","permissionMode":"default"}}`)
			killed.call("POST", "/sessions/s/message", `{"message":"wait","message_id":"m1"}`)
			before := killed.listen("/sessions/s/events").until("tool_start")

			copied := &eventlog.Memory{} // what the killed server leaves behind
			for e, err := range eventlog.All(t.Context(), log, "s", 0) {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(copied.Append(t.Context(), e)).To(Succeed())
			}
			x := newServer(t, sidecar.Config{Log: copied})
			_, run := x.call("GET", "/sessions/s", "")
			g.Expect(run["state"]).To(Equal("failed"))
			ended, err := x.s.Recover(context.Background(), how)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ended).To(Equal([]string{"s"}))
			events, err := copied.Read(t.Context(), "s", int64(len(before)), 4)
			g.Expect(err).NotTo(HaveOccurred())
			var types []event.Type
			for _, e := range events {
				types = append(types, e.Type())
			}
			g.Expect(types).To(Equal([]event.Type{event.TypeBlockEnd, event.TypeToolResult, event.TypeError, event.TypeSessionEnd}))
			g.Expect(events[2].Data.(event.Error).Code).To(Equal(event.ErrorCrash))
			g.Expect(events[2].Turn).To(Equal(1))
			if how == sidecar.RecoverClose {
				g.Expect(x.adapter.opened).To(BeEmpty())
				return
			}
			g.Expect(x.adapter.opened).To(HaveLen(1))
			g.Expect(x.adapter.opened[0].After).To(Equal(event.Position{Seq: int64(len(before)) + 4, Turn: 1}))
			g.Expect(x.adapter.opened[0].Dir).To(Equal("/work/of/s"))
			g.Expect(x.adapter.opened[0].Mode).To(Equal(adapters.ModeAsk), "it must not do unasked what it asked about")
			status, answer := x.call("POST", "/sessions/s/message", `{"message":"2","message_id":"m1"}`)
			g.Expect(status).To(Equal(200), "the message ran before the server was killed: %v", answer)
			status, _ = x.call("POST", "/sessions/s/message", `{"message":"2","message_id":"m2"}`)
			g.Expect(status).To(Equal(202))
		})
	}
}

// TestResumedSessionIsNotOver checks that the stream of a listener goes on behind the
// session_end of a session that runs again, though the runtime has not reported that it is
// ready.
func TestResumedSessionIsNotOver(t *testing.T) {
	for name, how := range map[string]sidecar.Recovery{"by the server": sidecar.RecoverResume, "by a client": ""} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			log := &eventlog.Memory{}
			killed := newServer(t, sidecar.Config{Log: notClosed{log}})
			killed.open("s")
			killed.call("POST", "/sessions/s/message", `{"message":"wait","message_id":"m1"}`)
			killed.listen("/sessions/s/events").until("tool_start")
			copied := &eventlog.Memory{}
			for e, err := range eventlog.All(t.Context(), log, "s", 0) {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(copied.Append(t.Context(), e)).To(Succeed())
			}
			x := newServer(t, sidecar.Config{Log: copied})
			x.adapter.hold = make(chan struct{})
			if how != "" {
				_, err := x.s.Recover(context.Background(), how)
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				status, _ := x.call("POST", "/sessions/s/resume", "")
				g.Expect(status).To(Equal(http.StatusCreated))
			}
			l := x.listen("/sessions/s/events?after=0")
			l.until("session_end")
			close(x.adapter.hold)
			next, _ := l.next()
			g.Expect(next.name).To(Equal("session_ready"))
			x.call("DELETE", "/sessions/s", "")
			g.Expect(l.until("")).To(HaveLen(1), "the second session_end")
		})
	}
}

// notClosed is a log that another server goes on with.
type notClosed struct{ eventlog.Log }

var _ adapters.Adapter = (*scripted)(nil)
