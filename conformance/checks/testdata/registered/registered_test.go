// Package registered tests a check that package checks does not have. TestToyCheck of that
// package compiles it with the check.
package registered

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/adapter"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/recorder"
	toy "github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/wire"
)

const id = "text.marks"

// toyCorpus returns a corpus with a recording of the scenario of the check.
func toyCorpus(t *testing.T) fixtures.Corpus {
	t.Helper()
	text, err := os.ReadFile("../toy/fixtures/scenarios/text/marks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scn, err := fixtures.ParseScenario("marks.txtar", "text/marks", text)
	if err != nil {
		t.Fatal(err)
	}
	recording, err := recorder.Record(scn)
	if err != nil {
		t.Fatal(err)
	}
	return fixtures.Corpus{Root: "toys", FS: fstest.MapFS{
		"scenarios/text/marks.txtar": {Data: text},
		"toy/1.0.0/text/marks.txtar": {Data: recording},
	}}
}

// TestVerdicts runs the scenario of the check against an adapter and against the broken one,
// and a recorded case of a real runtime in which the fact shows too.
func TestVerdicts(t *testing.T) {
	runtimes.Register(toy.Runtime)
	judges, err := backend.Named(id)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(backend.Broken(), func(a broken.Adapter) bool { return a.Proves == id })
	if i < 0 {
		t.Fatal("no broken adapter proves", id)
	}
	for _, x := range []struct {
		corpus  fixtures.Corpus
		id      string
		subject conformance.Subject
	}{
		{toyCorpus(t), "toy/1.0.0/text/marks", adapter.Subject{}},
		{fixtures.Embedded(), "claude/newest/text/unicode-and-markdown", backend.Adapter("claude", claude.New())},
	} {
		for subject, want := range map[conformance.Subject]conformance.Verdict{
			x.subject:                              conformance.Pass,
			backend.Broken()[i].Subject(x.subject): conformance.Fail,
		} {
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: x.corpus, Subjects: []conformance.Subject{subject}, Checks: judges,
				Cases: []string{x.corpus.Resolve(x.id)}, Tiers: []conformance.Tier{conformance.TierWitness},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(rep.Results) != 1 || rep.Results[0].Verdict != want || rep.Results[0].Assertions == 0 {
				t.Errorf("%s on %s: want %v: %+v", subject.Name(), x.id, want, rep.Results)
			}
		}
	}
}
