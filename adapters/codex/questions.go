package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is a request of the runtime that waits for an answer.
type question struct {
	session.Question
	rpc     jsontext.Value // the runtime's id
	method  string
	th      *thread
	item    string
	perms   jsontext.Value   // the requested permissions, to be granted unchanged
	options []jsontext.Value // the runtime's own options
	asMCP   bool             // an elicitation that is a permission
	rule    jsontext.Value   // the rule that would always allow such a command
	parts   []inputQuestion  // the parts of a question to the user
}

// Server requests that are questions to the user.
const (
	methodCommandApproval = "item/commandExecution/requestApproval"
	methodFileApproval    = "item/fileChange/requestApproval"
	methodPermissions     = "item/permissions/requestApproval"
	methodUserInput       = "item/tool/requestUserInput"
	methodElicitation     = "mcpServer/elicitation/request"
	methodOldExec         = "execCommandApproval"
	methodOldPatch        = "applyPatchApproval"
	methodToolCall        = "item/tool/call" // not a question: calls a tool of the client
)

// handleRequest handles a line with a method and an id.
func (t *translator) handleRequest(b []byte) {
	p := &t.m.Params
	if t.isForeign(p.ThreadID.val(), t.m.Method.s) {
		return // the client that opened that thread answers
	}
	method := t.m.Method.s
	a := &question{rpc: t.m.ID.Clone(), method: method, item: p.ItemID.val(), options: p.AvailableDecisions, rule: p.Amendment, parts: p.Questions}
	switch method {
	case methodCommandApproval, methodFileApproval, methodPermissions, methodUserInput, methodElicitation:
	case methodOldExec, methodOldPatch:
		a.item = string(p.CallID)
	case methodToolCall:
		t.handleToolCall(a, b)
		return
	default:
		t.refuseRequest(a, b)
		return
	}
	threadID := cmp.Or(p.ThreadID.val(), string(p.ConversationID))
	if t.live != nil && t.main == nil {
		t.refuseRequest(a, b)
		return
	}
	th := t.threadOf(threadID)
	a.th = th
	turnID := p.TurnID.val()
	if !th.runs(turnID) && (t.live != nil || th.hasEnded(turnID)) && (!th.sub || th.hasEnded(turnID)) {
		// A question of a turn that does not run must never be granted.
		t.decline(a)
		t.l.Notice(event.LevelWarning, event.NoticeLate, method+" of a turn that does not run was declined", b)
		return
	}
	sc := t.lineScope(th, turnID)
	if sc == nil {
		return
	}
	// The runtime counts requests from 0 in each process. The turn makes the id
	// unique within the session.
	a.ID = fmt.Sprintf("%d.%s", sc.Turn(), strings.Trim(string(a.rpc), `"`))
	if th.sub {
		a.ID = th.id + "/" + a.ID
	}
	t.questions = append(t.questions, a)
	d := event.PermissionRequest{RequestID: a.ID, ToolUseID: a.item, Reason: string(p.Reason)}
	for _, o := range p.AvailableDecisions {
		d.Options = append(d.Options, cmp.Or(lenient.Text(o), string(o)))
	}
	o := th.findItem(a.item)
	switch method {
	case methodUserInput:
		sc.Interrupt(event.Interrupt{InterruptID: a.ID, ComponentName: "question", Surface: "chat", Props: rawParams(b)})
		return
	case methodElicitation:
		meta := p.Meta.V
		if meta == nil || meta.Kind != "mcp_tool_call" {
			sc.Interrupt(event.Interrupt{InterruptID: a.ID, ComponentName: "elicitation", Surface: "chat", Props: rawParams(b)})
			return
		}
		a.asMCP = true
		d.ToolName, d.ToolInput, d.Reason = mcpName(string(p.ServerName), string(meta.ToolName)), meta.ToolParams, string(p.Message)
		for _, o := range th.items { // the request does not name the item; 0.120 does not even name the tool
			same := o.tool == d.ToolName || meta.ToolName == "" && o.kind == "mcpToolCall" && o.server == string(p.ServerName)
			if same && a.item == "" && !t.hasQuestion(th, o.id) {
				a.item, d.ToolUseID, d.ToolName = o.id, o.id, o.tool
			}
		}
	case methodPermissions:
		a.perms = p.Permissions
		d.ToolName, d.ToolInput = "RequestPermissions", orNull(p.Permissions)
	case methodCommandApproval, methodOldExec:
		cmd := p.commandText()
		d.ToolName, d.ToolInput = "Bash", lenient.Encode(commandInput{Command: cmd, Cwd: string(p.Cwd)})
		if o == nil && a.item != "" && method == methodCommandApproval {
			// 0.98 sends the item only after the decision.
			t.startTool(th, sc, &item{Type: "commandExecution", ID: lenient.Str(a.item), Command: lenient.Str(cmd), Cwd: p.Cwd, CommandActions: p.CommandActions}).fromQuestion = true
		}
	default:
		d.ToolName, d.ToolInput = "Edit", lenient.Encode(changesInput{orNull(p.FileChanges)})
		if o != nil {
			d.ToolName, d.ToolInput = o.tool, o.input
		}
	}
	sc.Permission(d)
	if t.live != nil && t.live.o.Judge != nil {
		t.live.judgeQuestion(a, t.judgedCall(a, d))
	}
}

// hasQuestion reports whether an open question is about the item.
func (t *translator) hasQuestion(th *thread, item string) bool {
	return slices.ContainsFunc(t.questions, func(a *question) bool { return a.th == th && a.item == item && a.item != "" })
}

// rawParams returns the undecoded params of a line.
func rawParams(b []byte) event.Raw {
	m := lenient.Decode[struct {
		Params jsontext.Value `json:"params"`
	}](jsontext.Value(b))
	return orNull(m.Params)
}

const refusal = "not supported by this client"

// refuseRequest replies with an error to an unsupported request, so that no
// turn hangs on it.
func (t *translator) refuseRequest(a *question, b []byte) {
	if t.live != nil {
		t.live.sendError(a.rpc, refusal)
	}
	t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, a.method+" is not supported and was refused", b)
}

// handleResolved handles serverRequest/resolved: the runtime has processed an
// answer. If we sent none, it withdrew the question. A transcript does not
// contain the answer; the item shows it.
func (t *translator) handleResolved() {
	id := strings.Trim(string(t.m.Params.RequestID), `"`)
	for _, a := range t.questions {
		if strings.Trim(string(a.rpc), `"`) != id {
			continue
		}
		switch {
		case t.live != nil, a.method == methodPermissions: // no item shows what was granted
			t.questions.Drop(a)
			t.l.Resolve(a.ID, event.DecisionCancel, event.ByWithdrawn, nil)
		case a.item == "", a.method == methodUserInput:
			t.questions.Drop(a)
			t.l.Resolve(a.ID, event.DecisionAllow, event.ByUser, nil)
		}
		return
	}
}

// resolveFromItem resolves a transcript's questions about an item from the
// item's outcome.
func (t *translator) resolveFromItem(th *thread, item string, yes bool) {
	if t.live != nil || len(t.questions) == 0 {
		return
	}
	for _, a := range t.questions.All() {
		if a.th != th || a.item != item {
			continue
		}
		d := event.DecisionAllow
		if !yes {
			d = event.DecisionDeny
		}
		t.questions.Drop(a)
		t.l.Resolve(a.ID, d, event.ByUser, nil)
	}
}

// closeQuestion closes an unanswered question because its turn ends, and sends
// its one reply.
func (t *translator) closeQuestion(a *question, cancel bool) {
	t.questions.Drop(a)
	by := event.ByWithdrawn
	if t.live != nil {
		t.decline(a) // a late cancel would stop the next turn of 0.98
	} else if cancel {
		by = event.ByUser // a transcript does not contain the answer that ended the turn
	}
	t.l.Resolve(a.ID, event.DecisionCancel, by, nil)
}
