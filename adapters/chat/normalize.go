package chat

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// Normalizer converts a transcript of the lines of a server to events, with the translator of
// live sessions. What the client did is not in it: results of tools are missing, and a turn
// that was stopped ends when the next one begins.
type Normalizer struct {
	l  *ledger.Ledger
	t  *translator
	id int64 // of the request that is answered
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit)
	return &Normalizer{l: l, t: &translator{l: l}}
}

// Transcribe implements adapters.Transcriber.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return NewNormalizer(sessionID, emit)
}

// Line handles one line that was received at a time. b is not retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.line = b
	var l replyLine
	if err := json.Unmarshal(b, &l, lenient); err != nil || l.ID == 0 {
		n.t.noticeBadLine(b)
		return
	}
	switch {
	case l.Error != "":
		n.begin(l.ID)
		n.t.replyEnded(connectionFailed(errors.New(l.Error)))
	case l.failed():
		n.begin(l.ID)
		n.t.replyEnded(statusFailure(&l))
	case l.Status != 0:
		n.begin(l.ID)
		n.t.replyBegan()
	case l.End:
		if n.t.reply.open {
			n.t.replyEnded(nil)
		}
	case !l.known():
		n.t.noticeBadLine(b)
	case n.t.reply.open:
		if f := n.t.handleEvent(&l); f != nil {
			n.t.replyEnded(f)
		}
	}
}

// begin begins the turn of a request, or goes on with it.
func (n *Normalizer) begin(id int64) {
	if id == n.id {
		return
	}
	n.id = id
	if sc := n.l.Turn(); sc != nil && n.t.reply.open && sc.ToolsOpen() == 0 {
		n.t.endTurn(event.Done{Stopped: true}) // its request was aborted
	}
	if sc := n.l.Turn(); sc != nil {
		for _, k := range n.t.reply.calls {
			sc.ToolResult(event.ToolResult{ToolUseID: k.id, Status: event.ToolOK})
		}
		return
	}
	n.t.startTurn(nil)
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}

// Recognizes reports whether a line holds a piece of a reply of chat completions, or an
// error in their form. Other runtimes are served over HTTP too, so that the lines around
// them are not recognized.
func (Adapter) Recognizes(b []byte) bool {
	type reply struct {
		Choices jsontext.Value `json:"choices"`
		Error   jsontext.Value `json:"error"`
		Object  string         `json:"object"`
	}
	var l struct {
		ID   jsontext.Value `json:"id"`
		Body reply          `json:"body"`
		Data reply          `json:"data"`
		RPC  jsontext.Value `json:"jsonrpc"`
	}
	if json.Unmarshal(b, &l, lenient) != nil || l.ID.Kind() != '0' || l.RPC != nil {
		return false
	}
	for _, r := range []reply{l.Body, l.Data} {
		if r.Choices.Kind() == '[' || r.Error.Kind() == '{' || r.Object == "list" {
			return true
		}
	}
	return false
}
