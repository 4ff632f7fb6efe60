package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// listen opens the stream of events, and reads it from then on.
func (x *session) listen() error {
	path := x.path("events")
	ctx, cut := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, http.NoBody)
	if err != nil {
		cut()
		return badURL(x.base, err.Error())
	}
	req.Header.Set("Accept", "text/event-stream")
	x.show(true, "GET "+path)
	late := time.AfterFunc(answerLimit, cut)
	resp, err := x.http.Do(req)
	if err != nil {
		cut()
		if !late.Stop() {
			return x.fail(noAnswer(http.MethodGet, path, answerLimit))
		}
		if m := x.died("it was to answer GET " + path); m != nil {
			return x.fail(m)
		}
		return x.fail(lostAnswer(http.MethodGet, path, err))
	}
	late.Stop()
	x.show(false, resp.Status)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusNotFound:
		err = noSession(path, x.id)
	case resp.StatusCode != http.StatusOK:
		err = notStream(path, resp.Status)
	case kind != "text/event-stream":
		err = notStream(path, fmt.Sprintf("Content-Type %q", kind))
	}
	if err != nil {
		_ = resp.Body.Close()
		cut()
		m, _ := asMistake(err)
		return x.fail(m)
	}
	x.cut = cut
	go x.follow(resp.Body)
	return nil
}

// follow reads the stream to its end.
func (x *session) follow(body io.ReadCloser) {
	end := io.EOF
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: proc.MaxLine}) {
		if err != nil {
			end = err
			break
		}
		if m := x.hear(e); m != nil {
			_ = x.fail(m)
			break
		}
	}
	_ = body.Close()
	x.mu.Lock()
	closing, doing := x.closing, "a session was open"
	if x.running {
		doing = "a turn ran"
	}
	x.mu.Unlock()
	if !closing && x.ProtocolError() == nil {
		m := x.died(doing)
		if m == nil {
			m = streamEnded(doing, end)
		}
		_ = x.fail(m)
	}
	x.mu.Lock()
	if !x.health.whole() && x.begun {
		x.leave(closing)
	}
	deleted := x.deleted
	x.mu.Unlock()
	close(x.over)
	if x.p != nil && !deleted { // nobody closes a session that has ended by itself
		x.p.end()
	}
	x.Finish()
}

// envelope is an event as a sidecar may write it.
type envelope struct {
	Type       event.Type     `json:"type"`
	Data       jsontext.Value `json:"data"`
	TS         string         `json:"ts,omitempty"`
	Seq        int64          `json:"seq,omitzero"`
	SessionID  string         `json:"session_id,omitempty"`
	Turn       int            `json:"turn,omitzero"`
	SubagentID string         `json:"subagent_id,omitempty"`
}

// hear takes an event of the stream.
func (x *session) hear(s sse.Event) *jsonl.PlugError {
	if s.Data == "" {
		return nil // such as a heartbeat that is an event
	}
	x.show(false, "event "+s.Type+" "+s.Data)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count++
	x.last = time.Now()
	var e envelope
	if err := json.Unmarshal([]byte(s.Data), &e, lenient); err != nil {
		return badEvent(x.count, s.Data, fmt.Errorf("data is no event: %w", err))
	}
	if e.Type == "" {
		e.Type = event.Type(s.Type)
	}
	switch {
	case e.Type == "":
		return badEvent(x.count, s.Data, errors.New("type: missing"))
	case s.Type != "" && s.Type != string(e.Type):
		return badEvent(x.count, s.Data, fmt.Errorf("type: the line event: says %q", s.Type))
	case e.SessionID != "" && e.SessionID != x.id && e.SessionID != x.name:
		return badEvent(x.count, s.Data, fmt.Errorf("session_id: the stream is that of %q", x.id))
	case !known(e.Type):
		if !x.health.whole() {
			x.release()
			x.emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "an event of no known type", Raw: event.Raw(s.Data)})
			return nil
		}
		return badEvent(x.count, s.Data, fmt.Errorf("type: unknown event type %q", e.Type))
	case !x.declared(e.Type):
		return undeclared(x.count, string(e.Type))
	}
	e.SessionID = x.name
	take := x.plain
	if x.health.whole() {
		take = x.pass
	}
	if err := take(e); err != nil {
		return badEvent(x.count, s.Data, err)
	}
	return nil
}

// pass hands on an event of the whole form.
func (x *session) pass(e envelope) error {
	if e.TS == "" {
		x.lacks["ts"] = true
		e.TS = time.Now().UTC().Format(time.RFC3339Nano)
	}
	switch {
	case e.Seq == 0:
		x.lacks["seq"] = true
		x.seq++
		e.Seq = x.seq
	case x.lacks["seq"]:
		return errors.New("seq: either all events have it or none, and an earlier one had none")
	}
	if e.Type == event.TypeSessionReady {
		// Its own name for the session is not ours.
		data, err := members(e.Data)
		if err != nil {
			return err
		}
		if data["session_id"] != nil {
			data.set("session_id", x.name)
		}
		if e.Data, err = json.Marshal(data); err != nil {
			return err
		}
	}
	out, err := e.decode()
	if err != nil {
		return err
	}
	if out.Type() == event.TypeSessionEnd {
		x.told, x.closing = true, true
	}
	x.Add(out)
	return nil
}

func (e *envelope) decode() (event.Event, error) {
	b, err := json.Marshal(e, lenient)
	if err != nil {
		return event.Event{}, err
	}
	return event.Decode(b)
}
