package sidecar_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestListenersCutAtRandomPlaces cuts listeners at 300 random places of live turns, or at
// 1,000 if TURNSPEC_MATRIX is whole, or at 100 with the race detector. Each returns with the id of the last event that it read, and
// receives what the log has.
func TestListenersCutAtRandomPlaces(t *testing.T) {
	t.Parallel()
	const listeners = 10
	cuts, turns := 30, 3
	switch {
	case racesample.Whole():
		cuts, turns = 100, 10
	case racesample.Enabled:
		cuts, turns = 10, 2
	}
	g := NewWithT(t)
	log := &eventlog.Memory{}
	x := newServer(t, sidecar.Config{Log: log})
	x.call(http.MethodPost, "/sessions", `{"session_id":"s1"}`)
	received := make([][]frame, listeners)
	ended := make(chan struct{}, listeners)
	for n := range listeners {
		go func() {
			defer func() { ended <- struct{}{} }()
			random := rand.New(rand.NewPCG(uint64(n), 1))
			last := "0"
			for cut := 0; ; cut++ {
				l := x.listen("/sessions/s1/events", "Last-Event-ID", last)
				for left := 1 + random.IntN(8); left > 0 || cut >= cuts; left-- {
					f, more := l.next()
					if !more {
						break
					}
					received[n] = append(received[n], f)
					last = f.id
				}
				l.close()
				if k := len(received[n]); k > 0 && received[n][k-1].name == "session_end" {
					return
				}
			}
		}()
	}
	for range turns {
		status, _ := x.call(http.MethodPost, "/sessions/s1/message", `{"message":"100","message_id":"`+strconv.Itoa(rand.Int())+`"}`)
		g.Expect(status).To(Equal(http.StatusAccepted))
	}
	x.call(http.MethodDelete, "/sessions/s1", "")
	for range listeners {
		<-ended
	}
	var want []string
	for e, err := range eventlog.All(t.Context(), log, "s1", 0) {
		g.Expect(err).NotTo(HaveOccurred())
		want = append(want, strconv.FormatInt(e.Seq, 10)+" "+string(e.Type()))
	}
	for n, frames := range received {
		var got []string
		for _, f := range frames {
			got = append(got, f.id+" "+f.name)
		}
		g.Expect(slices.Equal(got, want)).To(BeTrue(), "listener %d received %d events, and the log has %d", n, len(got), len(want))
	}
}
