package sse

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// eventFrame is an event as the stream has it.
type eventFrame struct{ id, typ, data string }

// stays are after how many events the returning listener is cut, again and again.
var stays = []int{1, 2, 1, 3, 5, 8}

// returning is a second listener, which is cut after a few events and returns with the
// id of the last one.
type returning struct {
	x     *session
	ended chan struct{}

	mu      sync.Mutex
	frames  []eventFrame
	problem string // why it could not return, or ""
}

// returnAfter starts a listener that continues after an event.
func (x *session) returnAfter(ctx context.Context, id string) *returning {
	r := &returning{x: x, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for n := 0; ; n++ {
			stay := r.stay
			if x.s.OverSocket() {
				stay = r.staySocket
			}
			next, more := stay(ctx, id, stays[n%len(stays)])
			if !more {
				return
			}
			id = next
		}
	}()
	return r
}

// stay receives events after one, at most n. It returns the id of the last one, and
// whether there may be more.
func (r *returning) stay(ctx context.Context, id string, n int) (last string, more bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.x.base+r.x.path("events"), http.NoBody)
	if err != nil {
		return id, false
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Last-Event-ID", id)
	response, err := r.x.http.Do(request)
	if err != nil {
		return id, false // the session is closed, or the server is gone
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNoContent {
		return id, r.waitForContent(ctx, id)
	}
	if response.StatusCode != http.StatusOK {
		r.setProblem(fmt.Sprintf("a listener that returned with Last-Event-ID: %s was answered with %s", id, response.Status))
		return id, false
	}
	for e, err := range sse.Read(response.Body, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if err != nil {
			return id, false // the server ended the stream
		}
		if e.Data == "" {
			continue
		}
		r.mu.Lock()
		r.frames = append(r.frames, eventFrame{e.LastEventID, e.Type, e.Data})
		r.mu.Unlock()
		if id = e.LastEventID; e.Type == string(event.TypeSessionEnd) {
			return id, false
		}
		if n--; n == 0 {
			return id, true
		}
	}
	return id, false
}

func (r *returning) setProblem(problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = problem
}

// retryTime is how long a listener that was answered with 204 waits before it returns.
const retryTime = 50 * time.Millisecond

// waitForContent judges an answer of 204, and reports whether the listener should return.
func (r *returning) waitForContent(ctx context.Context, id string) bool {
	r.x.Mu.Lock()
	ending := r.x.Closing || r.x.ended
	r.x.Mu.Unlock()
	if ending {
		return false
	}
	r.x.assertContent(http.StatusNoContent, id)
	select {
	case <-time.After(retryTime):
		return true
	case <-ctx.Done():
		return false
	}
}

// waitReturning waits until the returning listener, if there is one, has received the end
// of the session.
func (x *session) waitReturning() {
	x.Mu.Lock()
	r := x.returning
	x.Mu.Unlock()
	if r == nil {
		return
	}
	select {
	case <-r.ended:
	case <-time.After(closeLimit):
	}
}

// compareReturning waits until the returning listener has what the other one has, and
// compares both.
func (x *session) compareReturning() {
	x.Mu.Lock()
	r, first := x.returning, slices.Clone(x.frames[:min(1, len(x.frames))])
	x.Mu.Unlock()
	if r == nil {
		if len(first) > 0 && x.health.Require(plug.CanCursor) == nil {
			x.probes.assert(probeResume, false, "no event has an id, such as the first, %s: no listener can return", first[0].typ)
		}
		return
	}
	x.waitReturning()
	if x.s.OverSocket() { // the listener that stayed may have messages to read
		plug.WaitFor(context.Background(), x.foreign.ended, closeLimit)
	}
	x.Mu.Lock()
	stayed := x.frames[1:]
	x.Mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := x.probes
	if r.problem != "" {
		p.assert(probeResume, false, "%s", r.problem)
		return
	}
	for i, want := range stayed {
		if i == len(r.frames) {
			p.assert(probeResume, false, "the listener that stayed received event %s (%s), which the one that returned did not", want.id, want.typ)
			return
		}
		got := r.frames[i]
		p.assert(probeResume, want.id != "", "event %d (%s) has no id, so that no listener can return to it", i+2, want.typ)
		p.assert(probeResume, got == want, "the listener that stayed received event %s (%s), the one that returned %s (%s) in its place", want.id, want.typ, got.id, got.typ)
		if got != want {
			return
		}
	}
	p.assert(probeResume, len(r.frames) == len(stayed), "the listener that returned received %d events more than the one that stayed", len(r.frames)-len(stayed))
}
