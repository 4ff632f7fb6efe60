package ledger

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Notice emits a notice with a copy of the raw message.
func (l *Ledger) Notice(level event.Level, code event.NoticeCode, text string, raw []byte) {
	l.Emit(event.Notice{Level: level, Code: code, Text: text, Raw: event.Raw(raw).Clone()})
}

// Unknown emits a message that the adapter does not know as a notice. what is its type; "" if
// it has none.
func (l *Ledger) Unknown(what string, raw []byte) {
	l.Notice(event.LevelInfo, event.NoticeUnknownMessage, cmp.Or(what, "a message")+" is not known to this adapter", raw)
}

// Unreadable emits a line that could not be decoded as a notice: it is JSON of an unknown
// form, or no JSON.
func (l *Ledger) Unreadable(line []byte) {
	if jsontext.Value(line).IsValid(lenient.Options) {
		l.Unknown("", line)
		return
	}
	l.Notice(event.LevelWarning, event.NoticeGarbage, fmt.Sprintf("a line is not JSON and was skipped: %.200q", line), nil)
}
