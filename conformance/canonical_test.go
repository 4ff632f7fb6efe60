package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
)

// TestCanonicalReusesThePlainRun checks that the events of a run with a fault are
// encoded again only if they differ from those of the plain run.
func TestCanonicalReusesThePlainRun(t *testing.T) {
	text := func(turn int, s string) Event {
		return Event{Event: event.Event{Turn: turn, Data: event.Delta{Text: s}}}
	}
	notice := Event{Event: event.Event{Data: event.Notice{Text: "unknown", Raw: event.Raw(`{"a":1}`)}}}
	plain := []Event{text(1, "a"), text(1, "b"), text(2, "b"), text(2, "c")}
	for name, faulted := range map[string][]Event{
		"the same":          plain,
		"a notice more":     slices.Insert(slices.Clone(plain), 2, notice),
		"two more":          slices.Insert(slices.Clone(plain), 0, notice, notice),
		"one is missing":    slices.Delete(slices.Clone(plain), 1, 2),
		"two are missing":   plain[2:],
		"another turn":      {plain[0], text(2, "b"), plain[2], plain[3]},
		"of a sub-agent":    {plain[0], {Event: event.Event{Turn: 1, SubagentID: "s", Data: plain[1].Data}}, plain[2]},
		"another text":      {plain[0], text(1, "x"), plain[2], plain[3]},
		"the other way":     {plain[3], plain[2], plain[1], plain[0]},
		"nothing":           {},
		"the last one more": append(slices.Clone(plain), plain[3]),
	} {
		t.Run(name, func(t *testing.T) {
			written := 0
			count := func(s string) string {
				written += strings.Count(s, "\n")
				return s
			}
			want := (&Run{Events: faulted}).Canonical()
			got := (&Run{Events: faulted, ToRecorded: count, Plain: &Run{Events: plain}}).Canonical()
			if !slices.Equal(got, want) {
				t.Errorf("Canonical() = %q, want %q", got, want)
			}
			if name == "a notice more" && written != 1 {
				t.Error("encoded again: " + strconv.Itoa(written) + " events, want the notice alone")
			}
		})
	}
}
