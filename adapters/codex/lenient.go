package codex

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The runtime's types change between versions: a string becomes an object, an
// object null. A field of an unexpected kind must not make the line unreadable,
// so every field accepts any value and is empty if it cannot use it.

// lenient accepts what runtimes really send: split surrogate pairs, repeated
// members.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// text is a string of the reused message. The lines of a stream repeat their
// ids, so the last value is kept and reused without an allocation.
type text struct {
	s   string
	set bool
}

// val returns the string of the current line.
func (t *text) val() string {
	if !t.set {
		return ""
	}
	return t.s
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	t.set = true
	if v[0] == '"' && string(v[1:len(v)-1]) == t.s && bytes.IndexByte(v, '\\') < 0 {
		return nil
	}
	t.s = scalar(v)
	return nil
}

// str is a string that is not reused.
type str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *str) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err == nil {
		*s = str(scalar(v))
	}
	return err
}

// scalar returns the text of a string, number or boolean, and "" for anything
// else.
func scalar(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	switch v[0] {
	case '"':
		if bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
			return string(v[1 : len(v)-1])
		}
		// The error only reports replaced characters, which is intended.
		b, _ := jsontext.AppendUnquote(nil, v)
		return string(b)
	case 'n', '{', '[':
		return ""
	}
	return string(v)
}

// num is an integer.
type num struct {
	n   int64
	set bool
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		*n = num{i, true}
	} else if f, err := strconv.ParseFloat(string(v), 64); err == nil {
		*n = num{int64(f), true}
	}
	return nil
}

func (n num) ptr() *int {
	if !n.set {
		return nil
	}
	i := int(n.n)
	return &i
}

// opt is an optional object.
type opt[T any] struct{ v *T }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	o.v = new(T)
	return json.UnmarshalDecode(d, o.v)
}

// list is an array. Any other value decodes as empty.
type list[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, (*[]T)(l))
}

// decodeRaw decodes a raw value. It returns the zero value if the value does
// not fit.
func decodeRaw[T any](v jsontext.Value) T {
	var x T
	if len(v) > 0 && json.Unmarshal(v, &x, lenient) != nil {
		var none T
		return none
	}
	return x
}
