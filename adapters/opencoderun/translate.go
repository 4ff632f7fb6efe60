package opencoderun

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
)

// message is a line of the runtime.
type message struct {
	Type      lenient.Str    `json:"type"`
	Timestamp lenient.Num    `json:"timestamp"`
	Session   lenient.Str    `json:"sessionID"`
	Part      jsontext.Value `json:"part"`
	Error     jsontext.Value `json:"error"`
}

// translator turns lines into events. live is nil for a transcript.
type translator struct {
	l       *ledger.Ledger
	live    *client
	mcp     []adapters.MCPServer
	ready   event.SessionReady
	session string // the runtime's id

	begun    bool        // the process has begun its turn
	inStep   bool        // a step of the model has begun and not ended
	message  lenient.Str // that of the step
	rejected bool        // a call was not allowed, which ends the turn
	unended  int         // steps without an end, one after the other
	tokens   event.Tokens
}

func newTranslator(l *ledger.Ledger, o adapters.Options, live *client) *translator {
	return &translator{l: l, live: live, mcp: o.MCP, session: o.Resume, ready: event.SessionReady{
		Runtime: runtimeName, ProviderSessionID: o.Resume, Resumed: o.Resume != "", Model: o.Model, Cwd: o.Dir, Mode: o.Mode,
	}}
}

// processStarted forgets what belongs to the process before.
func (t *translator) processStarted() {
	t.begun, t.inStep, t.rejected, t.unended, t.tokens = false, false, false, 0, event.Tokens{}
}

// handleLine handles one line of stdout. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	b = bytes.Trim(b, " \t\r")
	if len(b) == 0 {
		return
	}
	var m message
	if err := json.Unmarshal(b, &m, lenient.Options); err != nil {
		t.l.Unreadable(b)
		return
	}
	p := lenient.Decode[opencodecli.Part](m.Part)
	if t.live == nil && !t.l.Ready() && p.MessageID != "" && m.Type != "step_start" { // the transcript begins within a step
		t.turnGoesOn(m)
		t.inStep, t.message = true, p.MessageID
	}
	switch kind := string(m.Type) + " " + string(p.Type); kind {
	case "step_start step-start":
		// A model that is asked again answers in a step of the same message. Another message is that
		// of another process: in a transcript, the end of the one before is missing.
		if t.live == nil && t.inStep && t.l.Turn() != nil && p.MessageID != t.message {
			t.l.Error(event.Error{Code: event.ErrorCrash, Message: "the runtime exited during a turn"})
		}
		t.turnGoesOn(m)
		t.inStep, t.message = true, p.MessageID
	case "step_finish step-finish":
		t.stepFinished(&p)
	case "text text", "reasoning reasoning":
		t.emitText(&p)
	case "tool_use tool":
		if p.State.Status != "completed" && p.State.Status != "error" {
			t.l.Unknown("the state "+string(p.State.Status)+" of a tool", b)
			return
		}
		t.emitCall(&p)
	default:
		if m.Type == "error" {
			t.failed(m)
			return
		}
		t.l.Unknown(cmp.Or(strings.TrimSpace(kind), "a message"), b)
	}
}

// turnGoesOn begins the turn unless it has begun. A summary of the session may follow the end of
// the turn, and further steps that summary; they are a turn of their own.
func (t *translator) turnGoesOn(m message) {
	if t.l.Turn() != nil {
		return
	}
	if id := string(m.Session); id != "" {
		t.session = id
	}
	t.ready.ProviderSessionID = t.session
	t.l.SessionReady(t.ready)
	switch {
	case t.live == nil:
		t.processStarted()
		t.beginTurn(nil)
	case t.begun:
		t.l.TurnStart(event.TurnStart{Cause: event.CauseCommand})
	default:
		t.beginTurn(t.live.Message())
		t.live.TurnBegan()
	}
}

// beginTurn starts the turn of a message, which nil is not known, unless it has begun.
func (t *translator) beginTurn(m *adapters.Message) {
	if t.begun {
		return
	}
	t.begun = true
	if m == nil {
		t.l.TurnStart(event.TurnStart{Cause: event.CauseUser})
		return
	}
	sc := t.l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
	sc.Emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Attachments: m.Attachments, Via: event.ViaTurn})
}

// maxUnended bounds the steps without an end that follow each other: the runtime asks its model
// again after each of them, without an end.
const maxUnended = 5

// stepFinished handles the end of a step, before which each of its parts has come. Its reason is
// that for which the model has ended its reply.
func (t *translator) stepFinished(p *opencodecli.Part) {
	if t.l.Turn() == nil || !t.inStep {
		return
	}
	t.inStep = false
	t.emitUsage(&p.Tokens)
	switch p.Reason {
	case "tool-calls":
		t.unended = 0
	case "stop":
		t.l.Done(event.Done{})
	case "length":
		t.l.Done(event.Done{Reason: string(p.Reason)})
	case "content-filter": // an error follows
	default: // the runtime goes on
		if t.unended++; t.unended >= maxUnended && t.live != nil {
			t.live.giveUp("the model's replies end without a finish reason")
		}
	}
}

// emitUsage emits the tokens of the turn so far.
func (t *translator) emitUsage(k *opencodecli.Tokens) {
	if k.Total == 0 && k.Input == 0 && k.Output == 0 {
		return
	}
	t.tokens.Input += int64(k.Input + k.Cache.Read + k.Cache.Write)
	t.tokens.Cached += int64(k.Cache.Read)
	t.tokens.Output += int64(k.Output + k.Reasoning)
	t.tokens.Reasoning += int64(k.Reasoning)
	t.tokens.Total += int64(k.Total)
	t.l.Emit(event.Usage{Tokens: t.tokens, Scope: event.ScopeTurn})
}

// failed handles an error, which ends the turn. The runtime may print it twice.
func (t *translator) failed(m message) {
	f := lenient.Decode[opencodecli.Failure](m.Error)
	if t.l.Turn() == nil && t.begun && t.live != nil {
		return
	}
	if t.l.Turn() == nil {
		t.turnGoesOn(m)
	}
	t.inStep = false
	if f.Name == opencodecli.Aborted {
		t.l.Done(event.Done{Stopped: true})
		return
	}
	t.l.Error(opencodecli.ErrorOf(f))
}

// emitText emits a text or reasoning, which is whole.
func (t *translator) emitText(p *opencodecli.Part) {
	sc := t.l.Turn()
	if sc == nil || !t.inStep || p.Text == "" { // outside of a step it is late
		return
	}
	if p.Type == "reasoning" {
		sc.Thinking(string(p.ID), string(p.Text))
		sc.ThinkingDone()
		return
	}
	sc.Delta(string(p.ID), string(p.MessageID), string(p.Text))
	sc.BlockEnd(string(p.ID), event.BlockComplete, "")
}

// rejection begins the error of a call that was not allowed.
const rejection = "The user rejected permission"

func (t *translator) emitCall(p *opencodecli.Part) {
	sc := t.l.Turn()
	if sc == nil || !t.inStep || p.Call == "" || lenient.IsTrue(p.State.Metadata.Interrupted) {
		return
	}
	in := lenient.Decode[opencodecli.Input](p.State.Input)
	tool := opencodecli.ToolName(string(p.Tool), &in, t.mcp)
	if !sc.ToolStart(opencodecli.StartOf(*p, tool, &in)) {
		return
	}
	d := opencodecli.ResultOf(*p, tool, &in)
	if p.State.Status == "error" && strings.HasPrefix(string(p.State.Error), rejection) {
		d.Status, t.rejected = event.ToolDenied, true
	}
	d.Media = opencodecli.MediaOf(t.l, *p)
	sc.ToolResult(d)
	if p.Tool == "todowrite" && !d.IsError {
		sc.Emit(opencodecli.PlanOf(lenient.Decode[todos](p.State.Input).List))
	}
}

// todos are the input of a call that sets the list of steps.
type todos struct {
	List jsontext.Value `json:"todos"`
}
