package sse

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// SignalProgram implements conformance.ProgramSignaller. If the sidecar has cursors, it is
// started again, and asked for the events of the session.
func (x *session) SignalProgram(ctx context.Context, sig proc.Signal) (conformance.SignalResult, error) {
	r, err := x.Session.SignalProgram(ctx, sig)
	if err != nil {
		return r, err
	}
	x.Mu.Lock()
	x.signalled = true
	x.Mu.Unlock()
	x.http.CloseIdleConnections()
	<-x.streamEnded // its connection ended with the program
	if r.Exited && x.foreign == nil && x.health.Require(plug.CanCursor) == nil {
		x.compareStored(ctx, &r)
	}
	return r, nil
}

// compareStored starts the sidecar again, and compares the events that it has of the session
// with those that were received.
func (x *session) compareStored(ctx context.Context, r *conformance.SignalResult) {
	x.Mu.Lock()
	received := x.frames
	x.Mu.Unlock()
	if len(received) == 0 || received[0].id == "" {
		return
	}
	problem := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	ended := received[len(received)-1].typ == string(event.TypeSessionEnd)
	ctx, cancel := context.WithTimeout(ctx, startLimit+closeLimit)
	defer cancel()
	p, base, err := x.startProgram(ctx, x.opened)
	if err != nil {
		problem("it could not be started again: %v", err)
		return
	}
	defer func() {
		x.http.CloseIdleConnections()
		proc.End(p, grace)
		<-p.Done
	}()
	stored, status, err := x.readStored(ctx, p, base, received[0].id)
	switch {
	case err != nil:
		problem("its next start has no answer for the session: %v", err)
		return
	case status == http.StatusOK:
	case !ended:
		problem("its listener had received %d events and no session_end, and its next start answers %d for the session", len(received), status)
		return
	default:
		return // it stores no sessions that ended
	}
	r.Compared = len(stored)
	for i, want := range received[1:] {
		if i == len(stored) {
			problem("its listener had received event %s (%s), which its next start does not have", want.id, want.typ)
			return
		}
		if stored[i] != want {
			problem("its listener had received event %s (%s), and its next start has %s (%s) in that place", want.id, want.typ, stored[i].id, stored[i].typ)
			return
		}
	}
	seq := int64(0)
	for _, f := range stored {
		var e plug.Envelope
		if json.Unmarshal([]byte(f.data), &e, plug.Lenient) == nil && e.Seq > 0 {
			if seq > 0 && e.Seq != seq+1 {
				problem("event %d follows event %d in what its next start has", e.Seq, seq)
				return
			}
			seq = e.Seq
		}
	}
	if n := len(stored); !ended && (n == 0 || stored[n-1].typ != string(event.TypeSessionEnd)) {
		problem("its next start has %d more events of the session, but no session_end within %v", n, closeLimit)
	}
}

// readStored waits until a sidecar answers, and reads the events of the session after one,
// up to its end. The status is that of the answer.
func (x *session) readStored(ctx context.Context, p *plug.Process, base, after string) (stored []eventFrame, status int, err error) {
	var response *http.Response
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+x.path("events"), http.NoBody)
		if err != nil {
			return nil, 0, err
		}
		request.Header.Set("Accept", "text/event-stream")
		request.Header.Set("Last-Event-ID", after)
		if response, err = x.http.Do(request); err == nil {
			break
		}
		select {
		case <-p.Done:
			return nil, 0, fmt.Errorf("it ended: %s %s", p.Exit, p.Output())
		case <-ctx.Done():
			return nil, 0, err
		case <-time.After(20 * time.Millisecond): // it does not listen yet
		}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, nil
	}
	late := time.AfterFunc(closeLimit, func() { _ = response.Body.Close() })
	defer late.Stop()
	for e, err := range sse.Read(response.Body, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if err != nil {
			break // the server ended the stream, or the session has no end
		}
		if e.Data == "" {
			continue
		}
		stored = append(stored, eventFrame{e.LastEventID, e.Type, e.Data})
		if e.Type == string(event.TypeSessionEnd) {
			break
		}
	}
	return stored, response.StatusCode, nil
}
