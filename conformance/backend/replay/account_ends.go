package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

func (a *account) ask(e event.Event, k askRef) {
	if a.asks[k] == nil {
		a.asks[k] = &ask{first: a.first(e), agent: e.SubagentID}
	}
	a.asks[k].pending, a.asks[k].status = true, replay.Pending
}

func (a *account) answer(e event.Event, k askRef, status replay.Status, by event.By) {
	if a.asks[k] == nil {
		a.asks[k] = &ask{first: a.first(e), agent: e.SubagentID}
	}
	if by == event.ByWithdrawn {
		status = replay.Withdrawn
	}
	a.asks[k].pending, a.asks[k].status = false, status
}

func (a *account) worker(e event.Event, id string) *worker {
	w := a.agents[id]
	if w == nil {
		w = &worker{first: a.first(e)}
		a.agents[id] = w
	}
	w.more(a, e)
	return w
}

func (a *account) task(e event.Event, d event.Task) {
	i := slices.IndexFunc(a.tasks, func(t replay.Task) bool { return t.ID == d.TaskID })
	if i < 0 {
		i, a.tasks = len(a.tasks), append(a.tasks, replay.Task{ID: d.TaskID})
	}
	t := &a.tasks[i]
	t.Kind, t.Status, t.ParentID, t.ToolUseID = d.Kind, d.Status, cmp.Or(d.ParentID, t.ParentID), cmp.Or(d.ToolUseID, t.ToolUseID)
	t.Name, t.Text, t.Usage = cmp.Or(d.Name, t.Name), cmp.Or(d.Text, t.Text), cmp.Or(d.Usage, t.Usage)
	if d.Kind != event.TaskSubagent {
		return
	}
	w := a.worker(e, d.TaskID)
	parent := d.ParentID
	if parent == "" && e.SubagentID != d.TaskID {
		parent = e.SubagentID
	}
	w.tasked, w.parent, w.tool = true, cmp.Or(parent, w.parent), cmp.Or(d.ToolUseID, w.tool)
	w.name, w.text = cmp.Or(d.Name, w.name), cmp.Or(d.Text, w.text)
	if d.Usage != nil {
		w.usage = d.Usage
	}
	switch d.Status {
	case event.TaskCompleted:
		w.status = replay.Complete
	case event.TaskFailed:
		w.status = replay.Failed
	case event.TaskStopped:
		w.status = replay.Stopped
	case event.TaskInterrupted:
		w.status = replay.Interrupted
	default:
		w.status = replay.Running
	}
}

func (a *account) usage(e event.Event, d event.Usage) {
	if e.SubagentID != "" {
		a.worker(e, e.SubagentID).usage = &d.Tokens
		return
	}
	if t := a.turns[e.Turn]; t != nil && !t.over {
		t.count(d)
	}
	if old := a.head.Usage; old != nil {
		d.Cost, d.Context = cmp.Or(d.Cost, old.Cost), cmp.Or(d.Context, old.Context)
	}
	a.uncounted = a.uncounted && d.Scope != event.ScopeSession
	a.head.Usage = &d
}

// sessionTokens returns the tokens of the session so far, or nil if they are not known.
func (a *account) sessionTokens() *event.Tokens {
	u := a.head.Usage
	switch {
	case a.uncounted:
	case u == nil:
		return &event.Tokens{}
	case u.Scope == event.ScopeSession:
		return &u.Tokens
	}
	return nil
}

// count counts the tokens of the turn by the scope of a usage.
func (t *span) count(d event.Usage) {
	k := d.Tokens
	of := func(parts ...int64) event.Tokens {
		return event.Tokens{Input: parts[0], Cached: parts[1], Output: parts[2], Reasoning: parts[3], Total: parts[4]}
	}
	switch d.Scope {
	case event.ScopeSession:
		b := t.before
		if b == nil {
			return
		}
		k = of(k.Input-b.Input, k.Cached-b.Cached, k.Output-b.Output, k.Reasoning-b.Reasoning, k.Total-b.Total)
	case event.ScopeRequest:
		if b := t.tokens; b != nil {
			k = of(k.Input+b.Input, k.Cached+b.Cached, k.Output+b.Output, k.Reasoning+b.Reasoning, k.Total+b.Total)
		}
	}
	t.tokens = &k
}

func (a *account) done(e event.Event, d event.Done) {
	status := replay.Complete
	if d.Stopped {
		status = replay.Stopped
	}
	if e.SubagentID == "" {
		a.over(e.Turn, e.TS, status, d.Reason, nil)
	} else if w := a.agents[e.SubagentID]; w != nil && (w.status == "" || w.status == replay.Running) {
		w.status = status
	}
}

func (a *account) fail(e event.Event, d event.Error) {
	switch {
	case e.SubagentID != "":
		a.worker(e, e.SubagentID).status = replay.Failed
	case e.Turn > 0:
		a.over(e.Turn, e.TS, replay.Failed, "", &d)
	default:
		a.settle(e.TS, "session failed")
		a.failed = true
	}
}

// over ends a turn, and the calls and questions that it left open.
func (a *account) over(turn int, at time.Time, status replay.Status, reason string, fault *event.Error) {
	t := a.turns[turn]
	if t == nil || t.over {
		return
	}
	t.over, t.end, t.status, t.reason, t.fault, t.last = true, at, status, reason, fault, a.index
	for k, c := range a.calls {
		if k.agent == "" && c.turn == turn && c.results == 0 && c.open {
			c.open, c.cut, c.end = false, true, at
		}
	}
	for _, q := range a.asks {
		if q.pending && q.turn == turn && !a.outlives(q.agent) {
			q.pending, q.status = false, replay.Withdrawn
		}
	}
}

// outlives reports whether an agent may continue after its turn has ended.
func (a *account) outlives(id string) bool {
	for range len(a.agents) {
		w := a.agents[id]
		if w == nil {
			return false
		}
		if w.tasked && w.status == replay.Running {
			return true
		}
		id = w.parent
	}
	return false
}

// settle ends all turns and questions because the runtime has exited.
func (a *account) settle(at time.Time, reason string) {
	for n := range a.turns {
		a.over(n, at, replay.Stopped, reason, nil)
	}
	for _, q := range a.asks {
		if q.pending {
			q.pending, q.status = false, replay.Withdrawn
		}
	}
}

// loseAgents ends the sub-agents that run, and their calls, because the runtime has exited.
func (a *account) loseAgents(at time.Time) {
	for id, w := range a.agents {
		if w.status != "" && w.status != replay.Running {
			continue
		}
		w.status = replay.Interrupted
		for k, c := range a.calls {
			if k.agent == id && c.results == 0 && c.open {
				c.open, c.cut, c.end = false, true, at
			}
		}
	}
}

// status returns the status of the session.
func (a *account) status() replay.Status {
	live, waits := false, false
	for _, t := range a.turns {
		live = live || !t.over
	}
	for _, q := range a.asks {
		waits = waits || q.pending
	}
	switch {
	case a.failed:
		return replay.Failed
	case a.ended:
		return replay.Ended
	case waits:
		return replay.Waiting
	case live:
		return replay.Running
	}
	return replay.Idle
}

// activity returns the activity of the last turn, or "" if it has ended.
func (a *account) activity() string {
	t := a.turns[a.last]
	if t == nil || t.over {
		return ""
	}
	if t.doing == replay.ActivityCompacting || t.doing == replay.ActivityRetrying {
		return t.doing
	}
	for _, c := range slices.Backward(t.running) {
		if c.results == 0 && c.open {
			return replay.ActivityTool + c.start.Tool
		}
	}
	return t.doing
}
