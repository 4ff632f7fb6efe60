package claude

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// word is a string of a small vocabulary. Known words are not allocated for
// each delta.
type word string

var knownWords = func() map[string]word {
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
	if known, ok := knownWords[string(v)]; ok {
		*w = known
		return nil
	}
	if v.Kind() != '"' {
		return nil // null or another kind: unknown
	}
	var s string
	err = json.Unmarshal(v, &s, lenient.Options)
	*w = word(s)
	return err
}

// id is an id that consecutive lines repeat. If it is equal, the string of the
// previous line is reused.
type id struct {
	s  string
	ok bool // it is present in this line
}

// get returns the id, or "" if the line has none.
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
		err = json.Unmarshal(v, &i.s, lenient.Options)
	}
	return err
}

// reset clears the line for the next one. Ids keep their strings for reuse.
func (l *line) reset() {
	s, p, a, m, like := l.SessionID.s, l.ParentToolUseID.s, l.AgentID.s, l.APIMessageID.s, l.template
	*l = line{template: like}
	l.SessionID.s, l.ParentToolUseID.s, l.AgentID.s, l.APIMessageID.s = s, p, a, m
}

// decodeLine decodes one line of stdout.
func (l *line) decodeLine(b []byte) error {
	if l.matchTemplate(b) {
		return nil
	}
	l.reset()
	if l.decodeFast(b) {
		return nil
	}
	l.reset()
	return json.Unmarshal(b, l, lenient.Options)
}
