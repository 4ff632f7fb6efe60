// Package lenient reads JSON whose forms differ between the versions of a runtime: a string
// becomes a number, an object null, a list grows an element of another kind. A member that
// cannot be read is empty, and does not make its line unreadable.
package lenient

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options accept what runtimes really send: split surrogate pairs, repeated members.
var Options = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Str is a string. A number reads as its digits, because ids may be either, and any other
// value as "".
type Str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *Str) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err == nil {
		*s = Str(Text(v))
	}
	return err
}

// Text returns the text of a value, as Str reads it.
func Text(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		if bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
			return string(v[1 : len(v)-1])
		}
		b, _ := jsontext.AppendUnquote(nil, v) // the error only reports replaced characters
		return string(b)
	case '0':
		return string(v)
	}
	return ""
}

// Num is a number. Any other value reads as 0.
type Num float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *Num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = 0
	var f float64
	if v.Kind() == '0' && json.Unmarshal(v, &f) == nil {
		*n = Num(f)
	}
	return nil
}

// Opt is an object or a number that may be absent. V is nil for any other value.
type Opt[T any] struct{ V *T }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *Opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	want := jsontext.Kind('{')
	if _, ok := any(o.V).(*Num); ok {
		want = '0'
	}
	if d.PeekKind() != want {
		return d.SkipValue()
	}
	o.V = new(T)
	return json.UnmarshalDecode(d, o.V)
}

// Value returns the value, or the zero value without one.
func (o Opt[T]) Value() (v T) {
	if o.V != nil {
		v = *o.V
	}
	return v
}

// Int returns the whole number of an option; nil if there is none.
func Int(o Opt[Num]) *int {
	if o.V == nil {
		return nil
	}
	n := int(*o.V)
	return &n
}

// List is an array. Any other value reads as empty.
type List[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *List[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, (*[]T)(l))
}

// Decode reads a value. It keeps what it could read of a value of another form: the elements
// of a list before the first one that does not fit.
func Decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, Options)
	}
	return out
}

// Encode writes a value of an adapter's own types, which can always be encoded. The members of
// maps are in order.
func Encode(v any) []byte {
	b, err := json.Marshal(v, Options, json.Deterministic(true))
	if err != nil {
		panic("a value does not encode: " + err.Error())
	}
	return b
}

// IsTrue reports whether a value is true.
func IsTrue(v jsontext.Value) bool { return v.Kind() == 't' }
