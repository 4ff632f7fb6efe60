package replay

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// golden returns the events of every fifth of the newest recordings, by case.
func golden(t *testing.T) map[string][]event.Event {
	t.Helper()
	c := fixtures.Embedded()
	ids, err := c.CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]event.Event{}
	for i, id := range fixtures.Newest(ids) {
		if i%5 != 0 {
			continue
		}
		lines, err := c.GoldenEvents(id)
		if err != nil || slices.ContainsFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte("<repeat:")) }) {
			continue // no events of a reference adapter, or a flood
		}
		var events []event.Event
		for _, line := range lines {
			e, err := event.Decode(line)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			events = append(events, e)
		}
		out[id] = events
	}
	return out
}

// TestAlterations demands that the chat of altered events matches them, that each
// alteration applies to some case, and that the chat then differs from that of the
// unaltered events.
func TestAlterations(t *testing.T) {
	altered, differ := map[string]int{}, map[string]int{}
	for id, all := range golden(t) {
		for _, events := range sessions(all) {
			for _, x := range alterations {
				some := x.alter(slices.Clone(events))
				if some == nil {
					continue
				}
				altered[x.name]++
				some = renumbered(some)
				var f conformance.Finding
				faithful(&f, x.name, some, altered[x.name]%2 == 0)
				for _, p := range f.Problems {
					t.Errorf("%s: %s", id, p.Text)
				}
				a := newAccount()
				for _, e := range events {
					a.add(e)
				}
				if problems, _ := a.unfaithful(replay.Reduce(some), events); len(problems) > 0 {
					differ[x.name]++
				}
			}
		}
	}
	for _, x := range alterations {
		said := strings.Contains(x.name, string(event.TypeToolOutput)) // the result repeats the output
		if altered[x.name] == 0 || differ[x.name] == 0 && !said {
			t.Errorf("%s%d cases are altered, and the chats of %d of them differ", x.name, altered[x.name], differ[x.name])
		}
	}
}
