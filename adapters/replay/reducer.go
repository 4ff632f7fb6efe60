package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// Reducer makes a chat of the events of a session. It is not safe for use by
// several goroutines at once; its views are.
type Reducer struct {
	chat          Chat // what stands at the top; messages and the like apart
	tasks         []*Task
	taskByID      map[string]*Task
	components    []*liveComponent
	componentByID map[string]*liveComponent
	registry      Registry // or nil

	now       time.Time // of the event that is taken
	seq       int64
	lastTurn  int // the highest turn
	turns     map[int]*turn
	openTurns int   // turns that have not ended
	current   *turn // the last that began
	noteCount int   // session messages so far
	failed    bool
	ended     bool

	open          []*message // those that may still change, the oldest first
	newest        *message   // the last, or nil
	lastNumber    int        // messages so far
	firstNumber   int        // the first that was not cut
	messages      vec[*frozenMessage]
	own           *token
	staleMessages []*message
	agents        map[string]*node
	waiting       map[key][]*node  // sub-agents whose tool has not begun, by that tool
	spawns        map[string]*node // tools that spawn, of any agent, by their id
	blockByKey    map[key]*node
	questions     map[key]*node      // questions without an answer
	detached      map[*node]struct{} // tools that go on in the background

	tasksChanged bool
	shownTasks   []Task
}

// key finds a block: ids are unique only within an agent and a kind.
type key struct {
	Agent string `json:"agent,omitempty"`
	Kind  Kind   `json:"kind"`
	ID    string `json:"id"`
}

type message struct {
	r      *Reducer
	m      Message // without its blocks
	blocks blocks
	place  int  // in the list
	stale  bool // what views show of it is out of date
	sealed bool // nothing changes it any more
}

// markStale says that the message is out of date.
func (m *message) markStale() {
	if !m.stale && !m.sealed {
		m.stale = true
		m.r.staleMessages = append(m.r.staleMessages, m)
	}
}

type turn struct {
	n          int
	cause      event.Cause
	start      time.Time
	messages   []*message // the assistant's
	message    *message
	activity   string
	tools      []*node // of the main agent, that run or ran
	ended      bool
	textBlocks int // blocks of visible text
	tokens     *event.Tokens
	startCost  *float64 // of the session, when the turn began
	stats      *event.Stats
}

// New returns a reducer that has seen nothing.
func New(options ...Option) *Reducer {
	r := &Reducer{taskByID: map[string]*Task{}, componentByID: map[string]*liveComponent{}, own: new(token)}
	for _, o := range options {
		o(r)
	}
	r.beginSession("")
	return r
}

// Reduce makes the chat of stored events, whatever their order.
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

// beginSession starts a session: ids and turns of another one mean nothing in it.
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

// Seq is the last seq that was added: a stream that goes on after it loses
// nothing.
func (r *Reducer) Seq() int64 { return r.seq }

// Session is the id of the session whose events came last.
func (r *Reducer) Session() string { return r.chat.SessionID }

// First is the number of the first message from which on all are there: 1 where
// nothing was cut by Restore. Of those before it only some are, which were open.
func (r *Reducer) First() int { return max(r.firstNumber, 1) }

// Open is the numbers of the messages that may still change.
func (r *Reducer) Open() []int {
	out := make([]int, len(r.open))
	for i, m := range r.open {
		out[i] = m.m.Number
	}
	return out
}

// Add takes the next event.
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
		r.chat.EndReason, r.chat.ExitCode = validUTF8(d.Reason), clonePtr(d.ExitCode)
	case event.TurnStart:
		if t := r.turns[e.Turn]; t != nil && d.Cause != event.CauseUser {
			t.cause = d.Cause
		}
	case event.UserMessage:
		r.handleUserMessage(e, d)
	case event.Queue:
		r.chat.Queue = cloneList(d.MessageIDs, selfText)
	case event.Usage:
		r.handleUsage(e, d)
	case event.ModelChanged:
		r.chat.Model = validUTF8(d.Value)
	case event.ModeChanged:
		r.chat.Mode = validUTF8(d.Value)
	case event.ComponentUpdate:
		r.handleComponentUpdate(e, d)
	case event.ComponentRemove:
		r.handleComponentRemove(d)
	case event.Result:
		r.handleResult(e, d)
	case event.Error:
		r.handleError(e, &Failure{d.Code, validUTF8(d.Message)})
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
	c.EndReason, c.ExitCode, c.Queue = "", nil, nil
	c.Runtime, c.Model, c.Mode, c.Cwd = validUTF8(d.Runtime), validUTF8(d.Model), validUTF8(d.Mode), validUTF8(d.Cwd)
}

// ensureTurn finds or begins a turn; one that is long over is nil.
func (r *Reducer) ensureTurn(n int) *turn {
	t := r.turns[n]
	if t == nil && n > r.lastTurn {
		r.sealFinished()
		t = &turn{n: n, activity: ActivityWorking, start: r.now}
		if u := r.chat.Usage; u != nil {
			t.startCost = u.Cost
		}
		r.turns[n], r.current, r.lastTurn = t, t, n
		r.openTurns++
	}
	return t
}

// setActivity notes what a turn is at, if the event is not a sub-agent's.
func (r *Reducer) setActivity(e event.Event, what string) {
	if t := r.turns[e.Turn]; t != nil && !t.ended && e.SubagentID == "" {
		t.activity = what
	}
}

func (r *Reducer) newMessage(m Message) *message {
	r.lastNumber++
	m.Number, m.Seq, m.Start = r.lastNumber, r.seq, r.now
	msg := &message{r: r, m: m, place: r.messages.n}
	msg.blocks.msg = msg
	r.messages.set(r.own, msg.place, nil) // takes the place
	r.open, r.newest = append(r.open, msg), msg
	msg.markStale()
	return msg
}

// assistantMessage is the message of a turn that blocks go to now.
func (r *Reducer) assistantMessage(t *turn) *message {
	if t.message != nil {
		return t.message
	}
	if t.ended && len(t.messages) > 0 {
		return t.messages[len(t.messages)-1] // late: nothing is lost
	}
	m := Message{Role: RoleAssistant, ID: fmt.Sprintf("turn-%d", t.n), Turn: t.n, Status: Running, Cause: t.cause}
	if n := len(t.messages); n > 0 {
		m.ID = fmt.Sprintf("turn-%d.%d", t.n, n+1)
	}
	if t.ended {
		m.Status = Complete
	}
	msg := r.newMessage(m)
	t.messages = append(t.messages, msg)
	if !t.ended {
		t.message = msg
	}
	return msg
}

// sessionMessage is the message for what belongs to no turn.
func (r *Reducer) sessionMessage() *message {
	if m := r.newest; m != nil && m.m.Role == RoleSession && !m.sealed {
		return m
	}
	r.noteCount++
	return r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.noteCount), Status: Complete})
}

// handleUserMessage places what the user said; the assistant goes on after it.
func (r *Reducer) handleUserMessage(e event.Event, d event.UserMessage) {
	if t := r.turns[e.Turn]; t != nil && t.message != nil {
		t.message.m.Status, t.message.m.End = Complete, r.now
		t.message.markStale()
		t.message = nil
	}
	msg := r.newMessage(Message{
		Role: RoleUser, ID: d.MessageID, Turn: e.Turn, Status: Complete, Via: d.Via,
		Attachments: cloneList(d.Attachments, func(a *event.Attachment) []*string {
			return []*string{&a.Kind, &a.Name, &a.Path, &a.URL, &a.MIME}
		}),
	})
	if d.Text != "" {
		n := r.newNode(Block{Kind: KindText, Status: Complete}, e.Turn)
		n.moveTo(&msg.blocks)
		n.appendText(d.Text)
	}
}

func (r *Reducer) handleDone(e event.Event, d event.Done) {
	status := Complete
	if d.Stopped {
		status = Stopped
	}
	if n := r.agents[e.SubagentID]; e.SubagentID != "" {
		if n != nil && n.running() {
			n.setStatus(status)
		}
		return
	}
	if t := r.turns[e.Turn]; t != nil {
		r.endTurn(t, status, d.Reason, clonePtr(d.ExitCode), nil)
	}
}

func (r *Reducer) handleError(e event.Event, f *Failure) {
	if e.SubagentID != "" {
		n := r.ensureAgent(e, "", "")
		n.block.Error = f
		r.addErrorBlock(&n.kids, f, e.Turn)
		n.setStatus(Failed)
		return
	}
	if e.Turn > 0 {
		if t := r.turns[e.Turn]; t != nil {
			r.endTurn(t, Failed, "", nil, f)
		}
		return
	}
	r.stopOpenTurns("session failed")
	r.failed = true
	msg := r.sessionMessage()
	if msg.m.Error != nil {
		r.noteCount++
		msg = r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.noteCount)})
	}
	r.addErrorBlock(&msg.blocks, f, 0)
	msg.m.Status, msg.m.Error, msg.m.End = Failed, f, r.now
	msg.markStale()
}

// addErrorBlock puts an error where it came.
func (r *Reducer) addErrorBlock(list *blocks, f *Failure, turn int) {
	n := r.newNode(Block{Kind: KindError, Status: Failed, Error: f, End: r.now}, turn)
	n.moveTo(list)
	list.tail = n
}

// endTurn closes a turn, once, and what it left open.
func (r *Reducer) endTurn(t *turn, status Status, reason string, exit *int, f *Failure) {
	if t.ended {
		return
	}
	if status != Complete {
		r.assistantMessage(t) // says so, if nothing else
	}
	closed := Complete
	if status != Complete {
		closed = Interrupted
	}
	for _, msg := range t.messages {
		for _, n := range msg.blocks.nodes {
			if n != nil && (n.block.Kind != KindSubagent || !n.tasked) {
				n.closeRunning(closed)
			}
		}
	}
	for k, n := range r.questions {
		if n.turn == t.n && !n.outlivesTurn() {
			n.setStatus(Withdrawn)
			delete(r.questions, k)
		}
	}
	if f != nil {
		r.addErrorBlock(&t.message.blocks, f, t.n)
	}
	if t.message != nil {
		m := &t.message.m
		m.Status, m.Reason, m.ExitCode, m.Error, m.End = status, validUTF8(reason), exit, f, r.now
	}
	if n := len(t.messages); n > 0 {
		t.messages[n-1].m.Figures = r.turnFigures(t)
		t.messages[n-1].markStale()
	}
	t.message, t.ended, t.activity, t.tools = nil, true, "", nil
	r.openTurns--
}

// turnFigures are what was told of a turn as a whole.
func (r *Reducer) turnFigures(t *turn) *Figures {
	f := &Figures{Start: t.start, End: r.now, Tokens: t.tokens}
	if t.stats != nil {
		f.DurationMS, f.Rounds = t.stats.DurationMS, t.stats.Rounds
	}
	if u := r.chat.Usage; u != nil && u.Cost != nil {
		cost := *u.Cost
		if t.startCost != nil {
			cost -= *t.startCost
		}
		if cost > 0 {
			f.Cost = &cost
		}
	}
	return f
}

// stopOpenTurns stops the turns that nothing will end any more.
func (r *Reducer) stopOpenTurns(reason string) {
	var open []*turn
	for _, t := range r.turns {
		if !t.ended {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *turn) int { return a.n - b.n }) // it may make messages
	for _, t := range open {
		r.endTurn(t, Stopped, reason, nil, nil)
	}
	for k, n := range r.questions {
		n.setStatus(Withdrawn)
		delete(r.questions, k)
	}
	clear(r.detached)
}

// interruptAgents ends the sub-agents that their process took along.
func (r *Reducer) interruptAgents() {
	for _, n := range r.agents {
		if n.running() {
			n.setStatus(Interrupted)
		}
	}
}

// sessionStatus is what the session is at.
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

// currentActivity is what the running turn is at: a tool that runs goes before what
// came last.
func (r *Reducer) currentActivity() string {
	t := r.current
	if t == nil || t.ended {
		return ""
	}
	for len(t.tools) > 0 && !t.tools[len(t.tools)-1].running() {
		t.tools[len(t.tools)-1].listed = false
		t.tools = t.tools[:len(t.tools)-1]
	}
	switch {
	case t.activity == ActivityCompacting, t.activity == ActivityRetrying:
	case len(t.tools) > 0:
		return ActivityTool + t.tools[len(t.tools)-1].block.Tool.Name
	}
	return t.activity
}
