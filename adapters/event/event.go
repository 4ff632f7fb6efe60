package event

import (
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Type is the name of an event, as in the JSON form.
type Type string

// Event is one normalized event. If Turn is 0, the event belongs to the session and
// not to a turn.
type Event struct {
	Data       Data
	TS         time.Time
	Seq        int64
	SessionID  string
	Turn       int
	SubagentID string
}

// Type returns the event's type, which follows from its data, or "" without data.
func (e Event) Type() Type {
	if e.Data == nil {
		return ""
	}
	return e.Data.EventType()
}

// Terminal reports whether the event ends its scope: done or error.
func (e Event) Terminal() bool {
	switch e.Data.(type) {
	case Done, Error:
		return true
	}
	return false
}

// Size returns about how many bytes the event takes in memory.
func (e Event) Size() int {
	const envelope = 256
	switch d := e.Data.(type) { // those that a stream has many of
	case nil:
		return envelope
	case Delta:
		return envelope + len(d.Text)
	case Thinking:
		return envelope + len(d.Text)
	case ToolInput:
		return envelope + len(d.Text)
	case ToolOutput:
		return envelope + len(d.Text)
	}
	return 2*envelope + textSize(reflect.ValueOf(e.Data))
}

// textSize returns how many bytes the strings and byte slices in a value have.
func textSize(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			n += textSize(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += textSize(v.Field(i))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += textSize(entries.Key()) + textSize(entries.Value())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return textSize(v.Elem())
		}
	}
	return n
}

// Position is a place in a session's stream: the last seq and turn in use. A resumed
// session continues after it.
type Position struct {
	Seq  int64 `json:"seq"`
	Turn int   `json:"turn"`
}

// Data is the typed content of an event: one struct per type, always a value and
// never a pointer.
type Data interface {
	// EventType returns the name of the type.
	EventType() Type
	// EventKey returns the value of the member that names what the event is about, such as the
	// tool_use_id of a tool_result; "" if there is none. See Row.
	EventKey() string
}

// Raw is JSON as it was received: members, their order and numbers never change.
// Writing an event drops white space and normalizes the escapes of strings.
type Raw = jsontext.Value
