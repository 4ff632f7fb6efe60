package mapping_test

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestRoundTrip translates the events of each case to dialects and reads them back. The result must
// be what the rules of the mapping name of the events. It takes the cases of the newest version of
// each runtime, or all if TURNSPEC_MATRIX is whole.
func TestRoundTrip(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	if !racesample.Whole() {
		ids = fixtures.Newest(ids)
	}
	for name, rewrite := range rewrites {
		m, err := mapping.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := dialects.Of(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, id := range racesample.Sample(ids, 15) {
				for session, events := range sessionsOf(t, id) {
					got, want := readBack(t, m, d, events), namedIn(m, rewrite(events))
					for i := range max(len(got), len(want)) {
						g, w := append(got, "nothing")[min(i, len(got))], append(want, "nothing")[min(i, len(want))]
						if g != w {
							t.Errorf("%s: session %s: event %d is %s, want %s", id, session, i+1, g, w)
							break
						}
					}
				}
			}
		})
	}
}

// rewrites say what each dialect has of events in another form, or not at all.
var rewrites = map[string]func([]event.Event) []event.Event{
	"agentui": func(events []event.Event) []event.Event { return wholeOutputs(resultAsText(events)) },
	"wsmessages": func(events []event.Event) []event.Event {
		return mainAgent(wholeOutputs(resultAsText(withoutActivity(events))))
	},
}

// mainAgent leaves out the events of sub-agents.
func mainAgent(events []event.Event) []event.Event {
	return slices.DeleteFunc(events, func(e event.Event) bool { return e.SubagentID != "" })
}

// withoutActivity leaves out thinking that has neither text nor an end.
func withoutActivity(events []event.Event) []event.Event {
	return slices.DeleteFunc(events, func(e event.Event) bool {
		d, is := e.Data.(event.Thinking)
		return is && d.Text == "" && !d.Done
	})
}

// resultAsText makes a text of the result of a turn that has none.
func resultAsText(events []event.Event) []event.Event {
	var out []event.Event
	texts := map[int]int{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			texts[e.Turn]++
		case event.Result:
			if texts[e.Turn] > 0 || d.Text == "" || e.SubagentID != "" {
				continue
			}
			e.Data = event.Delta{Text: d.Text, BlockID: "result"}
			out = append(out, e)
			e.Data = event.BlockEnd{BlockID: "result", Status: event.BlockComplete}
		}
		out = append(out, e)
	}
	return out
}

// wholeOutputs gives a result without an output what the tool has written.
func wholeOutputs(events []event.Event) []event.Event {
	outputs := map[string]string{}
	for i, e := range events {
		switch d := e.Data.(type) {
		case event.ToolOutput:
			outputs[e.SubagentID+d.ToolUseID] += d.Text
		case event.ToolResult:
			d.Output = cmp.Or(d.Output, outputs[e.SubagentID+d.ToolUseID])
			events[i].Data = d
		}
	}
	return events
}

// sessionsOf returns the stored events of a case, by session.
func sessionsOf(t *testing.T, id string) map[string][]event.Event {
	t.Helper()
	lines, err := fixtures.Embedded().GoldenEvents(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out := map[string][]event.Event{}
	for _, line := range lines {
		e, err := event.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		out[e.SessionID] = append(out[e.SessionID], e)
	}
	return out
}

// readBack returns the events that the messages of a dialect become.
func readBack(t *testing.T, m *mapping.Mapping, d dialects.Dialect, events []event.Event) []string {
	t.Helper()
	translate, r, checker := d.New(), m.NewReader(), backend.Strict(m).NewChecker()
	var out []string
	for _, e := range events {
		for _, message := range translate(e) {
			for _, p := range checker.Add(message.Line) {
				t.Errorf("%s: %s", p.Text, message.Line)
			}
			read, err := r.Read(message.Line)
			if err != nil {
				t.Errorf("%v: %s", err, message.Line)
			}
			for _, e := range read {
				out = append(out, printed(e.Type, e.Data))
			}
		}
	}
	return out
}

// namedIn returns what the rules of a mapping name of events.
func namedIn(m *mapping.Mapping, events []event.Event) []string {
	var out []string
	for _, e := range events {
		if !slices.Contains(m.Types(), e.Type()) {
			continue
		}
		var data map[string]jsontext.Value
		b, err := json.Marshal(e.Data)
		if err == nil {
			err = json.Unmarshal(b, &data)
		}
		if err != nil {
			panic(err) // e was decoded from JSON
		}
		for name := range data {
			if !m.Names(e.Type(), name) {
				delete(data, name)
			}
		}
		if e.SubagentID != "" && m.Names(e.Type(), "subagent_id") {
			data["subagent_id"], _ = json.Marshal(e.SubagentID)
		}
		out = append(out, printed(e.Type(), data))
	}
	return out
}

// printed returns an event as a text. Members that are empty are left out.
func printed(t event.Type, data map[string]jsontext.Value) string {
	out := string(t)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		v := data[name].Clone()
		if v.Canonicalize() == nil && !slices.Contains([]string{`""`, "false", "null", "0"}, string(v)) {
			out += " " + name + "=" + string(v)
		}
	}
	return out
}
