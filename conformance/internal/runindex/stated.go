package runindex

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// statedValues holds the strings and numbers of the lines that the runtime wrote.
type statedValues struct {
	texts   []statedText
	numbers map[float64]int // the number of lines played when it first appeared
}

type statedText struct {
	text  string
	after int // the number of lines played with this one
}

func readStated(r *conformance.Run) *statedValues {
	s := &statedValues{numbers: map[float64]int{}}
	seen := map[string]bool{}
	for i, p := range r.Played {
		if p.Line.Dir != fixtures.Out {
			continue
		}
		d := jsontext.NewDecoder(strings.NewReader(string(p.Line.Bytes)), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		for {
			t, err := d.ReadToken()
			if err != nil {
				break
			}
			switch t.Kind() {
			case '"':
				if text := t.String(); !seen[text] {
					seen[text] = true
					s.texts = append(s.texts, statedText{text, i + 1})
				}
			case '0':
				if n, err := strconv.ParseFloat(t.String(), 64); err == nil && s.numbers[n] == 0 {
					s.numbers[n] = i + 1
				}
			}
		}
	}
	return s
}

// States reports whether a line that the runtime had written by the time of an event
// holds a string that contains a text. It is true without a wire, as in a live run.
func States(r *conformance.Run, e conformance.Event, text string) bool {
	if len(r.Played) == 0 {
		return true
	}
	text = r.Recorded(text)
	return slices.ContainsFunc(stated(r).texts, func(s statedText) bool { return s.after <= e.Line && strings.Contains(s.text, text) })
}

// StatesNumber is like States for a number.
func StatesNumber(r *conformance.Run, e conformance.Event, n float64) bool {
	after, ok := stated(r).numbers[n]
	return len(r.Played) == 0 || ok && after <= e.Line
}

func stated(r *conformance.Run) *statedValues { return conformance.Derive(r, readStated) }

// StatedResult returns what the wire had stated about the result of a call when an
// event came, or nil.
func StatedResult(r *conformance.Run, e conformance.Event, id string) *wire.ToolResult {
	lines := Of(r).Lines()
	for i := min(e.Line, len(lines)) - 1; i >= 0; i-- {
		for _, tool := range lines[i].Tools {
			if tool.Result != nil && (tool.ID == id || r.Recorded(id) == tool.ID) {
				return tool.Result
			}
		}
	}
	return nil
}
