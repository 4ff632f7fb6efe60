package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// Reducer makes a chat of the events of a session. It is not safe for use by
// several goroutines at once.
type Reducer struct {
	chat     Chat // what stands at the top; messages and the like apart
	messages []*message
	tasks    []*Task
	taskByID map[string]*Task
	parts    []*Component
	partByID map[string]*Component

	seq     int64
	turns   map[int]*turn
	live    int   // turns that have not ended
	current *turn // the last that began
	notes   int   // session messages so far
	failed  bool
	ended   bool

	agents  map[string]*node
	waiting map[key][]*node  // sub-agents whose tool has not begun, by that tool
	spawns  map[string]*node // tools that spawn, of any agent, by their id
	index   map[key]*node
	asks    map[key]*node // questions without an answer
}

// key finds a block: ids are unique only within an agent and a kind.
type key struct {
	agent string
	kind  Kind
	id    string
}

type message struct {
	m      Message // without its blocks
	blocks blocks
	snap   Message
	dirty  bool
}

type turn struct {
	n        int
	cause    event.Cause
	messages []*message // the assistant's
	open     *message
	activity string
	ended    bool
	text     int // blocks of visible text
}

// New returns a reducer that has seen nothing.
func New() *Reducer {
	r := &Reducer{taskByID: map[string]*Task{}, partByID: map[string]*Component{}}
	r.begin("")
	return r
}

// Reduce makes the chat of stored events, whatever their order.
func Reduce(events []event.Event) *Chat {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b event.Event) int {
		return cmp.Or(cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Seq, b.Seq))
	})
	r := New()
	for _, e := range sorted {
		r.Add(e)
	}
	return r.Chat()
}

// begin starts a session: ids and turns of another one mean nothing in it.
func (r *Reducer) begin(session string) {
	r.settleAll("session left")
	r.chat.SessionID, r.seq, r.current = session, 0, nil
	r.turns = map[int]*turn{}
	r.agents, r.waiting = map[string]*node{}, map[key][]*node{}
	r.spawns, r.index, r.asks = map[string]*node{}, map[key]*node{}, map[key]*node{}
}

// Seq is the last seq that was added: a stream that goes on after it loses
// nothing.
func (r *Reducer) Seq() int64 { return r.seq }

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
		r.componentUpdate(d)
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

// turn finds or begins a turn.
func (r *Reducer) turn(n int) *turn {
	t := r.turns[n]
	if t == nil {
		t = &turn{n: n, activity: ActivityWorking}
		r.turns[n], r.current = t, t
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
	msg := &message{m: m, dirty: true}
	r.messages = append(r.messages, msg)
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
	if n := len(r.messages); n > 0 && r.messages[n-1].m.Role == RoleSession {
		return r.messages[n-1]
	}
	r.notes++
	return r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.notes), Status: Complete})
}

// userMessage places what the user said; the assistant goes on after it.
func (r *Reducer) userMessage(e event.Event, d event.UserMessage) {
	if t := r.turns[e.Turn]; t != nil && t.open != nil {
		t.open.m.Status, t.open.dirty = Complete, true
		t.open = nil
	}
	msg := r.newMessage(Message{
		Role: RoleUser, ID: d.MessageID, Turn: e.Turn, Status: Complete, Via: d.Via,
		Attachments: copied(d.Attachments, func(a *event.Attachment) []*string {
			return []*string{&a.Kind, &a.Name, &a.Path, &a.URL, &a.MIME}
		}),
	})
	if d.Text != "" {
		n := &node{block: Block{Kind: KindText, Status: Complete}}
		n.into(&msg.blocks, nil, msg)
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
		n.finish(Failed)
		return
	}
	if t := r.turns[e.Turn]; t != nil {
		r.end(t, Failed, "", nil, f)
		return
	}
	r.settleAll("session failed")
	r.failed = true
	msg := r.session()
	if msg.m.Error != nil {
		msg = r.newMessage(Message{Role: RoleSession})
		r.notes++
		msg.m.ID = fmt.Sprintf("session-%d", r.notes)
	}
	msg.m.Status, msg.m.Error, msg.dirty = Failed, f, true
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
			if n.block.Kind != KindSubagent || !n.tasked {
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
	if t.open != nil {
		m := &t.open.m
		m.Status, m.Reason, m.ExitCode, m.Error = status, valid(reason), exit, f
		t.open.dirty = true
	}
	t.open, t.ended, t.activity = nil, true, ""
	r.live--
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
}

// closeAgents ends the sub-agents that their process took along.
func (r *Reducer) closeAgents() {
	for _, n := range r.agents {
		if n.running() {
			n.finish(Interrupted)
		}
	}
}

// Chat is the chat as it stands. It costs as much as there are messages and
// what changed in them since the last call.
func (r *Reducer) Chat() *Chat {
	c := r.chat
	c.Status = Idle
	switch {
	case r.failed:
		c.Status = Failed
	case r.ended:
		c.Status = Ended
	case len(r.asks) > 0:
		c.Status = Waiting
	case r.live > 0:
		c.Status = Running
	}
	if r.current != nil {
		c.Activity = r.current.activity
	}
	c.Messages = make([]Message, 0, len(r.messages))
	for _, msg := range r.messages {
		if msg.dirty {
			msg.snap, msg.dirty = msg.m, false
			msg.snap.Blocks = snapshots(msg.blocks.nodes)
		}
		empty := len(msg.snap.Blocks) == 0 && (msg.m.Status == Running || msg.m.Status == Complete)
		if empty && msg.m.Role != RoleUser {
			continue // its only block was retracted
		}
		c.Messages = append(c.Messages, msg.snap)
	}
	if len(c.Messages) == 0 {
		c.Messages = nil
	}
	for _, t := range r.tasks {
		c.Tasks = append(c.Tasks, *t)
	}
	for _, p := range r.parts {
		c.Components = append(c.Components, *p)
	}
	return &c
}
