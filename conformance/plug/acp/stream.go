package acp

import (
	"bytes"
	"io"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// emit tells an event of the turn that runs, or ran last. It is called with the
// lock held.
func (x *session) emit(d event.Data) {
	turn := x.turn
	if !x.running {
		switch d.(type) {
		case event.Delta, event.Thinking, event.BlockEnd, event.Done, event.Error:
			// What the agent says after the reply to a prompt is of that prompt: it
			// was to say it before.
		default:
			turn = 0 // a call may outlive its turn; the rest is the session's
		}
	}
	x.tell(d, turn)
}

func (x *session) tell(d event.Data, turn int) {
	if !x.isReady {
		x.early = append(x.early, d)
		return
	}
	x.seq++
	x.Add(event.Event{Data: d, TS: time.Now().UTC(), Seq: x.seq, SessionID: x.name, Turn: turn})
}

// ready tells that the session is open, and then what was told before.
func (x *session) ready(d event.SessionReady) {
	x.isReady = true
	x.tell(d, 0)
	for _, e := range x.early {
		if _, notice := e.(event.Notice); notice { // a mode that was told is the one that it opened in
			x.tell(e, 0)
		}
	}
	x.early = nil
}

// watched shows what is read, line by line.
func (x *session) watched(r io.Reader) io.Reader {
	if x.s.Watch == nil {
		return r
	}
	return io.TeeReader(r, &lineWriter{show: func(l string) { x.s.Watch(false, l) }})
}

// written shows what is written, and notes when nobody reads it any more.
func (x *session) written(w io.Writer) io.Writer {
	w = &noting{w, x}
	if x.s.Watch == nil {
		return w
	}
	return io.MultiWriter(w, &lineWriter{show: func(l string) { x.s.Watch(true, l) }})
}

type noting struct {
	w io.Writer
	x *session
}

func (n *noting) Write(p []byte) (int, error) {
	written, err := n.w.Write(p)
	if err != nil {
		n.x.deaf.Store(true)
	}
	return written, err
}

type lineWriter struct {
	show func(string)
	buf  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	for {
		i := bytes.IndexByte(w.buf, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.show(string(w.buf[:i]))
		w.buf = w.buf[i+1:]
	}
}
