package eventlog

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/event"
)

// What one page of Read holds where the caller does not say: events, or bytes
// of their JSON form, whichever is first.
const (
	PageEvents = 256
	PageBytes  = 1 << 20
)

// Encode is an event's JSON form as a Log keeps and compares it. An event that
// Decode would not take back is an *InvalidError.
func Encode(e event.Event) ([]byte, error) {
	invalid := func(err error) error { return &InvalidError{e.SessionID, e.Seq, err} }
	b, err := e.AppendJSON(nil)
	if err != nil {
		return nil, invalid(err)
	}
	if plain(e) {
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

// plain says of most events of a stream, and without decoding them, that Decode
// takes them: their data are texts of any kind, their envelope is in its bounds.
func plain(e event.Event) bool {
	switch e.Data.(type) {
	case event.Delta, event.Thinking, event.ToolOutput:
	default:
		return false
	}
	const bits53 = 1<<53 - 1
	year := e.TS.UTC().Year()
	return e.SessionID != "" && utf8.ValidString(e.SessionID) &&
		0 < e.Seq && e.Seq <= bits53 && 0 <= e.Turn && e.Turn <= bits53 && 1000 <= year && year <= 9999
}

// CheckSnapshot says what is wrong with where a snapshot is to stand, whatever
// the session holds. Stores use it.
func CheckSnapshot(session string, seq int64, kind string) error {
	switch {
	case session == "" || kind == "":
		return fmt.Errorf("a snapshot needs a session and a kind, got session %q and kind %q", session, kind)
	case seq < 1:
		return fmt.Errorf("snapshot %q of session %q at seq %d: events are counted from 1", kind, session, seq)
	}
	return nil
}
