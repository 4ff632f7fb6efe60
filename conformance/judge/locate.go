package judge

import (
	"strings"
	"unicode"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// locate returns the seq of the event at which got begins to differ from want: the
// first event whose text continues past the common prefix, or the end of the turn if
// text is missing. It returns 0 if got is not the concatenated text of the events.
func locate(r *conformance.Run, want, got string) int64 {
	want, got = letters(want), letters(got)
	same := 0
	for same < len(want) && same < len(got) && want[same] == got[same] {
		same++
	}
	for _, words := range []func(event.Data) string{spoken, thought} {
		said := 0
		for _, e := range r.Events {
			if e.SubagentID != "" {
				continue
			}
			text := letters(words(e.Data))
			switch end := said + len(text); {
			case text == "" && said == len(got) && same == said && e.Terminal():
				return e.Seq
			case text == "":
				continue
			case end > len(got) || got[said:end] != text:
				said = -1
			case end > same:
				return e.Seq
			default:
				said = end
			}
			if said < 0 {
				break
			}
		}
	}
	return 0
}

func spoken(d event.Data) string {
	if d, ok := d.(event.Delta); ok {
		return d.Text
	}
	return ""
}

func thought(d event.Data) string {
	if d, ok := d.(event.Thinking); ok {
		return d.Text
	}
	return ""
}

// letters removes white space, because the reducer adds paragraph breaks.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
