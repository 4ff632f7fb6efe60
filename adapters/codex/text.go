package codex

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

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
	t.s = lenient.Text(v)
	return nil
}
