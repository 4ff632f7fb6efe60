package standin

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// gave reports whether a text is an id of this play: its runtime writes it, or its client chose it.
func (p *Play) gave(id string) bool {
	for _, played := range p.bound {
		if played == id {
			return true
		}
	}
	if p.s.gave(id) {
		return true
	}
	if p.o.ReadReplies == nil {
		return false
	}
	token, err := jsontext.AppendQuote(nil, id)
	if err != nil {
		return false
	}
	for _, x := range p.o.ReadReplies.Replies {
		if bytes.Contains(x.Result, token) {
			return true
		}
	}
	return false
}

// gave reports whether the recorded runtime writes an id.
func (s *script) gave(id string) bool {
	token, err := jsontext.AppendQuote(nil, id)
	if err != nil {
		return false
	}
	for i := range s.lines {
		if w := s.lines[i].w; w.Dir == fixtures.Out && bytes.Contains(w.Bytes, token) {
			return true
		}
	}
	return false
}
