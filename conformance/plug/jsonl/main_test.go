package jsonl_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

// asProgram is the first argument if this program runs as one of programs.
const asProgram = "turnspec-test-program"

func TestMain(m *testing.M) {
	conformance.Main()
	addBroken()
	addMatrix()
	addOwnWords()
	if len(os.Args) >= 3 && os.Args[1] == asProgram {
		programs[os.Args[2]]()
		os.Exit(0)
	}
	patient.Parallel()
	patient.DirectPython()
	os.Exit(m.Run())
}

// of returns one of programs as a subject.
func of(t *testing.T, name, runtime string) *jsonl.Subject {
	t.Helper()
	if programs[name] == nil {
		t.Fatalf("no program %q", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &jsonl.Subject{Program: plug.Program{Title: name, Of: runtime, Command: []string{self, asProgram, name}}}
}

// play replays a case against a subject.
func play(t *testing.T, s conformance.Subject, id string) *conformance.Run {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	scn, scnErr := fixtures.LoadScenario(c.Scenario)
	life, lifeErr := fixtures.LoadReadReplies(c.Runtime, c.Version)
	if err := errors.Join(scnErr, lifeErr); err != nil {
		t.Fatal(err)
	}
	return perform.Process(context.Background(), s, perform.Recording{Case: c, Scenario: scn, Lifecycle: life}, nil)
}

func smoke(t *testing.T, s *jsonl.Subject) []jsonl.Step {
	t.Helper()
	return smokeOn(t, s, plain)
}

// smokeOn makes the smoke test on a case of the subject's runtime.
func smokeOn(t *testing.T, s *jsonl.Subject, id string) []jsonl.Step {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	scn, scnErr := fixtures.LoadScenario(c.Scenario)
	life, lifeErr := fixtures.LoadReadReplies(c.Runtime, c.Version)
	if err := errors.Join(scnErr, lifeErr); err != nil {
		t.Fatal(err)
	}
	return jsonl.Smoke(s, scn, c, life)
}
