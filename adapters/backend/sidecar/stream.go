package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// Cut is the data of the event listener_cut, which ends the stream of a slow listener.
type Cut struct {
	Reason  string `json:"reason"` // slow
	LastSeq int64  `json:"last_seq"`
}

// stream is an open answer with server-sent events.
type stream struct {
	w       http.ResponseWriter
	out     *http.ResponseController
	timeout time.Duration
	buf     bytes.Buffer
	format  *format // nil: events
	socket  *socket // nil: server-sent events
}

// openStream begins a stream. The caller calls release when it ends.
func (s *Server) openStream(w http.ResponseWriter) (st *stream, release func(), err error) {
	if release, err = s.addStream(); err != nil {
		return nil, nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would collect the events
	st = &stream{w: w, out: http.NewResponseController(w), timeout: s.c.WriteTimeout}
	st.buf.WriteString(": connected\n\n")
	if err := st.flush(); err != nil {
		release()
		return nil, nil, err
	}
	return st, release, nil
}

// openFormatted is openStream for a stream in another format.
func (s *Server) openFormatted(w http.ResponseWriter, f *format) (st *stream, release func(), err error) {
	for name, value := range f.dialect.Headers {
		w.Header().Set(name, value)
	}
	if st, release, err = s.openStream(w); err == nil {
		st.format = f
	}
	return st, release, err
}

// add adds an event to what flush writes.
func (st *stream) add(id int64, name string, data any) error {
	if id > 0 {
		fmt.Fprintf(&st.buf, "id: %d\n", id)
	}
	fmt.Fprintf(&st.buf, "event: %s\ndata: ", name)
	if err := json.MarshalWrite(&st.buf, data); err != nil {
		return err
	}
	st.buf.WriteString("\n\n")
	return nil
}

// addLine is like add, with the JSON of the data.
func (st *stream) addLine(id int64, name string, line []byte) {
	fmt.Fprintf(&st.buf, "id: %d\nevent: %s\ndata: %s\n\n", id, name, line)
}

// flush writes what was added. It fails if the listener does not take it in time.
func (st *stream) flush() error {
	if st.socket != nil {
		return st.socket.flush(st.timeout)
	}
	if err := st.out.SetWriteDeadline(time.Now().Add(st.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := st.w.Write(st.buf.Bytes()); err != nil {
		return err
	}
	st.buf.Reset()
	return st.out.Flush()
}

// heartbeat writes a comment, which shows both ends that the connection lives.
func (st *stream) heartbeat() error {
	if st.socket != nil {
		return st.socket.heartbeat(st.timeout)
	}
	st.buf.WriteString(": heartbeat\n\n")
	return st.flush()
}

// end says why the stream ends, if it can be said.
func (st *stream) end(code websocket.StatusCode, reason string) {
	if st.socket != nil {
		st.socket.end(code, reason)
	}
}

// cursorOf returns the seq after which a listener wants events, and whether it named
// one.
func cursorOf(r *http.Request) (after int64, named bool, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, false, nil
	}
	after, err = strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return 0, false, refuse(http.StatusBadRequest, CodeInvalid, "%.100q is not a cursor: it is the seq of an event", text)
	}
	return after, true, nil
}

// newest returns a session, nil if it does not run here, and the seq of its last event.
func (s *Server) newest(ctx context.Context, id string) (h *hosted, last int64, err error) {
	h = s.running(ctx, id)
	info, err := s.stored(ctx, id)
	if err != nil && h == nil {
		return nil, 0, err
	}
	last = info.Last.Seq
	if h != nil { // the log may have nothing of it yet, or be locked
		last = max(last, h.state().LastSeq, h.tail.last())
	}
	return h, last, nil
}

// refuseCursor refuses a cursor after the last event.
func refuseCursor(after, last int64) error {
	r := refuse(http.StatusConflict, CodeUnknownCursor, "the session has %d events, not %d: begin again without a cursor", last, after)
	r.LastSeq = last
	return r
}

// events handles the stream of a session.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	name := formatOf(r)
	if wantsSocket(r) {
		name = cmp.Or(name, socketFormat)
	}
	if name != "" {
		return s.messages(w, r, name)
	}
	id := r.PathValue("id")
	after, named, err := cursorOf(r)
	if err != nil {
		return err
	}
	h, last, err := s.newest(r.Context(), id)
	if err != nil {
		return err
	}
	if h != nil && !named {
		after = h.from
	}
	if after > last {
		return refuseCursor(after, last)
	}
	if h == nil && after == last {
		ended, err := s.endsAt(r.Context(), id, last)
		if err != nil {
			return err
		}
		if ended {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	st, release, err := s.openStream(w)
	if err != nil {
		return err
	}
	defer release()
	s.sendEvents(r.Context(), st, h, id, after, last)
	return nil
}

// sendEvents sends the events of a session with a seq above after, until the session
// or the listener ends. Those above live are live. h is nil if the session does not run
// here.
func (s *Server) sendEvents(ctx context.Context, st *stream, h *hosted, id string, after, live int64) {
	every := s.c.Heartbeat
	if h != nil {
		every = cmp.Or(h.heartbeat, every)
	}
	heartbeat := time.NewTicker(every)
	defer heartbeat.Stop()
	if h != nil {
		var goOn bool
		if after, goOn = s.sendRunning(ctx, st, h, after, live, heartbeat.C); !goOn {
			return
		}
	}
	s.sendStored(ctx, st, id, after, live, heartbeat.C)
}

// sendRunning sends the events of a session that runs here. It reports true if the session
// does not run any more, but the stream goes on after the returned seq.
func (s *Server) sendRunning(ctx context.Context, st *stream, h *hosted, after, live int64, heartbeat <-chan time.Time) (last int64, goOn bool) {
	ended := false
	var failed outage
	defer h.addListener()()
	for {
		if ctx.Err() != nil { // the token may be removed while more and more events come
			return after, false
		}
		changed := h.tail.changed()
		entries, held := h.tail.after(after)
		if !held {
			events, err := s.c.Log.Read(ctx, h.id, after, 0)
			if err != nil {
				if failed.waitWithHeartbeat(ctx, err, st, heartbeat) {
					continue
				}
				return after, false
			}
			failed = outage{}
			for _, e := range events {
				entries = append(entries, entry{event: e})
			}
		}
		for _, e := range entries {
			if goOn, err := s.sendEvent(ctx, st, e, live); err != nil || !goOn {
				return after, false
			}
			after = e.event.Seq
		}
		switch {
		case len(entries) > 0:
			if st.flush() != nil {
				return after, false
			}
			continue
		case ended || !held:
			return after, true
		}
		select {
		case <-changed:
		case <-heartbeat:
			if st.heartbeat() != nil {
				return after, false
			}
		case <-h.ended:
			if h.logError() != nil {
				return after, false
			}
			ended = true // its last events are stored
		case <-ctx.Done():
			return after, false
		}
	}
}

// sendStored sends the events of a session that does not run here, until the server ends.
func (s *Server) sendStored(ctx context.Context, st *stream, id string, after, live int64, heartbeat <-chan time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	read := make(chan event.Event, 64)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer close(read)
		readOn(ctx, func() (some bool, err error) {
			for e, err := range s.c.Log.Follow(ctx, id, after) {
				if err != nil {
					return some, err
				}
				select {
				case read <- e:
					after, some = e.Seq, true
				case <-ctx.Done():
					return some, nil
				}
			}
			return some, nil
		})
	}()
	defer func() {
		cancel()
		<-finished
	}()
	for {
		select {
		case e, more := <-read:
			if !more {
				return
			}
			if goOn, err := s.sendBatch(ctx, st, e, read, live); err != nil || !goOn {
				return
			}
		case <-heartbeat:
			if st.heartbeat() != nil {
				return
			}
		case <-s.closing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendBatch sends an event and those that wait behind it. It reports false if the
// stream ends with them.
func (s *Server) sendBatch(ctx context.Context, st *stream, e event.Event, read <-chan event.Event, live int64) (goOn bool, err error) {
	for {
		if goOn, err := s.sendEvent(ctx, st, entry{event: e}, live); err != nil || !goOn {
			return false, err
		}
		select {
		case next, more := <-read:
			if !more {
				return false, st.flush()
			}
			e = next
		default:
			return true, st.flush()
		}
	}
}

// sendEvent adds an event to what flush writes. It reports false if the stream ends with
// it, and has written it then.
func (s *Server) sendEvent(ctx context.Context, st *stream, n entry, live int64) (goOn bool, err error) {
	e := n.event
	if e.Seq > live && time.Since(e.TS) > s.c.MaxLag {
		if st.format != nil { // a dialect has no message for it; the listener reconnects
			st.end(websocket.StatusTryAgainLater, "the listener is slow: connect again with the last cursor")
			return false, st.flush()
		}
		if err := st.add(0, "listener_cut", Cut{"slow", e.Seq - 1}); err != nil {
			return false, err
		}
		return false, st.flush()
	}
	switch {
	case st.format != nil:
		if st.format.add(st, e) {
			st.end(websocket.StatusNormalClosure, nothingMore)
			return false, st.flush()
		}
	case n.line != nil:
		st.addLine(e.Seq, string(e.Type()), n.line)
	default:
		if err := st.add(e.Seq, string(e.Type()), e); err != nil {
			return false, err
		}
	}
	if e.Type() != event.TypeSessionEnd {
		return true, nil
	}
	if err := st.flush(); err != nil { // isLast may wait
		return false, err
	}
	if s.isLast(ctx, e) {
		st.end(websocket.StatusNormalClosure, nothingMore)
		return false, st.flush()
	}
	return true, nil
}

// feedEvents handles the feed of the caller's sessions: first those that run, then each change.
func (s *Server) feedEvents(w http.ResponseWriter, r *http.Request) error {
	sub := s.feed.subscribe(callerOf(r.Context()))
	defer s.feed.unsubscribe(sub)
	st, release, err := s.openStream(w)
	if err != nil {
		return err
	}
	defer release()
	s.mu.Lock()
	all := make([]*hosted, 0, len(s.hosted))
	for _, h := range s.hosted {
		all = append(all, h)
	}
	s.mu.Unlock()
	for _, h := range all {
		if run := h.state(); run.State == StateStreaming {
			sub.put(run)
		}
	}
	heartbeat := time.NewTicker(s.c.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-sub.changed:
			for _, run := range sub.take() {
				if err := st.add(0, eventName(run), run); err != nil {
					return nil
				}
			}
			if st.flush() != nil {
				return nil
			}
		case <-heartbeat.C:
			if st.heartbeat() != nil {
				return nil
			}
		case <-s.closing:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// eventName returns the name of a change in the feed.
func eventName(r Run) string {
	switch {
	case r.Starting:
		return "run.starting"
	case r.State == StateStreaming:
		return "run.stream_ready"
	}
	return "run." + string(r.State)
}
