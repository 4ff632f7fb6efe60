// Package ledger enforces the rules that hold for every stream of events,
// whatever the runtime.
//
// It numbers events and turns, and keeps track of open blocks, thinking, tools
// and questions. session_ready comes first. A turn ends in exactly one done or
// error, and everything open in it is closed before. After its end, only events
// of sub-agents that still run carry that turn.
//
// A Ledger is not safe for concurrent use: it belongs to the goroutine that
// reads the wire.
package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// Ledger keeps the state of one session's stream.
type Ledger struct {
	session     string
	pos         event.Position
	emit        func(event.Event)
	at          time.Time // when the current line was received
	last        time.Time
	ready       bool
	ended       bool
	hint        event.SessionReady // used if the stream has no handshake
	early       []event.Event      // emitted after session_ready
	dropped     int                // events before session_ready that exceeded maxEarly
	turn        *Scope
	subs        []*Scope // running sub-agents, oldest first
	blockCounts recent   // blocks of ended sub-agents, so that ids stay unique
	tasks       []task
	questions   []Question
	queued      bool // the last queue emitted was not empty

	// StreamInputs is whether the inputs of tools are emitted in pieces.
	StreamInputs bool

	// Media receives the bytes of media before the result that refers to them, if it is not
	// nil.
	Media func(event.Media, []byte)
	media []medium // for the next result
}

// New returns the ledger of a session that continues after a position. If there
// is no handshake (a transcript that begins in the middle), hint becomes the
// session_ready that precedes the first event of a turn.
func New(hint event.SessionReady, after event.Position, emit func(event.Event)) *Ledger {
	return &Ledger{session: hint.SessionID, hint: hint, pos: after, emit: emit}
}

// SetTime sets the time at which the current line was received. Event times
// never run backwards.
func (l *Ledger) SetTime(t time.Time) { l.at = t }

// Time returns the time at which the current line was received.
func (l *Ledger) Time() time.Time { return l.at }

// Ready reports whether session_ready was emitted.
func (l *Ledger) Ready() bool { return l.ready }

// SessionReady emits session_ready and the events held back until then. The folder is
// that of the hint if the runtime states none. Later calls do nothing.
func (l *Ledger) SessionReady(d event.SessionReady) {
	if l.ready {
		return
	}
	l.ready = true
	d.SessionID = l.session
	d.Cwd = cmp.Or(d.Cwd, l.hint.Cwd)
	l.emitNext(event.Event{Data: d})
	for _, e := range l.early {
		l.emitNext(e)
	}
	l.early = nil
	if l.dropped > 0 {
		l.Emit(event.Notice{
			Level: event.LevelWarning, Code: event.NoticeWarning,
			Text: fmt.Sprintf("%d more events from before the session was ready were dropped", l.dropped),
		})
	}
}

// maxEarly bounds the events held back until session_ready, because a runtime
// may never become ready. A notice reports how many further events were dropped.
const maxEarly = 256

// Session emits an event of the session. Before session_ready, the event is
// held back.
func (l *Ledger) Session(d event.Data) {
	if !l.ready {
		if len(l.early) < maxEarly {
			l.early = append(l.early, event.Event{Data: d})
		} else {
			l.dropped++
		}
		return
	}
	l.emitNext(event.Event{Data: d})
}

// Emit emits an event of the running turn, or of the session if no turn runs.
func (l *Ledger) Emit(d event.Data) {
	if l.turn != nil {
		l.turn.Emit(d)
		return
	}
	l.Session(d)
}

// SessionEnd ends a running turn with err, or as stopped by the client if err
// is nil, and ends the session. Later calls do nothing.
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
	for len(l.questions) > 0 {
		l.Resolve(l.questions[0].ID, event.DecisionCancel, event.ByRuntime, nil)
	}
	l.emitNext(event.Event{Data: d})
	l.ended = true
}

// Ended reports whether the session has ended.
func (l *Ledger) Ended() bool { return l.ended }

// Position returns the last seq and turn.
func (l *Ledger) Position() event.Position { return l.pos }

// emitNext numbers and emits an event. If session_ready was not emitted yet, it
// emits that first.
func (l *Ledger) emitNext(e event.Event) {
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

// Turn returns the scope of the running turn, or nil.
func (l *Ledger) Turn() *Scope { return l.turn }

// TurnStart starts a turn and emits an empty thinking, which signals activity.
// If a turn still runs, it is closed first, because the runtime started another
// one without ending it.
func (l *Ledger) TurnStart(d event.TurnStart) *Scope {
	if l.turn != nil {
		l.Done(event.Done{Stopped: true, Reason: "superseded"})
	}
	if d.MessageIDs == nil {
		d.MessageIDs = []string{}
	}
	l.pos.Turn++
	l.turn = &Scope{l: l, turn: l.pos.Turn}
	l.turn.Emit(d)
	l.turn.Emit(event.Thinking{})
	return l.turn
}

// Done ends the running turn.
func (l *Ledger) Done(d event.Done) { l.endTurn(d) }

// Error ends the running turn in an error. If no turn runs, the error is the
// session's.
func (l *Ledger) Error(d event.Error) {
	if l.turn == nil {
		l.Session(d)
		return
	}
	l.endTurn(d)
}

func (l *Ledger) endTurn(d event.Data) {
	if s := l.turn; s != nil {
		s.closeAll()
		s.emit(d)
		l.turn = nil
	}
}

// Queue emits the list of waiting messages. It emits nothing if the list was
// and is empty.
func (l *Ledger) Queue(ids []string) {
	if len(ids) == 0 && !l.queued {
		return
	}
	l.queued = len(ids) > 0
	l.Session(event.Queue{MessageIDs: append([]string{}, ids...)})
}

// Queued reports whether messages wait.
func (l *Ledger) Queued() bool { return l.queued }

// Sub returns the scope of a sub-agent. The first call creates it in the
// running turn, or in the last one.
func (l *Ledger) Sub(id string) *Scope {
	for _, s := range l.subs {
		if s.sub == id {
			return s
		}
	}
	s := &Scope{l: l, turn: l.pos.Turn, sub: id, count: l.blockCounts.get(id)}
	l.subs = append(l.subs, s)
	return s
}

// EndSub closes and removes the scope of a sub-agent.
func (l *Ledger) EndSub(id string) {
	for i, s := range l.subs {
		if s.sub == id {
			s.closeAll()
			l.blockCounts.remember(id, s.count)
			l.subs = append(l.subs[:i:i], l.subs[i+1:]...)
			return
		}
	}
}

// task is a task that was announced and has not ended.
type task struct {
	event.Task
	turn int // the turn in which it started
}

// Task emits an event of work that may outlast a turn. While the turn runs in
// which the task started, the event belongs to that turn; later it belongs to
// the session. SessionEnd interrupts tasks that still run.
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
	} else {
		l.Session(d)
	}
}

// TaskOpen reports whether a task was announced and has not ended.
func (l *Ledger) TaskOpen(id string) bool {
	return slices.ContainsFunc(l.tasks, func(t task) bool { return t.TaskID == id })
}

// Question is an open question of the runtime: a permission or an interrupt.
type Question struct {
	ID        string
	ToolName  string
	Interrupt bool
	scope     *Scope
}

// Questions returns the open questions, oldest first.
func (l *Ledger) Questions() []Question { return l.questions }

// Question returns an open question by its id.
func (l *Ledger) Question(id string) (Question, bool) {
	i := slices.IndexFunc(l.questions, func(q Question) bool { return q.ID == id })
	if i < 0 {
		return Question{}, false
	}
	return l.questions[i], true
}

// Resolve closes an open question and emits the outcome. value applies to an
// interrupt only; by names who decided.
func (l *Ledger) Resolve(id string, d event.Decision, by event.By, value event.Raw) {
	q, open := l.Question(id)
	if !open {
		return
	}
	l.questions = slices.DeleteFunc(slices.Clone(l.questions), func(q Question) bool { return q.ID == id })
	if !q.Interrupt {
		q.scope.Emit(event.PermissionResolved{
			RequestID: id, ToolName: q.ToolName, Allowed: d == event.DecisionAllow, Decision: d, By: by,
		})
		return
	}
	if value == nil {
		value = event.Raw("null")
	}
	q.scope.Emit(event.InterruptResolved{InterruptID: id, Value: value, By: by})
}
