package suite_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestReferenceAdapters checks that the reference adapters pass a sample of the corpus
// without known failures. CI runs them on all of it, with each check, by `turnspec run`.
func TestReferenceAdapters(t *testing.T) {
	suite.Run(t, conformance.Config{
		Cases:     sample(t),
		Corpus:    fixtures.Embedded(),
		Subjects:  subjects(),
		Checks:    backend.WithGoldens(fixtures.Embedded()),
		InProcess: true, // the race detector reports races of this process only
	})
}

func subjects() (out []conformance.Subject) {
	for _, a := range reference.All() {
		out = append(out, backend.Adapter(a.Capabilities().Runtime, a))
	}
	return out
}

// sample returns some of the newest cases: more for `make matrix`, and for the race detector,
// which looks for races between the cases.
func sample(t *testing.T) []string {
	t.Helper()
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	every := 80
	switch {
	case racesample.Whole():
		every = 8
	case racesample.Enabled:
		every = 40
	}
	var out []string
	for i, id := range fixtures.Newest(all) {
		if rt, _, _ := fixtures.SplitCaseID(id); i%every == 0 && (!racesample.Enabled || rt != "codexexec") {
			out = append(out, id)
		}
	}
	return out
}
