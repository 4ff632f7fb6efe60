package standin

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// asItCame reads what a runtime or a subject wrote: duplicates and bad UTF-8 are
// theirs.
var asItCame = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func decode(b []byte, v any) error { return json.Unmarshal(b, v, asItCame) }

// span is a part of a line.
type span struct{ from, to int }

// member finds the value of a member of the object that b is, by its path.
func member(b []byte, path ...string) (span, bool) {
	at := span{0, len(b)}
	for _, name := range path {
		in, ok := memberOf(b[at.from:at.to], name)
		if !ok {
			return span{}, false
		}
		at = span{at.from + in.from, at.from + in.to}
	}
	return at, true
}

func memberOf(b []byte, name string) (span, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(b), asItCame)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return span{}, false
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return span{}, false
		}
		found := t.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return span{}, false
		}
		if end := int(d.InputOffset()); found {
			return span{end - len(v), end}, true
		}
	}
	return span{}, false
}

// sameJSON reports whether two values say the same.
func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize(asItCame) == nil && b.Canonicalize(asItCame) == nil && bytes.Equal(a, b)
}

const uuidLen = 36

// uuidAt reports whether a UUID in lower case begins at b[i].
func uuidAt(b []byte, i int) bool {
	if i+uuidLen > len(b) || i > 0 && isHex(b[i-1]) || i+uuidLen < len(b) && isHex(b[i+uuidLen]) {
		return false
	}
	for k := range uuidLen {
		dash := k == 8 || k == 13 || k == 18 || k == 23
		if c := b[i+k]; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// uuids finds the UUIDs of a line.
func uuids(b []byte) []span {
	var out []span
	for i := 8; i+uuidLen-8 <= len(b); i++ {
		n := bytes.IndexByte(b[i:], '-')
		if n < 0 {
			break
		}
		if i += n; uuidAt(b, i-8) {
			out = append(out, span{i - 8, i - 8 + uuidLen})
			i += uuidLen - 8 - 1
		}
	}
	return out
}
