package event

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// walker compares JSON text with a shape before the text is decoded, so that an
// error names the field's path and the expected form.
type walker struct {
	dec *jsontext.Decoder
	buf []byte
	// legacy receives a member subagent_id of the outermost object, which older
	// senders put into data. If it is nil, the member is an unknown field.
	legacy *string
}

// pathError is an error at a place in the event.
type pathError struct{ path, what string }

func (e *pathError) Error() string {
	if e.path == "" {
		return e.what
	}
	return e.path + ": " + e.what
}

// place is the path of the current value. It is spelled out only for an error.
type place struct {
	up   *place
	name string
}

func (p *place) errorf(format string, args ...any) error {
	var names []string
	for ; p != nil; p = p.up {
		names = append(names, p.name)
	}
	slices.Reverse(names)
	return &pathError{strings.Join(names, "."), fmt.Sprintf(format, args...)}
}

func newWalker(b []byte) *walker {
	return &walker{dec: jsontext.NewDecoder(bytes.NewBuffer(b), lenientText)}
}

func (w *walker) value(s *shape, at *place, least int) error {
	got := w.dec.PeekKind()
	switch {
	case s.kind == kindAny || got == jsontext.KindInvalid:
		return w.dec.SkipValue() // returns a syntax error if there is one
	case !s.kind.takes(got):
		if err := w.dec.SkipValue(); err != nil {
			return err // a syntax error is more specific
		}
		return at.errorf("want %s, got %s", s.kind, describeKind(got))
	case s.kind == kindObject:
		return w.object(s, at)
	case s.kind == kindArray:
		return w.array(s, at)
	}
	raw, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	switch s.kind {
	case kindString:
		return w.checkText(s, at, raw, least)
	case kindInteger:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n < -maxInteger || n > maxInteger {
			return at.errorf("want a whole number of at most 53 bits, got %s", clipRaw(raw))
		}
		if least > 0 && n < int64(least) {
			return at.errorf("want a number from %d, got %d", least, n)
		}
	}
	return nil
}

func (w *walker) checkText(s *shape, at *place, raw []byte, least int) error {
	if s.enum == nil && least == 0 {
		return nil
	}
	w.buf, _ = jsontext.AppendUnquote(w.buf[:0], raw) // invalid UTF-8 is replaced
	if len(w.buf) < least {
		return at.errorf("want a text, got an empty one")
	}
	if s.enum == nil {
		return nil
	}
	if slices.Contains(s.enum, string(w.buf)) {
		return nil
	}
	return at.errorf("want one of %s, got %s", strings.Join(s.enum, ", "), clipRaw(raw))
}

func (w *walker) object(s *shape, at *place) error {
	legacy := w.legacy
	w.legacy = nil // inner objects do not accept it
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	var seen uint32
	for w.dec.PeekKind() != jsontext.KindEndObject {
		raw, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		w.buf, _ = jsontext.AppendUnquote(w.buf[:0], raw)
		i, ok := s.index[string(w.buf)]
		if !ok {
			name := string(w.buf)
			in := &place{at, name}
			if name != legacyMember || legacy == nil {
				return in.errorf("unknown field")
			}
			if err := w.takeLegacy(legacy, in); err != nil {
				return err
			}
			continue
		}
		seen |= 1 << i
		f := &s.fields[i]
		if err := w.value(f.shape, &place{at, f.name}, f.min); err != nil {
			return err
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.required && seen&(1<<i) == 0 {
			return (&place{at, f.name}).errorf("missing")
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// legacyMember is the member of data in which older senders name the sub-agent.
const legacyMember = "subagent_id"

func (w *walker) takeLegacy(to *string, at *place) error {
	if got := w.dec.PeekKind(); got != jsontext.KindString {
		return at.errorf("want %s, got %s", kindString, describeKind(got))
	}
	tok, err := w.dec.ReadToken()
	if err == nil {
		*to = tok.String()
	}
	return err
}

func (w *walker) array(s *shape, at *place) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; w.dec.PeekKind() != jsontext.KindEndArray; i++ {
		if err := w.value(s.elem, &place{at, strconv.Itoa(i)}, 0); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (k kind) takes(got jsontext.Kind) bool {
	switch k {
	case kindString, kindTime:
		return got == jsontext.KindString
	case kindInteger, kindNumber:
		return got == jsontext.KindNumber
	case kindBool:
		return got == jsontext.KindTrue || got == jsontext.KindFalse
	case kindObject:
		return got == jsontext.KindBeginObject
	case kindArray:
		return got == jsontext.KindBeginArray
	}
	return true
}

func describeKind(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return k.String()
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "no value"
}

// clipRaw returns a value for an error message, cut to a length.
func clipRaw(raw []byte) string {
	const most = 80
	if len(raw) > most {
		return string(bytes.ToValidUTF8(raw[:most], nil)) + "…"
	}
	return string(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
}
