package facts_test

import (
	"math"
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// The shares of changes that checks must see: of all facts together, and of each fact that
// is changed often enough for a share to mean something. Words that are the adapter's own,
// such as its message for a crash, may be any.
const (
	minShare    = 0.97
	minOfFact   = 0.80
	oftenEnough = 20
)

// TestSweep demands that checks see the changes of facts, in a sample of the newest cases of
// all runtimes; TURNSPEC_MATRIX=whole takes all.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges a case some hundred times")
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	newest, every := fixtures.Newest(all), 40
	if racesample.Whole() {
		every = 1
	}
	subjects := map[string]conformance.Subject{}
	for _, a := range reference.All() {
		name := a.Capabilities().Runtime
		subjects[name] = backend.Adapter(name, a)
	}
	s := facts.Sweep{
		Checks: checks.All(), Workers: 2,
		Play: func(id string) (*conformance.Run, error) { return facts.Play(fixtures.Embedded(), subjects, id) },
	}
	for i := 0; i < len(newest); i += every {
		s.Cases = append(s.Cases, newest[i])
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried, caught := 0, 0
	for _, x := range swept {
		tried, caught = tried+x.Tried, caught+x.Caught
		chance := 0.0 // how far the share of a sample may be below that of all, by chance: two standard deviations
		if every > 1 {
			chance = 2 * math.Sqrt(minOfFact*(1-minOfFact)/float64(x.Tried))
		}
		if x.Tried >= oftenEnough && x.Share() < minOfFact-chance {
			t.Errorf("checks see %d of %d changes of %s; missed: %v", x.Caught, x.Tried, x.Fact, x.Missed)
		}
	}
	if share := float64(caught) / float64(max(tried, 1)); tried < 1000 || share < minShare {
		t.Errorf("checks see %d of %d changes, %.1f %%, want %.0f %%; `turnspec facts --sweep` lists the weakest facts", caught, tried, 100*share, 100*minShare)
	}
}

// TestChangedFactsAreSeen proves the sweep itself: a check that looks at a fact sees that it
// is left out, and no check sees a fact that none judges.
func TestChangedFactsAreSeen(t *testing.T) {
	named, err := checks.Named("turn.begins-once")
	if err != nil {
		t.Fatal(err)
	}
	s := facts.Sweep{
		Checks: named, Cases: []string{"codex/newest/text/plain"}, Facts: []string{"turn_start", "delta.text"},
		Play: func(id string) (*conformance.Run, error) { return facts.Play(fixtures.Embedded(), references(), id) },
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range swept {
		switch {
		case x.Fact == "delta.text" && (x.Caught != 0 || x.Tried < 2):
			t.Errorf("no check looks at %s, but %d of %d changes are seen", x.Fact, x.Caught, x.Tried)
		case x.Fact == "turn_start" && x.Caught != x.Tried:
			t.Errorf("%d of %d changes of %s are seen: %v", x.Caught, x.Tried, x.Fact, x.Missed)
		}
	}
	if len(swept) != 2 {
		t.Errorf("%d facts, want 2: %v", len(swept), swept)
	}
}

// minWritten is the share of the changes of what is written to a runtime that checks must see.
const minWritten = 0.45

// TestWritten demands that checks see changes of what the reference writes to the runtimes, in
// a sample of the newest cases; TURNSPEC_MATRIX=whole takes all.
func TestWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays a case some fifty times")
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	newest, every := fixtures.Newest(all), 60
	if racesample.Whole() {
		every = 1
	}
	s := facts.Written{Checks: checks.All(), Corpus: fixtures.Embedded(), Subjects: references(), Workers: 2}
	for i := 0; i < len(newest); i += every {
		s.Cases = append(s.Cases, newest[i])
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried, caught := 0, 0
	for _, x := range swept {
		tried, caught = tried+x.Tried, caught+x.Caught
	}
	if share := float64(caught) / float64(max(tried, 1)); tried < 500 || share < minWritten {
		t.Errorf("checks see %d of %d changes, %.1f %%, want %.0f %%; `turnspec facts --sweep --written` lists the weakest facts", caught, tried, 100*share, 100*minWritten)
	}
}
