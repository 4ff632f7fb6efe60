package jsonl_test

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

// undemanded are the abilities that no scenario needs: limits serve faults only, the bridge
// has no policy, and what streams inputs is performed without them too.
var undemanded = []string{plug.CanLimits, plug.CanPolicy, "stream_tool_input"}

// TestDeclinesWhatIsRefused checks that a program that does not declare an ability refuses,
// when it is run, the first case that is declined for it.
func TestDeclinesWhatIsRefused(t *testing.T) {
	t.Parallel()
	for _, ability := range jsonl.Abilities() {
		if slices.Contains(undemanded, ability) {
			continue
		}
		t.Run(ability, func(t *testing.T) {
			t.Parallel()
			runtime, id := firstDeclined(t, ability)
			s := of(t, runtime+" cannot "+ability, runtime)
			performed := play(t, s, id)
			if judge.Unsupported(performed) == "" {
				t.Errorf("%s is declined without %s, but a program without it performs it", id, ability)
			}
			if len(performed.Opens)+len(performed.ClientActions) == 0 && performed.Took == 0 {
				t.Errorf("%s: the first run must start the program", id)
			}
			if again := play(t, s, id); judge.Unsupported(again) == "" || again.Took != 0 {
				t.Errorf("%s was performed although the program had declared that it cannot %s", id, ability)
			}
		})
	}
}

// TestDeclinesNothingOfTheAble checks that no scenario is declined for a program with all
// abilities.
func TestDeclinesNothingOfTheAble(t *testing.T) {
	s := &jsonl.Subject{}
	s.Store(plug.Declaration{Can: jsonl.Abilities()})
	scenarios, err := fixtures.Embedded().Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, scn := range scenarios {
		if step, err := s.Declines(scn); err != nil {
			t.Errorf("%s: %s: %v", scn.ID, step.Verb, err)
		}
	}
}

// firstDeclined returns the first case that is declined without an ability.
func firstDeclined(t *testing.T, ability string) (runtime, id string) {
	t.Helper()
	s := &jsonl.Subject{}
	s.Store(plug.Declaration{Can: slices.DeleteFunc(jsonl.Abilities(), func(a string) bool { return a == ability })})
	for _, version := range []string{"claude/newest/", "codex/newest/"} {
		scenarios, err := fixtures.Embedded().Scenarios()
		if err != nil {
			t.Fatal(err)
		}
		for _, scn := range scenarios {
			if _, err := s.Declines(scn); err == nil {
				continue
			}
			runtime, _, _ := fixtures.SplitCaseID(version + scn.ID)
			if c, err := fixtures.LoadCase(version + scn.ID); err == nil && scn.Inexpressible(runtime) == "" {
				return c.Runtime, c.ID
			}
		}
	}
	t.Fatalf("no case needs %s", ability)
	return "", ""
}
