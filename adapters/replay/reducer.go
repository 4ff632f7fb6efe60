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
	chat     Chat // what stands at the top; messages and the like apart
	tasks    []*Task
	taskByID map[string]*Task
	parts    []*part
	partByID map[string]*part
	registry Registry // or nil

	now     time.Time // of the event that is taken
	seq     int64
	last    int // the highest turn
	turns   map[int]*turn
	live    int   // turns that have not ended
	current *turn // the last that began
	notes   int   // session messages so far
	failed  bool
	ended   bool

	open     []*message // those that may still change, the oldest first
	newest   *message   // the last, or nil
	number   int        // messages so far
	first    int        // the first that was not cut
	list     vec[*frozenMessage]
	own      *token
	changed  []*message
	agents   map[string]*node
	waiting  map[key][]*node  // sub-agents whose tool has not begun, by that tool
	spawns   map[string]*node // tools that spawn, of any agent, by their id
	index    map[key]*node
	asks     map[key]*node      // questions without an answer
	detached map[*node]struct{} // tools that go on in the background

	tasksChanged bool
	shownTasks   []Task
}

// key finds a block: ids are unique only within an agent and a kind.
type key struct {
	agent string
	kind  Kind
	id    string
}

type message struct {
	r      *Reducer
	m      Message // without its blocks
	blocks blocks
	place  int  // in the list
	stale  bool // what views show of it is out of date
	sealed bool // nothing changes it any more
}

// touch says that the message is out of date.
func (m *message) touch() {
	if !m.stale && !m.sealed {
		m.stale = true
		m.r.changed = append(m.r.changed, m)
	}
}

type turn struct {
	n        int
	cause    event.Cause
	start    time.Time
	messages []*message // the assistant's
	open     *message
	activity string
	tools    []*node // of the main agent, that run or ran
	ended    bool
	text     int // blocks of visible text
	tokens   *event.Tokens
	cost     *float64 // of the session, when the turn began
	stats    *event.Stats
}

// New returns a reducer that has seen nothing.
func New(options ...Option) *Reducer {
	r := &Reducer{taskByID: map[string]*Task{}, partByID: map[string]*part{}, own: new(token)}
	for _, o := range options {
		o(r)
	}
	r.begin("")
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

// begin starts a session: ids and turns of another one mean nothing in it.
func (r *Reducer) begin(session string) {
	r.settleAll("session left")
	for _, m := range r.open {
		r.seal(m)
	}
	r.chat.SessionID, r.seq, r.last, r.current, r.open = session, 0, 0, nil, nil
	r.turns = map[int]*turn{}
	r.agents, r.waiting = map[string]*node{}, map[key][]*node{}
	r.spawns, r.index, r.asks = map[string]*node{}, map[key]*node{}, map[key]*node{}
	r.detached = map[*node]struct{}{}
}

// Seq is the last seq that was added: a stream that goes on after it loses
// nothing.
func (r *Reducer) Seq() int64 { return r.seq }

// Session is the id of the session whose events came last.
func (r *Reducer) Session() string { return r.chat.SessionID }

// First is the number of the first message from which on all are there: 1 where
// nothing was cut by Restore. Of those before it only some are, which were open.
func (r *Reducer) First() int { return max(r.first, 1) }

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
		r.begin(e.SessionID)
	}
	if e.Seq > 0 {
		if e.Seq <= r.seq {
			return
		}
		r.seq = e.Seq
	}
	r.now = e.TS.UTC().Round(0)
	if e.Turn > 0 {
		r.turn(e.Turn)
	}
	switch d := e.Data.(type) {
	case event.SessionReady:
		r.ready(d)
	case event.SessionEnd:
		r.settleAll(d.Reason)
		r.closeAgents()
		r.ended = true
		r.chat.EndReason, r.chat.ExitCode = valid(d.Reason), own(d.ExitCode)
	case event.TurnStart:
		if t := r.turns[e.Turn]; t != nil && d.Cause != event.CauseUser {
			t.cause = d.Cause
		}
	case event.UserMessage:
		r.userMessage(e, d)
	case event.Queue:
		r.chat.Queue = copied(d.MessageIDs, itself)
	case event.Usage:
		r.usage(e, d)
	case event.ModelChanged:
		r.chat.Model = valid(d.Value)
	case event.ModeChanged:
		r.chat.Mode = valid(d.Value)
	case event.ComponentUpdate:
		r.componentUpdate(e, d)
	case event.ComponentRemove:
		r.componentRemove(d)
	case event.Result:
		r.result(e, d)
	case event.Error:
		r.failure(e, &Failure{d.Code, valid(d.Message)})
	case event.Done:
		r.done(e, d)
	default:
		r.addBlock(e)
	}
}

func (r *Reducer) ready(d event.SessionReady) {
	r.settleAll("session resumed")
	r.closeAgents()
	r.failed, r.ended = false, false
	c := &r.chat
	c.EndReason, c.ExitCode, c.Queue = "", nil, nil
	c.Runtime, c.Model, c.Mode, c.Cwd = valid(d.Runtime), valid(d.Model), valid(d.Mode), valid(d.Cwd)
}

// turn finds or begins a turn; one that is long over is nil.
func (r *Reducer) turn(n int) *turn {
	t := r.turns[n]
	if t == nil && n > r.last {
		r.sweep()
		t = &turn{n: n, activity: ActivityWorking, start: r.now}
		if u := r.chat.Usage; u != nil {
			t.cost = u.Cost
		}
		r.turns[n], r.current, r.last = t, t, n
		r.live++
	}
	return t
}

// doing notes what a turn is at, if the event is not a sub-agent's.
func (r *Reducer) doing(e event.Event, what string) {
	if t := r.turns[e.Turn]; t != nil && !t.ended && e.SubagentID == "" {
		t.activity = what
	}
}

func (r *Reducer) newMessage(m Message) *message {
	r.number++
	m.Number, m.Seq, m.Start = r.number, r.seq, r.now
	msg := &message{r: r, m: m, place: r.list.n}
	msg.blocks.msg = msg
	r.list.set(r.own, msg.place, nil) // takes the place
	r.open, r.newest = append(r.open, msg), msg
	msg.touch()
	return msg
}

// assistant is the message of a turn that blocks go to now.
func (r *Reducer) assistant(t *turn) *message {
	if t.open != nil {
		return t.open
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
		t.open = msg
	}
	return msg
}

// session is the message for what belongs to no turn.
func (r *Reducer) session() *message {
	if m := r.newest; m != nil && m.m.Role == RoleSession && !m.sealed {
		return m
	}
	r.notes++
	return r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.notes), Status: Complete})
}

// userMessage places what the user said; the assistant goes on after it.
func (r *Reducer) userMessage(e event.Event, d event.UserMessage) {
	if t := r.turns[e.Turn]; t != nil && t.open != nil {
		t.open.m.Status, t.open.m.End = Complete, r.now
		t.open.touch()
		t.open = nil
	}
	msg := r.newMessage(Message{
		Role: RoleUser, ID: d.MessageID, Turn: e.Turn, Status: Complete, Via: d.Via,
		Attachments: copied(d.Attachments, func(a *event.Attachment) []*string {
			return []*string{&a.Kind, &a.Name, &a.Path, &a.URL, &a.MIME}
		}),
	})
	if d.Text != "" {
		n := r.newNode(Block{Kind: KindText, Status: Complete}, e.Turn)
		n.into(&msg.blocks)
		n.write(d.Text)
	}
}

func (r *Reducer) done(e event.Event, d event.Done) {
	status := Complete
	if d.Stopped {
		status = Stopped
	}
	if n := r.agents[e.SubagentID]; e.SubagentID != "" {
		if n != nil && n.running() {
			n.finish(status)
		}
		return
	}
	if t := r.turns[e.Turn]; t != nil {
		r.end(t, status, d.Reason, own(d.ExitCode), nil)
	}
}

func (r *Reducer) failure(e event.Event, f *Failure) {
	if e.SubagentID != "" {
		n := r.agent(e, "", "")
		n.block.Error = f
		r.stand(&n.kids, f, e.Turn)
		n.finish(Failed)
		return
	}
	if e.Turn > 0 {
		if t := r.turns[e.Turn]; t != nil {
			r.end(t, Failed, "", nil, f)
		}
		return
	}
	r.settleAll("session failed")
	r.failed = true
	msg := r.session()
	if msg.m.Error != nil {
		r.notes++
		msg = r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.notes)})
	}
	r.stand(&msg.blocks, f, 0)
	msg.m.Status, msg.m.Error, msg.m.End = Failed, f, r.now
	msg.touch()
}

// stand puts an error where it came.
func (r *Reducer) stand(list *blocks, f *Failure, turn int) {
	n := r.newNode(Block{Kind: KindError, Status: Failed, Error: f, End: r.now}, turn)
	n.into(list)
	list.tail = n
}

// end closes a turn, once, and what it left open.
func (r *Reducer) end(t *turn, status Status, reason string, exit *int, f *Failure) {
	if t.ended {
		return
	}
	if status != Complete {
		r.assistant(t) // says so, if nothing else
	}
	closed := Complete
	if status != Complete {
		closed = Interrupted
	}
	for _, msg := range t.messages {
		for _, n := range msg.blocks.nodes {
			if n != nil && (n.block.Kind != KindSubagent || !n.tasked) {
				n.close(closed)
			}
		}
	}
	for k, n := range r.asks {
		if n.turn == t.n && !n.outlives() {
			n.finish(Withdrawn)
			delete(r.asks, k)
		}
	}
	if f != nil {
		r.stand(&t.open.blocks, f, t.n)
	}
	if t.open != nil {
		m := &t.open.m
		m.Status, m.Reason, m.ExitCode, m.Error, m.End = status, valid(reason), exit, f, r.now
	}
	if n := len(t.messages); n > 0 {
		t.messages[n-1].m.Figures = r.figures(t)
		t.messages[n-1].touch()
	}
	t.open, t.ended, t.activity, t.tools = nil, true, "", nil
	r.live--
}

// figures are what was told of a turn as a whole.
func (r *Reducer) figures(t *turn) *Figures {
	f := &Figures{Start: t.start, End: r.now, Tokens: t.tokens}
	if t.stats != nil {
		f.DurationMS, f.Rounds = t.stats.DurationMS, t.stats.Rounds
	}
	if u := r.chat.Usage; u != nil && u.Cost != nil {
		cost := *u.Cost
		if t.cost != nil {
			cost -= *t.cost
		}
		if cost > 0 {
			f.Cost = &cost
		}
	}
	return f
}

// settleAll stops the turns that nothing will end any more.
func (r *Reducer) settleAll(reason string) {
	var open []*turn
	for _, t := range r.turns {
		if !t.ended {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *turn) int { return a.n - b.n }) // it may make messages
	for _, t := range open {
		r.end(t, Stopped, reason, nil, nil)
	}
	for k, n := range r.asks {
		n.finish(Withdrawn)
		delete(r.asks, k)
	}
	clear(r.detached)
}

// closeAgents ends the sub-agents that their process took along.
func (r *Reducer) closeAgents() {
	for _, n := range r.agents {
		if n.running() {
			n.finish(Interrupted)
		}
	}
}

// status is what the session is at.
func (r *Reducer) status() Status {
	switch {
	case r.failed:
		return Failed
	case r.ended:
		return Ended
	case len(r.asks) > 0:
		return Waiting
	case r.live > 0:
		return Running
	}
	return Idle
}

// activity is what the running turn is at: a tool that runs goes before what
// came last.
func (r *Reducer) activity() string {
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
