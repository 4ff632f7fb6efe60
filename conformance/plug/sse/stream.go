package sse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
)

// openStream opens the stream of events, after the event with an id if it is not "", and
// starts to read it.
func (x *session) openStream(after string) error {
	path := x.path("events")
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, http.NoBody)
	if err != nil {
		cancel()
		return badURL(x.base, err.Error())
	}
	req.Header.Set("Accept", "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	x.s.Show(true, "GET "+path)
	late := time.AfterFunc(answerLimit, cancel)
	resp, err := x.http.Do(req)
	if err != nil {
		cancel()
		if !late.Stop() {
			return x.Fail(x.noAnswer(http.MethodGet, path))
		}
		return x.failAnswer(http.MethodGet, path, err)
	}
	late.Stop()
	x.s.Show(false, resp.Status)
	if e := checkStream(path, x.id, resp); e != nil {
		_ = resp.Body.Close()
		cancel()
		return x.Fail(e)
	}
	x.Cancel = cancel
	go x.readStream(resp.Body)
	return nil
}

func checkStream(path, id string, resp *http.Response) *plug.Error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	got := resp.Status
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return plug.Errorf("GET %s: the sidecar has no session %q, though it created one", path, id).
			Advise(`use the session_id of POST /sessions as its id, or answer with the one that it got: {"id":"…"}`)
	case resp.StatusCode == http.StatusOK && kind == "text/event-stream":
		return nil
	case resp.StatusCode == http.StatusOK:
		got = fmt.Sprintf("Content-Type %q", kind)
	}
	return plug.Errorf("GET %s: want a stream of events (text/event-stream), got %s", path, got).
		Advise("answer 200 with Content-Type: text/event-stream, flush the headers at once, and keep the response open")
}

// readStream reads the stream to its end.
func (x *session) readStream(body io.ReadCloser) {
	end := io.EOF
	for e, err := range sse.Read(&commentCounter{r: body, n: &x.comments, lineStart: true}, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if err != nil {
			end = err
			break
		}
		if mistake := x.handleEvent(e); mistake != nil {
			_ = x.Fail(mistake)
			break
		}
	}
	_ = body.Close()
	if x.hasLeft() {
		return
	}
	x.endStream(end)
}

// endStream handles the end of the last stream, because of an error.
func (x *session) endStream(end error) {
	x.Mu.Lock()
	closing, doing := x.Closing, "a session was open"
	if x.Running {
		doing = "a turn ran"
	}
	x.Mu.Unlock()
	switch {
	case closing || x.ProtocolError() != nil:
	case errors.Is(end, bufio.ErrTooLong):
		_ = x.Fail(plug.TooLong("an event of the stream", nil))
	case x.hasEnded():
		x.failEnded(doing)
	default:
		_ = x.Fail(plug.Errorf("the stream of events ended (%v) while %s", end, doing).
			Advise("keep it open until the session is deleted; a comment such as `: heartbeat` every 15 s keeps proxies from cutting it"))
	}
	x.Cancel()
	x.Mu.Lock()
	if !x.isWhole() {
		x.plain.Release()
		x.ended = true
		x.EndSession(closing, "the sidecar let it go", x.plain.Interrupt)
	}
	x.endedAlone = !x.closeCalled
	alone := x.endedAlone
	x.Mu.Unlock()
	close(x.streamEnded)
	if alone { // a client does not close a session that has ended by itself
		x.waitReturning()
		x.stopReturning()
		x.stopCalls()
		x.endProgram()
	}
	x.Finish()
}

// handleEvent handles an event of the stream.
func (x *session) handleEvent(s sse.Event) *plug.Error {
	if s.Data == "" {
		return nil // such as a heartbeat
	}
	x.s.Show(false, "event "+s.Type+" "+s.Data)
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.count++
	x.last = time.Now()
	x.frames = append(x.frames, eventFrame{s.LastEventID, s.Type, s.Data})
	if x.returning == nil && s.LastEventID != "" && x.health.Require(plug.CanCursor) == nil {
		x.returning = x.returnAfter(x.returningContext, s.LastEventID)
	}
	var e plug.Envelope
	err := json.Unmarshal([]byte(s.Data), &e, plug.Lenient)
	if err != nil {
		err = fmt.Errorf("data is no event: %w", err)
	}
	if e.Type == "" {
		e.Type = event.Type(s.Type)
	}
	switch {
	case e.Type == event.TypeTurnStart:
		if d, _ := plain.ParseMembers(e.Data); d.Text("cause") != string(event.CauseTask) && d.Text("cause") != string(event.CauseCommand) {
			x.turnsBegun++
		}
		x.inTurn = true
	case (e.Type == event.TypeDone || e.Type == event.TypeError) && e.SubagentID == "":
		x.inTurn = false
	}
	switch {
	case err != nil:
	case e.Type == "":
		err = errors.New("type: missing")
	case s.Type != "" && s.Type != string(e.Type):
		err = fmt.Errorf("type: the line event: says %q", s.Type)
	case e.SessionID != "" && e.SessionID != x.id && e.SessionID != x.ID:
		err = fmt.Errorf("session_id: the stream is that of %q", x.id)
	case !slices.Contains(event.Types(), e.Type) && !x.isWhole():
		x.plain.Release()
		x.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "an event of no known type", Raw: event.Raw(s.Data)})
	case !slices.Contains(event.Types(), e.Type):
		err = fmt.Errorf("type: unknown event type %q", e.Type)
	case !x.health.Emits(e.Type):
		return plug.Errorf("event %d of the stream is %s, which GET /health does not declare", x.count, e.Type).
			Advise(`answer GET /health with {"events":[…]}, all the types that it sends; with turn_start among them it must send turns itself`)
	case x.isWhole():
		err = x.addWhole(e)
	default:
		err = x.plain.Add(e)
	}
	if err != nil {
		return plug.Errorf("event %d of the stream is not right: %v: %s", x.count, err, plug.Clip(s.Data)).
			Advise("one line data: with the event as JSON, then an empty line; adapters/event/schema.json describes each event, " + page + " the plain form")
	}
	return nil
}

// addWhole adds an event of the whole form.
func (x *session) addWhole(e plug.Envelope) error {
	e.SessionID = x.ID
	if e.Type == event.TypeSessionReady { // its session_id is the sidecar's name
		m, err := plain.ParseMembers(e.Data)
		if err != nil {
			return err
		}
		if m["session_id"] != nil {
			m.Set("session_id", x.ID)
		}
		// A runtime without sessions of its own has the client's name for it.
		if id, err := json.Marshal(x.id); err == nil && string(m["provider_session_id"]) == string(id) {
			m.Set("provider_session_id", x.ID)
		}
		if e.Data, err = json.Marshal(m); err != nil {
			return err
		}
	}
	out, err := x.Decode(e)
	if err != nil {
		return err
	}
	if out.Type() == event.TypeSessionEnd {
		x.ended, x.Closing = true, true
	}
	x.Add(out)
	return nil
}
