package coverage_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/coverage"
)

// allMembers are those of all runtimes, which take seconds to count.
var allMembers = sync.OnceValues(func() ([]*coverage.Member, error) { return coverage.MembersOf(fixtures.Embedded(), wires.Names()) })

// TestMembersVary demands that each member of events has at least two values in the goldens
// of all runtimes, or a reason in reasons.txt: an adapter that always emits the same value
// could not be told from one that is right. Like TestMembersOf it takes seconds, and the corpus rarely
// changes: .ci/run runs it with its step corpus.
func TestMembersVary(t *testing.T) {
	skipByDay(t)
	members, err := allMembers()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Runtime == "" && m.Gap() && m.Reason == "" {
			t.Errorf("%s has %d values in the corpus %s: write a scenario in which it has another, or a reason into reasons.txt", m.Key(), m.Values, m.Only)
		}
	}
	for _, pattern := range coverage.StaleReasons(members) {
		t.Errorf("reasons.txt: no member that never varies fits %s", pattern)
	}
}

// TestMembersOf checks what counts as a value: that of an element and not the list, a flag that
// is absent, and the words of a closed list that do not occur.
func TestMembersOf(t *testing.T) {
	skipByDay(t)
	members, err := allMembers()
	if err != nil {
		t.Fatal(err)
	}
	find := func(runtime, of, name string) *coverage.Member {
		i := slices.IndexFunc(members, func(m *coverage.Member) bool { return m.Runtime == runtime && m.Of == of && m.Name == name })
		if i < 0 {
			t.Fatalf("no member %s of %s, runtime %q", name, of, runtime)
		}
		return members[i]
	}
	if m := find("claude", "event", "session_ready.runtime"); !m.Gap() || m.Only != `"claude"` {
		t.Errorf("session_ready.runtime of one runtime: %+v, want one value", m)
	}
	if m := find("claude", "event", "thinking.done"); m.Values != 2 {
		t.Errorf("thinking.done, a flag that is often absent: %+v, want two values", m)
	}
	if m := find("claude", "event", "plan.steps.status"); m.Values < 3 || m.Values > 4 {
		t.Errorf("plan.steps.status, a member of elements: %+v, want the values of the elements", m)
	}
	if m := find("claude", "event", "error.code"); !slices.Contains(m.Never, "protocol") {
		t.Errorf("error.code: %+v, want the code that no golden has", m)
	}
	if m := find("claude", "out result/success", "type"); !m.Gap() {
		t.Errorf("type of a kind of line: %+v, want one value", m)
	}
	if m := find("claude", "out result/success", "duration_ms"); m.Gap() {
		t.Errorf("duration_ms: %+v, want several values", m)
	}
}

func skipByDay(t *testing.T) {
	t.Helper()
	if !racesample.Whole() {
		t.Skip("it reads all goldens: set TURNSPEC_MATRIX=whole")
	}
}
