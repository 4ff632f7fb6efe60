package explore

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance/lab/shrink"
	"github.com/turnspec/turnspec/fixtures"
)

// grounds learns runtimes from the corpus.
func grounds(t *testing.T, names ...string) (out []*Ground) {
	t.Helper()
	for _, name := range names {
		g, err := NewGround(fixtures.Embedded(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// TestPlansComposeScenarios checks that each plan, fresh or changed, gives a scenario that
// the loader accepts and that the runtime does not lack an ability for, and the same one each time.
func TestPlansComposeScenarios(t *testing.T) {
	for _, runtime := range grounds(t, Runtimes()...) {
		seen := map[string]bool{}
		last := Fresh(runtime, 2, 0)
		for i := range 200 {
			rng := newRand("test", uint64(i))
			p := Fresh(runtime, 1, i)
			for _, p := range []Plan{p, p.mutate(runtime, rng, last)} {
				text := p.Compose(runtime)
				if !bytes.Equal(text, p.Compose(runtime)) {
					t.Fatalf("%s: %s composes two texts", runtime.name, p)
				}
				s, err := Parse(text)
				if err != nil {
					t.Fatalf("%s: %s: %v\n%s", runtime.name, p, err, text)
				}
				if why := s.Excluded(runtime.name, runtime.version); why != "" {
					t.Fatalf("%s: %s: %s\n%s", runtime.name, p, why, text)
				}
				seen[Fingerprint(text)] = true
			}
			last = p
		}
		if len(seen) < 300 {
			t.Errorf("%s: 400 plans compose %d scenarios", runtime.name, len(seen))
		}
	}
}

// TestTextsAreDistinct checks that no two texts or thoughts of a scenario are equal, neither
// as composed nor in its plainest form: the checks of texts could not tell them apart.
func TestTextsAreDistinct(t *testing.T) {
	for _, runtime := range grounds(t, "claude", "codex") {
		for i := range 400 {
			text := Fresh(runtime, 3, i).Compose(runtime)
			for _, form := range [][]byte{text, shrink.ScenarioForms(text)[0]} {
				seen := map[string]bool{}
				for line := range strings.Lines(string(form)) {
					var parts []jsontext.Value
					_ = json.Unmarshal([]byte(line), &parts) // not each line is a reply
					for _, part := range parts {
						var p struct{ Text, Think []string }
						if json.Unmarshal(part, &p) != nil || len(p.Text)+len(p.Think) == 0 {
							continue
						}
						whole := strings.Join(append(p.Text, p.Think...), "")
						if seen[whole] {
							t.Fatalf("%s %d: two texts are %q:\n%s", runtime.name, i, whole, form)
						}
						seen[whole] = true
					}
				}
			}
		}
	}
}

// TestEachMoveIsComposed checks that each move of the grammar occurs in some scenario.
func TestEachMoveIsComposed(t *testing.T) {
	used := map[string]bool{}
	for _, runtime := range grounds(t, "claude", "codex") {
		for i := range 3000 {
			for _, m := range Fresh(runtime, 5, i).Moves {
				used[m.Move] = true
				for _, inner := range m.Inner {
					used[inner.Move] = true
				}
			}
		}
	}
	for _, m := range slices.Concat(grammar, rounds, endings) {
		if !used[m.name] {
			t.Errorf("%s never occurs", m.name)
		}
	}
}

// TestReductionsAreSmaller checks that each reduction of a plan has fewer moves, and that
// reductions of a text lead to valid scenarios.
func TestReductionsAreSmaller(t *testing.T) {
	size := func(p Plan) (n int) {
		for _, m := range p.Moves {
			n += 1 + len(m.Inner)
		}
		return n
	}
	valid, codex := 0, grounds(t, "codex")[0]
	for i := range 30 {
		p := Fresh(codex, 9, i)
		for _, smaller := range p.reductions() {
			if size(smaller) >= size(p) {
				t.Errorf("%s is not smaller than %s", smaller, p)
			}
		}
		text := p.Compose(codex)
		for _, smaller := range shrink.ScenarioForms(text) {
			if _, err := Parse(smaller); err == nil {
				valid++
			}
		}
	}
	if valid < 300 {
		t.Errorf("only %d reductions are scenarios", valid)
	}
}
