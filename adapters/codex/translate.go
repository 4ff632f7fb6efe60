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

// translator turns the runtime's lines into events. It serves the live adapter
// and the Normalizer; what only a client can know comes from live, which is nil
// in a transcript.
type translator struct {
	l       *ledger.Ledger
	m       message
	main    *thread
	subs    []*thread
	foreign []string // threads that are others' affair; bounded
	asks    []*ask
	version string
	model   string // in force
	mode    string
	asked   []string // turns that a request asked for, as replies tell; bounded
	begun   bool     // the handshake was seen: a turn that nobody asked for is one
	another bool     // a further process has begun
	live    *client
}

// line handles one line of stdout. The ledger has been told the time.
func (t *translator) line(b []byte) {
	if blank(b) {
		return
	}
	m := &t.m
	if err := m.decode(b); err != nil {
		if v := jsontext.Value(b); v.IsValid(asItCame) {
			t.unknown(b)
			return
		}
		t.l.Notice(event.Notice{Level: event.LevelWarning, Code: event.NoticeGarbage,
			Text: fmt.Sprintf("a line is not JSON and was skipped: %.200q", b)})
		return
	}
	switch {
	case m.Method.set && ours[m.Method.s], !m.Method.set && m.Result.v.echo(),
		!m.Method.set && m.Error.v != nil && m.Error.v.Message == refusal:
		// An echo of the client is nobody's message.
	case m.Method.set && len(m.ID) > 0:
		t.request(b)
	case m.Method.set:
		t.notification(b)
	case len(m.ID) > 0 && t.live != nil:
		t.live.response(b)
	case len(m.ID) > 0 && (m.Result.v != nil || m.Error.v != nil):
		t.seen()
	default:
		t.unknown(b)
	}
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// unknown passes a message on that this adapter does not know. It ends nothing.
func (t *translator) unknown(b []byte) {
	what := t.m.Method.val()
	if what == "" {
		what = "a message"
	}
	t.l.Notice(event.Notice{Level: event.LevelInfo, Code: event.NoticeUnknownMessage,
		Text: what + " is not known to this adapter", Raw: event.Raw(b).Clone()})
}

// seen takes what a transcript's replies tell, by their shape: the requests are
// not there.
func (t *translator) seen() {
	r := t.m.Result.v
	switch {
	case r == nil:
	case r.UserAgent != "":
		t.version = versionOf(string(r.UserAgent))
		t.another = t.main != nil
		for _, th := range append(t.subs, t.main) {
			if th != nil {
				th.past = nil // another process, which may count its turns anew
			}
		}
	case r.Thread.v != nil && r.Thread.v.ID != "":
		t.begun = true
		t.opened(r, false, "", "")
	case r.Turn.v != nil:
		t.ask4(string(r.Turn.v.ID))
	}
}

// ask4 remembers that a request asked for a turn.
func (t *translator) ask4(id string) {
	if len(t.asked) >= 16 {
		t.asked = append(t.asked[:0], t.asked[1:]...)
	}
	t.asked = append(t.asked, id)
}

// opened takes the reply to thread/start, resume or fork.
func (t *translator) opened(r *result, resumed bool, forkedFrom, mode string) {
	th := r.Thread.v
	id := string(th.ID)
	switch {
	case t.main == nil:
		t.main = newThread(id)
	case t.main.id != id && string(th.ForkedFromID) == t.main.id && th.ParentThreadID == "":
		t.main = newThread(id) // the conversation goes on in the fork
	case t.main.id != id && t.another:
		t.main = newThread(id) // another process, another session
	}
	t.another = false
	pick := func(a, b str) string {
		if a != "" {
			return string(a)
		}
		return string(b)
	}
	version := t.version
	if version == "" {
		version = string(th.CLIVersion)
	}
	if t.main.id == id {
		t.model, t.mode = pick(r.Model, th.Model), mode
		t.l.SessionReady(event.SessionReady{
			Runtime: "codex", RuntimeVersion: version, ProviderSessionID: id, Resumed: resumed,
			ForkedFrom: forkedFrom, Model: pick(r.Model, th.Model), Cwd: pick(r.Cwd, th.Cwd), Mode: mode,
		})
	}
}

// versionOf reads the version in "name/0.169.0 (Debian 12; x86_64) …".
func versionOf(agent string) string {
	_, v, _ := strings.Cut(agent, "/")
	v, _, _ = strings.Cut(v, " ")
	return v
}

// thread finds the thread of a line: the session's own, or a sub-agent's.
func (t *translator) thread(id string) *thread {
	if t.main == nil {
		// A transcript that begins in the middle: the first thread is the one.
		t.main = newThread(id)
		t.l.SessionReady(event.SessionReady{Runtime: "codex", RuntimeVersion: t.version, ProviderSessionID: id})
	}
	if id == "" || id == t.main.id {
		return t.main
	}
	for _, s := range t.subs {
		if s.id == id {
			return s
		}
	}
	if len(t.subs) >= maxSubs {
		t.forget()
	}
	s := newThread(id)
	s.sub = true
	t.subs = append(t.subs, s)
	return s
}

// threadStarted opens a transcript. Later it tells of a thread that somebody
// else opened on this connection: sub-agents have none.
func (t *translator) threadStarted(o opt[threadInfo]) {
	th := o.v
	if th == nil || th.ParentThreadID != "" {
		return
	}
	id := string(th.ID)
	switch {
	case t.main == nil && t.live == nil:
		t.opened(&result{Thread: o}, false, string(th.ForkedFromID), "")
	case t.main == nil, id == t.main.id, id == "", string(th.ForkedFromID) == t.main.id:
	case slices.ContainsFunc(t.subs, func(s *thread) bool { return s.id == id && s.toolUse != "" }):
	default:
		if t.foreign = append(t.foreign, id); len(t.foreign) > maxSubs {
			t.foreign = slices.Delete(t.foreign, 0, 1)
		}
	}
}

// others reports whether a thread is not of this session, nor a sub-agent of it.
func (t *translator) others(id string) bool {
	return len(t.foreign) > 0 && slices.Contains(t.foreign, id)
}

// forget drops the sub-agent that has been at rest for longest, if one is.
func (t *translator) forget() {
	for i, s := range t.subs {
		if !s.on && len(s.background) == 0 && !t.l.TaskOpen(s.id) {
			t.subs = slices.Delete(t.subs, i, i+1)
			return
		}
	}
}

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
	t.l.Notice(n)
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
	d := event.Plan{Steps: []event.PlanStep{}}
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
		t.l.Notice(event.Notice{Level: event.LevelError, Code: event.NoticeWarning, Text: ev.Message})
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
