package jsonl_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// need looks for a program that an example needs. If it is missing, the test is
// skipped, except in CI.
func need(t *testing.T, name string, good func(version string) bool, want string) {
	t.Helper()
	out, err := exec.Command(name, "--version").Output()
	version := strings.TrimSpace(string(out))
	if err == nil && good(version) {
		return
	}
	why := name + " is missing: " + want
	if err == nil {
		why = name + " is " + version + ": " + want
	}
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// examples are complete adapters and the programs that they need.
var examples = map[string]example{
	"python/claude.py":     {"claude", "python3", hasPython, "the example in Python needs 3.8 or newer"},
	"python/codex.py":      {"codex", "python3", hasPython, "the example in Python needs 3.8 or newer"},
	"typescript/claude.ts": {"claude", "node", runsTypeScript, "Node runs TypeScript from 22.18 on"},
	"typescript/codex.ts":  {"codex", "node", runsTypeScript, "Node runs TypeScript from 22.18 on"},
}

type example struct {
	runtime, program string
	good             func(version string) bool
	want             string
}

func hasPython(version string) bool { return minor(version, "Python 3.") >= 8 }

func runsTypeScript(version string) bool { return major(version) > 22 || minor(version, "v22.") >= 18 }

// newest are the versions of the cases that the examples are tried on.
var newest = map[string]string{"claude": "claude/newest/", "codex": "codex/newest/"}

func (x example) cases(scenarios ...string) (out []string) {
	for _, s := range scenarios {
		out = append(out, newest[x.runtime]+s)
	}
	return out
}

func (x example) subject(file string) *jsonl.Subject {
	return &jsonl.Subject{Program: plug.Program{Title: path.Base(file), Of: x.runtime, Command: []string{x.program, filepath.Join("examples", filepath.FromSlash(file))}}}
}

func major(version string) int {
	n, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	v, _ := strconv.Atoi(n)
	return v
}

func minor(version, before string) int {
	rest, ok := strings.CutPrefix(version, before)
	if !ok {
		return -1
	}
	n, _, _ := strings.Cut(rest, ".")
	v, _ := strconv.Atoi(n)
	return v
}

func TestExamplesAreShort(t *testing.T) {
	limits := map[string]int{"claude": 165, "codex": 280} // a client of codex app-server makes and awaits requests
	for file, x := range examples {
		b, err := os.ReadFile(filepath.Join("examples", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n >= limits[x.runtime] {
			t.Errorf("%s has %d lines, want less than %d", file, n, limits[x.runtime])
		}
	}
}

// TestExamplesWithFaults grades each example with a few faults on one case, or, with
// TURNSPEC_MATRIX=whole, with the command in PROTOCOL.md: with all faults, on all cases.
func TestExamplesWithFaults(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("it looks for no races: the examples are other programs")
	}
	for file, x := range examples {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			faults, cases := endFaults, x.cases("text/plain")
			if racesample.Whole() {
				faults, cases = allFaults, nil
			}
			if failed, _ := judged(t, x.subject(file), faults, cases...); len(failed) > 0 {
				t.Errorf("%v", failed)
			}
		})
	}
}

// TestExamplesPass checks that each example is plugged in and passes the checks for
// what it supports: on one case of each kind, or on more with TURNSPEC_MATRIX=whole.
func TestExamplesPass(t *testing.T) {
	t.Parallel()
	scenarios := map[string][]string{
		"claude": {"text/plain", "tool/text-tool-text-three-rounds", "permission/allow", "permission/deny-with-a-message", "turn/two-turns-one-process"},
		"codex":  {"text/plain", "tool/text-tool-text-three-rounds", "permission/allow", "permission/deny-with-a-message", "turn/two-turns-one-process"},
	}
	if racesample.Whole() {
		scenarios = map[string][]string{
			"claude": {"text/*-*-*", "tool/text-tool-text-three-rounds", "permission/a*", "permission/deny*", "process/*", "plan/*", "limit/*", "subagent/asks-beside-the-turn", "turn/two-turns-one-process"},
			"codex":  {"text/*-*-*", "tool/text-tool-text-three-rounds", "permission/a*", "permission/deny*", "process/bad-flag", "file/patch-of-many", "subagent/asks-beside-the-turn", "turn/two-turns-one-process"},
		}
	}
	for file, x := range examples {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			g := gomega.NewWithT(t)
			s := x.subject(file)
			for _, step := range smokeOn(t, s, newest[x.runtime]+"text/plain") {
				g.Expect(step.Err).NotTo(gomega.HaveOccurred(), step.Name)
			}
			failed, rep := judged(t, s, noFaults, x.cases(scenarios[x.runtime]...)...)
			g.Expect(failed).To(gomega.BeEmpty())
			passed := map[string]int{}
			for _, r := range rep.Results {
				if r.Verdict == "pass" {
					passed[r.Check.ID]++
				}
			}
			for _, id := range []string{"text.once", "text.order", "tool.known", "tool.paired", "tool.output", "permission.asked", "permission.resolved", "turn.one-terminal"} {
				g.Expect(passed).To(gomega.HaveKey(id))
			}
		})
	}
}
