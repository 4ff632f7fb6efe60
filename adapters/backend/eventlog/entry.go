package eventlog

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/event"
)

// Limits of one page of Read if the caller sets none: events, or bytes of their
// JSON form, whichever is reached first.
const (
	PageEvents = 256
	PageBytes  = 1 << 20
)

// Encode returns an event's JSON form, as a Log stores and compares it. It
// returns an *InvalidError if Decode would reject the event.
func Encode(e event.Event) ([]byte, error) {
	invalid := func(err error) error { return &InvalidError{e.SessionID, e.Seq, err} }
	b, err := e.AppendJSON(nil)
	if err != nil {
		return nil, invalid(err)
	}
	if decodable(e) {
		return b, nil
	}
	switch {
	case e.SessionID == "":
		return nil, invalid(errors.New("session_id: want a text, got an empty one"))
	case !utf8.ValidString(e.SessionID):
		return nil, invalid(fmt.Errorf("session_id: %q is not UTF-8", e.SessionID))
	}
	if _, err := event.Decode(b); err != nil {
		return nil, invalid(err)
	}
	return b, nil
}

// decodable reports, without decoding, if Decode accepts an event whose data
// hold any text. Most events of a stream are of these types.
func decodable(e event.Event) bool {
	switch e.Data.(type) {
	case event.Delta, event.Thinking, event.ToolInput, event.ToolOutput:
	default:
		return false
	}
	const bits53 = 1<<53 - 1
	year := e.TS.UTC().Year()
	return e.SessionID != "" && utf8.ValidString(e.SessionID) &&
		0 < e.Seq && e.Seq <= bits53 && 0 <= e.Turn && e.Turn <= bits53 && 1000 <= year && year <= 9999
}

// CheckSnapshot returns an error if no store could hold a snapshot at seq. It is
// for implementations of Log.
func CheckSnapshot(session string, seq int64, kind string) error {
	switch {
	case session == "" || kind == "":
		return fmt.Errorf("a snapshot needs a session and a kind, got session %q and kind %q", session, kind)
	case seq < 1:
		return fmt.Errorf("snapshot %q of session %q at seq %d: events are counted from 1", kind, session, seq)
	}
	return nil
}
