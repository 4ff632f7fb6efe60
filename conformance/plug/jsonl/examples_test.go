package jsonl_test

import (
	"bytes"
	"os"
	"os/exec"
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
var examples = map[string]struct {
	file, program string
	good          func(version string) bool
	want          string
}{
	"python": {"claude.py", "python3", func(v string) bool { return minor(v, "Python 3.") >= 8 }, "the example in Python needs 3.8 or newer"},
	"typescript": {"claude.ts", "node", func(v string) bool { return major(v) > 22 || minor(v, "v22.") >= 18 },
		"Node runs TypeScript from 22.18 on"},
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
	for lang, x := range examples {
		b, err := os.ReadFile(filepath.Join("examples", lang, x.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n >= 160 {
			t.Errorf("%s has %d lines, want less than 160", x.file, n)
		}
	}
}

// TestExamplesWithFaults grades each example with the command in PROTOCOL.md: with faults, on
// a few cases, or on all with TURNSPEC_MATRIX=whole.
func TestExamplesWithFaults(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("it looks for no races: the examples are other programs")
	}
	cases := []string{"claude/2.1.329/permission/allow", "claude/2.1.329/stop/when-idle", "claude/2.1.329/tool/parallel"}
	if os.Getenv("TURNSPEC_MATRIX") == "whole" {
		cases = nil
	}
	for lang, x := range examples {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			s := &jsonl.Subject{Program: plug.Program{Title: x.file, Of: "claude", Command: []string{x.program, filepath.Join("examples", lang, x.file)}}}
			if failed, _ := judged(t, s, 1, cases...); len(failed) > 0 {
				t.Errorf("%v", failed)
			}
		})
	}
}

// TestExamplesPass checks that each example is plugged in and passes the checks for
// what it supports.
func TestExamplesPass(t *testing.T) {
	t.Parallel()
	for lang, x := range examples {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			g := gomega.NewWithT(t)
			s := &jsonl.Subject{Program: plug.Program{Title: x.file, Of: "claude", Command: []string{x.program, filepath.Join("examples", lang, x.file)}}}
			for _, step := range smoke(t, s) {
				g.Expect(step.Err).NotTo(gomega.HaveOccurred(), step.Name)
			}
			failed, rep := judged(t, s, 0, "claude/2.1.329/text/*", "claude/2.1.329/tool/text-tool-text-three-rounds", "claude/2.1.329/permission/*",
				"claude/2.1.329/process/*", "claude/2.1.329/plan/*", "claude/2.1.329/limit/*", "claude/2.1.329/subagent/asks-beside-the-turn", "claude/2.1.329/turn/two-turns-one-process")
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
