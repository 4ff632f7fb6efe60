package pi

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is a dialog of an extension that waits for an answer.
type question struct {
	session.Question
	call    string // the tool call, of a permission
	title   string // what it asks
	confirm bool   // the answer is yes or no
}

// askedCall is what the message of a permission holds: the call that it is about, as JSON.
// The adapter's own extension writes it, and so may any other.
type askedCall struct {
	ID    lenient.Str    `json:"toolCallId"`
	Name  lenient.Str    `json:"toolName"`
	Input jsontext.Value `json:"input"`
}

// handleDialog handles a request of an extension. Most of them show something and want
// no answer.
func (t *translator) handleDialog(b []byte) {
	m := &t.m
	switch m.Method {
	case "confirm", "select", "input", "editor":
		t.openDialog(b)
	case "notify":
		level := event.LevelInfo
		if m.NotifyType == "warning" || m.NotifyType == "error" {
			level = event.LevelWarning
		}
		t.l.Notice(level, event.NoticeWarning, string(lenient.Decode[lenient.Str](m.Message)), nil)
	case "setStatus", "setWidget", "setTitle", "set_editor_text":
		// They draw the runtime's own screen.
	default:
		if t.live != nil && m.ID != "" {
			t.live.host.Write(lenient.Encode(dialogAnswer{Type: answerType, ID: string(m.ID), Cancelled: true}))
		}
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, "the dialog "+string(m.Method)+" is not supported and was cancelled", b)
	}
}

func (t *translator) openDialog(b []byte) {
	m := &t.m
	q := &question{Question: session.Question{ID: string(m.ID)}, title: string(m.Title), confirm: m.Method == "confirm"}
	sc := t.l.Turn()
	if sc == nil || q.ID == "" || t.questions.Find(q.ID) != nil {
		// A question of a turn that does not run must never be granted.
		if t.live != nil && q.ID != "" && t.questions.Find(q.ID) == nil {
			t.live.host.Write(lenient.Encode(dialogAnswer{Type: answerType, ID: q.ID, Cancelled: true}))
		}
		t.l.Notice(event.LevelWarning, event.NoticeLate, "a dialog of a turn that does not run was cancelled", b)
		return
	}
	var call askedCall
	if q.confirm {
		call = lenient.Decode[askedCall](jsontext.Value(lenient.Decode[lenient.Str](m.Message)))
	}
	t.questions = append(t.questions, q)
	if call.ID == "" && q.confirm && t.live != nil && t.live.o.Judge != nil {
		// It may be about a call, but does not name it.
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, "a question that names no call was denied", b)
		no := false
		t.live.host.Write(lenient.Encode(dialogAnswer{Type: answerType, ID: q.ID, Confirmed: &no}))
		t.questions.Drop(q)
		return
	}
	if call.ID == "" {
		props := struct {
			Method  lenient.Str    `json:"method"`
			Title   lenient.Str    `json:"title"`
			Message jsontext.Value `json:"message,omitzero"`
			Options jsontext.Value `json:"options,omitzero"`
		}{m.Method, m.Title, m.Message, lenient.Decode[struct {
			Options jsontext.Value `json:"options"`
		}](jsontext.Value(b)).Options}
		sc.Interrupt(event.Interrupt{InterruptID: q.ID, ComponentName: "question", Surface: "chat", Props: lenient.Encode(props)})
		return
	}
	q.call = string(call.ID)
	d := event.PermissionRequest{
		RequestID: q.ID, ToolUseID: q.call, ToolName: toolName(string(call.Name)), ToolInput: inputOf(call.Input),
	}
	sc.Permission(d)
	if c := t.live; c != nil && c.o.Judge != nil {
		about := adapters.Call{Tool: d.ToolName, Input: judgedInput(d), Dir: c.o.Dir}
		q.Judge(c.host, c.o.Judge, about, func() event.Decision { return c.unjudged(d.ToolName) }, func(an adapters.Answer) { _ = c.answer(q, an) }) // it is the first answer and has no input
	}
}

// closeDialogs drops the dialogs of a turn that ends. The runtime closes them without a
// line, and the ledger reports them as withdrawn.
func (t *translator) closeDialogs() {
	for _, q := range t.questions.All() {
		t.questions.Drop(q)
	}
}

// callResolved settles the question about a call that has a result, and reports whether
// it was denied. A transcript holds no answer: a call that did not run was denied.
func (t *translator) callResolved(id string, d *event.ToolResult) (denied bool) {
	for _, q := range t.questions.All() {
		if q.call != id {
			continue
		}
		t.questions.Drop(q)
		switch {
		case d.IsError && wasStopped(d.Output):
			t.l.Resolve(q.ID, event.DecisionCancel, event.ByWithdrawn, nil)
		case d.Output == denial && d.IsError:
			t.l.Resolve(q.ID, event.DecisionDeny, event.ByUser, nil)
		default:
			t.l.Resolve(q.ID, event.DecisionAllow, event.ByUser, nil)
		}
	}
	return d.IsError && d.Output == denial
}

// denial is the result of a call that the user has denied, as the extension writes it.
const denial = "The user said no."

const answerType = "extension_ui_response"

// dialogAnswer answers a dialog of an extension.
type dialogAnswer struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Confirmed *bool          `json:"confirmed,omitzero"`
	Value     jsontext.Value `json:"value,omitzero"`
	Cancelled bool           `json:"cancelled,omitzero"`
}

// valueIn returns the value for the dialog: an answer holds it by the question, as those to
// the questions of other runtimes do, or as it is.
func (q *question) valueIn(answer jsontext.Value) jsontext.Value {
	if answer.Kind() != '{' {
		return answer
	}
	return lenient.Decode[map[string]jsontext.Value](answer)[q.title]
}

// answer answers an open dialog.
func (c *client) answer(q *question, an adapters.Answer) error {
	switch {
	case an.Input != nil:
		return fmt.Errorf("answer: input: %w", adapters.ErrUnsupported)
	case an.Scope != adapters.ScopeOnce:
		return fmt.Errorf("answer: scope %q: %w", an.Scope, adapters.ErrUnsupported)
	}
	out, value := dialogAnswer{Type: answerType, ID: q.ID}, q.valueIn(an.Value)
	allowed := an.Decision == event.DecisionAllow
	denied := an.Decision == event.DecisionDeny || an.Decision == event.DecisionCancel
	switch {
	case q.confirm && !denied && len(value) > 0:
		allowed = value.Kind() == 't'
		out.Confirmed = &allowed
	case q.confirm:
		out.Confirmed = &allowed
	case denied || len(value) == 0:
		out.Cancelled = true
	default:
		out.Value = value
	}
	c.t.questions.Drop(q)
	c.host.Write(lenient.Encode(out))
	decision := event.DecisionDeny
	switch {
	case allowed:
		decision = event.DecisionAllow
	case an.Decision == event.DecisionCancel:
		decision = event.DecisionCancel
	}
	answered := an.Value
	if len(answered) == 0 {
		answered = lenient.Encode(decision)
	}
	c.t.l.Resolve(q.ID, decision, an.By, answered)
	if an.Decision == event.DecisionCancel {
		c.abort()
	}
	return nil
}
