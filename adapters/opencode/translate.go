package opencode

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// translator converts the server's lines to events. The live adapter and transcripts
// share it. live is nil in a transcript.
type translator struct {
	l    *ledger.Ledger
	live *client

	main      *agent
	agents    map[string]*agent // by session
	questions session.Questions[*question]
	provider  string // of the model that was used last
	model     string
	retrying  bool     // the runtime waits before it asks the model again
	command   bool     // the turn is a summary that was asked for
	created   info     // in a transcript: the session that was created last, until one is opened
	named     bool     // a reply in a transcript has named its session
	stored    bool     // the turn is of stored messages, which have no events
	others    []string // sessions whose events are not shown, newest last; bounded
	users     []string // messages of the user that were seen, newest last; bounded
	ended     []string // messages of the model whose turns have ended, newest last; bounded
}

// agent is the session's own agent or a sub-agent, each of which has a session.
type agent struct {
	id     string
	sub    bool
	parent *agent
	tool   string // the tool call that started it
	name   string
	ended  bool // a sub-agent has ended
	// created is when the session began. A fork has copies of older messages.
	created lenient.Num

	busy    bool
	idle    bool                 // the runtime has reported that the session waits, and not yet that its turn has ended
	user    *userMessage         // of the user, without its text yet
	replies map[lenient.Str]bool // of the model, and whether they are complete
	parts   map[string]*block
	tools   map[string]*runningTool
	calls   []string    // of tools, in order
	denied  []string    // calls that were not allowed to run
	message string      // of the model, the last
	summary lenient.Str // the reply of the model that is a summary of the history
	finish  lenient.Str // why the model ended its last reply
	failure *failure
	aborted bool
	unended int // replies without an end, one after the other
	retries int
	text    string // of the last block
	answer  string // in the form that the client has asked for
	tokens  event.Tokens
	old     bool // the events have the form of versions before 1.2, which may state no reason for the end
}

// userMessage is a message whose text has not come yet.
type userMessage struct{ id lenient.Str }

// block is a part of text or reasoning.
type block struct {
	reasoning bool
	message   string
	text      strings.Builder
}

func newTranslator(l *ledger.Ledger, live *client) *translator {
	return &translator{l: l, live: live, agents: map[string]*agent{}}
}

func newAgent(id string) *agent {
	return &agent{id: id, replies: map[lenient.Str]bool{}, parts: map[string]*block{}, tools: map[string]*runningTool{}}
}

// reset forgets the turn that has ended.
func (a *agent) reset() {
	*a = agent{
		id: a.id, sub: a.sub, parent: a.parent, tool: a.tool, name: a.name, ended: a.ended, created: a.created,
		replies: map[lenient.Str]bool{}, parts: map[string]*block{}, tools: map[string]*runningTool{},
	}
}

// complete reports whether each reply of the model is complete.
func (a *agent) complete() bool {
	for _, done := range a.replies {
		if !done {
			return false
		}
	}
	return true
}

// handleLine handles one line. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	if len(bytes.Trim(b, " \t\r")) == 0 {
		return
	}
	var m line
	if err := json.Unmarshal(b, &m, lenient.Options); err != nil {
		t.l.Unreadable(b)
		return
	}
	switch {
	case m.Ready != nil:
	case m.Data != nil:
		t.handleEvent(eventOf(m.Data), b)
	case m.ID != 0 && t.live != nil:
		t.live.handleReply(&m, b)
	case m.ID != 0:
		t.handleStoredReply(&m)
	case t.live == nil && t.handleBare(b):
	default:
		t.l.Unknown("a line", b)
	}
}

// sessionOpened makes a session that of this adapter.
func (t *translator) sessionOpened(s info) {
	t.main = newAgent(string(s.ID))
	t.main.created = s.Time.Created
	t.agents[t.main.id] = t.main
}

func (t *translator) handleEvent(e serverEvent, b []byte) {
	p := lenient.Decode[properties](e.Properties)
	if e.Type == olderAsked && t.live == nil {
		e.Type, p.Permission, p.Tool.Call = "permission.asked", p.Kind, p.Call
	}
	p.RequestID, p.Reply = cmp.Or(p.RequestID, p.Closed), cmp.Or(p.Reply, p.Response)
	if isIgnored(string(e.Type)) {
		return
	}
	if !isKnown(string(e.Type)) {
		t.l.Unknown(string(e.Type), b)
		return
	}
	if e.Type == "session.created" {
		s := lenient.Decode[info](p.Info)
		if t.main == nil {
			t.created = s // a reply may follow that opens the session
		}
		t.sessionCreated(s)
		return
	}
	id := p.session()
	switch {
	case t.live == nil:
		id = t.transcriptSession(id)
	case id == "" && t.l.Turn() != nil:
		id = t.main.id // some errors name no session
	}
	a := t.agents[id]
	if a == nil {
		t.noticeOtherSession(id, string(e.Type))
		if kind := lenient.Decode[part](p.Part).Type; e.Type == "message.part.updated" && !isKnownPart(string(kind)) {
			t.l.Unknown("a part of type "+string(kind), b)
		}
		return // of a session that this one has not started
	}
	a.old = a.old || p.Session == ""
	switch e.Type {
	case "session.status":
		t.statusChanged(a, lenient.Decode[status](p.Status), b)
	case "session.idle":
		t.becameIdle(a)
	case "session.error":
		t.sessionFailed(a, lenient.Decode[failure](p.Error))
	case "session.compacted":
		t.compacted(a)
	case "message.updated":
		t.messageUpdated(a, lenient.Decode[info](p.Info))
	case "message.part.updated":
		t.partUpdated(a, lenient.Decode[part](p.Part), string(p.Delta), b)
	case "message.part.delta":
		t.partAdded(a, p)
	case "permission.asked", "question.asked":
		t.openQuestion(a, p, e.Type == "permission.asked", b)
	case "permission.replied", "question.replied", "question.rejected":
		t.questionClosed(p, string(e.Type))
	case "todo.updated":
		t.planUpdated(a, p.Todos)
	}
}

// scope returns the scope of an agent's events, or nil if it has none: no turn runs, or the
// sub-agent has ended.
func (t *translator) scope(a *agent) *ledger.Scope {
	switch {
	case !a.sub:
		return t.l.Turn()
	case a.ended:
		return nil
	}
	return t.l.Sub(a.id)
}

// statusChanged handles session.status.
func (t *translator) statusChanged(a *agent, s status, b []byte) {
	switch s.Type {
	case "busy":
		if a.sub {
			return
		}
		t.retrying = false
		t.endLostTurn()
		t.beginTurn()
		t.flushUser(a)
		if !a.busy {
			a.busy = true
			if t.live != nil {
				t.live.becameBusy()
			}
		}
	case "retry":
		t.retryAnnounced(a, s)
	case "idle":
		a.idle = true
	default:
		t.l.Unknown("session.status "+string(s.Type), b)
	}
}

// endLostTurn ends a turn whose end the runtime did not report, although it was idle and goes
// on.
func (t *translator) endLostTurn() {
	if a := t.main; t.l.Turn() != nil && a.idle && a.complete() && len(a.replies) > 0 {
		a.failure = &failure{Name: "the runtime did not report the end of the turn"}
		t.finishTurn()
	}
}

// beginTurn begins a turn unless one runs.
func (t *translator) beginTurn() {
	if t.l.Turn() != nil {
		return
	}
	t.main.reset()
	d := event.TurnStart{Cause: event.CauseUser}
	switch {
	case t.command || t.live != nil && t.live.compacting && len(t.live.sent) == 0:
		t.command, d.Cause = true, event.CauseCommand
	case t.live != nil:
		d.MessageIDs = t.live.startingMessages()
	}
	t.l.TurnStart(d)
}

// maxRemembered bounds the messages that are remembered.
const maxRemembered = 256

func remember(ids []string, id string) []string {
	ids = append(ids, id)
	if over := len(ids) - maxRemembered; over > 0 {
		ids = slices.Delete(ids, 0, over)
	}
	return ids
}

// becameIdle handles session.idle. A turn that failed or was stopped has two of them: what
// was left follows the first, and its reply is not complete then.
func (t *translator) becameIdle(a *agent) {
	a.idle = false
	switch {
	case !a.complete():
	case a.sub:
		t.subagentEnded(a)
	default:
		t.finishTurn()
	}
}

// finishTurn ends the running turn.
func (t *translator) finishTurn() {
	a := t.main
	t.retrying = false
	for _, q := range t.questions.All() {
		t.questions.Drop(q)
	}
	if t.l.Turn() != nil {
		for _, sub := range t.agents {
			if sub.sub && !sub.ended {
				t.subagentEnded(sub)
			}
		}
		t.endTurn(a)
	}
	t.command = false
	for id := range a.replies {
		t.ended = remember(t.ended, string(id))
	}
	a.reset()
	if t.live != nil {
		t.live.turnEnded()
	}
}

// endTurn emits the end of the running turn.
func (t *translator) endTurn(a *agent) {
	// A wait for another attempt that was stopped has no error, and its reply no end. Versions
	// before 1.2 state no reason.
	stopped := a.aborted || a.finish == "" && len(a.replies) > 0 && !a.old
	switch {
	case stopped && a.failure == nil:
		t.l.Done(event.Done{Stopped: true})
	case a.failure != nil:
		t.l.Error(opencodecli.ErrorOf(*a.failure))
	default:
		if sc := t.l.Turn(); sc != nil && a.answer != "" {
			sc.Emit(event.Result{Text: a.answer})
		}
		d := event.Done{}
		if a.finish != "stop" && a.finish != "tool-calls" { // a denied call ends the turn
			d.Reason = string(a.finish)
		}
		t.l.Done(d)
	}
}

// sessionFailed handles session.error.
func (t *translator) sessionFailed(a *agent, f failure) {
	switch {
	case f.Name == opencodecli.Aborted:
		a.aborted = true
	case a.sub:
		a.failure = &f
	default:
		t.beginTurn()
		t.flushUser(a)
		a.failure = &f
	}
}

// The bounds of what some versions of the runtime do without an end: they ask a model that fails again
// and again, and go on after a reply without an end.
const (
	maxRetries = 10
	maxUnended = 5
)

// retryAnnounced handles the announcement of another request to the model. What the failed
// one has streamed does not count.
func (t *translator) retryAnnounced(a *agent, s status) {
	sc := t.scope(a)
	if sc == nil {
		return
	}
	t.retrying = true
	for id, block := range a.parts {
		t.endBlock(sc, id, block, event.BlockRetracted, "")
		delete(a.parts, id)
	}
	t.l.Notice(event.LevelWarning, event.NoticeRetry, string(s.Message), nil)
	if a.retries++; a.retries >= maxRetries {
		t.giveUp(failure{Name: lenient.Str(fmt.Sprintf("%s (after %d attempts)", s.Message, a.retries))})
	}
}

// giveUp ends a turn that would not end by itself.
func (t *translator) giveUp(f failure) {
	if t.live == nil || t.main.failure != nil {
		return
	}
	f.Data.Message = f.Name
	t.main.failure = &f
	t.live.host.LimitStop()
	t.live.abort()
}
