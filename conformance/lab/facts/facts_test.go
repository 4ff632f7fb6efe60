package facts_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
)

// envelope lists the fields of each event beside its data.
var envelope = []string{"ts", "seq", "session_id", "turn", "subagent_id"}

// references returns the reference adapters by their runtime.
func references() map[string]conformance.Subject {
	return map[string]conformance.Subject{"codex": backend.Adapter("codex", codex.New()), "claude": backend.Adapter("claude", claude.New())}
}

// caseIDs returns the cases of the reference adapters, on the newest version of each
// runtime. Neighbours, which resemble each other, come far apart.
func caseIDs(t *testing.T) []string {
	t.Helper()
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
		runtime, _, _ := fixtures.SplitCaseID(id)
		return references()[runtime] == nil
	})
	const stride = 10
	var out []string
	for first := range stride {
		for i := first; i < len(all); i += stride {
			out = append(out, all[i])
		}
	}
	return out
}

// TestJudgesNamesFacts checks that Check.Judges and the table of facts without a check
// name existing facts.
func TestJudgesNamesFacts(t *testing.T) {
	known := map[string]facts.Fact{}
	for _, f := range facts.All(backend.Checks()) {
		known[f.Name] = f
	}
	for _, c := range backend.Checks() {
		for i, name := range c.Judges {
			if _, ok := known[name]; !ok {
				t.Errorf("%s: Judges names %q, which is neither a type of event nor a field", c.ID, name)
			}
			if slices.Contains(c.Judges[:i], name) {
				t.Errorf("%s: Judges names %s twice", c.ID, name)
			}
		}
	}
	for _, name := range facts.Unjudged() {
		if _, ok := known[name]; !ok {
			t.Errorf("unjudged.go names %q, which is neither a type of event nor a field", name)
		}
	}
}

// TestEveryEmittedFactIsJudged demands that a check outside the golden tier judges
// each fact that a golden holds, or that unjudged.go says why none does.
func TestEveryEmittedFactIsJudged(t *testing.T) {
	emitted := map[string]string{} // fact → a case
	for _, id := range caseIDs(t) {
		events, err := fixtures.Embedded().GoldenEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range events {
			var e struct {
				Type string         `json:"type"`
				Data jsontext.Value `json:"data"`
			}
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			addEmitted(emitted, e.Type, e.Data, id)
		}
	}
	for _, f := range facts.All(backend.Checks()) {
		id, ok := emitted[f.Name]
		if !ok {
			id, ok = "every case", slices.Contains(envelope, f.Name)
		}
		switch {
		case ok && len(f.Checks) == 0 && f.Unjudged == "":
			t.Errorf("no check judges %s, which %s holds; add a check, or the reason to unjudged.go", f.Name, id)
		case len(f.Checks) > 0 && f.Unjudged != "":
			t.Errorf("%s is judged by %v; remove it from unjudged.go", f.Name, f.Checks)
		}
	}
}

func addEmitted(emitted map[string]string, path string, v jsontext.Value, id string) {
	if emitted[path] == "" {
		emitted[path] = id
	}
	var members map[string]jsontext.Value
	var elements []jsontext.Value
	switch v.Kind() {
	case '{':
		if json.Unmarshal(v, &members, jsontext.AllowDuplicateNames(true)) == nil {
			for name, m := range members {
				addEmitted(emitted, path+"."+name, m, id)
			}
		}
	case '[':
		if json.Unmarshal(v, &elements) == nil {
			for _, x := range elements {
				addEmitted(emitted, path, x, id)
			}
		}
	}
}
