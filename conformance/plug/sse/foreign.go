package sse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
	"github.com/turnspec/turnspec/fixtures"
)

// foreign reads the streams of a session in another vocabulary.
type foreign struct {
	*plain.Dialect
	sent    chan struct{} // holds a token when a message was sent
	last    string        // the id of the last message
	ended   chan struct{} // closed when the end of the last stream is judged
	replies *replies      // nil: the stream is that of GET /sessions/:id/events
	empty   int           // sockets in a row that had no message

	socketOpen bool // guarded by Mu
}

func newForeign(d *plain.Dialect) *foreign {
	return &foreign{Dialect: d, sent: make(chan struct{}, 1), last: "0", ended: make(chan struct{})}
}

// Declines implements conformance.Decliner: a stream in a dialect does not have the runtime's id of a
// session, which a resume needs.
func (s *Subject) Declines(of *fixtures.Scenario) (fixtures.Step, error) {
	if s.Dialect == nil || s.Dialect.Names(event.TypeSessionReady, "provider_session_id") {
		return fixtures.Step{}, nil
	}
	for _, step := range of.Client {
		if step.Verb == fixtures.VerbOpen && step.What != "" {
			return step, plug.UnsupportedBecause("the vocabulary " + s.Dialect.Name + " does not have the runtime's id of a session, which " + step.What + " needs")
		}
	}
	return fixtures.Step{}, nil
}

// wake lets the reader ask for a stream again, because a turn begins.
func (f *foreign) wake() {
	if f == nil {
		return
	}
	select {
	case f.sent <- struct{}{}:
	default:
	}
}

// foreignProbes returns what the checker found, for the checks of the dialect topic. It
// waits for the end of the last stream, unless the session never listened.
func (x *session) foreignProbes() (out []conformance.Probe) {
	f := x.foreign
	if f == nil {
		return nil
	}
	x.Mu.Lock()
	listened := f.Read > 0
	x.Mu.Unlock()
	if listened {
		select {
		case <-f.ended:
		case <-time.After(5 * time.Second): // the server does not end it
		}
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return f.Probes()
}

// foreignAbilities are the abilities that do not depend on the form of the stream.
var foreignAbilities = []string{plug.CanMCP, plug.CanLimits, op.List.Name, plug.CanGuard}

// adaptHealth limits what the server declares about events to what the vocabulary can express.
func (x *session) adaptHealth() {
	can := slices.Clone(foreignAbilities)
	if x.s.OverSocket() {
		can = append(can, plug.CanCursor, plug.CanHeartbeat)
	}
	x.foreign.Adapt(&x.health, can...)
}

// listenForeign reads the streams of the session, one after the other, until it ends.
func (x *session) listenForeign() {
	ctx, cancel := context.WithCancel(context.Background())
	x.Cancel = cancel
	go func() {
		var err error
		for err == nil {
			if x.s.OverSocket() {
				err = x.readSocket(ctx)
			} else {
				err = x.readForeign(ctx)
			}
		}
		if x.hasLeft() {
			return
		}
		x.endForeign()
		x.endStream(err)
	}()
}

// readForeign reads a stream to its end. It returns an error if no other one can follow.
func (x *session) readForeign(ctx context.Context) error {
	path := x.path("events") + "?format=" + url.QueryEscape(x.foreign.Mapping.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", mime.FormatMediaType("text/event-stream", map[string]string{"format": x.foreign.Mapping.Name}))
	req.Header.Set("Last-Event-ID", x.foreign.last)
	x.s.Show(true, "GET "+path)
	resp, err := x.http.Do(req)
	if err != nil {
		return err
	}
	x.s.Show(false, resp.Status)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNoContent {
		return x.waitForMessage(ctx)
	}
	if e := checkStream(path, x.id, resp); e != nil {
		if x.foreign.last == "0" { // else the server may be about to end
			_ = x.Fail(e)
		}
		return e
	}
	read := 0
	for e, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if errors.Is(err, bufio.ErrTooLong) {
			_ = x.Fail(plug.TooLong("a message of the stream", nil))
		}
		if err != nil {
			return err
		}
		if e.LastEventID != "" {
			x.foreign.last = e.LastEventID
		}
		if e.Data == "" || e.Data == x.foreign.Mapping.EndOfStream {
			continue
		}
		read++
		x.s.Show(false, "message "+e.Data)
		if mistake := x.handleForeign(e.Data); mistake != nil {
			_ = x.Fail(mistake)
			return mistake
		}
	}
	return x.afterStream(ctx, read)
}

// afterStream waits until another stream can be asked for, after one that had so many messages. It
// returns an error if no other one can follow.
func (x *session) afterStream(ctx context.Context, read int) error {
	x.Mu.Lock()
	running, closing := x.Running, x.Closing
	x.Mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case running && read == 0, closing && read == 0:
		return io.EOF
	case read == 0:
		return x.waitForMessage(ctx)
	}
	return nil
}

// waitForMessage waits until a message is sent, which begins another stream.
func (x *session) waitForMessage(ctx context.Context) error {
	select {
	case <-x.foreign.sent:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handleForeign handles a message of the stream.
func (x *session) handleForeign(line string) *plug.Error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	f := x.foreign
	if f.replies != nil && x.Closing {
		return nil // LeaveTurn has ended the turn
	}
	x.count++
	x.last = time.Now()
	return x.plain.Handle(line, fmt.Sprintf("message %d of the stream", f.Read+1))
}

// endForeign judges the end of the last stream.
func (x *session) endForeign() {
	defer close(x.foreign.ended)
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if f := x.foreign; f.Read > 0 {
		f.End()
	}
}
