package main

import (
	"bytes"
	"testing"

	"github.com/turnspec/turnspec/conformance"
)

// TestEarlyVerdicts checks that a run prints the first failure of each check that fails it
// as it is found, and a summary after the first cases.
func TestEarlyVerdicts(t *testing.T) {
	check := func(id string, severity conformance.Severity) *conformance.Check {
		return &conformance.Check{ID: id, Severity: severity}
	}
	fails := func(c *conformance.Check, id string) conformance.Result {
		return conformance.Result{Check: c, Case: id, Verdict: conformance.Fail, Problems: []conformance.Problem{{Text: "it is \x1b[1mwrong\nat length"}}}
	}
	once, paired, hint := check("text.once", conformance.Must), check("tool.paired", conformance.Must), check("usage.hint", conformance.Should)
	known := fails(paired, "claude/1/tool/a")
	known.KnownFailure = &conformance.KnownFailure{}
	var out bytes.Buffer
	e := newEarly(&out, 54)
	for done := 1; done <= 12; done++ {
		results := []conformance.Result{{Check: paired, Verdict: conformance.Pass}, {Check: once, Verdict: conformance.Pass}, known, fails(hint, "claude/1/usage/a")}
		if done == 3 || done == 5 {
			results = append(results, fails(once, "claude/1/text/a"))
		}
		e.add(done, 12, results)
	}
	want := "first failure of text.once: claude/1/text/a: it is \\x…\nthe first 10 of 12 cases: checks passed: 1, failed: 1\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
