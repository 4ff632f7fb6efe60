package starter_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/patient"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/starter"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func TestMain(m *testing.M) {
	conformance.Main()
	patient.Parallel()
	patient.DirectPython()
	os.Exit(m.Run())
}

// plain is the newest case of the smoke test of each runtime.
var plain = map[string]string{"claude": "claude/newest/text/plain", "codex": "codex/newest/text/plain"}

// write writes a project as init does, with the library that it imports, and returns
// its folder.
func write(t *testing.T, language, runtime string) string {
	t.Helper()
	dir := t.TempDir()
	files, _, err := starter.Project{Language: language, Runtime: runtime}.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(f.Content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	switch language {
	case "typescript":
		err = os.CopyFS(filepath.Join(dir, "node_modules", "@turnspec", "plug"), os.DirFS("../typescript"))
	case "python":
		err = os.CopyFS(filepath.Join(dir, starter.Folder, "turnspec_plug"), os.DirFS("../python/src/turnspec_plug"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// command returns the command of a project's plug, which it builds if needed.
func command(t *testing.T, language, dir, program string) []string {
	t.Helper()
	folder := filepath.Join(dir, starter.Folder)
	switch language {
	case "typescript":
		need(t, "node")
		needTypeScript(t)
		return []string{"node", filepath.Join(folder, program+".ts")}
	case "python":
		need(t, "python3")
		return []string{"python3", filepath.Join(folder, program+".py")}
	}
	need(t, "cargo")
	build := exec.Command("cargo", "build", "-q", "--offline", "--manifest-path", filepath.Join(folder, "Cargo.toml"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{filepath.Join(folder, "target", "debug", program)}
}

// need skips the test if a program is missing, except in CI, which installs all.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal(program + " is missing")
	}
	t.Skip(program + " is missing")
}

// needTypeScript skips the test if Node does not run TypeScript, except in CI.
func needTypeScript(t *testing.T) {
	t.Helper()
	const runs = "const [a, b] = process.versions.node.split('.'); process.exit(a > 22 || a == 22 && b >= 18 ? 0 : 1)"
	if exec.Command("node", "-e", runs).Run() == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("node is too old: it runs TypeScript from 22.18 on")
	}
	t.Skip("node is too old: it runs TypeScript from 22.18 on")
}

// faults are those that are tried without TURNSPEC_MATRIX=whole: each ends a turn, or the
// session, in another way. A run of lost-end or endless-end takes half a minute, until the suite
// gives up waiting for a turn that has no end.
var faults = []string{"close-stdout", "duplicate-end", "kill", "exit-without-newline", "no-program"}

// TestStartersPass grades the adapters that init writes, as they are written, with
// faults: one turn of text with a few faults, or with all if TURNSPEC_MATRIX is whole.
func TestStartersPass(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it looks for no races: the starters are other programs")
	}
	for _, c := range []struct{ language, runtime, program string }{
		{"typescript", "claude", "plug"},
		{"typescript", "claude", "text"},
		{"typescript", "codex", "plug"},
		{"python", "claude", "plug"},
		{"python", "claude", "text"},
		{"python", "codex", "plug"},
		{"rust", "claude", "plug"},
	} {
		t.Run(c.language+"/"+c.runtime+"/"+c.program, func(t *testing.T) {
			t.Parallel()
			if c.program == "text" && !racesample.Whole() {
				t.Skip("TestPlugsAreShort of package jsonl runs it without faults; TURNSPEC_MATRIX=whole runs it here")
			}
			dir := write(t, c.language, c.runtime)
			if c.program == "text" { // the example of ADAPTERS.md, beside the same adapter
				texts := map[string]string{"typescript": "text.ts", "python": "text.py"}
				b, err := os.ReadFile(filepath.Join(c.language, c.runtime, texts[c.language]))
				if err := errors.Join(err, os.WriteFile(filepath.Join(dir, starter.Folder, texts[c.language]), b, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			passed, failed := grade(t, c.runtime, command(t, c.language, dir, c.program))
			g := NewWithT(t)
			g.Expect(failed).To(BeEmpty())
			g.Expect(passed).To(ContainElements("text.once", "text.order", "turn.one-terminal", "process.start-failure", "process.graceful-close"))
		})
	}
}

// grade returns the checks that passed, and the failures.
func grade(t *testing.T, runtime string, command []string) (passed, failed []string) {
	t.Helper()
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Checks: checks.All(), Workers: 4, Places: 1,
		Subjects: []conformance.Subject{&jsonl.Subject{Program: plug.Program{Title: "starter", Of: runtime, Command: command}}},
		Cases:    []string{plain[runtime]},
	}
	if !racesample.Whole() {
		for i, c := range cfg.Checks {
			cfg.Checks[i] = withFaults(c, faults)
		}
		cfg.Checks = slices.DeleteFunc(cfg.Checks, func(c *conformance.Check) bool { return c == nil })
	}
	rep, err := runner.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.FaultRuns < len(faults)/2 {
		t.Errorf("only %d runs with a fault", rep.FaultRuns)
	}
	for _, r := range rep.Results {
		switch {
		case r.Verdict.Bad(), r.Verdict == conformance.Unrecorded:
			text := r.Check.ID + " in " + r.Case + ": " + string(r.Verdict) + ": " + r.Reason
			for _, p := range r.Problems {
				text += "\n  " + p.Text + p.Diff
			}
			failed = append(failed, text)
		case r.Verdict == conformance.Pass && !slices.Contains(passed, r.Check.ID):
			passed = append(passed, r.Check.ID)
		}
	}
	return passed, failed
}

// withFaults returns a copy of a check with those of its faults that are in names; nil
// if it judges nothing else.
func withFaults(c *conformance.Check, names []string) *conformance.Check {
	less := *c
	less.Faults = slices.DeleteFunc(slices.Clone(c.Faults), func(name string) bool { return !slices.Contains(names, name) })
	if len(less.Faults) == 0 {
		less.JudgeFault = nil
	}
	if less.Judge == nil && less.JudgeFault == nil {
		return nil
	}
	return &less
}

// TestSkeletonsNameTheNextStep checks that a plug without an adapter is started, and that
// the smoke test says what to write.
func TestSkeletonsNameTheNextStep(t *testing.T) {
	const id = "pi/0.73.1/text/plain"
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	scn, scnErr := fixtures.LoadScenario(c.Scenario)
	replies, repliesErr := fixtures.LoadReadReplies(c.Runtime, c.Version)
	if err := errors.Join(scnErr, repliesErr); err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"typescript", "python", "rust"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := write(t, language, c.Runtime)
			s := &jsonl.Subject{Program: plug.Program{Title: "skeleton", Of: c.Runtime, Command: command(t, language, dir, "plug")}}
			var failed []string
			for _, step := range jsonl.Smoke(s, scn, c, replies) {
				if step.Err != nil {
					failed = append(failed, step.Name+": "+step.Err.Error())
				}
			}
			NewWithT(t).Expect(failed).To(ConsistOf(ContainSubstring("starts no adapter yet")))
		})
	}
}

// TestGoStarterPasses runs the test that init writes for Go, as a package of this module.
func TestGoStarterPasses(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it looks for no races: the starter runs the reference adapter")
	}
	for _, runtime := range []string{"claude", "codex"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			if runtime != "claude" && !racesample.Whole() {
				t.Skip("it differs by the name of a package only; TURNSPEC_MATRIX=whole runs it")
			}
			dir := write(t, "go", runtime)
			pkg := "_" + runtime // of this module; patterns such as ./... do not match it
			t.Cleanup(func() { _ = os.RemoveAll(pkg) })
			_ = os.RemoveAll(pkg) // of a run that was killed
			if err := os.CopyFS(pkg, os.DirFS(filepath.Join(dir, starter.Folder))); err != nil {
				t.Fatal(err)
			}
			test := exec.Command("go", "test", "-count=1", "-v", "-run", "TestConformance/text/plain", "./"+pkg)
			out, err := test.CombinedOutput()
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred(), string(out))
			g.Expect(string(out)).To(ContainSubstring("--- PASS: TestConformance/text/plain"))
		})
	}
}
