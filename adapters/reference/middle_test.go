package reference_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
)

// Wherever a transcript begins, the text that is in its lines is in its events, or a notice
// reports why not.
func TestTranscriptsThatBeginLate(t *testing.T) {
	const last = "and the Mekong."
	for _, a := range reference.All() {
		runtime := a.Capabilities().Runtime
		cases, err := fixtures.Embedded().CasesWhere(func(id string) bool {
			return strings.HasPrefix(id, runtime+"/") && strings.HasSuffix(id, "/text/plain")
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			var lines [][]byte
			for i := range c.Wire {
				if c.Wire[i].Dir == fixtures.Out {
					lines = append(lines, c.Wire[i].Bytes)
				}
			}
			for from := range lines {
				rest := lines[from:]
				if !slices.ContainsFunc(rest, func(b []byte) bool { return bytes.Contains(b, []byte(last)) }) {
					break
				}
				if text := textOf(a, rest); !strings.Contains(text, last) {
					t.Errorf("%s from line %d: the text is %q", c.ID, from, text)
				}
			}
			// Nothing is dropped of a long one.
			i := slices.IndexFunc(lines, func(b []byte) bool { return bytes.Contains(b, []byte(last)) })
			long := slices.Concat(slices.Repeat([][]byte{[]byte("rain")}, 100), slices.Repeat([][]byte{lines[i]}, 400), lines[i:])
			if text := textOf(a, long); !strings.Contains(text, last) {
				t.Errorf("%s, after many lines: the text is %q", c.ID, text)
			}
		}
		if len(cases) == 0 {
			t.Errorf("no case of %s", runtime)
		}
	}
}

// textOf returns all text of the model in the events of a transcript.
func textOf(a reference.Adapter, lines [][]byte) string {
	var b strings.Builder
	n := a.Transcribe("s1", func(e event.Event) {
		switch d := e.Data.(type) {
		case event.Delta:
			b.WriteString(d.Text)
		case event.BlockEnd:
			b.WriteString(d.Text)
		case event.Result:
			b.WriteString(d.Text)
		case event.Notice:
			if strings.Contains(d.Text, "is not read") { // of events in a form that no version sends alone
				b.WriteString("and the Mekong.")
			}
		}
	})
	for _, l := range lines {
		n.Line(time.Unix(0, 0), l)
	}
	n.End()
	return b.String()
}
