package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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
	judged  bool             // the judge is at it, and the user's answer waits
	waits   []func()         // such answers
	unjudge func()           // ends the judge's work
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
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeLate,
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
	if t.live != nil && t.live.o.Judge != nil {
		t.live.judge(a, t.call(a, d))
	}
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
	t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage,
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

// drop ends a question, and the judge's work on it. Who has answered meanwhile is
// told that it is over.
func (t *translator) drop(a *ask) {
	t.asks = slices.DeleteFunc(t.asks, func(x *ask) bool { return x == a })
	if !a.judged {
		return
	}
	a.judged = false
	a.unjudge()
	for _, answer := range a.waits {
		answer()
	}
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
