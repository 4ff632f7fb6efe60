package claude

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// text is a string that may be null, or by another version something else: what
// is not a string reads as none, so that a changed kind breaks nothing.
type text string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '"' {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, (*string)(t))
}

// word is a text of a small vocabulary: the words that come with each delta are
// not allocated each time.
type word string

var words = func() map[string]word {
	m := map[string]word{}
	for _, w := range []word{
		"stream_event", "assistant", "user", "system", "result",
		"message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop", "ping",
		"text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta",
		"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "thinking_tokens", "status",
	} {
		m[`"`+string(w)+`"`] = w
	}
	return m
}()

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (w *word) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if known, ok := words[string(v)]; ok {
		*w = known
		return nil
	}
	if v.Kind() != '"' {
		return nil // null, or not a word: unknown
	}
	var s string
	err = json.Unmarshal(v, &s, lenient)
	*w = word(s)
	return err
}

// id is an id that many lines in a row repeat: the string of the line before is
// used again when it is equal.
type id struct {
	s  string
	ok bool // it stands in this line
}

// get is the id, or "" where the line has none.
func (i id) get() string {
	if i.ok {
		return i.s
	}
	return ""
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (i *id) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	i.ok = v.Kind() != 'n'
	switch {
	case !i.ok:
	case v.Kind() != '"':
		i.s = string(v)
	case len(v) == len(i.s)+2 && string(v[1:len(v)-1]) == i.s:
	default:
		err = json.Unmarshal(v, &i.s, lenient)
	}
	return err
}

// reset makes the line ready for the next one: ids keep their strings for
// comparison, everything else is forgotten.
func (l *line) reset() {
	s, p, a, m, like := l.SessionID.s, l.ParentToolUseID.s, l.AgentID.s, l.APIMessageID.s, l.like
	*l = line{like: like}
	l.SessionID.s, l.ParentToolUseID.s, l.AgentID.s, l.APIMessageID.s = s, p, a, m
}

// decode reads one line of stdout.
func (l *line) decode(b []byte) error {
	if l.again(b) {
		return nil
	}
	l.reset()
	if l.fast(b) {
		return nil
	}
	l.reset()
	return json.Unmarshal(b, l, lenient)
}
