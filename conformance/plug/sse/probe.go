package sse

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// The probes, by the ids of the checks that judge them.
const (
	probeResume = "server.resume"
	probeCursor = "server.cursor"
	probeOnce   = "server.once"
	probeGuard  = "server.guard"

	probeHeartbeat = "server.heartbeat"
	probeNoContent = "server.no-content"
	probeMedia     = "server.media"
)

const (
	// repeatedWait is how long a repeated message has to begin a turn.
	repeatedWait = 150 * time.Millisecond
	// largeLength is the length of a message that no client needs.
	largeLength = 16 << 20

	// heartbeatTime is how often comments are asked for, and heartbeatLimit how long the
	// next two may take on a busy machine.
	heartbeatTime  = 50 * time.Millisecond
	heartbeatLimit = 5 * time.Second
)

// probes collects what was probed.
type probes struct {
	mu  sync.Mutex
	all []conformance.Probe
}

func newProbes() *probes {
	p := &probes{}
	for _, name := range []string{probeResume, probeCursor, probeOnce, probeGuard, probeHeartbeat, probeNoContent, probeMedia} {
		p.all = append(p.all, conformance.Probe{Name: name})
	}
	return p
}

// assert adds an assertion to a probe, with the problem if it does not hold.
func (p *probes) assert(name string, holds bool, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.all, func(a conformance.Probe) bool { return a.Name == name })
	p.all[i].Assertions++
	if !holds {
		p.all[i].Problems = append(p.all[i].Problems, fmt.Sprintf(format, args...))
	}
}

// Probes implements conformance.Prober.
func (x *session) Probes() []conformance.Probe {
	foreign := x.foreignProbes()
	x.probes.mu.Lock()
	defer x.probes.mu.Unlock()
	return append(slices.Clone(x.probes.all), foreign...)
}

// probe sends requests that a correct server refuses or answers without effect. No turn
// runs.
func (x *session) probe(ctx context.Context) {
	x.Mu.Lock()
	idle := !x.ended && !x.inTurn && x.ProtocolError() == nil
	lastID, repeated := "", x.lastMessage
	if n := len(x.frames); n > 0 {
		lastID = x.frames[n-1].id
	}
	media := mediaIn(x.frames)
	socketOpen := x.foreign != nil && x.foreign.socketOpen
	x.Mu.Unlock()
	if !idle {
		return
	}
	if x.health.Require(plug.CanMedia) == nil {
		x.probeMedia(ctx, media)
	}
	switch {
	case x.health.Require(plug.CanCursor) != nil || lastID == "":
	case x.s.OverSocket():
		x.probeSocketCursor(ctx, lastID)
	default:
		x.probeCursor(ctx, lastID)
		x.probeNoContent(ctx, lastID)
	}
	if x.health.Require(plug.CanHeartbeat) == nil && (x.foreign == nil || socketOpen) {
		x.probeHeartbeat()
	}
	if x.health.Require(plug.CanOnce) == nil && repeated != nil {
		x.probeOnce(ctx, *repeated)
	}
	if x.health.Require(plug.CanGuard) == nil {
		x.probeGuard(ctx)
	}
}

// probeCursor asks for the events after one that does not exist.
func (x *session) probeCursor(ctx context.Context, last string) {
	cursor := last + "-unknown"
	if n, err := strconv.ParseInt(last, 10, 64); err == nil {
		cursor = strconv.FormatInt(n+1000, 10)
	}
	status, err := x.status(ctx, http.MethodGet, x.path("events"), nil, map[string]string{"Last-Event-ID": cursor})
	if err == nil {
		x.probes.assert(probeCursor, status >= 400 && status < 500, "GET events with Last-Event-ID: %s, which the session does not have, is answered with %d; the last event was %s", cursor, status, last)
	}
}

// probeNoContent listens after the last event of a session that waits for a message.
func (x *session) probeNoContent(ctx context.Context, last string) {
	status, err := x.status(ctx, http.MethodGet, x.path("events"), nil, map[string]string{"Last-Event-ID": last})
	if err == nil {
		x.assertContent(status, last)
	}
}

// assertContent judges the status of a stream of a session that has not ended.
func (x *session) assertContent(status int, after string) {
	x.probes.assert(probeNoContent, status != http.StatusNoContent, "GET events with Last-Event-ID: %s is answered with 204, but the session has not ended: a browser would not return", after)
}

// probeHeartbeat waits for two comments in the stream of a session that waits for a message.
func (x *session) probeHeartbeat() {
	before := x.comments.Load()
	limit := time.NewTimer(heartbeatLimit)
	defer limit.Stop()
	poll := time.NewTicker(heartbeatTime / 5)
	defer poll.Stop()
	for x.comments.Load() < before+2 {
		select {
		case <-x.streamEnded:
			return // it is another defect
		case <-limit.C:
			x.probes.assert(probeHeartbeat, false, "an idle stream had %d comments or pings in %v, though params.heartbeat_ms was %d: a proxy would cut it, and a server does not notice that its listener is gone",
				x.comments.Load()-before, heartbeatLimit, heartbeatTime.Milliseconds())
			return
		case <-poll.C:
		}
	}
	x.probes.assert(probeHeartbeat, true, "")
}

// probeOnce sends the last message again.
func (x *session) probeOnce(ctx context.Context, m message) {
	body, err := json.Marshal(m)
	if err != nil {
		return
	}
	x.Mu.Lock()
	before := x.turnsBegun
	x.Mu.Unlock()
	status, err := x.status(ctx, http.MethodPost, x.path("message"), body, nil)
	if err != nil {
		return
	}
	x.probes.assert(probeOnce, status < 300 || status == http.StatusConflict, "the message %s, sent again, is answered with %d", m.MessageID, status)
	time.Sleep(repeatedWait) // nothing reports that no turn begins
	x.Mu.Lock()
	after := x.turnsBegun
	x.Mu.Unlock()
	x.probes.assert(probeOnce, after == before, "the message %s was sent again, with the same message_id, and began another turn", m.MessageID)
}

// largeBody returns an answer with a message of largeLength. It is made once, because each
// session of the suite sends it.
var largeBody = sync.OnceValue(func() []byte {
	return slices.Concat([]byte(`{"decision":"deny","message":"`), bytes.Repeat([]byte("x"), largeLength), []byte(`"}`))
})

// probeGuard sends requests of clients that may not use the server.
func (x *session) probeGuard(ctx context.Context) {
	for _, c := range []struct {
		what, path string
		body       []byte
		header     map[string]string
		want       []int
	}{
		{"with a foreign Host", x.path("stop"), nil, map[string]string{"Host": "attacker.example"}, []int{400, 401, 403, 421}},
		{"with a foreign Origin", x.path("stop"), nil, map[string]string{"Origin": "http://attacker.example"}, []int{401, 403}},
		{"with a wrong token", x.path("stop"), nil, map[string]string{"Authorization": "Bearer wrong"}, []int{401, 403}},
		{fmt.Sprintf("with a body of %d MiB", largeLength>>20), x.path("permission", "none"), largeBody(), nil, []int{http.StatusRequestEntityTooLarge}},
	} {
		if c.what == "with a wrong token" && !x.hasToken() {
			continue
		}
		status, err := x.status(ctx, http.MethodPost, c.path, c.body, c.header)
		if err == nil {
			x.probes.assert(probeGuard, slices.Contains(c.want, status), "POST %s %s is answered with %d, want one of %v", c.path, c.what, status, c.want)
		}
	}
}

// hasToken reports whether requests present a token.
func (x *session) hasToken() bool {
	a, is := x.http.Transport.(authorized)
	return is && a.token != ""
}

// status sends a request and returns the status of its answer.
func (x *session) status(ctx context.Context, method, path string, body []byte, header map[string]string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, x.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if host := header["Host"]; host != "" {
		r.Host = host
	}
	res, err := x.http.Do(r)
	if err != nil {
		return 0, err
	}
	_ = res.Body.Close()
	return res.StatusCode, nil
}
