package requests

import (
	"reflect"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

func wireOf(lines ...fixtures.WireLine) *fixtures.Case {
	for i := range lines {
		lines[i].Line, lines[i].Process = i+1, 1
	}
	return &fixtures.Case{ID: "codex/1.0.0/text/plain", Runtime: "codex", Version: "1.0.0", Scenario: "text/plain", Wire: lines}
}

func out(text string) fixtures.WireLine {
	return fixtures.WireLine{Dir: fixtures.Out, Bytes: []byte(text)}
}
func log(text string) fixtures.WireLine {
	return fixtures.WireLine{Dir: fixtures.Err, Bytes: []byte(text)}
}
func in() fixtures.WireLine {
	return fixtures.WireLine{Dir: fixtures.In, Bytes: []byte(request)}
}

const request = `{"id":1,"method":"thread/start","params":{}}`

func TestEffect(t *testing.T) {
	const (
		result  = `{"id":1,"result":{"model":"m"}}`
		refused = `{"id":1,"error":{"code":-32600,"message":"Invalid request"}}`
	)
	plain := wireOf(in(), log("warming up"), out(result), fixtures.WireLine{Dir: fixtures.Exit})
	for name, c := range map[string]struct {
		seen   *seen
		effect refusal.Effect
		text   string
	}{
		"the same":              {&seen{wire: wireOf(in(), out(result), fixtures.WireLine{Dir: fixtures.Exit})}, refusal.EffectNone, ""},
		"an error":              {&seen{wire: wireOf(in(), out(refused), fixtures.WireLine{Dir: fixtures.Exit})}, refusal.EffectRefuses, `{"code":-32600,"message":"Invalid request"}`},
		"an exit":               {&seen{wire: wireOf(in(), log("warming up"), log("bad option"), fixtures.WireLine{Dir: fixtures.Exit, Code: 2})}, refusal.EffectExits, "bad option"},
		"an exit without words": {&seen{wire: wireOf(in(), fixtures.WireLine{Dir: fixtures.Exit, Code: 2})}, refusal.EffectDiffers, ""},
		"nothing":               {&seen{wire: wireOf(in()), cut: true, cutAt: 1}, refusal.EffectSilent, ""},
		"too little":            {&seen{wire: wireOf(in(), out(result), in()), cut: true, cutAt: 2}, refusal.EffectDiffers, ""},
		"nothing, as none runs": {&seen{wire: wireOf(in()), cut: true, exited: true}, refusal.EffectDiffers, ""},
		"another result":        {&seen{wire: wireOf(in(), out(`{"id":1,"result":{"model":"n"}}`), fixtures.WireLine{Dir: fixtures.Exit})}, refusal.EffectDiffers, ""},
	} {
		var got refusal.Outcome
		c.seen.outcome(plain, nil, "", &got)
		if text := string(got.Error) + got.Message; got.Effect != c.effect || text != c.text {
			t.Errorf("%s: %s %q, want %s %q", name, got.Effect, text, c.effect, c.text)
		}
	}
}

// What a client writes last may never be read.
func TestUnread(t *testing.T) {
	last := fixtures.WireLine{Dir: fixtures.In, Bytes: []byte(`{"id":0,"error":{"code":1,"message":"gone"}}`)}
	got := unread(wireOf(in(), out(`{"id":1,"result":{}}`), last))
	for fact, want := range map[string]bool{"thread/start": false, "thread/start params": false, "answer error.code": true} {
		if unread, ok := got[fact]; !ok || unread != want {
			t.Errorf("%s: unread %t, want %t, of %v", fact, unread, want, got)
		}
	}
}

func TestListed(t *testing.T) {
	for _, c := range []struct {
		message, value string
		want           int
	}{
		{"option '--f <f>' argument 'x' is invalid. Allowed choices are text, json, stream-json.", "json", 3},
		{"error: invalid value 'x' for '--s <S>'\n  [possible values: read-only, all]", "all", 2},
		{"--level  [choices: \"HIGH\", \"LOW\"]\n--format  [choices: \"default\", \"json\"]", "json", 2},
		{"--level  [choices: \"HIGH\", \"LOW\"]", "json", 0}, // of another option
		{"Error: Expected message role 'user', got 'x'", "user", 1},
		{"Error: No such file or directory", "/work", 0},
	} {
		if got := listed(c.message, c.value); len(got) != c.want {
			t.Errorf("%s: %q, want %d", c.message, got, c.want)
		}
	}
}

// A check that fails on the runtime too judges what the client wrote.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		row  Row
		want Verdict
	}{
		"both do the same":               {Row{}, Agrees},
		"a check of the stand-in":        {Row{Seen: []string{"text.whole"}}, TooStrict},
		"a check of both":                {Row{Seen: []string{"text.whole"}, Outcome: refusal.Outcome{Fails: []string{"text.whole"}}}, Agrees},
		"one of both, one of one":        {Row{Seen: []string{"text.whole", "usage.reported"}, Outcome: refusal.Outcome{Fails: []string{"text.whole"}}}, TooStrict},
		"what the user chose":            {Row{Seen: []string{"session.open-options"}}, Agrees},
		"a run that does not end":        {Row{Seen: []string{"unfinished"}}, TooStrict},
		"a refusal that no check sees":   {Row{Outcome: refusal.Outcome{Effect: refusal.EffectRefuses}}, TooKind},
		"what the wire demands":          {Row{Seen: []string{"wire.valid-input"}}, TooStrict},
		"another answer than the user's": {Row{Seen: []string{"wire.valid-input"}, contrary: true}, Agrees},
		"a refusal of both that no check sees": {
			Row{Outcome: refusal.Outcome{Effect: refusal.EffectRefuses}, StandIn: refusal.Outcome{Effect: refusal.EffectRefuses}}, TooKind,
		},
		"a refusal of both in a run that is not judged": {
			Row{Outcome: refusal.Outcome{Effect: refusal.EffectRefuses}, StandIn: refusal.Outcome{Effect: refusal.EffectRefuses}, unrecorded: true}, Agrees,
		},
		"a refusal alone, in a run that is not judged": {
			Row{Outcome: refusal.Outcome{Effect: refusal.EffectRefuses}, StandIn: refusal.Outcome{Effect: refusal.EffectNone}, unrecorded: true}, TooKind,
		},
		"another exit code": {
			Row{
				Outcome: refusal.Outcome{Effect: refusal.EffectExits, Code: 1}, StandIn: refusal.Outcome{Effect: refusal.EffectExits, Code: 2},
				Seen: []string{"session.returns"},
			}, OtherAnswer,
		},
		"something else, and no check sees it": {
			Row{Outcome: refusal.Outcome{Effect: refusal.EffectDiffers}, StandIn: refusal.Outcome{Effect: refusal.EffectNone}}, Unseen,
		},
	} {
		if c.row.Effect == "" {
			c.row.Effect = refusal.EffectNone
		}
		if got := c.row.judge(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestChanges merges rows with the changes that are stored: what was tried again in a scenario takes
// the place of what is stored of it.
func TestChanges(t *testing.T) {
	of := func(effect refusal.Effect, scenarios ...string) refusal.Outcome {
		return refusal.Outcome{Fact: "prompt id", Change: refusal.EditNull, Effect: effect, Scenarios: scenarios}
	}
	rows := []Row{
		{Outcome: of(refusal.EffectRefuses), Scenario: "b"},
		{Outcome: of(refusal.EffectRefuses), Scenario: "a"},
	}
	for name, c := range map[string]struct{ stored, want []refusal.Outcome }{
		"nothing stored":             {nil, []refusal.Outcome{of(refusal.EffectRefuses, "a", "b")}},
		"the same, elsewhere":        {[]refusal.Outcome{of(refusal.EffectRefuses, "c")}, []refusal.Outcome{of(refusal.EffectRefuses, "a", "b", "c")}},
		"another, tried again":       {[]refusal.Outcome{of(refusal.EffectNone, "a", "b")}, []refusal.Outcome{of(refusal.EffectRefuses, "a", "b")}},
		"another, in part elsewhere": {[]refusal.Outcome{of(refusal.EffectNone, "a", "c")}, []refusal.Outcome{of(refusal.EffectNone, "c"), of(refusal.EffectRefuses, "a", "b")}},
	} {
		if got := Changes(rows, c.stored); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestIsContrary takes an answer for contrary only if nothing else is wrong with what was written.
func TestIsContrary(t *testing.T) {
	contrary, asChosen := standin.ClientAction{Contrary: "allows what the user denied"}, standin.ClientAction{}
	for name, c := range map[string]struct {
		run  conformance.Run
		want bool
	}{
		"nothing":          {conformance.Run{ClientActions: []standin.ClientAction{asChosen}}, false},
		"one":              {conformance.Run{ClientActions: []standin.ClientAction{asChosen, contrary}, Violations: []string{"it"}}, true},
		"one and a misfit": {conformance.Run{ClientActions: []standin.ClientAction{contrary}, Violations: []string{"it", "a misfit"}}, false},
		"a misfit alone":   {conformance.Run{ClientActions: []standin.ClientAction{asChosen}, Violations: []string{"a misfit"}}, false},
	} {
		if got := isContrary(&c.run); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
