package standin

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// part is one line of the runtime.
type part struct {
	b     []byte
	line  *wire.Line
	reply int // the index of the request that it answers, or -1
	slots []slot
}

// requestOf is the id of the request that the runtime makes with a line, or nil.
func requestOf(l *wire.Line) jsontext.Value {
	if l.Kind != wire.Request {
		return nil
	}
	return l.ID
}

// replyTo is the id of the client's request that a line answers, whole or in part, or nil.
// The end of a turn may be the reply to its message.
func replyTo(l *wire.Line) jsontext.Value {
	if l.RepliesTo != nil && (l.Kind == wire.Reply || l.Kind == wire.TurnEnd) {
		return l.RepliesTo
	}
	return l.PartOf
}

// withdraws is the id of the runtime's own request that a line takes back, or
// nil.
func withdraws(l *wire.Line) jsontext.Value {
	if l.Kind != wire.Withdrawal {
		return nil
	}
	return l.RepliesTo
}

// turnChange is 1 for a line that starts a turn and -1 for one that ends one.
func turnChange(l *wire.Line) int {
	switch l.Kind {
	case wire.TurnStart:
		return 1
	case wire.TurnEnd:
		return -1
	}
	return 0
}

// ownerOf is the thread or the sub-agent whose request or turn a line is; "" for
// the session of the process.
func (s *script) ownerOf(l *wire.Line) string {
	switch {
	case s.rt.Threads:
		return l.Session
	case l.Kind == wire.Request:
		return l.Task
	}
	return ""
}
