package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// ask is a request of the runtime that waits for an answer.
type ask struct {
	id      string         // ours: that of the event
	rpc     jsontext.Value // the runtime's
	method  string
	th      *thread
	item    string
	perms   jsontext.Value   // what was asked for, to be granted as it stands
	options []jsontext.Value // the runtime's own choices
	asMCP   bool             // an elicitation that is a permission
	rule    jsontext.Value   // what would allow such a command always
	parts   []inputQuestion  // of a question to the user
}

// The server requests that are questions to the user.
const (
	askCommand     = "item/commandExecution/requestApproval"
	askFileChange  = "item/fileChange/requestApproval"
	askPermissions = "item/permissions/requestApproval"
	askInput       = "item/tool/requestUserInput"
	askElicitation = "mcpServer/elicitation/request"
	askOldExec     = "execCommandApproval"
	askOldPatch    = "applyPatchApproval"
	callTool       = "item/tool/call" // no question: a tool of the client is called
)

// request handles a line with a method and an id: the runtime asks.
func (t *translator) request(b []byte) {
	p := &t.m.Params
	if t.others(p.ThreadID.val()) {
		return // whoever opened that thread answers
	}
	method := t.m.Method.s
	a := &ask{rpc: t.m.ID.Clone(), method: method, item: p.ItemID.val(), options: p.AvailableDecisions, rule: p.Amendment, parts: p.Questions}
	switch method {
	case askCommand, askFileChange, askPermissions, askInput, askElicitation:
	case askOldExec, askOldPatch:
		a.item = string(p.CallID)
	case callTool:
		t.callTool(a, b)
		return
	default:
		t.refuse(a, b)
		return
	}
	threadID := p.ThreadID.val()
	if threadID == "" {
		threadID = string(p.ConversationID)
	}
	if t.live != nil && t.main == nil {
		t.refuse(a, b)
		return
	}
	th := t.thread(threadID)
	a.th = th
	turnID := p.TurnID.val()
	if !th.is(turnID) && (t.live != nil || th.over(turnID)) && (!th.sub || th.over(turnID)) {
		// A question of a turn that does not run must not be granted by anybody.
		t.deny(a)
		t.l.Notice(event.Notice{Level: event.LevelWarning, Code: event.NoticeLate,
			Text: method + " came for a turn that does not run and was declined", Raw: event.Raw(b).Clone()})
		return
	}
	sc := t.scopeOf(th, turnID)
	if sc == nil {
		return
	}
	// The runtime counts requests from 0 in each process; the turn makes the id
	// the session's.
	a.id = fmt.Sprintf("%d.%s", sc.Turn(), strings.Trim(string(a.rpc), `"`))
	if th.sub {
		a.id = th.id + "/" + a.id
	}
	t.asks = append(t.asks, a)
	d := event.PermissionRequest{RequestID: a.id, ToolUseID: a.item, Reason: string(p.Reason)}
	for _, o := range p.AvailableDecisions {
		if s := scalar(o); s != "" {
			d.Options = append(d.Options, s)
		} else {
			d.Options = append(d.Options, string(o))
		}
	}
	o := th.find(a.item)
	switch method {
	case askInput:
		sc.Interrupt(event.Interrupt{InterruptID: a.id, ComponentName: "question", Surface: "chat", Props: rawParams(b)})
		return
	case askElicitation:
		meta := p.Meta.v
		if meta == nil || meta.Kind != "mcp_tool_call" {
			sc.Interrupt(event.Interrupt{InterruptID: a.id, ComponentName: "elicitation", Surface: "chat", Props: rawParams(b)})
			return
		}
		a.asMCP = true
		d.ToolName, d.ToolInput, d.Reason = mcpName(string(p.ServerName), string(meta.ToolName)), meta.ToolParams, string(p.Message)
		for _, o := range th.open { // the request does not name the item; in 0.120 not even the tool
			same := o.tool == d.ToolName || meta.ToolName == "" && o.kind == "mcpToolCall" && o.match == string(p.ServerName)
			if same && a.item == "" && !t.waits(th, o.id) {
				a.item, d.ToolUseID, d.ToolName = o.id, o.id, o.tool
			}
		}
	case askPermissions:
		a.perms = p.Permissions
		d.ToolName, d.ToolInput = "RequestPermissions", orNull(p.Permissions)
	case askCommand, askOldExec:
		cmd := scalarOf(p.Command)
		if cmd == "" {
			cmd = strings.Join(read[[]string](p.Command), " ")
		}
		d.ToolName, d.ToolInput = "Bash", encode(commandInput{Command: cmd, Cwd: string(p.Cwd)})
		if o == nil && a.item != "" && method == askCommand {
			// 0.98 shows the item only when it is decided on.
			t.begin(th, sc, &item{Type: "commandExecution", ID: str(a.item), Command: str(cmd), Cwd: p.Cwd, CommandActions: p.CommandActions}).asked = true
		}
	default:
		d.ToolName, d.ToolInput = "Edit", encode(changesInput{orNull(p.FileChanges)})
		if o != nil {
			d.ToolName, d.ToolInput = o.tool, o.input
		}
	}
	sc.Permission(d)
}

// waits reports whether an open question is about the item.
func (t *translator) waits(th *thread, item string) bool {
	return slices.ContainsFunc(t.asks, func(a *ask) bool { return a.th == th && a.item == item && a.item != "" })
}

// rawParams is the params member of a line, as it came.
func rawParams(b []byte) event.Raw {
	m := read[struct {
		Params jsontext.Value `json:"params"`
	}](jsontext.Value(b))
	return orNull(m.Params)
}

const refusal = "not supported by this client"

// refuse answers a request that this adapter cannot serve, so that no turn hangs
// on it.
func (t *translator) refuse(a *ask, b []byte) {
	if t.live != nil {
		t.live.fault(a.rpc, refusal)
	}
	t.l.Notice(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage,
		Text: a.method + " is not supported and was refused", Raw: event.Raw(b).Clone()})
}

// resolved: the runtime took note of an answer. When we gave none, it took the
// question back. A transcript does not hold the answer: the item tells it.
func (t *translator) resolved() {
	id := strings.Trim(string(t.m.Params.RequestID), `"`)
	for _, a := range t.asks {
		if strings.Trim(string(a.rpc), `"`) != id {
			continue
		}
		switch {
		case t.live != nil, a.method == askPermissions: // of these no item tells what was granted, if anything was
			t.drop(a)
			t.l.Resolve(a.id, event.DecisionCancel, event.ByWithdrawn, nil)
		case a.item == "", a.method == askInput:
			t.drop(a)
			t.l.Resolve(a.id, event.DecisionAllow, event.ByUser, nil)
		}
		return
	}
}

// granted concludes in a transcript, from what became of an item, how the
// question about it was answered.
func (t *translator) granted(th *thread, item string, yes bool) {
	if t.live != nil || len(t.asks) == 0 {
		return
	}
	for _, a := range slices.Clone(t.asks) {
		if a.th != th || a.item != item {
			continue
		}
		d := event.DecisionAllow
		if !yes {
			d = event.DecisionDeny
		}
		t.drop(a)
		t.l.Resolve(a.id, d, event.ByUser, nil)
	}
}

func (t *translator) drop(a *ask) {
	t.asks = slices.DeleteFunc(t.asks, func(x *ask) bool { return x == a })
}

// settle ends a question that nobody answered, because its turn or the session
// ends: it gets its one reply on the wire.
func (t *translator) settle(a *ask, cancel bool) {
	t.drop(a)
	by := event.ByWithdrawn
	if t.live != nil {
		t.deny(a) // a cancel that comes late stops the next turn of 0.98
	} else if cancel {
		by = event.ByUser // in a transcript the answer that ended the turn is not seen
	}
	t.l.Resolve(a.id, event.DecisionCancel, by, nil)
}

type decision struct {
	Decision any `json:"decision"`
}

type elicited struct {
	Action  string         `json:"action"`
	Content jsontext.Value `json:"content"`
	Meta    jsontext.Value `json:"_meta"`
}

type granted struct {
	Permissions jsontext.Value `json:"permissions"`
	Scope       string         `json:"scope"`
}

type answers struct {
	Answers jsontext.Value `json:"answers"`
}

var (
	null  = jsontext.Value("null")
	empty = jsontext.Value("{}")
)

// decide makes the result that tells the runtime a decision.
func (a *ask) decide(d event.Decision) any {
	pick := func(allow, deny, cancel string) string {
		switch d {
		case event.DecisionAllow:
			return allow
		case event.DecisionCancel:
			return cancel
		}
		return deny
	}
	switch a.method {
	case askOldExec, askOldPatch:
		return decision{pick("approved", "denied", "abort")}
	case askPermissions:
		if d == event.DecisionAllow {
			return granted{a.perms, "turn"}
		}
		return granted{empty, "turn"}
	case askElicitation:
		if d == event.DecisionAllow {
			return elicited{"accept", empty, null}
		}
		return elicited{pick("", "decline", "cancel"), null, null}
	case askInput:
		return answers{empty}
	}
	return decision{pick("accept", "decline", "cancel")}
}

func (t *translator) deny(a *ask) {
	if t.live != nil {
		t.live.result(a.rpc, a.decide(event.DecisionDeny))
	}
}

func (t *translator) cancel(a *ask) {
	t.live.result(a.rpc, a.decide(event.DecisionCancel))
}

// answer gives the user's answer to an open question.
func (t *translator) answer(id string, an adapters.Answer) error {
	i := slices.IndexFunc(t.asks, func(a *ask) bool { return a.id == id })
	if i < 0 {
		return fmt.Errorf("%w: %q", adapters.ErrUnknownID, id)
	}
	a := t.asks[i]
	if a.method == askInput || a.method == askElicitation && !a.asMCP {
		return t.answerInterrupt(a, an)
	}
	if len(an.Input) > 0 {
		return fmt.Errorf("%w: codex runs a tool with its own input or not at all", adapters.ErrUnsupported)
	}
	var res any
	allowed := an.Decision == event.DecisionAllow
	switch an.Decision {
	case event.DecisionAllow:
		var err error
		if res, err = a.allow(an.Scope); err != nil {
			return err
		}
	case event.DecisionDeny, event.DecisionCancel:
		res = a.decide(an.Decision)
	default:
		o := a.option(string(an.Decision))
		if o == nil {
			return fmt.Errorf("decision %q: want allow, deny, cancel or one of the request's options", an.Decision)
		}
		res, allowed = decision{o}, true
	}
	t.drop(a)
	t.live.result(a.rpc, res)
	d := an.Decision
	if allowed {
		d = event.DecisionAllow
	}
	t.l.Resolve(id, d, an.By, nil)
	return nil
}

// option finds one of the runtime's own choices, such as acceptForSession.
func (a *ask) option(s string) jsontext.Value {
	for _, o := range a.options {
		if string(o) == s || scalar(o) == s {
			return o
		}
	}
	return nil
}

func (t *translator) answerInterrupt(a *ask, an adapters.Answer) error {
	v := an.Value
	if len(v) > 0 && !v.IsValid() {
		return fmt.Errorf("value: not JSON: %.80q", v)
	}
	refused := an.Decision == event.DecisionDeny || an.Decision == event.DecisionCancel
	var res any
	switch {
	case a.method == askInput && (refused || len(v) == 0):
		res = answers{empty}
	case a.method == askInput:
		res = answers{a.filledIn(v)}
	case refused:
		res = a.decide(an.Decision)
	case len(v) == 0:
		res = elicited{"accept", empty, null}
	case read[elicited](v).Action != "":
		res = v
	default:
		res = elicited{"accept", v, null}
	}
	t.drop(a)
	t.live.result(a.rpc, res)
	if len(v) == 0 && refused {
		v = encode(an.Decision)
	}
	t.l.Resolve(a.id, event.DecisionAllow, an.By, v)
	return nil
}

// allow is the result that allows, for as long as the scope says.
func (a *ask) allow(s adapters.Scope) (any, error) {
	res := a.decide(event.DecisionAllow)
	if s == adapters.ScopeOnce {
		return res, nil
	}
	session := s == adapters.ScopeSession
	switch {
	case a.method == askElicitation:
		return elicited{"accept", empty, encode(persist{string(s)})}, nil
	case a.method == askPermissions && session:
		return granted{a.perms, string(s)}, nil
	case (a.method == askCommand || a.method == askFileChange) && session:
		return decision{"acceptForSession"}, nil
	case (a.method == askOldExec || a.method == askOldPatch) && session:
		return decision{"approved_for_session"}, nil
	case a.method == askCommand && len(a.rule) > 0 && a.rule.Kind() == '[':
		return decision{amended{amendment{a.rule}}}, nil
	}
	return nil, fmt.Errorf("%w: the runtime proposes no rule that would allow what is like it", adapters.ErrUnsupported)
}

type persist struct {
	Persist string `json:"persist"`
}

type amended struct {
	Accept amendment `json:"acceptWithExecpolicyAmendment"`
}

type amendment struct {
	Rule jsontext.Value `json:"execpolicy_amendment"`
}

type filled struct {
	Answers []string `json:"answers"`
}

// filledIn are the answers by the ids of a question's parts, as the runtime
// wants them. The value is that already, with or without answers around it, or
// holds a string or a list of strings by the id or by the text of each part.
func (a *ask) filledIn(v event.Raw) jsontext.Value {
	if in := read[answers](v); len(in.Answers) > 0 {
		v = in.Answers
	}
	given := read[map[string]jsontext.Value](v)
	out := map[string]jsontext.Value{}
	for _, p := range a.parts {
		x := given[string(p.ID)]
		if x == nil {
			x = given[string(p.Question)]
		}
		switch {
		case x == nil:
		case x.Kind() == '"':
			out[string(p.ID)] = encode(filled{[]string{scalar(x)}})
		case x.Kind() == '[':
			out[string(p.ID)] = encode(filled{read[[]string](x)})
		default:
			out[string(p.ID)] = x
		}
	}
	b, err := json.Marshal(out, asItCame, json.Deterministic(true))
	if err != nil {
		return empty // what was read is JSON and encodes
	}
	return b
}
