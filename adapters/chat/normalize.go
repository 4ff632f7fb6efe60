package chat

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

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

// line is a line of a server.
type line struct {
	ID      int64             `json:"id"`
	Status  int               `json:"status"`
	Stream  bool              `json:"stream"`
	End     bool              `json:"end"`
	Error   string            `json:"error"`
	Headers map[string]string `json:"headers"`
	Body    jsontext.Value    `json:"body"`
	Data    jsontext.Value    `json:"data"`
	Text    *string           `json:"text"`
	Comment *string           `json:"comment"`
}

// Line handles one line that was received at a time. b is not retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.line = b
	var l line
	if err := json.Unmarshal(b, &l, lenient); err != nil || l.ID == 0 {
		n.t.noticeBadLine(b)
		return
	}
	switch {
	case l.Error != "":
		n.begin(l.ID)
		n.t.replyEnded(errors.New(l.Error))
	case l.Status >= http.StatusBadRequest:
		n.begin(l.ID)
		n.t.replyEnded(n.statusError(&l))
	case l.Status != 0:
		n.begin(l.ID)
		n.t.replyBegan()
	case l.End:
		if n.t.reply.open {
			n.t.replyEnded(nil)
		}
	case l.Data != nil:
		n.handleData(l.Data)
	case l.Text == nil && l.Comment == nil:
		n.t.noticeBadLine(b)
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

func (n *Normalizer) statusError(l *line) error {
	var body struct {
		Error jsontext.Value `json:"error"`
	}
	_ = json.Unmarshal(l.Body, &body, lenient) // a body of another form has no error
	e := &openai.Error{}
	if len(body.Error) > 0 {
		_ = e.UnmarshalJSON(body.Error) // likewise
	}
	e.StatusCode = l.Status
	return e
}

func (n *Normalizer) handleData(b jsontext.Value) {
	if !n.t.reply.open {
		return
	}
	var c openai.ChatCompletionChunk
	var failed struct {
		Error jsontext.Value `json:"error"`
	}
	switch {
	case json.Unmarshal(b, &failed, lenient) == nil && failed.Error != nil:
		n.t.replyEnded(&ssestream.StreamError{Message: "an error in the stream", Event: ssestream.Event{Data: b.Clone()}})
	case c.UnmarshalJSON(b.Clone()) == nil:
		n.t.handleChunk(&c)
	}
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
