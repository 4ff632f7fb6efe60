package census_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
)

func TestTake(t *testing.T) {
	g := NewWithT(t)
	c := &fixtures.Case{Runtime: "codex", Scenario: "text/plain", Wire: []fixtures.WireLine{
		{Process: 1, Dir: fixtures.In, Bytes: []byte(`{"id":1,"method":"turn/start","params":{}}`)},
		{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"id":1,"result":{"turn":{"id":"0"}}}`)},
		{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"method":"item/started","params":{"item":{"type":"plan","id":"i1","states":{"9f-1":{"on":true}}}}}`)},
		{Process: 1, Dir: fixtures.Out, Bytes: []byte(`{"id":1,"method":"ask/it"}`)},
		{Process: 1, Dir: fixtures.In, Bytes: []byte(`{"id":1,"error":{"code":1,"message":"no"}}`)},
		{Process: 1, Dir: fixtures.Out, Bytes: []byte(`no json`)},
	}}
	got := census.Take([]*fixtures.Case{c})
	g.Expect(got.Kinds).To(HaveLen(5))
	g.Expect(got.Kinds).To(HaveKey("out answer to turn/start"))
	g.Expect(got.Kinds).To(HaveKey("in error to ask/it"), "each side counts its own requests")
	started := got.Kinds["out item/started(plan)"]
	g.Expect(started.Fields["params.item.type"].Values).To(HaveKey("plan"))
	g.Expect(started.Fields).To(HaveKey("params.item.states.*.on"), "a member that is named after data")
	g.Expect(got.Kinds["out answer to turn/start"].Fields["result.turn.id"].Forms).To(HaveKey("digits"))
}

func TestShown(t *testing.T) {
	g := NewWithT(t)
	kinds := map[string]*census.Kind{
		"out item/started(plan)": {Count: 2}, "out system/status": {Count: 3}, "in turn/start": {Count: 9}, "out codex/event/error": {Count: 4},
	}
	for name, want := range map[string]int{"item/started": 2, "plan": 2, "status": 3, "turn/start": 0, "codex/event/*": 4, "item/start": 0} {
		g.Expect(census.Shown(kinds, name)).To(Equal(want), name)
	}
}

func TestForm(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "12": "digits", "on-request": "word", "turn/start": "word", "Two words": "text", "/tmp/x": "path", "<work>/x": "path",
		"00000000-0000-4000-8000-5e5510000001": "uuid", "2026-11-21T00:00:00Z": "time", "call_1": "text", "end_turn": "word",
	} {
		if got := census.Form(text); got != want {
			t.Errorf("%q looks like %s, want %s", text, got, want)
		}
	}
}
