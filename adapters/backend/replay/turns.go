package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

type turn struct {
	n          int
	cause      event.Cause
	start      time.Time
	messages   []*message // of the assistant
	message    *message   // gets the next blocks; nil after a user message
	activity   string
	tools      []*node // of the main agent; those at the end may have ended
	ended      bool
	reason     string // why it ended, for a message that begins after its end
	textBlocks int    // number of visible text blocks
	tokens     *event.Tokens
	startCost  *float64      // the session's cost when the turn began
	before     *event.Tokens // the session's tokens when the turn began; nil: not known
	stats      *event.Stats
}

// ensureTurn finds or begins a turn. It returns nil for an old turn that has been
// dropped.
func (r *Reducer) ensureTurn(n int) *turn {
	t := r.turns[n]
	if t == nil && n > r.lastTurn {
		r.sealFinished()
		t = &turn{n: n, activity: ActivityWorking, start: r.now}
		r.noteUsageBefore(t)
		r.turns[n], r.current, r.lastTurn = t, t, n
		r.openTurns++
	}
	return t
}

// setActivity sets the activity of a turn, unless the event is a sub-agent's.
func (r *Reducer) setActivity(e event.Event, what string) {
	if t := r.turns[e.Turn]; t != nil && !t.ended && e.SubagentID == "" {
		t.activity = what
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

func (r *Reducer) addErrorBlock(list *blocks, f *Failure, turn int) {
	n := r.newNode(Block{Kind: KindError, Status: Failed, Error: f, End: r.now}, turn)
	n.moveTo(list)
	list.tail = n
}

// endTurn ends a turn and closes its open blocks. A second end has no effect.
func (r *Reducer) endTurn(t *turn, status Status, reason string, exit *int, f *Failure) {
	if t.ended {
		return
	}
	if status != Complete {
		r.assistantMessage(t) // at least an empty message shows the status
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
		m.Status, m.Reason, m.ExitCode, m.Error, m.End = status, validText(reason), exit, f, r.now
	}
	if m := t.lastShown(); m != nil {
		m.m.Figures = r.turnFigures(t)
		m.markStale()
	}
	t.message, t.ended, t.reason, t.activity, t.tools = nil, true, validText(reason), "", nil
	r.openTurns--
}

// lastShown returns the last message of an ended turn that the chat shows: one whose blocks
// were all retracted is hidden. If it shows none, it returns the last one, or nil.
func (t *turn) lastShown() *message {
	for _, m := range slices.Backward(t.messages) {
		if m.blocks.count > 0 || m.m.Status != Complete {
			return m
		}
	}
	if n := len(t.messages); n > 0 {
		return t.messages[n-1]
	}
	return nil
}

// stopOpenTurns stops the turns whose end event cannot arrive any more, and
// withdraws all questions.
func (r *Reducer) stopOpenTurns(reason string) {
	var open []*turn
	for _, t := range r.turns {
		if !t.ended {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *turn) int { return a.n - b.n }) // endTurn may create messages
	for _, t := range open {
		r.endTurn(t, Stopped, reason, nil, nil)
	}
	for k, n := range r.questions {
		n.setStatus(Withdrawn)
		delete(r.questions, k)
	}
	clear(r.detached)
}

// interruptAgents ends the running sub-agents, because their process has ended.
func (r *Reducer) interruptAgents() {
	for _, n := range r.agents {
		if n.running() {
			n.setStatus(Interrupted)
		}
	}
}

// currentActivity returns the activity of the running turn. A running tool takes
// precedence over the last event.
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

// handleResult adds the result's text only to a turn without text, because
// otherwise it repeats the text.
func (r *Reducer) handleResult(e event.Event, d event.Result) {
	t := r.turns[e.Turn]
	if t == nil || e.SubagentID != "" {
		return
	}
	if !t.ended && d.Stats != nil {
		t.stats = clonePtr(d.Stats)
	}
	if t.textBlocks > 0 || d.Text == "" {
		return
	}
	t.textBlocks++
	r.newBlock(e, Block{Kind: KindText, Status: Complete}).appendText(d.Text)
}
