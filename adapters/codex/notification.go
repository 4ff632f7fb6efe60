package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// notification handles a line with a method and no id. The table in doc.go
// says what becomes of each.
func (t *translator) notification(b []byte) {
	p := &t.m.Params
	if t.live != nil && t.main == nil && ofThread(t.m.Method.s) {
		return // before the session's thread is known, nothing of it can run
	}
	if t.others(p.ThreadID.val()) {
		return
	}
	switch method := t.m.Method.s; method {
	case "item/agentMessage/delta":
		t.textDelta("agentMessage")
	case "item/plan/delta":
		t.textDelta("plan")
	case "item/reasoning/textDelta", "reasoning/textDelta":
		t.reasoningDelta('c', p.ContentIndex.n)
	case "item/reasoning/summaryTextDelta", "reasoning/summaryTextDelta":
		t.reasoningDelta('s', p.SummaryIndex.n)
	case "item/commandExecution/outputDelta", "item/fileChange/outputDelta":
		t.outputDelta()
	case "item/started":
		t.item(b, false)
	case "item/completed":
		t.item(b, true)
	case "turn/started":
		if p.Turn.v == nil {
			t.unknown(b)
			return
		}
		t.turnStarted(t.thread(p.ThreadID.val()), string(p.Turn.v.ID), string(p.Turn.v.RootTurnID))
	case "turn/completed":
		if p.Turn.v == nil {
			t.unknown(b)
			return
		}
		t.turnCompleted(t.thread(p.ThreadID.val()), p.Turn.v)
	case "turn/plan/updated":
		t.plan()
	case "thread/tokenUsage/updated":
		t.usage()
	case "thread/compacted":
		t.compacted()
	case "error":
		t.failure(b)
	case "serverRequest/resolved":
		t.resolved()
	case "thread/started":
		t.threadStarted(p.Thread)
	case "thread/settings/updated":
		t.settled()
	case "model/rerouted":
		if sc := t.running(p.ThreadID.val(), p.TurnID.val()); sc != nil {
			sc.Emit(event.ModelChanged{Value: string(p.ToModel)})
		}
	case "warning", "guardianWarning", "configWarning", "deprecationNotice", "windows/worldWritableWarning":
		t.warning(method)
	case "mcpServer/startupStatus/updated":
		if scalarOf(p.Status) == "failed" {
			t.notice(p.ThreadID.val(), event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning,
				Text: fmt.Sprintf("MCP server %s failed to start: %s", string(p.Name), scalarOf(p.Error))})
		}
	default:
		if !ignores(method) {
			t.unknown(b)
		}
	}
}

// ofThread reports whether a notification is about what a thread does.
func ofThread(method string) bool {
	return strings.HasPrefix(method, "item/") || strings.HasPrefix(method, "turn/") || method == "error" ||
		method == "thread/tokenUsage/updated" || method == "thread/compacted"
}

func scalarOf(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	return scalar(v)
}

func (t *translator) warning(method string) {
	p := &t.m.Params
	n := event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning}
	if method == "deprecationNotice" {
		n.Level = event.LevelInfo
	}
	var parts []string
	for _, s := range []str{p.Message, p.Summary, p.Details} {
		if s != "" {
			parts = append(parts, string(s))
		}
	}
	if n.Text = strings.Join(parts, ": "); n.Text == "" {
		n.Text = method
	}
	t.notice(p.ThreadID.val(), n)
}

// notice tells a notice of a thread: a sub-agent's carries its id.
func (t *translator) notice(threadID string, n event.Notice) {
	if t.main != nil && threadID != "" && threadID != t.main.id {
		th := t.thread(threadID)
		t.l.Sub(th.id).Emit(n)
		if !th.on { // it says nothing else now
			t.l.EndSub(th.id)
		}
		return
	}
	t.l.Emit(n)
}

// running is the scope of the turn that a line names, if that turn runs.
func (t *translator) running(threadID, turnID string) *ledger.Scope {
	if t.main == nil {
		return nil
	}
	th := t.thread(threadID)
	if !th.is(turnID) {
		return nil
	}
	return t.scope(th)
}

func (t *translator) plan() {
	p := &t.m.Params
	sc := t.scopeOf(t.thread(p.ThreadID.val()), p.TurnID.val())
	if sc == nil {
		return
	}
	var d event.Plan
	for _, s := range read[[]planStep](p.Plan) {
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

func (t *translator) usage() {
	p := &t.m.Params
	u := p.TokenUsage.v
	if u == nil || u.Total.v == nil {
		return
	}
	th := t.thread(p.ThreadID.val())
	d := event.Usage{Tokens: tokensOf(u.Total.v)}
	if u.Last.v != nil && u.Window.set {
		d.Context = &event.Context{Used: u.Last.v.Total.n, Window: u.Window.n}
	}
	th.tokens = &d.Tokens
	switch {
	case th.is(p.TurnID.val()):
		t.scope(th).Emit(d)
	case !th.sub:
		t.l.Session(d) // the state of a thread that was resumed
	}
}

func tokensOf(k *tokens) event.Tokens {
	return event.Tokens{Input: k.Input.n, Cached: k.Cached.n, Output: k.Output.n, Reasoning: k.Reasoning.n, Total: k.Total.n}
}

// compacted is how older versions told of a compaction, some of them beside
// the item.
func (t *translator) compacted() {
	p := &t.m.Params
	th := t.thread(p.ThreadID.val())
	if th.compacted {
		return
	}
	if sc := t.scopeOf(th, p.TurnID.val()); sc != nil {
		sc.Emit(event.Compaction{Phase: "end"})
	}
}

// failure handles the error notification. One that announces a retry takes back
// what was half said; any other is followed by the turn's end, which tells it.
func (t *translator) failure(b []byte) {
	p := &t.m.Params
	e := read[*turnError](p.Error)
	if e == nil {
		t.unknown(b)
		return
	}
	th := t.thread(p.ThreadID.val())
	ev := errorOf(e)
	if p.WillRetry == "true" {
		sc := t.scopeOf(th, p.TurnID.val())
		if sc == nil {
			return
		}
		th.retrying = true
		t.abandon(th, sc, event.BlockRetracted)
		sc.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Text: ev.Message})
		return
	}
	switch {
	case th.is(p.TurnID.val()):
		th.failed = e
	case !th.over(p.TurnID.val()):
		t.l.Emit(event.Notice{Level: event.LevelError, Code: event.NoticeWarning, Text: ev.Message})
	}
}

// abandon closes the messages and the reasoning that are open and will not be
// completed.
func (t *translator) abandon(th *thread, sc *ledger.Scope, status event.BlockStatus) {
	for _, o := range slices.Clone(th.open) {
		switch o.kind {
		case "agentMessage", "plan":
			sc.BlockEnd(o.id, status, "")
			if status == event.BlockRetracted {
				th.drop(o)
			} else {
				o.split = true // some versions talk on in the same item
			}
		case "reasoning":
			sc.ThinkingDone()
			if status == event.BlockRetracted {
				sc.ThinkingRetract(o.key)
			}
			th.drop(o)
		}
	}
}

// write encodes a line for the runtime. What we encode is ours and cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v, asItCame)
	if err != nil {
		panic("codex: a request does not encode: " + err.Error())
	}
	return b
}
