package event

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenientText accepts text that runtimes really send: invalid UTF-8 and lone
// surrogates become U+FFFD, and the last of duplicate members wins.
var lenientText = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

type envelope struct {
	Type       Type           `json:"type"`
	Data       jsontext.Value `json:"data"`
	TS         time.Time      `json:"ts"`
	Seq        int64          `json:"seq"                   min:"1"`
	SessionID  string         `json:"session_id"            min:"1"`
	Turn       int            `json:"turn,omitzero"         min:"1"`
	SubagentID string         `json:"subagent_id,omitempty"`
}

var envelopeShape = shapeOf(reflect.TypeFor[envelope]())

// form decodes the data of one type.
type form struct {
	shape  *shape
	decode func([]byte) (Data, error)
}

func formOf[T any]() form {
	return form{shapeOf(reflect.TypeFor[T]()), func(b []byte) (Data, error) {
		var v T
		err := json.Unmarshal(b, &v, lenientText)
		d, _ := any(v).(Data) // it is one, because go generate wrote its methods
		return d, err
	}}
}

// MarshalJSON writes the event as one object on one line.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends the event's JSON form to b, without a line end. The result is
// valid UTF-8 even if the event's text is not. If it fails, it returns b.
func (e Event) AppendJSON(b []byte) ([]byte, error) { return e.appendJSON(b, nil) }

func (e *Event) appendJSON(b []byte, times *timeText) ([]byte, error) {
	if e.Data == nil {
		return b, errors.New("event without data")
	}
	out, ok := appendFrequent(b, e.Data)
	if !ok {
		data, err := json.Marshal(e.Data, lenientText)
		if err != nil {
			return b, fmt.Errorf("%s: %w", e.Type(), err)
		}
		out = append(out, `{"type":`...)
		out = appendQuoted(out, string(e.Type()))
		out = append(out, `,"data":`...)
		out = append(out, data...)
	}
	out = append(out, `,"ts":"`...)
	var err error
	if out, err = times.append(out, e.TS); err != nil {
		return b, fmt.Errorf("ts: %w", err)
	}
	out = append(out, `","seq":`...)
	out = strconv.AppendInt(out, e.Seq, 10)
	out = append(out, `,"session_id":`...)
	out = appendQuoted(out, e.SessionID)
	if e.Turn != 0 {
		out = append(out, `,"turn":`...)
		out = strconv.AppendInt(out, int64(e.Turn), 10)
	}
	if e.SubagentID != "" {
		out = append(out, `,"subagent_id":`...)
		out = appendQuoted(out, e.SubagentID)
	}
	return append(out, '}'), nil
}

// appendFrequent appends type and data of the three most frequent events, exactly as
// the encoder would write them, because reflection is most of their cost. For other
// events it appends nothing and ok is false.
func appendFrequent(b []byte, d Data) (out []byte, ok bool) {
	switch d := d.(type) {
	case Delta:
		b = append(b, `{"type":"delta","data":{"text":`...)
		b = appendQuoted(b, d.Text)
		b = append(b, `,"message_id":`...)
		b = appendQuoted(b, d.MessageID)
		b = append(b, `,"block_id":`...)
		b = appendQuoted(b, d.BlockID)
	case Thinking:
		b = append(b, `{"type":"thinking","data":{"text":`...)
		b = appendQuoted(b, d.Text)
		if d.Done {
			b = append(b, `,"done":true`...)
		}
		if d.BlockID != "" {
			b = append(b, `,"block_id":`...)
			b = appendQuoted(b, d.BlockID)
		}
	case ToolInput:
		b = append(b, `{"type":"tool_input","data":{"tool_use_id":`...)
		b = appendQuoted(b, d.ToolUseID)
		if d.Tool != "" {
			b = append(b, `,"tool":`...)
			b = appendQuoted(b, d.Tool)
		}
		b = append(b, `,"text":`...)
		b = appendQuoted(b, d.Text)
		if d.Dropped {
			b = append(b, `,"dropped":true`...)
		}
	case ToolOutput:
		b = append(b, `{"type":"tool_output","data":{"tool_use_id":`...)
		b = appendQuoted(b, d.ToolUseID)
		b = append(b, `,"text":`...)
		b = appendQuoted(b, d.Text)
	default:
		return b, false
	}
	return append(b, '}'), true
}

func appendQuoted(b []byte, s string) []byte {
	if needsNoEscape(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	b, _ = jsontext.AppendQuote(b, s) // its only error is invalid UTF-8, replaced
	return b
}

// needsNoEscape reports whether s is a JSON string as it is, as ids and most text are.
// Copying it whole takes half the time.
func needsNoEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// timeText remembers the text of a second, because most events of a stream share it with
// the event before. The zero timeText remembers none.
type timeText struct {
	second int64
	text   []byte // such as 2006-01-02T15:04:05
}

// append appends t as t.UTC().AppendText does. It remembers nothing if x is nil.
func (x *timeText) append(b []byte, t time.Time) ([]byte, error) {
	if x == nil {
		return t.UTC().AppendText(b)
	}
	if second := t.Unix(); len(x.text) == 0 || second != x.second {
		text, err := time.Unix(second, 0).UTC().AppendText(x.text[:0])
		if err != nil {
			x.text = x.text[:0]
			return b, err
		}
		x.second, x.text = second, text[:len(text)-len("Z")]
	}
	b = append(b, x.text...)
	if n := t.Nanosecond(); n != 0 {
		digits := len(".000000000")
		fraction := strconv.AppendInt(b, int64(1e9+n), 10) // a digit before the nine, where the point belongs
		fraction[len(b)] = '.'
		for b = fraction[:len(b)+digits]; b[len(b)-1] == '0'; {
			b = b[:len(b)-1]
		}
	}
	return append(b, 'Z'), nil
}

// UnmarshalJSON reads an event strictly; see Decode.
func (e *Event) UnmarshalJSON(b []byte) error {
	ev, err := Decode(b)
	if err == nil {
		*e = ev
	}
	return err
}

// Decode reads one event strictly: an unknown type, an unknown or missing field,
// null, a value of the wrong kind or outside its closed list is an error that
// names the field's path, such as "data.steps.1.status". The event does not keep a
// reference to b.
func Decode(b []byte) (Event, error) {
	var env envelope
	if err := newWalker(b).value(envelopeShape, nil, 0); err != nil {
		return Event{}, readError("", err)
	}
	if err := json.Unmarshal(b, &env, lenientText); err != nil {
		return Event{}, readError("", err)
	}
	if env.TS.Year() < 1000 || env.TS.Year() > 9999 {
		return Event{}, fmt.Errorf("ts: want a time from the year 1000 on, got %s", env.TS.Format(time.RFC3339))
	}
	r, ok := rowByType[env.Type]
	if !ok {
		return Event{}, fmt.Errorf("type: unknown event type %q", env.Type)
	}
	var legacy string
	w := newWalker(env.Data)
	w.legacy = &legacy
	if err := w.value(r.form.shape, &place{name: "data"}, 0); err != nil {
		return Event{}, readError("data", err)
	}
	switch {
	case env.SubagentID == "":
		env.SubagentID = legacy
	case legacy != "" && legacy != env.SubagentID:
		return Event{}, fmt.Errorf("data.subagent_id: want %q as in subagent_id, got %q", env.SubagentID, legacy)
	}
	data, err := r.form.decode(env.Data)
	if err != nil {
		return Event{}, readError("data", err)
	}
	return Event{
		Data: data, TS: env.TS.UTC(), Seq: env.Seq, SessionID: env.SessionID,
		Turn: env.Turn, SubagentID: env.SubagentID,
	}, nil
}

// readError returns an error of the walker as it is, and adds the field's path to
// errors that only the decoder finds, such as an invalid time or a number out of
// range.
func readError(prefix string, err error) error {
	if pe, ok := errors.AsType[*pathError](err); ok {
		return pe
	}
	var se *json.SemanticError
	if !errors.As(err, &se) {
		return fmt.Errorf("not an event: %w", err)
	}
	at := &place{name: prefix}
	if prefix == "" {
		at = nil
	}
	for name := range se.JSONPointer.Tokens() {
		at = &place{at, name}
	}
	if se.Err != nil {
		return at.errorf("%v", se.Err)
	}
	return at.errorf("want %v", se.GoType)
}
