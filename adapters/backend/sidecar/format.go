package sidecar

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// formatOf returns the name of the dialect that a listener wants, or "" if it wants events: the
// parameter format of the address, or else that of the first text/event-stream in Accept.
func formatOf(r *http.Request) string {
	if name := r.URL.Query().Get("format"); name != "" {
		return name
	}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, parameters, err := mime.ParseMediaType(part)
		if err == nil && kind == "text/event-stream" {
			return parameters["format"]
		}
	}
	return ""
}

// format writes the messages of a dialect in place of events.
type format struct {
	dialect   dialects.Dialect
	translate func(event.Event) []dialects.Message
	skip      int // how many messages of the first event the listener has
	ended     bool
}

// add adds the messages of an event. It reports true if the answer ends with them.
func (f *format) add(st *stream, e event.Event) (end bool) {
	messages := f.translate(e)
	skip := min(f.skip, len(messages))
	f.skip = 0
	return f.write(st, e.Seq, messages, skip)
}

// write adds messages that an event became, without the first ones.
func (f *format) write(st *stream, seq int64, messages []dialects.Message, skip int) (end bool) {
	for i, m := range messages {
		if i < skip {
			continue
		}
		if st.socket != nil {
			st.socket.add(seq, i+1, m.Line)
		} else {
			fmt.Fprintf(&st.buf, "id: %d.%d\ndata: %s\n\n", seq, i+1, m.Line)
		}
		if !m.Ends {
			continue
		}
		if f.dialect.AfterStream != "" && st.socket == nil {
			fmt.Fprintf(&st.buf, "data: %s\n\n", f.dialect.AfterStream)
		}
		end = f.dialect.OneTurn
		f.ended = end
	}
	return end
}

// messageCursor returns the event up to which a listener has all messages, and how many it has of the
// next one.
func messageCursor(r *http.Request) (after int64, have int, named bool, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, 0, false, nil
	}
	seq, n, part := strings.Cut(text, ".")
	after, err = strconv.ParseInt(seq, 10, 64)
	if part && err == nil {
		have, err = strconv.Atoi(n)
		after--
	}
	if err != nil || after < 0 || have < 0 {
		return 0, 0, false, refuse(http.StatusBadRequest, CodeInvalid, "%.100q is not a cursor: it is the id of a message, or the seq of an event", text)
	}
	return after, have, true, nil
}

// messages handles the stream of a session in a dialect.
func (s *Server) messages(w http.ResponseWriter, r *http.Request, name string) error {
	d, ok := dialects.Of(name)
	if !ok {
		return refuse(http.StatusBadRequest, CodeInvalid, "no format %.100q: use one of %s", name, strings.Join(dialects.Names(), ", "))
	}
	id := r.PathValue("id")
	after, have, named, err := messageCursor(r)
	if err != nil {
		return err
	}
	h, last, err := s.newest(r.Context(), id)
	if err != nil {
		return err
	}
	none := false
	if !named {
		after, ok = beginning(h, d)
		none = !ok
	}
	if after > last {
		return refuseCursor(after, last)
	}
	if h == nil && after == last && !none {
		if none, err = s.endsAt(r.Context(), id, last); err != nil {
			return err
		}
	}
	if none && !wantsSocket(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	f := &format{dialect: d, translate: d.New(), skip: have}
	if err := s.prime(r.Context(), f, id, after); err != nil {
		return err
	}
	if wantsSocket(r) {
		return s.sendOverSocket(w, r, f, h, id, after, last, none)
	}
	st, release, err := s.openFormatted(w, f)
	if err != nil {
		return err
	}
	defer release()
	s.sendEvents(r.Context(), st, h, id, after, last)
	return nil
}

// beginning returns the seq after which a listener without a cursor begins: that of the running turn,
// if answers are turns, else that of the session. It returns false if no turn runs.
func beginning(h *hosted, d dialects.Dialect) (after int64, ok bool) {
	switch {
	case h == nil:
		return 0, !d.OneTurn
	case !d.OneTurn:
		return h.from, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run.Starting {
		return h.run.LastSeq, true
	}
	return h.begun - 1, h.run.State == StateStreaming
}

// prime lets the translator see the events that the listener has.
func (s *Server) prime(ctx context.Context, f *format, id string, after int64) error {
	if after == 0 {
		return nil
	}
	for e, err := range eventlog.All(ctx, s.c.Log, id, 0) {
		if err != nil || e.Seq > after {
			return err
		}
		f.translate(e)
	}
	return nil
}
