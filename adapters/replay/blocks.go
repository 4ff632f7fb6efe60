package replay

import (
	"cmp"

	"github.com/turnspec/turnspec/adapters/event"
)

// addBlock takes the events that are seen within a message.
func (r *Reducer) addBlock(e event.Event) {
	switch d := e.Data.(type) {
	case event.Delta:
		r.delta(e, d)
	case event.Thinking:
		r.thinking(e, d)
	case event.BlockEnd:
		r.blockEnd(e, d)
	case event.ToolStart:
		r.toolStart(e, d)
	case event.ToolOutput:
		n := r.tool(e, d.ToolUseID)
		if s := n.block.Status; s == Running || s == Backgrounded || s == Interrupted && r.late(e) != "" {
			n.write(d.Text)
		}
	case event.ToolResult:
		r.toolResult(e, d)
	case event.Task:
		r.task(e, d)
	case event.PermissionRequest:
		n := r.ask(e, KindPermission, d.RequestID)
		n.block.Permission = &Permission{
			ToolUseID: d.ToolUseID, Tool: valid(d.ToolName), Input: raw(d.ToolInput),
			Options: copied(d.Options, itself), Reason: valid(d.Reason),
		}
	case event.PermissionResolved:
		r.permissionResolved(e, d)
	case event.Interrupt:
		n := r.ask(e, KindInterrupt, d.InterruptID)
		n.block.Interrupt = &Interrupt{Component: valid(d.ComponentName), Props: raw(d.Props), Surface: valid(d.Surface)}
	case event.InterruptResolved:
		n := r.answered(e, KindInterrupt, d.InterruptID)
		if n.block.Interrupt == nil {
			n.block.Interrupt = &Interrupt{}
		}
		n.block.Interrupt.Value, n.block.Interrupt.By = raw(d.Value), d.By
		n.finish(by(d.By, Answered))
	case event.Plan:
		r.plan(e, d)
	case event.Compaction:
		r.compaction(e, d)
	case event.Checkpoint:
		status := Created
		if d.Action == event.CheckpointRestored {
			status = Restored
		}
		r.add(e, Block{Kind: KindCheckpoint, ID: d.CheckpointID, Status: status})
	case event.Notice:
		if d.Code == event.NoticeRetry {
			r.doing(e, ActivityRetrying)
		}
		r.add(e, Block{Kind: KindNotice, Notice: &Notice{d.Level, d.Code}}).write(d.Text)
	}
}

// add puts a new block where the event's blocks go.
func (r *Reducer) add(e event.Event, b Block) *node {
	n := r.newNode(b, e.Turn)
	list := r.place(e)
	n.into(list)
	switch b.Kind {
	case KindNotice, KindCompaction, KindCheckpoint, KindSubagent: // stand aside, part no text
	default:
		list.tail = n
	}
	if b.ID != "" {
		r.file(n, key{e.SubagentID, b.Kind, b.ID})
	}
	if end := r.late(e); end != "" {
		n.close(end)
	}
	return n
}

// late is how that ends at once which comes when its turn or its sub-agent is
// over, or "".
func (r *Reducer) late(e event.Event) Status {
	end := Running
	if a := r.agents[e.SubagentID]; a != nil {
		end = a.block.Status
	} else if t := r.turns[e.Turn]; t != nil && t.ended && len(t.messages) > 0 {
		end = t.messages[len(t.messages)-1].m.Status
	}
	switch end {
	case Running:
		return ""
	case Complete:
		return Complete
	}
	return Interrupted
}

// file makes a block known by its id.
func (r *Reducer) file(n *node, k key) {
	n.key = k
	r.index[k] = n
}

// place is where the event's blocks go: its sub-agent, its turn or the session.
func (r *Reducer) place(e event.Event) *blocks {
	if e.SubagentID != "" {
		return &r.agent(e, "", "").kids
	}
	if t := r.turns[e.Turn]; t != nil {
		return &r.assistant(t).blocks
	}
	return &r.session().blocks
}

func (r *Reducer) find(e event.Event, k Kind, id string) *node {
	return r.index[key{e.SubagentID, k, id}]
}

func (r *Reducer) delta(e event.Event, d event.Delta) {
	r.doing(e, ActivityWriting)
	if d.Text == "" {
		return
	}
	n := r.find(e, KindText, d.BlockID)
	if d.BlockID == "" {
		if list := r.place(e); list.tail != nil && list.tail.block.Kind == KindText &&
			list.tail.block.ID == "" && list.tail.message == d.MessageID {
			n = list.tail
		}
	}
	if n == nil {
		n = r.add(e, Block{Kind: KindText, ID: d.BlockID, Status: Running})
		n.message = d.MessageID
		r.count(e, 1)
	}
	n.write(d.Text)
}

// count keeps how many blocks of text a turn has.
func (r *Reducer) count(e event.Event, by int) {
	if t := r.turns[e.Turn]; t != nil && e.SubagentID == "" {
		t.text += by
	}
}

func (r *Reducer) thinking(e event.Event, d event.Thinking) {
	if !d.Done {
		r.doing(e, ActivityThinking)
	} else {
		r.doing(e, ActivityWorking)
	}
	n := r.find(e, KindThinking, d.BlockID)
	if d.BlockID == "" {
		n = r.openThinking(e)
	}
	if n == nil && d.Text == "" {
		return // activity, not a bubble
	}
	if n == nil {
		n = r.add(e, Block{Kind: KindThinking, ID: d.BlockID, Status: Running})
	}
	if d.Text != "" {
		n.write(d.Text)
	}
	if d.Done {
		n.finish(Complete)
	}
}

// openThinking is the reasoning without a block_id that was last at work. It
// looks and makes nothing.
func (r *Reducer) openThinking(e event.Event) *node {
	var list *blocks
	if a := r.agents[e.SubagentID]; e.SubagentID != "" {
		if a == nil {
			return nil
		}
		list = &a.kids
	} else if t := r.turns[e.Turn]; t != nil && t.open != nil {
		list = &t.open.blocks
	}
	if list == nil || list.tail == nil {
		return nil
	}
	if n := list.tail; n.block.Kind == KindThinking && n.block.ID == "" && n.running() {
		return n
	}
	return nil
}

func (r *Reducer) blockEnd(e event.Event, d event.BlockEnd) {
	n := r.find(e, KindText, d.BlockID)
	if n == nil {
		n = r.find(e, KindThinking, d.BlockID)
	}
	gone := d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == ""
	switch {
	case n == nil && d.Status == event.BlockReplaced && !gone:
		n = r.add(e, Block{Kind: KindText, ID: d.BlockID}) // told whole, without deltas
		r.count(e, 1)
	case n == nil:
		return
	case gone:
		n.drop()
		delete(r.index, key{e.SubagentID, n.block.Kind, d.BlockID})
		if n.block.Kind == KindText {
			r.count(e, -1)
		}
		return
	}
	switch d.Status {
	case event.BlockReplaced:
		n.replace(d.Text)
		n.finish(Complete)
	case event.BlockInterrupted:
		n.finish(Interrupted)
	default:
		n.finish(Complete)
	}
}

// tool finds a tool's block, or makes it where the start is missing.
func (r *Reducer) tool(e event.Event, id string) *node {
	if n := r.find(e, KindTool, id); n != nil {
		return n
	}
	return r.add(e, Block{Kind: KindTool, ID: id, Status: Running, Tool: &Tool{}})
}

func (r *Reducer) toolStart(e event.Event, d event.ToolStart) {
	r.doing(e, ActivityWorking)
	shown := r.linked(e, d)
	n := r.tool(e, d.ToolUseID)
	t := n.block.Tool
	t.Name = cmp.Or(valid(d.Tool), t.Name)
	t.Command = cmp.Or(valid(d.Command), t.Command)
	t.FilePath = cmp.Or(valid(d.FilePath), t.FilePath)
	t.Pattern = cmp.Or(valid(d.Pattern), t.Pattern)
	t.SearchPath = cmp.Or(valid(d.SearchPath), t.SearchPath)
	t.Subagent = cmp.Or(valid(d.SubagentName), t.Subagent)
	t.IsFileRead, t.Background, t.Spawn = t.IsFileRead || d.IsFileRead, t.Background || d.Background, t.Spawn || d.SubagentSpawn
	if d.Input != nil {
		t.Input = raw(d.Input)
	}
	n.touch()
	if at := r.turns[e.Turn]; at != nil && !at.ended && e.SubagentID == "" && n.running() && !n.listed {
		n.listed = true
		at.tools = append(at.tools, n)
	}
	if shown != nil {
		n.linked = shown
		shown.follow(n)
	}
	if t.Spawn {
		r.spawns[d.ToolUseID] = n
		if a := r.agents[d.ToolUseID]; a != nil {
			r.link(a, n)
		}
	}
	r.linkWaiting(e, n)
}

// linkWaiting nests the sub-agents that were told of before their tool.
func (r *Reducer) linkWaiting(e event.Event, tool *node) {
	here := key{e.SubagentID, KindTool, tool.block.ID}
	for _, a := range r.waiting[here] {
		r.link(a, tool)
	}
	delete(r.waiting, here)
}

func (r *Reducer) toolResult(e event.Event, d event.ToolResult) {
	r.doing(e, ActivityWorking)
	n := r.tool(e, d.ToolUseID)
	r.linkWaiting(e, n)
	t := n.block.Tool
	t.IsError, t.ExitCode = d.IsError, own(d.ExitCode)
	t.FilePath = cmp.Or(valid(d.FilePath), t.FilePath)
	t.IsFileRead = t.IsFileRead || d.IsFileRead
	if len(d.Changes) > 0 {
		t.Changes = copied(d.Changes, func(c *event.FileChange) []*string { return []*string{&c.Path, &c.MoveTo, &c.Diff} })
	}
	if d.Output != "" {
		n.replace(d.Output)
	}
	switch d.Status {
	case event.ToolError:
		n.finish(Failed)
	case event.ToolDenied:
		n.finish(Denied)
	case event.ToolInterrupted:
		n.finish(Interrupted)
	case event.ToolBackgrounded:
		n.finish(Backgrounded)
		r.detached[n] = struct{}{}
		return
	default:
		n.finish(OK)
	}
	delete(r.detached, n)
}

// ask opens a question.
func (r *Reducer) ask(e event.Event, k Kind, id string) *node {
	n := r.find(e, k, id)
	if n == nil {
		n = r.add(e, Block{Kind: k, ID: id, Status: Pending})
	}
	n.finish(Pending)
	r.asks[key{"", k, id}] = n
	return n
}

// answered finds the question that is answered, by whichever agent's event.
func (r *Reducer) answered(e event.Event, k Kind, id string) *node {
	n := r.asks[key{"", k, id}]
	delete(r.asks, key{"", k, id})
	if n == nil {
		n = r.find(e, k, id)
	}
	if n == nil {
		n = r.add(e, Block{Kind: k, ID: id})
	}
	return n
}

func (r *Reducer) permissionResolved(e event.Event, d event.PermissionResolved) {
	n := r.answered(e, KindPermission, d.RequestID)
	if n.block.Permission == nil {
		n.block.Permission = &Permission{}
	}
	p := n.block.Permission
	p.Tool, p.By = cmp.Or(p.Tool, valid(d.ToolName)), d.By
	status := Denied
	switch {
	case d.Allowed:
		status = Allowed
	case d.Decision == event.DecisionCancel:
		status = Cancelled
	}
	n.finish(by(d.By, status))
}

func by(who event.By, status Status) Status {
	if who == event.ByWithdrawn {
		return Withdrawn
	}
	return status
}

func (r *Reducer) plan(e event.Event, d event.Plan) {
	list := r.place(e)
	if list.plan == nil {
		list.plan = r.add(e, Block{Kind: KindPlan})
	}
	list.plan.block.Steps = copied(d.Steps, func(s *event.PlanStep) []*string { return []*string{&s.Text} })
	list.plan.touch()
	list.tail = list.plan
}

func (r *Reducer) compaction(e event.Event, d event.Compaction) {
	const one = "compaction" // at a time, within an agent
	n := r.find(e, KindCompaction, one)
	if n == nil {
		n = r.add(e, Block{Kind: KindCompaction})
		r.file(n, key{e.SubagentID, KindCompaction, one})
	}
	if d.Phase == event.PhaseStart {
		r.doing(e, ActivityCompacting)
		n.finish(cmp.Or(r.late(e), Running))
		return
	}
	r.doing(e, ActivityWorking)
	delete(r.index, key{e.SubagentID, KindCompaction, one})
	n.block.Tokens = d.Tokens
	n.finish(Complete)
}
