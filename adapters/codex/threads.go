package codex

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// thread is the state of one of the runtime's threads: the session's own or a
// sub-agent's. Ids of items come from the model's provider and are not unique
// across threads, so they live here.
type thread struct {
	id    string
	sub   bool
	turn  string   // the running turn's id
	names []string // other ids of the running turn
	on    bool     // a turn runs
	next  string   // a turn that was announced while this one runs
	past  []string // turns that are over, newest last; bounded
	open  []*openItem
	last  *openItem // the item of the last delta

	background []string          // commands that outlived their turn
	processes  map[string]string // the runtime's handles of these
	taken      bool              // the running turn took a message
	heard      string            // the item of the last of them: one that comes again is the same
	said       string            // the last complete message of the running turn that says something
	failed     *turnError
	retrying   bool
	compacting bool
	compacted  bool
	tokens     *event.Tokens

	name    string // of a sub-agent
	toolUse string // the tool call that made it
	parent  string // the sub-agent that made it, if one did
}

// What is over is remembered for a while only: turns, other names of a running
// turn, sub-agents.
const (
	maxPast  = 256
	maxNames = 16
	maxSubs  = 256
)

func newThread(id string) *thread { return &thread{id: id} }

// is reports whether turnID is the running turn.
func (th *thread) is(turnID string) bool {
	return th.on && (turnID == "" || turnID == th.turn || slices.Contains(th.names, turnID))
}

// over reports whether the turn has ended.
func (th *thread) over(turnID string) bool { return slices.Contains(th.past, turnID) }

func (th *thread) find(id string) *openItem {
	if th.last != nil && th.last.id == id {
		return th.last
	}
	for _, o := range th.open {
		if o.id == id {
			th.last = o
			return o
		}
	}
	return nil
}

func (th *thread) add(o *openItem) *openItem {
	th.open = append(th.open, o)
	th.last = o
	return o
}

func (th *thread) drop(o *openItem) {
	th.open = slices.DeleteFunc(th.open, func(x *openItem) bool { return x == o })
	if th.last == o {
		th.last = nil
	}
}

// end forgets the running turn.
func (th *thread) end() {
	for _, id := range append(th.names, th.turn) {
		if id != "" {
			th.past = append(th.past, id)
		}
	}
	if over := len(th.past) - maxPast; over > 0 {
		th.past = slices.Delete(th.past, 0, over)
	}
	*th = thread{id: th.id, sub: th.sub, past: th.past, background: th.background, processes: th.processes,
		tokens: th.tokens, name: th.name, toolUse: th.toolUse, parent: th.parent}
}

// scope is where the events of a thread whose turn runs belong.
func (t *translator) scope(th *thread) *ledger.Scope {
	if th.sub {
		return t.l.Sub(th.id)
	}
	return t.l.Turn()
}

// scopeOf is the scope of a line of a turn, or nil when that turn is over: then
// the line is late, and dropped by doc.go's rule. A turn whose beginning was not
// seen begins here.
func (t *translator) scopeOf(th *thread, turnID string) *ledger.Scope {
	switch {
	case th.is(turnID):
	case th.over(turnID), turnID == "" && len(th.past) > 0:
		return nil
	case th.on && turnID == th.next: // it has begun: the end of the last one was lost
		t.leave(th, "")
		th.end()
		t.turnStarted(th, turnID, "")
	case th.on: // a review's items have another id than its turn/started
		if len(th.names) >= maxNames {
			th.names = slices.Delete(th.names, 1, 2) // the first is its root
		}
		th.names = append(th.names, turnID)
	default:
		t.turnStarted(th, turnID, "")
	}
	return t.scope(th)
}

func (t *translator) turnStarted(th *thread, id, root string) {
	if th.over(id) {
		return
	}
	if th.on && (th.is(id) || slices.Contains(th.names, root)) {
		return
	}
	if th.on {
		// 0.98 announces a turn for each message, and puts one that comes while
		// a turn runs into that one: the next turn has begun when it does
		// something.
		th.next = id
		return
	}
	th.on, th.turn = true, id
	if root != "" && root != id && !th.sub {
		th.names = []string{root}
	}
	if th.sub {
		if !t.l.TaskOpen(th.id) {
			t.task(th, event.TaskRunning, "")
		}
		return
	}
	d := event.TurnStart{Cause: event.CauseUser, ProviderTurnID: id}
	switch {
	case t.live != nil:
		d.MessageIDs = t.live.causes(id)
		if len(d.MessageIDs) == 0 {
			d.Cause = event.CauseTask
			if t.live.commands > 0 {
				d.Cause = event.CauseCommand
			}
		}
	case t.begun && !slices.Contains(t.asked, id):
		d.Cause = event.CauseCommand
	}
	t.l.TurnStart(d)
	if t.live != nil {
		t.live.turnBegan()
	}
}

// leave closes what only this package can close at the end of a turn: commands
// that run on are given to tasks, and open questions get their one reply.
//
// A command is not killed by the end of a turn, nor by its interruption: it runs
// on in the background. So it is backgrounded in both, unless it never ran
// because it waits for a permission, or is of a version whose interruption kills
// it and sends nothing more of it.
func (t *translator) leave(th *thread, status string) {
	sc := t.scope(th)
	if sc == nil {
		return
	}
	for _, o := range slices.Clone(th.open) {
		if o.kind != "commandExecution" || !o.ran || o.mortal && status == "interrupted" {
			continue
		}
		if sc.ToolResult(event.ToolResult{ToolUseID: o.id, Status: event.ToolBackgrounded}) {
			if len(th.background) >= maxPast {
				delete(th.processes, th.background[0])
				th.background = slices.Delete(th.background, 0, 1)
			}
			th.background = append(th.background, o.id)
			if th.processes == nil {
				th.processes = map[string]string{}
			}
			th.processes[o.id] = o.process
			t.l.Task(event.Task{TaskID: t.commandTask(th, o.id), Kind: event.TaskCommand, ParentID: t.subID(th),
				ToolUseID: o.id, Name: o.name, Status: event.TaskRunning})
		}
	}
	for _, a := range slices.Clone(t.asks) {
		if a.th == th {
			t.settle(a, th.failed == nil)
		}
	}
	if t.live != nil {
		t.live.giveUpRuns(th)
	}
}

func (t *translator) subID(th *thread) string {
	if th.sub {
		return th.id
	}
	return ""
}

// commandTask names the task of a command; ids of items are their thread's.
func (t *translator) commandTask(th *thread, itemID string) string {
	if th.sub {
		return th.id + "/" + itemID
	}
	return itemID
}

func (t *translator) turnCompleted(th *thread, u *turn) {
	id := string(u.ID)
	if t.scopeOf(th, id) == nil {
		return
	}
	if th.failed == nil || u.Error.v != nil {
		th.failed = u.Error.v
	}
	t.lastWords(th, u)
	t.leave(th, string(u.Status))
	if th.sub {
		t.subEnded(th, string(u.Status))
		return
	}
	switch u.Status {
	case "failed":
		t.l.Error(errorOf(th.failed))
	case "interrupted":
		t.l.Done(event.Done{Stopped: true})
	default:
		if th.said != "" {
			d := event.Result{Text: th.said}
			if u.DurationMs.n > 0 {
				d.Stats = &event.Stats{DurationMS: u.DurationMs.n}
			}
			t.l.Turn().Emit(d)
		}
		d := event.Done{}
		if u.Status != "completed" {
			d.Reason = string(u.Status)
		}
		t.l.Done(d)
	}
	ended := append(slices.Clone(th.names), th.turn)
	th.end()
	if t.live != nil {
		t.live.turnEnded(ended)
	}
}

// lastWords ends a message whose own end was lost: the end of a turn that went
// well repeats its last one.
func (t *translator) lastWords(th *thread, u *turn) {
	open := func(o *openItem) bool { return o.kind == "agentMessage" && !o.split }
	if u.Status != "completed" || !slices.ContainsFunc(th.open, open) {
		return
	}
	items := read[list[item]](u.Items)
	for i := range items {
		if o := th.find(string(items[i].ID)); o != nil && open(o) {
			t.messageEnd(th, t.scope(th), &items[i])
		}
	}
}

// subEnded ends the turn of a sub-agent, which is never the end of its parent's.
func (t *translator) subEnded(th *thread, status string) {
	said, e := th.said, th.failed
	th.end()
	t.l.EndSub(th.id)
	switch status {
	case "failed":
		t.task(th, event.TaskFailed, errorOf(e).Message)
	case "interrupted":
		t.task(th, event.TaskInterrupted, said)
	default:
		t.task(th, event.TaskCompleted, said)
	}
}

func (t *translator) task(th *thread, status event.TaskStatus, text string) {
	d := event.Task{TaskID: th.id, Kind: event.TaskSubagent, ParentID: th.parent, ToolUseID: th.toolUse,
		Name: th.name, Status: status, Text: text}
	if status != event.TaskRunning {
		d.Usage = th.tokens
	}
	t.l.Task(d)
}
