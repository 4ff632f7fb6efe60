package codex

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// thread is the state of one of the runtime's threads: the session's own or a
// sub-agent's. Item ids come from the model's provider and are unique only
// within a thread.
type thread struct {
	id         string
	sub        bool
	turn       string   // the running turn's id
	aliases    []string // other ids of the running turn
	running    bool     // a turn runs
	announced  string   // a turn that was announced while this one runs
	endedTurns []string // ended turns, newest last; bounded
	items      []*openItem
	lastItem   *openItem // the item of the last delta

	background    []string          // commands that outlived their turn
	processes     map[string]string // the runtime's handles of background commands
	taken         bool              // the running turn took a message
	lastMessageID string            // the last userMessage item: a repeated one is ignored
	late          bool              // its first turn began before the transcript
	lastText      string            // text of the running turn's last complete message
	failure       *turnError
	retrying      bool
	imageViewed   bool // the model looked at a picture in the running turn
	compacting    bool
	compacted     bool
	tokens        *event.Tokens

	name    string // of a sub-agent
	toolUse string // the tool call that started it
	parent  string // the sub-agent that started it, if any
}

// Bounds on ended turns, other ids of a running turn, and sub-agents.
const (
	maxEndedTurns = 256
	maxAliases    = 16
	maxSubs       = 256
)

// runs reports whether turnID is the running turn.
func (th *thread) runs(turnID string) bool {
	return th.running && (turnID == "" || turnID == th.turn || slices.Contains(th.aliases, turnID))
}

// hasEnded reports whether the turn has ended.
func (th *thread) hasEnded(turnID string) bool { return slices.Contains(th.endedTurns, turnID) }

func (th *thread) findItem(id string) *openItem {
	if th.lastItem != nil && th.lastItem.id == id {
		return th.lastItem
	}
	for _, o := range th.items {
		if o.id == id {
			th.lastItem = o
			return o
		}
	}
	return nil
}

func (th *thread) addItem(o *openItem) *openItem {
	th.items = append(th.items, o)
	th.lastItem = o
	return o
}

func (th *thread) dropItem(o *openItem) {
	th.items = slices.DeleteFunc(th.items, func(x *openItem) bool { return x == o })
	if th.lastItem == o {
		th.lastItem = nil
	}
}

// endTurn resets the state of the running turn.
func (th *thread) endTurn() {
	for _, id := range append(th.aliases, th.turn) {
		if id != "" {
			th.endedTurns = append(th.endedTurns, id)
		}
	}
	if over := len(th.endedTurns) - maxEndedTurns; over > 0 {
		th.endedTurns = slices.Delete(th.endedTurns, 0, over)
	}
	*th = thread{id: th.id, sub: th.sub, endedTurns: th.endedTurns, background: th.background, processes: th.processes,
		tokens: th.tokens, name: th.name, toolUse: th.toolUse, parent: th.parent}
}

// scopeOf returns the scope of a thread whose turn runs.
func (t *translator) scopeOf(th *thread) *ledger.Scope {
	if th.sub {
		return t.l.Sub(th.id)
	}
	return t.l.Turn()
}

// lineScope returns the scope of a line of a turn, or nil if that turn has
// ended: then the line is late and is dropped. If the start of the turn was not
// seen, the turn starts here.
func (t *translator) lineScope(th *thread, turnID string) *ledger.Scope {
	switch {
	case th.runs(turnID):
	case th.hasEnded(turnID), turnID == "" && len(th.endedTurns) > 0:
		return nil
	case th.running && turnID == th.announced: // it has started: the end of the last turn was lost
		t.releaseTurn(th, "")
		th.endTurn()
		t.turnStarted(th, turnID, "")
	case th.running: // the items of a review have another turn id than turn/started
		if len(th.aliases) >= maxAliases {
			th.aliases = slices.Delete(th.aliases, 1, 2) // the first is its root
		}
		th.aliases = append(th.aliases, turnID)
	default:
		t.turnStarted(th, turnID, "")
	}
	return t.scopeOf(th)
}

func (t *translator) turnStarted(th *thread, id, root string) {
	if th.hasEnded(id) {
		return
	}
	if th.running && (th.runs(id) || slices.Contains(th.aliases, root)) {
		return
	}
	if th.running {
		// 0.98 announces a turn for each message, and merges a message that
		// arrives while a turn runs. So the announced turn starts with its
		// first line.
		th.announced = id
		return
	}
	th.running, th.turn = true, id
	if root != "" && root != id && !th.sub {
		th.aliases = []string{root}
	}
	if th.sub {
		if !t.l.TaskOpen(th.id) {
			t.emitTask(th, event.TaskRunning, "")
		}
		return
	}
	d := event.TurnStart{Cause: event.CauseUser, ProviderTurnID: id}
	switch {
	case t.live != nil:
		d.MessageIDs = t.live.startingMessages(id)
		if len(d.MessageIDs) == 0 {
			d.Cause = event.CauseTask
			if t.live.pendingCommands > 0 {
				d.Cause = event.CauseCommand
			}
		}
	case t.handshakeSeen && !slices.Contains(t.requestedTurns, id):
		d.Cause = event.CauseCommand
	}
	t.l.TurnStart(d)
	if t.live != nil {
		t.live.pendingCommands = 0
		t.live.early.TurnBegan()
	}
}

// releaseTurn closes what the ledger cannot close at the end of a turn:
// commands that continue become tasks, and open questions get their one reply.
//
// Neither the end of a turn nor its interruption kills a command: it continues
// in the background. So its result is backgrounded, unless the command never
// ran because it waits for a permission, or the version kills it on
// interruption without a further line.
func (t *translator) releaseTurn(th *thread, status string) {
	sc := t.scopeOf(th)
	if sc == nil {
		return
	}
	for _, o := range slices.Clone(th.items) {
		if o.kind != "commandExecution" || !o.started || o.killedByInterrupt && status == "interrupted" {
			continue
		}
		if sc.ToolResult(event.ToolResult{ToolUseID: o.id, Status: event.ToolBackgrounded}) {
			if len(th.background) >= maxEndedTurns {
				delete(th.processes, th.background[0])
				th.background = slices.Delete(th.background, 0, 1)
			}
			th.background = append(th.background, o.id)
			if th.processes == nil {
				th.processes = map[string]string{}
			}
			th.processes[o.id] = o.process
			t.emitCommandTask(th, o.id, o.name, event.TaskRunning, "")
		}
	}
	for _, a := range t.questions.All() {
		if a.th == th {
			t.closeQuestion(a, th.failure == nil && status != "completed")
		}
	}
	if t.live != nil {
		t.live.cancelRuns(th)
	}
}

func (t *translator) subID(th *thread) string {
	if th.sub {
		return th.id
	}
	return ""
}

// commandTask returns the task id of a command. Item ids are unique only within
// a thread.
func (t *translator) commandTask(th *thread, itemID string) string {
	if th.sub {
		return th.id + "/" + itemID
	}
	return itemID
}

func (t *translator) emitCommandTask(th *thread, itemID, name string, status event.TaskStatus, text string) {
	t.l.Task(event.Task{TaskID: t.commandTask(th, itemID), Kind: event.TaskCommand, ParentID: t.subID(th),
		ToolUseID: itemID, Name: name, Status: status, Text: text})
}

func (t *translator) turnCompleted(th *thread, u *turn) {
	id := string(u.ID)
	if t.lineScope(th, id) == nil {
		return
	}
	if th.failure == nil || u.Error.V != nil {
		th.failure = u.Error.V
	}
	t.endLostMessage(th, u)
	t.releaseTurn(th, string(u.Status))
	if th.sub {
		t.endSubagentTurn(th, string(u.Status))
		return
	}
	switch u.Status {
	case "failed":
		t.l.Error(errorOf(th.failure))
	case "interrupted":
		t.l.Done(event.Done{Stopped: true})
	default:
		if th.lastText != "" {
			d := event.Result{Text: th.lastText}
			if u.DurationMs > 0 {
				d.Stats = &event.Stats{DurationMS: int64(u.DurationMs)}
			}
			t.l.Turn().Emit(d)
		}
		d := event.Done{}
		if u.Status != "completed" {
			d.Reason = string(u.Status)
		}
		t.l.Done(d)
	}
	t.mainTurnEnded(th)
}

func (t *translator) mainTurnEnded(th *thread) {
	ended := append(slices.Clone(th.aliases), th.turn)
	th.endTurn()
	if t.live != nil {
		t.live.dropUntaken(ended)
	}
}

// turnEndSkipped ends a turn of which turn/completed was too long to be read.
func (t *translator) turnEndSkipped(threadID, id string) {
	if t.main == nil || t.isForeign(threadID, "turn/completed") {
		return
	}
	th := t.threadOf(threadID)
	if t.lineScope(th, id) == nil {
		return
	}
	e := session.EndSkipped()
	t.releaseTurn(th, "failed")
	if th.sub {
		th.failure = &turnError{Message: lenient.Str(e.Message)}
		t.endSubagentTurn(th, "failed")
		return
	}
	t.l.Error(e)
	t.mainTurnEnded(th)
}

// endLostMessage completes a message whose own end was lost, because a
// completed turn repeats its last message.
func (t *translator) endLostMessage(th *thread, u *turn) {
	open := func(o *openItem) bool { return o.kind == "agentMessage" && !o.cut }
	unseen := th.late && th.lastText == "" // the message may be before the beginning of a transcript
	th.late = false
	if u.Status != "completed" || !unseen && !slices.ContainsFunc(th.items, open) {
		return
	}
	items := lenient.Decode[lenient.List[item]](u.Items)
	for i := range items {
		if unseen && items[i].Type == "agentMessage" {
			th.lastText = string(items[i].Text)
		}
		if o := th.findItem(string(items[i].ID)); o != nil && open(o) {
			t.endMessage(th, t.scopeOf(th), &items[i])
		}
	}
}

// endSubagentTurn ends the turn of a sub-agent. Its parent's turn continues.
func (t *translator) endSubagentTurn(th *thread, status string) {
	text, e := th.lastText, th.failure
	th.endTurn()
	t.l.EndSub(th.id)
	switch status {
	case "failed":
		t.emitTask(th, event.TaskFailed, errorOf(e).Message)
	case "interrupted":
		t.emitTask(th, event.TaskInterrupted, text)
	default:
		t.emitTask(th, event.TaskCompleted, text)
	}
}

func (t *translator) emitTask(th *thread, status event.TaskStatus, text string) {
	d := event.Task{TaskID: th.id, Kind: event.TaskSubagent, ParentID: th.parent, ToolUseID: th.toolUse,
		Name: th.name, Status: status, Text: text}
	if status != event.TaskRunning {
		d.Usage = th.tokens
	}
	t.l.Task(d)
}
