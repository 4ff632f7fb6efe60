// Package ledger answers one question: what must be true of every stream of
// events, whatever the runtime?
//
// It counts seq and turns, knows what is open (blocks, thinking, tools,
// questions) and closes it in time, so that no adapter has to remember the
// rules: session_ready comes first, a turn ends in exactly one done or error,
// everything open is closed before it, and nothing of a turn follows it but
// the events of sub-agents that still run.
//
// A Ledger is not safe for concurrent use: it belongs to the one goroutine that
// reads the wire.
package ledger

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// Ledger keeps the books of one session.
type Ledger struct {
	session string
	pos     event.Position
	emit    func(event.Event)
	at      time.Time // reception of the line in hand
	last    time.Time
	ready   bool
	ended   bool
	hint    event.SessionReady // for a stream that begins without its handshake
	early   []event.Event      // what came before session_ready
	turn    *Scope
	subs    []*Scope // sub-agents that live, oldest first
	counts  recent   // blocks that sub-agents which ended had, for new ids
	tasks   []task
	asks    []Ask
	queue   []string
}

// New makes the ledger of a session that goes on after a position. Without a
// handshake (a transcript that begins in the middle) hint becomes the
// session_ready that precedes the first event of a turn.
func New(hint event.SessionReady, after event.Position, emit func(event.Event)) *Ledger {
	return &Ledger{session: hint.SessionID, hint: hint, pos: after, emit: emit}
}

// At says when the line in hand was received. It never runs backwards.
func (l *Ledger) At(t time.Time) { l.at = t }

// Ready reports whether session_ready was emitted.
func (l *Ledger) Ready() bool { return l.ready }

// SessionReady emits session_ready, once, and then what came before it.
func (l *Ledger) SessionReady(d event.SessionReady) {
	if l.ready {
		return
	}
	l.ready = true
	d.SessionID = l.session
	l.put(event.Event{Data: d})
	for _, e := range l.early {
		l.put(e)
	}
	l.early = nil
}

// maxEarly bounds what is kept until session_ready: a runtime that never gets
// ready must not fill the memory.
const maxEarly = 256

// Session emits an event of the session. Before session_ready it is kept.
func (l *Ledger) Session(d event.Data) {
	if !l.ready {
		if len(l.early) < maxEarly {
			l.early = append(l.early, event.Event{Data: d})
		}
		return
	}
	l.put(event.Event{Data: d})
}

// Notice emits a notice: of the running turn, or else of the session.
func (l *Ledger) Notice(d event.Notice) {
	if l.turn != nil {
		l.turn.Emit(d)
		return
	}
	l.Session(d)
}

// SessionEnd closes a turn that still runs with err (nil: as stopped by the
// client) and ends the session. Later calls do nothing.
func (l *Ledger) SessionEnd(err *event.Error, d event.SessionEnd) {
	if l.ended {
		return
	}
	for len(l.subs) > 0 {
		l.EndSub(l.subs[0].sub)
	}
	for len(l.tasks) > 0 {
		t := l.tasks[0].Task
		t.Status, t.Text, t.Usage = event.TaskInterrupted, "", nil
		l.Task(t)
	}
	if l.turn != nil {
		if err != nil {
			l.Error(*err)
		} else {
			l.Done(event.Done{Stopped: true, Reason: d.Reason})
		}
	}
	for len(l.asks) > 0 {
		l.Resolve(l.asks[0].ID, event.DecisionCancel, event.ByRuntime, nil)
	}
	l.put(event.Event{Data: d})
	l.ended = true
}

// Ended reports whether the session has ended.
func (l *Ledger) Ended() bool { return l.ended }

// Position is the last seq and turn.
func (l *Ledger) Position() event.Position { return l.pos }

// put numbers and emits. It forces session_ready first.
func (l *Ledger) put(e event.Event) {
	if l.ended {
		return
	}
	if !l.ready {
		l.SessionReady(l.hint)
	}
	if l.at.Before(l.last) {
		l.at = l.last
	}
	l.last = l.at
	l.pos.Seq++
	e.TS, e.Seq, e.SessionID = l.at, l.pos.Seq, l.session
	l.emit(e)
}

// Turn is the scope of the running turn, or nil.
func (l *Ledger) Turn() *Scope { return l.turn }

// TurnStart begins a turn and says that something is going on (an empty
// thinking). A turn that still ran is closed first: the runtime went on without
// ending it.
func (l *Ledger) TurnStart(d event.TurnStart) *Scope {
	if l.turn != nil {
		l.Done(event.Done{Stopped: true, Reason: "superseded"})
	}
	if d.MessageIDs == nil {
		d.MessageIDs = []string{}
	}
	l.pos.Turn++
	l.turn = newScope(l, l.pos.Turn, "")
	l.turn.Emit(d)
	l.turn.Emit(event.Thinking{})
	return l.turn
}

// Done ends the running turn.
func (l *Ledger) Done(d event.Done) { l.end(d) }

// Error ends the running turn in an error; without one it is the session's.
func (l *Ledger) Error(d event.Error) {
	if l.turn == nil {
		l.Session(d)
		return
	}
	l.end(d)
}

func (l *Ledger) end(d event.Data) {
	s := l.turn
	if s == nil {
		return
	}
	s.close()
	s.Emit(d)
	l.turn = nil
}

// Queue tells the list of waiting messages, if it changed.
func (l *Ledger) Queue(ids []string) {
	if len(ids) == 0 && len(l.queue) == 0 {
		return
	}
	l.queue = append([]string{}, ids...)
	l.Session(event.Queue{MessageIDs: append([]string{}, ids...)})
}

// Sub is the scope of a sub-agent. It is made on first use and belongs to the
// turn that runs then (or ran last).
func (l *Ledger) Sub(id string) *Scope {
	for _, s := range l.subs {
		if s.sub == id {
			return s
		}
	}
	s := newScope(l, l.pos.Turn, id)
	s.count = l.counts.get(id)
	l.subs = append(l.subs, s)
	return s
}

// EndSub closes what a sub-agent left open and forgets it.
func (l *Ledger) EndSub(id string) {
	for i, s := range l.subs {
		if s.sub == id {
			s.close()
			l.counts.put(id, s.count)
			l.subs = append(l.subs[:i:i], l.subs[i+1:]...)
			return
		}
	}
}

// task is life that was announced and has not ended.
type task struct {
	event.Task
	turn int // the turn that it began in
}

// Task tells of life that may outlast a turn. While the turn that it began in
// runs, the event is that turn's; later it is the session's. What still lives
// when the session ends is told to be interrupted.
func (l *Ledger) Task(d event.Task) {
	i := slices.IndexFunc(l.tasks, func(t task) bool { return t.TaskID == d.TaskID })
	t := task{d, 0}
	if l.turn != nil {
		t.turn = l.turn.turn
	}
	if i >= 0 {
		t.turn = l.tasks[i].turn
	}
	switch {
	case d.Status != event.TaskRunning && i >= 0:
		l.tasks = append(l.tasks[:i:i], l.tasks[i+1:]...)
	case d.Status == event.TaskRunning && i >= 0:
		l.tasks[i] = t
	case d.Status == event.TaskRunning:
		l.tasks = append(l.tasks, t)
	}
	if l.turn != nil && l.turn.turn == t.turn {
		l.turn.Emit(d)
		return
	}
	l.Session(d)
}

// TaskOpen reports whether a task was announced and has not ended.
func (l *Ledger) TaskOpen(id string) bool {
	return slices.ContainsFunc(l.tasks, func(t task) bool { return t.TaskID == id })
}

// Ask is an open question of the runtime: a permission or an interrupt.
type Ask struct {
	ID        string
	ToolName  string
	Interrupt bool
	scope     *Scope
}

// Asks are the open questions, oldest first.
func (l *Ledger) Asks() []Ask { return l.asks }

// Asked finds an open question.
func (l *Ledger) Asked(id string) (Ask, bool) {
	for _, a := range l.asks {
		if a.ID == id {
			return a, true
		}
	}
	return Ask{}, false
}

// Resolve closes an open question and tells how. value is an interrupt's; by
// is who decided.
func (l *Ledger) Resolve(id string, d event.Decision, by event.By, value event.Raw) {
	for i, a := range l.asks {
		if a.ID != id {
			continue
		}
		l.asks = append(l.asks[:i:i], l.asks[i+1:]...)
		if a.Interrupt {
			if value == nil {
				value = event.Raw("null")
			}
			a.scope.Emit(event.InterruptResolved{InterruptID: id, Value: value, By: by})
			return
		}
		a.scope.Emit(event.PermissionResolved{
			RequestID: id, ToolName: a.ToolName, Allowed: d == event.DecisionAllow, Decision: d, By: by,
		})
		return
	}
}
