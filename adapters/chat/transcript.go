package chat

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber. It reads chunks and bodies alone too,
// as a server sends them and without the lines around them. What the client did is not in a
// transcript: results of tools are missing, and a turn that was stopped ends when the next one
// begins.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return ledger.Transcribe(runtimeName, sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		n := &normalizer{l: l, t: &translator{l: l}}
		return n.handleLine, n.end
	})
}

// normalizer reads a transcript.
type normalizer struct {
	l        *ledger.Ledger
	t        *translator
	failedAt time.Time // when the last request failed
	id       int64     // of the request that is answered; below 0 for a reply without lines around it
	bare     int64     // how many replies without lines around them there were
}

func (n *normalizer) handleLine(b []byte) {
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return
	}
	n.t.line = b
	if bytes.HasPrefix(b, []byte(endOfStream)) {
		n.endBare()
		return
	}
	var l replyLine
	err := json.Unmarshal(b, &l, lenient.Options)
	if l.Status == 0 && l.Body != nil {
		l.Status = http.StatusOK // a body has come
	}
	switch {
	case isBare(b):
		n.handleBare(b)
	case err == nil && l.ID == 0 && isBare(l.Data):
		n.handleBare(l.Data)
	case err == nil && l.ID == 0 && isBare(l.Body):
		n.handleBare(l.Body)
	case err != nil || l.ID == 0 || !l.known():
		n.t.noticeBadLine(b)
	default:
		n.handleReply(&l)
	}
}

// handleReply handles a line of a reply.
func (n *normalizer) handleReply(l *replyLine) {
	switch {
	case l.Error != "":
		n.begin(l.ID)
		n.replyEnded(connectionFailed(errors.New(l.Error)))
	case l.failed():
		n.begin(l.ID)
		n.replyEnded(statusFailure(l))
	case l.Status != 0 && l.Stream:
		n.begin(l.ID)
		n.t.replyBegan()
	case l.Status != 0:
		if !isList(l.Body) {
			n.begin(l.ID)
			n.t.replyBegan()
			n.replyEnded(n.t.handleBody(l))
		}
	case l.End:
		if n.t.reply.open {
			n.replyEnded(nil)
		}
	default:
		if n.id != l.ID && l.Data != nil { // the transcript begins within the reply
			n.begin(l.ID)
			n.t.replyBegan()
		}
		if n.t.reply.open {
			n.handled(n.t.handleEvent(l))
		}
	}
}

// handleBare handles a chunk or a body without a line around it.
func (n *normalizer) handleBare(b []byte) {
	var c chunk
	_ = json.Unmarshal(b, &c, lenient.Options) // handleData reports it
	r := &n.t.reply
	if r.open && r.finish != "" && len(c.Choices) > 0 && c.ID != "" && r.id != string(c.ID) {
		n.endBare() // the next reply begins, and the end of this one is not in the transcript
	}
	if !r.open && len(c.Choices) == 0 && !hasValue(c.Error) && c.Object != "error" {
		if c.Choices == nil || c.Usage.usage != nil {
			n.t.noticeBadLine(b) // it begins no reply
		}
		return
	}
	if !r.open {
		n.bare++
		n.begin(-n.bare)
		n.t.replyBegan()
	}
	n.handled(n.t.handleData(b, ""))
	if r.open && c.whole() {
		n.endBare()
	}
}

// endBare ends a reply that has no line for its end.
func (n *normalizer) endBare() {
	if n.t.reply.open {
		n.t.reply.ended = true
		n.replyEnded(nil)
	}
}

// handled ends the reply if handling an event of it has failed.
func (n *normalizer) handled(f *failure) {
	if f != nil {
		n.replyEnded(f)
	}
}

func (n *normalizer) replyEnded(f *failure) {
	n.t.replyEnded(f)
	n.failedAt = n.l.Time()
}

// begin begins the turn of a request, or goes on with it.
func (n *normalizer) begin(id int64) {
	if id == n.id {
		return
	}
	n.id = id
	if n.t.failed != nil { // this is the next attempt
		now := n.l.Time()
		n.l.SetTime(n.failedAt)
		n.t.retry(n.t.failed)
		n.l.SetTime(now)
	}
	if sc := n.l.Turn(); sc != nil && n.t.reply.open && sc.ToolsOpen() == 0 {
		n.t.emitUsage()
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

func (n *normalizer) end() {
	if r := &n.t.reply; r.open && (n.id < 0 || r.finish != "" || r.ended) {
		n.replyEnded(nil)
	}
	if n.t.failed != nil {
		n.t.failTurn(n.t.failed)
	}
}

// members are those by which a chunk or a body is recognized.
type members struct {
	Choices jsontext.Value `json:"choices"`
	Error   jsontext.Value `json:"error"`
	Object  lenient.Str    `json:"object"`
	Data    jsontext.Value `json:"data"`
}

// isBare reports whether a line is a chunk or a body without a line around it.
func isBare(b []byte) bool {
	var m struct {
		members
		ID     lenient.Str    `json:"id"`
		Status jsontext.Value `json:"status"`
		RPC    jsontext.Value `json:"jsonrpc"`
	}
	if json.Unmarshal(b, &m, lenient.Options) != nil || m.RPC != nil || m.Status != nil {
		return false
	}
	return m.Choices != nil || strings.HasPrefix(string(m.Object), "chat.completion") || m.Object == "error" ||
		hasValue(m.Error) && (m.ID == "" || m.Error.Kind() == '{')
}

// isList reports whether a body is the list of models, which answers a ping.
func isList(body jsontext.Value) bool {
	var m members
	_ = json.Unmarshal(body, &m, lenient.Options) // a body of another form is no list
	return m.Object == "list" || m.Choices == nil && m.Data.Kind() == '['
}

// Recognizes reports whether a line holds a piece of a reply of chat completions, or an
// error in their form. Other runtimes are served over HTTP too, so that the lines around
// them are not recognized.
func (Adapter) Recognizes(b []byte) bool {
	var l struct {
		members
		ID   jsontext.Value `json:"id"`
		Body members        `json:"body"`
		Data members        `json:"data"`
		RPC  jsontext.Value `json:"jsonrpc"`
	}
	if json.Unmarshal(b, &l, lenient.Options) != nil || l.RPC != nil {
		return false
	}
	if l.Choices.Kind() == '[' && strings.HasPrefix(string(l.Object), "chat.completion") {
		return true // a chunk or a body alone
	}
	if l.ID.Kind() != '0' {
		return false
	}
	for _, r := range []members{l.Body, l.Data} {
		if r.Choices.Kind() == '[' || r.Error.Kind() == '{' || r.Object == "list" {
			return true
		}
	}
	return false
}
