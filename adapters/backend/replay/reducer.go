package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// Reducer reduces the events of a session to a chat. It is not safe for
// concurrent use; its views are.
type Reducer struct {
	chat          Chat // without messages, tasks and components
	tasks         []*Task
	taskByID      map[string]*Task
	components    []*liveComponent
	componentByID map[string]*liveComponent
	registry      Registry // nil if there is none

	now       time.Time // ts of the current event
	seq       int64
	lastTurn  int
	turns     map[int]*turn
	openTurns int   // number of turns that have not ended
	current   *turn // the last one that began
	noteCount int   // number of session messages
	failed    bool
	ended     bool
	uncounted bool // the session's tokens so far are not known, until a usage states them

	open          []*message // messages that may still change, oldest first
	newest        *message   // the last one, or nil
	lastNumber    int        // of the last message
	firstNumber   int        // of the first message that Restore has
	messages      vec[*frozenMessage]
	own           *token
	staleMessages []*message
	agents        map[string]*node
	waiting       map[key][]*node  // sub-agents whose tool has not started, by that tool
	spawns        map[string]*node // tools of any agent that spawn, by id
	blockByKey    map[key]*node
	questions     map[key]*node      // unanswered questions
	detached      map[*node]struct{} // tools that run in the background

	tasksChanged bool
	shownTasks   []Task
}

// key identifies a block: ids are unique only within an agent and a kind.
type key struct {
	Agent string `json:"agent,omitempty"`
	Kind  Kind   `json:"kind"`
	ID    string `json:"id"`
}

// New returns an empty reducer.
func New(options ...Option) *Reducer {
	r := &Reducer{taskByID: map[string]*Task{}, componentByID: map[string]*liveComponent{}, own: new(token)}
	for _, o := range options {
		o(r)
	}
	r.beginSession("")
	return r
}

// Reduce returns the chat of stored events, which may be in any order.
func Reduce(events []event.Event, options ...Option) *Chat {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b event.Event) int {
		return cmp.Or(cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Seq, b.Seq))
	})
	r := New(options...)
	for _, e := range sorted {
		r.Add(e)
	}
	return r.Chat()
}

// beginSession starts a session. Ids and turns of the previous one become invalid.
func (r *Reducer) beginSession(session string) {
	r.stopOpenTurns("session left")
	for _, m := range r.open {
		r.sealMessage(m)
	}
	r.chat.SessionID, r.seq, r.lastTurn, r.current, r.open = session, 0, 0, nil, nil
	r.turns = map[int]*turn{}
	r.agents, r.waiting = map[string]*node{}, map[key][]*node{}
	r.spawns, r.blockByKey, r.questions = map[string]*node{}, map[key]*node{}, map[key]*node{}
	r.detached = map[*node]struct{}{}
}

// Seq returns the last seq that was added.
func (r *Reducer) Seq() int64 { return r.seq }

// Session returns the id of the session of the last event.
func (r *Reducer) Session() string { return r.chat.SessionID }

// First returns the number of the message from which on the reducer has all: 1
// unless Restore returned it. Of those before it, it has only the ones that were
// open.
func (r *Reducer) First() int { return max(r.firstNumber, 1) }

// Open returns the numbers of the messages that may still change.
func (r *Reducer) Open() []int {
	out := make([]int, len(r.open))
	for i, m := range r.open {
		out[i] = m.m.Number
	}
	return out
}

// Add reduces the next event. It ignores one whose seq is not above Seq.
func (r *Reducer) Add(e event.Event) {
	if e.SessionID != r.chat.SessionID {
		r.beginSession(e.SessionID)
	}
	if e.Seq > 0 {
		if e.Seq <= r.seq {
			return
		}
		r.seq = e.Seq
	}
	r.now = e.TS.UTC().Round(0)
	if e.Turn > 0 {
		r.ensureTurn(e.Turn)
	}
	switch d := e.Data.(type) {
	case event.SessionReady:
		r.handleReady(d)
	case event.SessionEnd:
		r.stopOpenTurns(d.Reason)
		r.interruptAgents()
		r.ended = true
		r.chat.EndReason, r.chat.ExitCode = validText(d.Reason), clonePtr(d.ExitCode)
	case event.TurnStart:
		if t := r.turns[e.Turn]; t != nil && d.Cause != event.CauseUser {
			t.cause = d.Cause
		}
	case event.UserMessage:
		r.handleUserMessage(e, d)
	case event.Queue:
		r.chat.Queue = cloneList(d.MessageIDs, oneText)
	case event.Usage:
		r.handleUsage(e, d)
	case event.ModelChanged:
		r.chat.Model = validText(d.Value)
	case event.ModeChanged:
		r.chat.Mode = validText(d.Value)
	case event.ComponentUpdate:
		r.handleComponentUpdate(e, d)
	case event.ComponentRemove:
		r.handleComponentRemove(d)
	case event.Result:
		r.handleResult(e, d)
	case event.Error:
		r.handleError(e, &Failure{d.Code, validText(d.Message)})
	case event.Done:
		r.handleDone(e, d)
	default:
		r.handleBlockEvent(e)
	}
}

func (r *Reducer) handleReady(d event.SessionReady) {
	r.stopOpenTurns("session resumed")
	r.interruptAgents()
	r.failed, r.ended = false, false
	c := &r.chat
	r.uncounted = (d.Resumed || d.ForkedFrom != "") && (r.uncounted || c.Usage == nil)
	c.EndReason, c.ExitCode, c.Queue = "", nil, nil
	c.Runtime, c.Model, c.Mode, c.Cwd = validText(d.Runtime), validText(d.Model), validText(d.Mode), validText(d.Cwd)
}

func (r *Reducer) sessionStatus() Status {
	switch {
	case r.failed:
		return Failed
	case r.ended:
		return Ended
	case len(r.questions) > 0:
		return Waiting
	case r.openTurns > 0:
		return Running
	}
	return Idle
}
