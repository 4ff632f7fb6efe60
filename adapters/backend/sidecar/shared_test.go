package sidecar_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// joined returns a server that shares a log with others. Its URL is made of its name.
func joined(t *testing.T, log eventlog.Log, leases lease.Leases, name string, how sidecar.Recovery) *server {
	t.Helper()
	x := newServer(t, sidecar.Config{Log: notClosed{log}})
	err := x.s.Join(t.Context(), sidecar.Shared{Leases: leases, Self: lease.Server{Name: name, URL: "http://" + name}, TTL: time.Second, Recovery: how})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Each of two servers serves the history and the live events of a session that one of
// them runs, and only that one takes messages.
func TestTwoServers(t *testing.T) {
	g := NewWithT(t)
	log, leases := &eventlog.Memory{}, &lease.Memory{}
	one, other := joined(t, log, leases, "one", ""), joined(t, log, leases, "other", "")
	one.open("s")
	live := other.listen("/sessions/s/events")
	status, answer := other.call("POST", "/sessions/s/message", `{"message":"2"}`)
	g.Expect(status).To(Equal(421))
	g.Expect(code(answer)).To(Equal(sidecar.CodeElsewhere))
	g.Expect(answer["error"].(map[string]any)["server"]).To(Equal(map[string]any{"name": "one", "url": "http://one"}))
	for _, request := range []string{"POST /sessions/s/stop", "POST /sessions/s/resume", "DELETE /sessions/s"} {
		method, path, _ := strings.Cut(request, " ")
		status, _ = other.call(method, path, `{}`)
		g.Expect(status).To(Equal(421), request)
	}
	status, _ = other.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(Equal(421))

	status, _ = one.call("POST", "/sessions/s/message", `{"message":"wait","message_id":"m"}`)
	g.Expect(status).To(Equal(202))
	live.until("tool_start")
	_, run := other.call("GET", "/sessions/s", "")
	g.Expect(run).To(And(HaveKeyWithValue("state", "streaming"), HaveKeyWithValue("server", "one"), HaveKeyWithValue("live", false)))
	_, run = one.call("GET", "/sessions/s", "")
	g.Expect(run).To(And(HaveKeyWithValue("state", "streaming"), HaveKeyWithValue("live", true)))
	status, page := other.call("GET", "/sessions/s/history", "")
	g.Expect(status).To(Equal(200))
	g.Expect(page["events"]).NotTo(BeEmpty())

	status, _ = one.call("DELETE", "/sessions/s", "")
	g.Expect(status).To(Equal(200))
	live.until("session_end")
	status, _ = other.call("POST", "/sessions/s/resume", "{}") // nobody runs it any more
	g.Expect(status).To(Equal(201))
	status, _ = one.call("POST", "/sessions/s/message", `{"message":"2"}`)
	g.Expect(status).To(Equal(421))
}

// While another server holds a session whose log ends in session_end, a listener waits: the
// session may be about to resume. It gets 204 once no server holds the session.
func TestListenerWaitsForResumption(t *testing.T) {
	for _, path := range []string{"/sessions/s/events?after=2", "/sessions/s/events?format=agui&after=2"} {
		for _, resumed := range []bool{true, false} {
			t.Run(fmt.Sprint(path, " resumed: ", resumed), func(t *testing.T) {
				g := NewWithT(t)
				log, leases := &eventlog.Memory{}, &lease.Memory{}
				ready := event.Event{SessionID: "s", Seq: 1, TS: time.Now(), Data: event.SessionReady{SessionID: "s", Runtime: "scripted", ProviderSessionID: "p"}}
				end := event.Event{SessionID: "s", Seq: 2, TS: time.Now(), Data: event.SessionEnd{Reason: "crash"}}
				g.Expect(log.Append(t.Context(), ready, end)).To(Succeed())
				x := joined(t, log, leases, "listens", "")
				_, err := leases.Beat(t.Context(), lease.Server{Name: "resumes"}, time.Minute)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(leases.Claim(t.Context(), "s", "resumes")).To(Succeed())
				status := make(chan int)
				go func() {
					r, err := http.Get(x.http.URL + path)
					if err != nil {
						status <- 0
						return
					}
					defer func() { _ = r.Body.Close() }()
					status <- r.StatusCode
				}()
				g.Consistently(status).WithTimeout(300 * time.Millisecond).ShouldNot(Receive())
				want := http.StatusNoContent
				if resumed {
					want = http.StatusOK
					ready.Seq = 3
					g.Expect(log.Append(t.Context(), ready)).To(Succeed())
				} else {
					g.Expect(leases.Release(t.Context(), "s", "resumes")).To(Succeed())
				}
				g.Eventually(status).WithTimeout(time.Minute).Should(Receive(Equal(want)))
			})
		}
	}
}

// delayed is a log that stores nothing before a channel is closed.
type delayed struct {
	eventlog.Log
	until chan struct{}
}

func (d delayed) Append(ctx context.Context, events ...event.Event) error {
	<-d.until
	return d.Log.Append(ctx, events...)
}

// A session is known to another server before its first event is stored.
func TestOtherServerBeforeTheFirstEvent(t *testing.T) {
	g := NewWithT(t)
	log, leases, stores := &eventlog.Memory{}, &lease.Memory{}, make(chan struct{})
	one, other := joined(t, delayed{log, stores}, leases, "one", ""), joined(t, log, leases, "other", "")
	one.open("s")
	for request, want := range map[string]int{
		"GET /sessions/s": 200, "GET /sessions/s/history": 200, "GET /sessions/s/chat": 200,
		"POST /sessions/s/message": 421, "POST /sessions/s/resume": 421, "POST /sessions": 421, "GET /sessions/none/history": 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		body := ""
		if method == "POST" {
			body = `{"session_id":"s"}`
		}
		status, answer := other.call(method, path, body)
		g.Expect(status).To(Equal(want), "%s: %v", request, answer)
	}
	live := other.listen("/sessions/s/events")
	defer live.close()
	close(stores)
	live.until("session_ready")
}

// stalled are leases that a server cannot reach from its session on, until it runs again.
type stalled struct {
	lease.Leases
	until chan struct{}
	begun *atomic.Bool
}

func (s stalled) Beat(ctx context.Context, of lease.Server, ttl time.Duration) (bool, error) {
	// When its registration is over, no server holds its session: it stalls all the same.
	if _, held, _ := s.Holder(ctx, "s"); held {
		s.begun.Store(true)
	}
	if s.begun.Load() && of.Name == "stalls" {
		select {
		case <-s.until:
		default:
			return false, eventlog.ErrBusy
		}
	}
	return s.Leases.Beat(ctx, of, ttl)
}

// A server that stalls in the middle of a turn loses its sessions to another, which ends
// or resumes them. When it runs again, it ends what it lost, and the log has one history.
func TestStalledServer(t *testing.T) {
	for _, how := range []sidecar.Recovery{sidecar.RecoverClose, sidecar.RecoverResume} {
		t.Run(string(how), func(t *testing.T) {
			g := NewWithT(t)
			log, leases := &eventlog.Memory{}, &lease.Memory{}
			runsAgain := make(chan struct{})
			stalls := joined(t, log, stalled{leases, runsAgain, &atomic.Bool{}}, "stalls", how)
			stalls.overtaken = true
			stalls.open("s")
			status, _ := stalls.call("POST", "/sessions/s/message", `{"message":"wait"}`)
			g.Expect(status).To(Equal(202))
			before := stalls.listen("/sessions/s/events").until("tool_start")
			other := joined(t, log, leases, "other", how)
			live := other.listen("/sessions/s/events?after=0")
			got := live.until("session_end")
			g.Expect(len(got)).To(BeNumerically(">", len(before)))
			g.Expect(got[len(got)-2].name).To(Equal("error"))
			g.Expect(got[len(got)-2].data).To(ContainSubstring(`"code":"crash"`))
			close(runsAgain)
			if how == sidecar.RecoverResume {
				g.Eventually(func() int {
					status, _ := other.call("POST", "/sessions/s/message", `{"message":"3","message_id":"again"}`)
					return status
				}).WithTimeout(time.Minute).Should(BeNumerically("<", 300))
				g.Eventually(func() int {
					status, _ := stalls.call("POST", "/sessions/s/stop", "{}")
					return status
				}).WithTimeout(time.Minute).Should(Equal(421))
			}
			g.Eventually(func() any {
				_, run := stalls.call("GET", "/sessions/s", "")
				return run["live"]
			}).WithTimeout(time.Minute).Should(BeFalse())
			seq := int64(0)
			for e, err := range eventlog.All(t.Context(), log, "s", 0) {
				g.Expect(err).NotTo(HaveOccurred())
				seq++
				g.Expect(e.Seq).To(Equal(seq))
			}
		})
	}
}
