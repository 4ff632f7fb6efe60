// Package chats reduces the events of a run to chats, one for each session, because a
// fork is another session. It is not part of the stable interface.
//
// A reducer that panics is a defect of package replay. It becomes an error that names
// the package and the event, so that it neither ends the program nor fails the adapter
// that emitted the event.
package chats

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Observer reduces the events of a run as they arrive. See Observed.
var Observer = &conformance.Observer{Observe: func() conformance.Observation { return &Live{} }}

// Observed returns the chat that Observer made of a run; nil if the run did not finish.
func Observed(r *conformance.Run) *replay.Chat {
	c, _ := r.Observed[Observer].(*replay.Chat)
	return c
}

// Live reduces events in the order in which they arrive. The zero value is ready to
// use. It is not safe for concurrent use.
type Live struct {
	Options []replay.Option // of the reducers

	ids      []string // in the order of the first event
	reducers map[string]*replay.Reducer
	err      error
}

// Add reduces an event. It ignores all events after a panic of the reducer.
func (l *Live) Add(e event.Event) {
	if l.err != nil {
		return
	}
	defer l.recoverPanic("event %d (%s)", e.Seq, e.Type())
	r := l.reducers[e.SessionID]
	if r == nil {
		if l.reducers == nil {
			l.reducers = map[string]*replay.Reducer{}
		}
		r = replay.New(l.Options...)
		l.ids, l.reducers[e.SessionID] = append(l.ids, e.SessionID), r
	}
	r.Add(e)
}

// View returns a view of the session's chat, or nil if the session has no event or the
// reducer panicked.
func (l *Live) View(session string) (v *replay.View) {
	r := l.reducers[session]
	if r == nil || l.err != nil {
		return nil
	}
	defer l.recoverPanic("the view of session %s", session)
	return r.View()
}

// Chat returns the messages of all chats, one session after the other. The other
// fields are those of the first session.
func (l *Live) Chat() (*replay.Chat, error) {
	out := replay.New(l.Options...).Chat()
	for i, id := range l.ids {
		v := l.View(id)
		if v == nil {
			return nil, l.err
		}
		if c := v.Chat(); i == 0 {
			out = c
		} else {
			out.Messages = append(out.Messages, c.Messages...)
		}
	}
	return out, l.err
}

// Result implements conformance.Observation.
func (l *Live) Result() (any, error) { return l.Chat() }

// recoverPanic recovers a panic of the reducer and stores it as the error.
func (l *Live) recoverPanic(at string, args ...any) {
	if p := recover(); p != nil {
		l.err = fmt.Errorf("internal error: package replay panicked at %s: %v", fmt.Sprintf(at, args...), p)
	}
}
