package standin

import (
	"bytes"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// IsMessage reports whether a line of a client is a message of the user.
func IsMessage(runtime string, line []byte) bool {
	d, err := dialectOf(runtime)
	if err != nil {
		return false
	}
	rs := (*Prepared)(nil).of(d, &fixtures.WireLine{Dir: fixtures.In, Bytes: line})
	return len(rs) > 0 && rs[0].act.kind == KindSend
}

// TextDelta is the text that a line of a runtime adds to a message, or "". It
// does not say whose message: a sub-agent's counts too.
func TextDelta(runtime string, line []byte) string {
	var out strings.Builder
	for b := range bytes.SplitSeq(line, []byte("\n")) {
		var f struct {
			Method string `json:"method"`
			Params struct {
				Delta any `json:"delta"`
			} `json:"params"`
			Type  string `json:"type"`
			Event struct {
				Delta struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"delta"`
			} `json:"event"`
		}
		if decode(b, &f) != nil {
			continue
		}
		switch {
		case runtime == "codex" && f.Method == "item/agentMessage/delta":
			s, _ := f.Params.Delta.(string) // another form has no text
			out.WriteString(s)
		case runtime == "claude" && f.Type == "stream_event" && f.Event.Delta.Type == "text_delta":
			out.WriteString(f.Event.Delta.Text)
		}
	}
	return out.String()
}
