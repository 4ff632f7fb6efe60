package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// account derives from the events of a session what a chat must show, by rules that
// are simpler than those of the reducer: the last state of each item, and whether each
// turn has ended. It has no messages and no positions, only the agent and the turn of
// an item.
type account struct {
	texts, thoughts map[ref]*saying
	calls           map[ref]*call
	asks            map[askRef]*ask
	agents          map[string]*worker
	tails           map[scope]string            // the last block of a scope; text without an id continues it only if it is the same text
	vague           bool                        // an id occurs again in another turn, so it is unknown which turns have text
	asides          map[string][]string         // notices and checkpoints by agent
	plans           map[string][]event.PlanStep // the last plan of each agent
	tasks           []replay.Task
	users           []event.Event
	turns           map[int]*span
	last            int // the highest turn
	failed, ended   bool
	uncounted       bool // no event states the session's tokens so far
	head            replay.Chat
	index           int // of the last event, from 1
}

// scope identifies an agent in a turn. The turn is 0 for sub-agents.
type scope struct {
	agent string
	turn  int
}

// ref identifies an item of an agent.
type ref struct{ agent, id string }

type askRef struct {
	kind replay.Kind
	id   string
}

// first describes the first event of an item.
type first struct {
	turn  int
	index int
	at    time.Time
	late  bool // the turn had ended before
	again bool // a later event is of another turn, or a newer turn has begun: the chat may show the item twice
}

type saying struct {
	first
	text   string
	status replay.Status // "" if no event reports one
	gone   bool
	parts  int // number of blocks, if it has no id
}

type call struct {
	first
	start   event.ToolStart
	result  event.ToolResult
	path    string
	output  string
	results int
	end     time.Time
	open    bool
	cut     bool // the turn ended before the call
}

// ask is a permission request or an interrupt.
type ask struct {
	first
	agent   string
	status  replay.Status
	pending bool
}

type worker struct {
	first
	tasked bool
	status replay.Status // "" if no event of the agent reports one
	parent string
	tool   string
	name   string
	text   string
	usage  *event.Tokens
}

type span struct {
	start, end time.Time
	over, gone bool // gone: it ended before a later turn began
	last       int  // index of the event that ended it
	said       int  // number of text blocks
	status     replay.Status
	reason     string
	fault      *event.Error
	doing      string
	running    []*call
	tokens     *event.Tokens
	before     *event.Tokens // those of the session when the turn began; nil: not known
	stats      event.Stats
}

func newAccount() *account {
	return &account{
		texts: map[ref]*saying{}, thoughts: map[ref]*saying{}, calls: map[ref]*call{}, asks: map[askRef]*ask{},
		agents: map[string]*worker{}, tails: map[scope]string{}, asides: map[string][]string{},
		plans: map[string][]event.PlanStep{}, turns: map[int]*span{},
	}
}

func (a *account) add(e event.Event) {
	a.index++
	if e.Turn > a.last {
		a.last = e.Turn
		for _, t := range a.turns {
			t.gone = t.over
		}
		a.tasks = slices.DeleteFunc(a.tasks, func(t replay.Task) bool { return t.Status != event.TaskRunning })
		a.turns[e.Turn] = &span{start: e.TS, doing: replay.ActivityWorking, before: a.sessionTokens()}
	}
	if t := a.turns[e.Turn]; t != nil && !t.over && e.SubagentID == "" {
		t.doing = cmp.Or(doing(e.Data), t.doing)
	}
	a.part(e)
	switch d := e.Data.(type) {
	case event.SessionReady:
		a.settle(e.TS, "session resumed")
		a.loseAgents(e.TS)
		a.failed, a.ended = false, false
		a.uncounted = (d.Resumed || d.ForkedFrom != "") && (a.uncounted || a.head.Usage == nil)
		h := &a.head
		h.EndReason, h.ExitCode, h.Queue, h.Runtime, h.Model, h.Mode, h.Cwd = "", nil, nil, d.Runtime, d.Model, d.Mode, d.Cwd
	case event.SessionEnd:
		a.settle(e.TS, d.Reason)
		a.loseAgents(e.TS)
		a.ended, a.head.EndReason, a.head.ExitCode = true, d.Reason, d.ExitCode
	case event.UserMessage:
		a.users = append(a.users, e)
	case event.Queue:
		a.head.Queue = d.MessageIDs
	case event.ModelChanged:
		a.head.Model = d.Value
	case event.ModeChanged:
		a.head.Mode = d.Value
	case event.Usage:
		a.usage(e, d)
	case event.Result:
		if t := a.turns[e.Turn]; t != nil && !t.gone && e.SubagentID == "" {
			if d.Stats != nil && !t.over {
				t.stats = *d.Stats
			}
			if d.Text != "" && t.said == 0 {
				a.say(a.texts, e, "", d.Text)
			}
		}
	case event.Error:
		a.fail(e, d)
	case event.Done:
		a.done(e, d)
	case event.Task:
		a.task(e, d)
	default:
		a.addBlock(e)
	}
}

// part records the kind of the last block of a scope and counts paragraphs: text
// without an id begins a new block if another block came in between.
func (a *account) part(e event.Event) {
	at := scope{e.SubagentID, e.Turn}
	if at.agent != "" {
		at.turn = 0
	}
	var what string
	switch d := e.Data.(type) {
	case event.Delta:
		if d.Text == "" || d.BlockID != "" && a.texts[ref{e.SubagentID, d.BlockID}] != nil {
			return
		}
		if what = "text"; d.BlockID == "" {
			what += " of " + d.MessageID
		}
		if s := a.texts[ref{e.SubagentID, ""}]; d.BlockID == "" && s != nil && a.tails[at] != what {
			s.parts++
		}
	case event.Thinking:
		if d.Text == "" {
			return
		}
		if what = "thinking"; d.BlockID != "" && a.thoughts[ref{e.SubagentID, d.BlockID}] != nil {
			return
		}
	case event.ToolStart:
		what = "tool"
		if a.calls[ref{e.SubagentID, d.ToolUseID}] != nil {
			return
		}
	case event.PermissionRequest, event.Interrupt, event.Plan, event.UserMessage, event.Error:
		what = "other"
	default:
		return
	}
	a.tails[at] = what
}

// doing returns the activity of a turn after an event, or "" if it does not change.
func doing(d event.Data) string {
	switch d := d.(type) {
	case event.Delta:
		return replay.ActivityWriting
	case event.Thinking:
		if d.Done {
			return replay.ActivityWorking
		}
		return replay.ActivityThinking
	case event.ToolInput:
		if d.Dropped {
			return replay.ActivityWorking
		}
		return replay.ActivityWriting
	case event.ToolStart, event.ToolResult:
		return replay.ActivityWorking
	case event.Notice:
		if d.Code == event.NoticeRetry {
			return replay.ActivityRetrying
		}
	case event.Compaction:
		if d.Phase == event.PhaseStart {
			return replay.ActivityCompacting
		}
		return replay.ActivityWorking
	}
	return ""
}

func (a *account) addBlock(e event.Event) {
	switch d := e.Data.(type) {
	case event.Delta:
		if d.Text != "" {
			a.say(a.texts, e, d.BlockID, d.Text)
		}
	case event.Thinking:
		s := a.thoughts[ref{e.SubagentID, d.BlockID}]
		if d.Text != "" {
			s = a.say(a.thoughts, e, d.BlockID, d.Text)
		}
		if s != nil && d.Done {
			s.status = replay.Complete
		}
	case event.BlockEnd:
		a.blockEnd(e, d)
	case event.ToolStart:
		a.toolStart(e, d)
	case event.ToolOutput:
		t := a.turns[e.Turn]
		c := a.call(e, d.ToolUseID)
		if c.open || t != nil && t.over && (c.results == 0 || c.result.Status == event.ToolInterrupted) {
			c.output += d.Text
		}
	case event.ToolResult:
		a.toolResult(e, d)
	case event.PermissionRequest:
		a.ask(e, askRef{replay.KindPermission, d.RequestID})
	case event.PermissionResolved:
		status := replay.Denied
		if d.Allowed {
			status = replay.Allowed
		} else if d.Decision == event.DecisionCancel {
			status = replay.Cancelled
		}
		a.answer(e, askRef{replay.KindPermission, d.RequestID}, status, d.By)
	case event.Interrupt:
		a.ask(e, askRef{replay.KindInterrupt, d.InterruptID})
	case event.InterruptResolved:
		a.answer(e, askRef{replay.KindInterrupt, d.InterruptID}, replay.Answered, d.By)
	case event.Plan:
		a.plans[e.SubagentID] = append([]event.PlanStep{}, d.Steps...) // of an emptied plan no steps, not nil
	case event.Notice:
		a.aside(e, string(d.Level)+" "+string(d.Code)+" "+d.Text)
	case event.Checkpoint:
		a.uncounted = a.uncounted || d.Action == event.CheckpointRestored
		a.aside(e, d.CheckpointID+" "+string(d.Action))
	}
}

func (a *account) aside(e event.Event, what string) {
	a.asides[e.SubagentID] = append(a.asides[e.SubagentID], what)
}

func (a *account) first(e event.Event) first {
	t := a.turns[e.Turn]
	return first{turn: e.Turn, index: a.index, at: e.TS, late: e.Turn > 0 && t != nil && t.over}
}

// more records a later event of an item.
func (x *first) more(a *account, e event.Event) {
	t := a.turns[e.Turn]
	x.again = x.again || x.turn != e.Turn || e.Turn > 0 && (t == nil || t.gone)
}

func (a *account) say(of map[ref]*saying, e event.Event, id, text string) *saying {
	k := ref{e.SubagentID, id}
	s := of[k]
	if s == nil || s.gone {
		s = &saying{first: a.first(e), parts: 1}
		of[k] = s
	}
	if s == a.texts[k] && (id == "" || s.index == a.index) {
		a.shows(e, 1)
	}
	s.more(a, e)
	a.vague = a.vague || id != "" && s.again
	s.text += text
	return s
}

func (a *account) blockEnd(e event.Event, d event.BlockEnd) {
	k := ref{e.SubagentID, d.BlockID}
	s := a.texts[k]
	if s == nil || s.gone {
		s = a.thoughts[k]
	}
	gone := d.Status == event.BlockRetracted || d.Status == event.BlockReplaced && d.Text == ""
	if s == nil || s.gone {
		if gone || d.Status != event.BlockReplaced {
			return
		}
		s = a.say(a.texts, e, d.BlockID, "") // the replacement holds the whole text
	}
	s.more(a, e)
	s.status = replay.Complete
	switch d.Status {
	case event.BlockInterrupted:
		s.status = replay.Interrupted
	case event.BlockReplaced:
		s.text = d.Text
	}
	if s.gone = gone; gone && s == a.texts[k] {
		a.shows(e, -1)
	}
}

// shows counts the text blocks of a turn. If there are none, the chat shows the text
// of the result.
func (a *account) shows(e event.Event, n int) {
	if t := a.turns[e.Turn]; t != nil && e.SubagentID == "" {
		t.said += n
	}
}

func (a *account) call(e event.Event, id string) *call {
	k := ref{e.SubagentID, id}
	c := a.calls[k]
	if c == nil {
		c = &call{first: a.first(e), open: true}
		if w := a.agents[k.agent]; c.late && k.agent == "" || w != nil && w.status != "" && w.status != replay.Running {
			c.open, c.cut, c.end = false, true, e.TS
		}
		a.calls[k] = c
	}
	c.more(a, e)
	return c
}

func (a *account) toolStart(e event.Event, d event.ToolStart) {
	c := a.call(e, d.ToolUseID)
	s := &c.start
	s.Tool, s.Command, s.FilePath = cmp.Or(d.Tool, s.Tool), cmp.Or(d.Command, s.Command), cmp.Or(d.FilePath, c.path)
	c.path = s.FilePath
	s.Pattern, s.SearchPath, s.SubagentName = cmp.Or(d.Pattern, s.Pattern), cmp.Or(d.SearchPath, s.SearchPath), cmp.Or(d.SubagentName, s.SubagentName)
	s.Query, s.URL = cmp.Or(d.Query, s.Query), cmp.Or(d.URL, s.URL)
	s.IsFileRead, s.Background, s.SubagentSpawn = s.IsFileRead || d.IsFileRead, s.Background || d.Background, s.SubagentSpawn || d.SubagentSpawn
	if d.Input != nil {
		s.Input = d.Input
	}
	if t := a.turns[e.Turn]; t != nil && !t.over && e.SubagentID == "" && c.results == 0 && c.open && !slices.Contains(t.running, c) {
		t.running = append(t.running, c)
	}
}

func (a *account) toolResult(e event.Event, d event.ToolResult) {
	c := a.call(e, d.ToolUseID)
	was := c.result
	if !c.cut || d.Status != event.ToolInterrupted {
		c.end = e.TS
	}
	c.results++
	c.result, c.open = d, d.Status == event.ToolBackgrounded
	c.path, c.result.IsFileRead = cmp.Or(d.FilePath, c.path), d.IsFileRead || was.IsFileRead
	if len(d.Changes) == 0 {
		c.result.Changes = was.Changes
	}
	if len(d.Media) == 0 {
		c.result.Media = was.Media
	}
	if d.Output != "" {
		c.output = d.Output
	}
}
