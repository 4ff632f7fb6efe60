package replay

import (
	"cmp"

	"github.com/turnspec/turnspec/adapters/event"
)

// handleBlockEvent reduces the events that make blocks.
func (r *Reducer) handleBlockEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.Delta:
		r.handleDelta(e, d)
	case event.Thinking:
		r.handleThinking(e, d)
	case event.BlockEnd:
		r.handleBlockEnd(e, d)
	case event.ToolStart:
		r.handleToolStart(e, d)
	case event.ToolInput:
		r.handleToolInput(e, d)
	case event.ToolOutput:
		n := r.ensureTool(e, d.ToolUseID)
		if s := n.block.Status; s == Running || s == Backgrounded || s == Interrupted && r.lateStatus(e) != "" {
			n.appendText(d.Text)
		}
	case event.ToolProgress:
		r.handleToolProgress(e, d)
	case event.ToolResult:
		r.handleToolResult(e, d)
	case event.Task:
		r.handleTask(e, d)
	case event.PermissionRequest:
		n := r.openQuestion(e, KindPermission, d.RequestID)
		n.block.Permission = &Permission{
			ToolUseID: d.ToolUseID, Tool: validText(d.ToolName), Input: compactRaw(d.ToolInput),
			Options: cloneList(d.Options, oneText), Reason: validText(d.Reason),
		}
	case event.PermissionResolved:
		r.handlePermissionResolved(e, d)
	case event.Interrupt:
		n := r.openQuestion(e, KindInterrupt, d.InterruptID)
		n.block.Interrupt = &Interrupt{Component: validText(d.ComponentName), Props: compactRaw(d.Props), Surface: validText(d.Surface)}
	case event.InterruptResolved:
		n := r.resolveQuestion(e, KindInterrupt, d.InterruptID)
		if n.block.Interrupt == nil {
			n.block.Interrupt = &Interrupt{}
		}
		n.block.Interrupt.Value, n.block.Interrupt.By = compactRaw(d.Value), d.By
		n.setStatus(resolvedStatus(d.By, Answered))
	case event.Plan:
		r.handlePlan(e, d)
	case event.Compaction:
		r.handleCompaction(e, d)
	case event.Checkpoint:
		status := Created
		if d.Action == event.CheckpointRestored {
			r.uncounted = true
			status = Restored
		}
		r.newBlock(e, Block{Kind: KindCheckpoint, ID: d.CheckpointID, Status: status})
	case event.Notice:
		if d.Code == event.NoticeRetry {
			r.setActivity(e, ActivityRetrying)
		}
		r.newBlock(e, Block{Kind: KindNotice, Notice: &Notice{d.Level, d.Code}}).appendText(d.Text)
	default:
		if e.Data != nil {
			r.handleAside(e)
		}
	}
}

// newBlock adds a block to the target list of the event.
func (r *Reducer) newBlock(e event.Event, b Block) *node {
	n := r.newNode(b, e.Turn)
	list := r.targetList(e)
	n.moveTo(list)
	switch b.Kind {
	case KindNotice, KindCompaction, KindCheckpoint, KindSubagent: // do not separate text
	default:
		if b.Status != Writing { // text goes on if the call is dropped
			list.tail = n
		}
	}
	if b.ID != "" {
		r.indexBlock(n, key{e.SubagentID, b.Kind, b.ID})
	}
	if end := r.lateStatus(e); end != "" {
		n.closeRunning(end)
	}
	return n
}

// lateStatus is the status of a block that arrives after its turn or sub-agent
// ended; "" if it arrived in time.
func (r *Reducer) lateStatus(e event.Event) Status {
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

func (r *Reducer) indexBlock(n *node, k key) {
	n.key = k
	r.blockByKey[k] = n
}

// targetList returns the list for the event's blocks: of its sub-agent, its turn or
// the session.
func (r *Reducer) targetList(e event.Event) *blocks {
	if e.SubagentID != "" {
		return &r.ensureAgent(e, "", "").kids
	}
	if t := r.turns[e.Turn]; t != nil {
		return &r.assistantMessage(t).blocks
	}
	return &r.sessionMessage().blocks
}

func (r *Reducer) findBlock(e event.Event, k Kind, id string) *node {
	return r.blockByKey[key{e.SubagentID, k, id}]
}

func (r *Reducer) handleDelta(e event.Event, d event.Delta) {
	r.setActivity(e, ActivityWriting)
	if d.Text == "" {
		return
	}
	n := r.findBlock(e, KindText, d.BlockID)
	if d.BlockID == "" {
		if list := r.targetList(e); list.tail != nil && list.tail.block.Kind == KindText &&
			list.tail.block.ID == "" && list.tail.message == d.MessageID {
			n = list.tail
		}
	}
	if n == nil {
		n = r.newBlock(e, Block{Kind: KindText, ID: d.BlockID, Status: Running})
		n.message = d.MessageID
		r.countText(e, 1)
	}
	n.appendText(d.Text)
}

// countText changes the number of text blocks of a turn.
func (r *Reducer) countText(e event.Event, by int) {
	if t := r.turns[e.Turn]; t != nil && e.SubagentID == "" {
		t.textBlocks += by
	}
}

func (r *Reducer) handleThinking(e event.Event, d event.Thinking) {
	if !d.Done {
		r.setActivity(e, ActivityThinking)
	} else {
		r.setActivity(e, ActivityWorking)
	}
	n := r.findBlock(e, KindThinking, d.BlockID)
	if d.BlockID == "" {
		n = r.openThinking(e)
	}
	if n == nil && d.Text == "" {
		return // only activity
	}
	if n == nil {
		n = r.newBlock(e, Block{Kind: KindThinking, ID: d.BlockID, Status: Running})
	}
	if d.Text != "" {
		n.appendText(d.Text)
	}
	if d.Done {
		n.setStatus(Complete)
	}
}

// openThinking returns the running reasoning without a block_id, or nil. It creates
// no message.
func (r *Reducer) openThinking(e event.Event) *node {
	var list *blocks
	if a := r.agents[e.SubagentID]; e.SubagentID != "" {
		if a == nil {
			return nil
		}
		list = &a.kids
	} else if t := r.turns[e.Turn]; t != nil && t.message != nil {
		list = &t.message.blocks
	}
	if list == nil || list.tail == nil {
		return nil
	}
	if n := list.tail; n.block.Kind == KindThinking && n.block.ID == "" && n.running() {
		return n
	}
	return nil
}

func (r *Reducer) handleBlockEnd(e event.Event, d event.BlockEnd) {
	n := r.findBlock(e, KindText, d.BlockID)
	if n == nil {
		n = r.findBlock(e, KindThinking, d.BlockID)
	}
	gone := d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == ""
	switch {
	case n == nil && d.Status == event.BlockReplaced && !gone:
		n = r.newBlock(e, Block{Kind: KindText, ID: d.BlockID}) // without deltas
		r.countText(e, 1)
	case n == nil:
		return
	case gone:
		n.remove()
		delete(r.blockByKey, key{e.SubagentID, n.block.Kind, d.BlockID})
		if n.block.Kind == KindText {
			r.countText(e, -1)
		}
		return
	}
	switch d.Status {
	case event.BlockReplaced:
		n.replaceText(d.Text)
		n.setStatus(Complete)
	case event.BlockInterrupted:
		n.setStatus(Interrupted)
	default:
		n.setStatus(Complete)
	}
}

// handleToolInput shows the input of a call while the model writes it. The block is only
// there until the call starts or is dropped, so that a chat is the same without it.
func (r *Reducer) handleToolInput(e event.Event, d event.ToolInput) {
	n := r.findBlock(e, KindTool, d.ToolUseID)
	switch {
	case n != nil && n.block.Status != Writing, n == nil && (d.Dropped || r.lateStatus(e) != ""):
		return
	case d.Dropped:
		r.setActivity(e, ActivityWorking)
		n.drop()
		return
	case n == nil:
		n = r.newBlock(e, Block{Kind: KindTool, ID: d.ToolUseID, Status: Writing, Tool: &Tool{}})
	}
	r.setActivity(e, ActivityWriting)
	n.block.Tool.Name = cmp.Or(validText(d.Tool), n.block.Tool.Name)
	n.appendText(d.Text)
}

// drop removes a block that is shown only for a while: a call whose input the model has not
// finished, or a transient event.
func (n *node) drop() {
	n.remove()
	if n.r.blockByKey[n.key] == n {
		delete(n.r.blockByKey, n.key)
	}
}

// handleToolProgress shows the progress of a tool as long as it runs; see setStatus. A tool whose
// start is missing has none.
func (r *Reducer) handleToolProgress(e event.Event, d event.ToolProgress) {
	n := r.findBlock(e, KindTool, d.ToolUseID)
	if n == nil || !n.running() {
		return
	}
	n.block.Tool.Progress = &Progress{validText(d.Message), clonePtr(d.Progress), clonePtr(d.Total), d.ElapsedMS}
	n.markStale()
}

// ensureTool finds a tool's block, or creates it if the start is missing.
func (r *Reducer) ensureTool(e event.Event, id string) *node {
	if n := r.findBlock(e, KindTool, id); n != nil && n.block.Status != Writing {
		return n
	} else if n != nil {
		n.drop()
	}
	return r.newBlock(e, Block{Kind: KindTool, ID: id, Status: Running, Tool: &Tool{}})
}

func (r *Reducer) handleToolStart(e event.Event, d event.ToolStart) {
	r.setActivity(e, ActivityWorking)
	shown := r.linkComponent(e, d)
	n := r.ensureTool(e, d.ToolUseID)
	t := n.block.Tool
	t.Name = cmp.Or(validText(d.Tool), t.Name)
	t.Command = cmp.Or(validText(d.Command), t.Command)
	t.FilePath = cmp.Or(validText(d.FilePath), t.FilePath)
	t.Pattern = cmp.Or(validText(d.Pattern), t.Pattern)
	t.SearchPath = cmp.Or(validText(d.SearchPath), t.SearchPath)
	t.Query, t.URL = cmp.Or(validText(d.Query), t.Query), cmp.Or(validText(d.URL), t.URL)
	t.Subagent = cmp.Or(validText(d.SubagentName), t.Subagent)
	t.IsFileRead, t.Background, t.Spawn = t.IsFileRead || d.IsFileRead, t.Background || d.Background, t.Spawn || d.SubagentSpawn
	if d.Input != nil {
		t.Input = compactRaw(d.Input)
	}
	n.markStale()
	if at := r.turns[e.Turn]; at != nil && !at.ended && e.SubagentID == "" && n.running() && !n.listed {
		n.listed = true
		at.tools = append(at.tools, n)
	}
	if shown != nil {
		n.linked = shown
		shown.followTool(n)
	}
	if t.Spawn {
		r.spawns[d.ToolUseID] = n
		if a := r.agents[d.ToolUseID]; a != nil {
			r.nestAgent(a, n)
		}
	}
	r.nestWaitingAgents(e, n)
}

// nestWaitingAgents nests the sub-agents whose task came before their tool.
func (r *Reducer) nestWaitingAgents(e event.Event, tool *node) {
	here := key{e.SubagentID, KindTool, tool.block.ID}
	for _, a := range r.waiting[here] {
		r.nestAgent(a, tool)
	}
	delete(r.waiting, here)
}

func (r *Reducer) handleToolResult(e event.Event, d event.ToolResult) {
	r.setActivity(e, ActivityWorking)
	n := r.ensureTool(e, d.ToolUseID)
	r.nestWaitingAgents(e, n)
	t := n.block.Tool
	t.IsError, t.ExitCode = d.IsError, clonePtr(d.ExitCode)
	t.FilePath = cmp.Or(validText(d.FilePath), t.FilePath)
	t.IsFileRead, t.Truncated = t.IsFileRead || d.IsFileRead, d.Truncated
	if len(d.Media) > 0 {
		t.Media = cloneList(d.Media, func(m *event.Media) []*string { return []*string{&m.MIME, &m.SHA256} })
	}
	if len(d.Changes) > 0 {
		t.Changes = cloneList(d.Changes, func(c *event.FileChange) []*string { return []*string{&c.Path, &c.MoveTo, &c.Diff} })
	}
	if d.Output != "" {
		n.replaceText(d.Output)
	}
	switch d.Status {
	case event.ToolError:
		n.setStatus(Failed)
	case event.ToolDenied:
		n.setStatus(Denied)
	case event.ToolInterrupted:
		n.setStatus(Interrupted)
	case event.ToolBackgrounded:
		n.setStatus(Backgrounded)
		r.detached[n] = struct{}{}
		return
	default:
		n.setStatus(OK)
	}
	delete(r.detached, n)
}

func (r *Reducer) openQuestion(e event.Event, k Kind, id string) *node {
	n := r.findBlock(e, k, id)
	if n == nil {
		n = r.newBlock(e, Block{Kind: k, ID: id, Status: Pending})
	}
	n.setStatus(Pending)
	r.questions[key{"", k, id}] = n
	return n
}

// resolveQuestion finds the question that is answered. The event may be of another
// agent.
func (r *Reducer) resolveQuestion(e event.Event, k Kind, id string) *node {
	n := r.questions[key{"", k, id}]
	delete(r.questions, key{"", k, id})
	if n == nil {
		n = r.findBlock(e, k, id)
	}
	if n == nil {
		n = r.newBlock(e, Block{Kind: k, ID: id})
	}
	return n
}

func (r *Reducer) handlePermissionResolved(e event.Event, d event.PermissionResolved) {
	n := r.resolveQuestion(e, KindPermission, d.RequestID)
	if n.block.Permission == nil {
		n.block.Permission = &Permission{}
	}
	p := n.block.Permission
	p.Tool, p.By = cmp.Or(p.Tool, validText(d.ToolName)), d.By
	status := Denied
	switch {
	case d.Allowed:
		status = Allowed
	case d.Decision == event.DecisionCancel:
		status = Cancelled
	}
	n.setStatus(resolvedStatus(d.By, status))
}

func resolvedStatus(who event.By, status Status) Status {
	if who == event.ByWithdrawn {
		return Withdrawn
	}
	return status
}

func (r *Reducer) handlePlan(e event.Event, d event.Plan) {
	list := r.targetList(e)
	if list.plan == nil {
		list.plan = r.newBlock(e, Block{Kind: KindPlan})
	}
	list.plan.block.Steps = cloneList(d.Steps, func(s *event.PlanStep) []*string { return []*string{&s.Text} })
	list.plan.markStale()
	list.tail = list.plan
}

func (r *Reducer) handleCompaction(e event.Event, d event.Compaction) {
	const one = "compaction" // an agent has one at a time
	n := r.findBlock(e, KindCompaction, one)
	if n == nil {
		n = r.newBlock(e, Block{Kind: KindCompaction})
		r.indexBlock(n, key{e.SubagentID, KindCompaction, one})
	}
	if d.Phase == event.PhaseStart {
		r.setActivity(e, ActivityCompacting)
		n.setStatus(cmp.Or(r.lateStatus(e), Running))
		return
	}
	r.setActivity(e, ActivityWorking)
	delete(r.blockByKey, key{e.SubagentID, KindCompaction, one})
	n.block.Tokens = d.Tokens
	n.setStatus(Complete)
}
