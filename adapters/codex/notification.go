package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// handleNotification handles a line with a method and without an id. doc.go
// lists the events of each.
func (t *translator) handleNotification(b []byte) {
	p := &t.m.Params
	if t.live != nil && t.main == nil && concernsThread(t.m.Method.s) {
		return // nothing of the session can run before its thread is known
	}
	if t.isForeign(p.ThreadID.val(), t.m.Method.s) {
		return
	}
	t.checkLegacy(t.m.Method.s)
	switch method := t.m.Method.s; method {
	case "item/agentMessage/delta":
		t.handleTextDelta("agentMessage")
	case "item/plan/delta":
		t.handleTextDelta("plan")
	case "item/reasoning/textDelta", "reasoning/textDelta":
		t.handleReasoningDelta('c', int64(p.ContentIndex))
	case "item/reasoning/summaryTextDelta", "reasoning/summaryTextDelta":
		t.handleReasoningDelta('s', int64(p.SummaryIndex))
	case "item/commandExecution/outputDelta", "item/fileChange/outputDelta":
		t.handleOutputDelta()
	case "item/mcpToolCall/progress":
		if sc := t.lineScope(t.threadOf(p.ThreadID.val()), p.TurnID.val()); sc != nil {
			sc.Emit(event.ToolProgress{ToolUseID: p.ItemID.val(), Message: string(p.Message)})
		}
	case "item/started":
		t.handleItem(b, false)
	case "item/completed":
		t.handleItem(b, true)
	case "turn/started":
		if p.Turn.V == nil {
			t.l.Unknown(t.m.Method.val(), b)
			return
		}
		t.turnStarted(t.threadOf(p.ThreadID.val()), string(p.Turn.V.ID), string(p.Turn.V.RootTurnID))
	case "turn/completed":
		if p.Turn.V == nil {
			t.l.Unknown(t.m.Method.val(), b)
			return
		}
		t.turnCompleted(t.threadOf(p.ThreadID.val()), p.Turn.V)
	case "turn/plan/updated":
		t.emitPlan()
	case "thread/tokenUsage/updated":
		t.emitUsage()
	case "thread/compacted":
		t.handleCompacted()
	case "error":
		t.handleError(b)
	case "serverRequest/resolved":
		t.handleResolved()
	case "thread/started":
		t.handleThreadStarted(p.Thread)
	case "thread/settings/updated":
		t.handleSettings()
	case "model/rerouted":
		if sc := t.runningScope(p.ThreadID.val(), p.TurnID.val()); sc != nil {
			sc.Emit(event.ModelChanged{Value: string(p.ToModel)})
		}
	case "warning", "guardianWarning", "configWarning", "deprecationNotice", "windows/worldWritableWarning":
		t.emitWarning(method)
	case "mcpServer/startupStatus/updated":
		if lenient.Text(p.Status) == "failed" {
			t.noticeOfThread(p.ThreadID.val(), event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning,
				Text: fmt.Sprintf("MCP server %s failed to start: %s", string(p.Name), lenient.Text(p.Error))})
		}
	default:
		if !isIgnored(method) {
			t.l.Unknown(t.m.Method.val(), b)
		}
	}
}

// checkLegacy emits one notice if the wire has the work of a turn in the old form
// only, which this adapter does not read: the app server of 0.98 sends it in
// addition, and other front ends of older versions send nothing else.
func (t *translator) checkLegacy(method string) {
	old, isOld := strings.CutPrefix(method, "codex/event/")
	switch {
	case !isOld:
		t.formKnown = t.formKnown || strings.HasPrefix(method, "item/") || strings.HasPrefix(method, "turn/")
	case !t.formKnown && (old == "agent_message" || old == "task_complete" || old == "turn_aborted"):
		t.formKnown = true
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage,
			"the wire has codex/event notifications only, an old form that is not read: record it from `codex app-server`, with thread/start and turn/start", nil)
	}
}

// concernsThread reports whether a notification is about a thread's work.
func concernsThread(method string) bool {
	return strings.HasPrefix(method, "item/") || strings.HasPrefix(method, "turn/") || method == "error" ||
		method == "thread/tokenUsage/updated" || method == "thread/compacted"
}

func (t *translator) emitWarning(method string) {
	p := &t.m.Params
	n := event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning}
	if method == "deprecationNotice" {
		n.Level = event.LevelInfo
	}
	var parts []string
	for _, s := range []lenient.Str{p.Message, p.Summary, p.Details} {
		if s != "" {
			parts = append(parts, string(s))
		}
	}
	if n.Text = strings.Join(parts, ": "); n.Text == "" {
		n.Text = method
	}
	t.noticeOfThread(p.ThreadID.val(), n)
}

// noticeOfThread emits a notice of a thread. A sub-agent's notice has its id.
func (t *translator) noticeOfThread(threadID string, n event.Notice) {
	if t.main != nil && threadID != "" && threadID != t.main.id {
		th := t.threadOf(threadID)
		t.l.Sub(th.id).Emit(n)
		if !th.running { // no other line will end the scope
			t.l.EndSub(th.id)
		}
		return
	}
	t.l.Emit(n)
}

// runningScope returns the scope of the turn that a line names, if that turn
// runs.
func (t *translator) runningScope(threadID, turnID string) *ledger.Scope {
	if t.main == nil {
		return nil
	}
	th := t.threadOf(threadID)
	if !th.runs(turnID) {
		return nil
	}
	return t.scopeOf(th)
}

func (t *translator) emitPlan() {
	p := &t.m.Params
	sc := t.lineScope(t.threadOf(p.ThreadID.val()), p.TurnID.val())
	if sc == nil {
		return
	}
	var d event.Plan
	for _, s := range lenient.Decode[[]planStep](p.Plan) {
		status := event.StepPending
		switch s.Status {
		case "inProgress":
			status = event.StepInProgress
		case "completed":
			status = event.StepCompleted
		}
		d.Steps = append(d.Steps, event.PlanStep{Text: string(s.Step), Status: status})
	}
	sc.Emit(d)
}

func (t *translator) emitUsage() {
	p := &t.m.Params
	u := p.TokenUsage.V
	if u == nil || u.Total.V == nil {
		return
	}
	th := t.threadOf(p.ThreadID.val())
	d := event.Usage{Tokens: tokensOf(u.Total.V), Scope: event.ScopeSession}
	if u.Last.V != nil && u.Window.V != nil {
		d.Context = &event.Context{Used: int64(u.Last.V.Total), Window: int64(*u.Window.V)}
	}
	th.tokens = &d.Tokens
	switch {
	case th.runs(p.TurnID.val()):
		t.scopeOf(th).Emit(d)
	case !th.sub:
		t.l.Session(d) // the state of a resumed thread
	}
}

func tokensOf(k *tokens) event.Tokens {
	return event.Tokens{Input: int64(k.Input), Cached: int64(k.Cached), Output: int64(k.Output), Reasoning: int64(k.Reasoning), Total: int64(k.Total)}
}

// handleCompacted handles thread/compacted, which older versions send, some of
// them in addition to the item.
func (t *translator) handleCompacted() {
	p := &t.m.Params
	th := t.threadOf(p.ThreadID.val())
	if th.compacted {
		return
	}
	if sc := t.lineScope(th, p.TurnID.val()); sc != nil {
		sc.Emit(event.Compaction{Phase: "end"})
	}
}

// handleError handles the error notification. If a retry is announced,
// incomplete blocks are retracted. Otherwise the turn's end follows and reports
// the error.
func (t *translator) handleError(b []byte) {
	p := &t.m.Params
	e := lenient.Decode[*turnError](p.Error)
	if e == nil {
		t.l.Unknown(t.m.Method.val(), b)
		return
	}
	th := t.threadOf(p.ThreadID.val())
	ev := errorOf(e)
	if lenient.IsTrue(p.WillRetry) {
		sc := t.lineScope(th, p.TurnID.val())
		if sc == nil {
			return
		}
		th.retrying = true
		t.closeIncomplete(th, sc, event.BlockRetracted)
		sc.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Text: ev.Message})
		return
	}
	switch {
	case th.runs(p.TurnID.val()):
		th.failure = e
	case !th.hasEnded(p.TurnID.val()):
		t.l.Notice(event.LevelError, event.NoticeWarning, ev.Message, nil)
	}
}

// closeIncomplete closes open messages and reasoning that will not be
// completed.
func (t *translator) closeIncomplete(th *thread, sc *ledger.Scope, status event.BlockStatus) {
	for _, o := range slices.Clone(th.items) {
		switch o.kind {
		case "agentMessage", "plan":
			sc.BlockEnd(o.id, status, "")
			if status == event.BlockRetracted {
				th.dropItem(o)
			} else {
				o.cut = true // some versions continue in the same item
			}
		case "reasoning":
			sc.ThinkingDone()
			if status == event.BlockRetracted {
				sc.ThinkingRetract(o.key)
			}
			th.dropItem(o)
		}
	}
}
