package drive

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// NotSupported is the text of the error reply to a request that a client cannot
// answer.
const NotSupported = "not supported by this client"

// pendingCall is a call of a tool or a hook of the client that is answered when
// a file is written.
type pendingCall struct {
	id, file        string
	answer, decline func() error
}

// AnswerCall calls answer, now or when the file is written. decline replies to
// the call without a result. file may be "".
func (d *Driver) AnswerCall(id, name, file string, answer, decline func() error) error {
	d.called[name] = true
	if file == "" || d.written[file] {
		return answer()
	}
	d.pending = append(d.pending, &pendingCall{id, file, answer, decline})
	return nil
}

// answerWritten answers the pending calls whose files have been written.
func (d *Driver) answerWritten() error {
	var rest []*pendingCall
	for _, p := range d.pending {
		if !d.written[p.file] {
			rest = append(rest, p)
		} else if err := p.answer(); err != nil {
			return err
		}
	}
	d.pending = rest
	return nil
}

// DropCall removes a pending call without a reply.
func (d *Driver) DropCall(id string) {
	d.pending = slices.DeleteFunc(d.pending, func(p *pendingCall) bool { return p.id == id })
}

// DeclineCall declines a pending call that the runtime has cancelled.
func (d *Driver) DeclineCall(id string) error {
	for _, p := range d.pending {
		if p.id == id {
			d.DropCall(id)
			return p.decline()
		}
	}
	return nil
}

// DeclineCalls declines each pending call, because its turn has ended.
func (d *Driver) DeclineCalls() {
	pending := d.pending
	d.pending = nil
	for _, p := range pending {
		d.Fail(p.decline())
	}
}

// Tool returns the client's tool of that name, or nil.
func (d *Driver) Tool(name string) *fixtures.Tool {
	for i := range d.Scenario.Tools {
		if t := &d.Scenario.Tools[i]; t.Name == name {
			return t
		}
	}
	return nil
}

// InputSchema returns the schema of a tool's input.
func InputSchema(t *fixtures.Tool) jsontext.Value {
	if t.Schema == nil {
		return jsontext.Value(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// ImageType returns the media type of an image.
func ImageType(c fixtures.Content) string { return cmp.Or(c.MIME, "image/png") }

// ReadFile reads a file of the workspace.
func (d *Driver) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.Path(name)) }

// ElicitResult is the answer to a question of an MCP server, or to one about its
// tools.
func ElicitResult(s fixtures.Step) jsontext.Value {
	switch s.What {
	case fixtures.AnswerValue:
		if _, whole := wire.Member(s.Value, "action"); whole {
			return s.Value
		}
		return jsontext.Value(`{"action":"accept","content":` + string(s.Value) + `,"_meta":null}`)
	case fixtures.AnswerSession, fixtures.AnswerAlways:
		return jsontext.Value(fmt.Sprintf(`{"action":"accept","content":{},"_meta":{"persist":%q}}`, s.What))
	case fixtures.AnswerAllow:
		return jsontext.Value(`{"action":"accept"}`)
	case fixtures.AnswerCancel:
		return jsontext.Value(`{"action":"cancel"}`)
	}
	return jsontext.Value(`{"action":"decline"}`)
}

// denial is what the model reads about a denied call, if the wire has a place
// for it.
const denial = "The policy does not allow it."

// Judge returns the answer of the scenario's policy to a question about a tool
// call. ok is false if there is no policy or if it leaves the call to the user.
func (d *Driver) Judge(tool string) (s fixtures.Step, ok bool) {
	j := d.Scenario.Verdict(tool)
	if j == nil || j.Effect == fixtures.VerdictAsk {
		return s, false
	}
	s = fixtures.Step{Verb: fixtures.VerbAnswer, ID: tool, What: fixtures.AnswerAllow}
	if j.Effect == fixtures.VerdictDeny {
		s.What, s.Text = fixtures.AnswerDeny, denial
	}
	return s, true
}
