//go:build dist

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// The tests of this file do what `turnspec init` prints, with the built files: each
// project runs as it is, and shows the check that a broken adapter fails.

// someCases makes the tests of a project short.
const someCases = "TURNSPEC_ARGS=--case claude/newest/text/plain --check text"

// tested runs a test command in a folder and returns whether it passed, and its output.
func tested(t *testing.T, dir string, env []string, name string, args ...string) (bool, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "NO_COLOR=1")...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return err == nil, string(out)
}

// breakAdapter makes the adapter of a project emit each text twice.
func breakAdapter(t *testing.T, file, line string) {
	t.Helper()
	g := NewWithT(t)
	b, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	indent := regexp.MustCompile(`(?m)^.*` + regexp.QuoteMeta(line) + `.*$`)
	g.Expect(indent.Match(b)).To(BeTrue())
	g.Expect(os.WriteFile(file, indent.ReplaceAll(b, []byte("$0\n$0")), 0o644)).To(Succeed())
}

// needsPrograms skips a test where programs cannot be tested.
func needsPrograms(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("programs under test find the stand-in as a shell script, which Windows does not run")
	}
}

func TestStarterTypeScript(t *testing.T) {
	t.Parallel()
	needsPrograms(t)
	g := NewWithT(t)
	of, dir := ours(t), t.TempDir()
	output(t, dir, "npm", "install", "--@turnspec:registry="+registry(t), "--no-audit", "--no-fund", "--loglevel=error",
		one(t, "turnspec-[0-9]*.tgz"), one(t, "turnspec-"+of.Npm+"-*.tgz"), one(t, "turnspec-plug-*.tgz"), "vitest@3.2.4")
	output(t, dir, "npx", "--no-install", "turnspec", "init", "--lang", "typescript")
	g.Expect(output(t, dir, "npx", "--no-install", "turnspec", "smoke", "--runtime", "claude", "--", "node", "conformance/plug.ts")).To(ContainSubstring("The program is connected."))

	passed, out := tested(t, dir, []string{someCases}, "npx", "--no-install", "vitest", "run", "conformance", "--reporter=verbose")
	g.Expect(passed).To(BeTrue(), out)
	g.Expect(out).To(MatchRegexp(`✓ .*cases > claude/[0-9.]+/text/plain`))
	g.Expect(out).To(MatchRegexp(`✓ .*text\.once: `))
	g.Expect(out).To(MatchRegexp(`↓ .*text\.retracted: `))

	breakAdapter(t, filepath.Join(dir, "conformance", "plug.ts"), `emit("delta"`)
	passed, out = tested(t, dir, []string{someCases}, "npx", "--no-install", "vitest", "run", "conformance", "--reporter=verbose")
	g.Expect(passed).To(BeFalse(), out)
	g.Expect(out).To(MatchRegexp(`× .*text\.once: `))
}

func TestStarterPython(t *testing.T) {
	t.Parallel()
	needsPrograms(t)
	g := NewWithT(t)
	of, dir := ours(t), t.TempDir()
	python := withPytest(t)
	output(t, dir, python, "-m", "venv", "--system-site-packages", "env")
	bin := filepath.Join(dir, "env", "bin")
	output(t, dir, filepath.Join(bin, "python"), "-m", "pip", "install", "--no-index", "--disable-pip-version-check",
		one(t, "turnspec-[0-9]*-"+of.Wheel+".whl"), one(t, "turnspec_plug-*.whl"))
	output(t, dir, filepath.Join(bin, "turnspec"), "init", "--lang", "python")
	env := []string{someCases, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}

	passed, out := tested(t, dir, env, filepath.Join(bin, "python"), "-m", "pytest", "-v", "conformance")
	g.Expect(passed).To(BeTrue(), out)
	plain := fixtures.Embedded().Resolve("claude/newest/text/plain")
	g.Expect(out).To(ContainSubstring("test_case[" + plain + "] PASSED"))
	g.Expect(out).To(ContainSubstring("test_check[text.once] PASSED"))
	g.Expect(out).To(ContainSubstring("test_check[text.retracted] SKIPPED"))

	breakAdapter(t, filepath.Join(dir, "conformance", "plug.py"), `self.emit("delta"`)
	passed, out = tested(t, dir, env, filepath.Join(bin, "python"), "-m", "pytest", "-v", "conformance")
	g.Expect(passed).To(BeFalse(), out)
	g.Expect(out).To(ContainSubstring("test_case[" + plain + "] FAILED"))
	g.Expect(out).To(ContainSubstring("test_check[text.once] FAILED"))
}

// withPytest returns a Python that has pytest.
func withPytest(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import pytest, ensurepip").Run() == nil {
			return python
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("pytest is missing: apt-get install python3-pytest python3-venv")
	}
	t.Skip("pytest is missing: apt-get install python3-pytest python3-venv")
	return ""
}

func TestStarterGo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	source, err := filepath.Abs("../..")
	g.Expect(err).NotTo(HaveOccurred())
	// The module's own requirements make `go mod tidy`, which asks the proxy, unnecessary.
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	g.Expect(err).NotTo(HaveOccurred())
	sum, err := os.ReadFile(filepath.Join(source, "go.sum"))
	g.Expect(err).NotTo(HaveOccurred())
	text := strings.Replace(string(mod), "module github.com/turnspec/turnspec", "module example.org/mine", 1) +
		"\nrequire github.com/turnspec/turnspec v0.0.0\nreplace github.com/turnspec/turnspec => " + source + "\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)).To(Succeed())
	program, err := filepath.Abs(filepath.Join(*built, ours(t).binary()))
	g.Expect(err).NotTo(HaveOccurred())
	output(t, dir, program, "init", "--lang", "go")

	passed, out := tested(t, dir, []string{"GOFLAGS=-mod=mod -trimpath -ldflags=-w"}, "go", "test", "-v", "-run", "TestConformance/text/plain", "./conformance")
	g.Expect(passed).To(BeTrue(), out)
	g.Expect(out).To(MatchRegexp(`--- PASS: TestConformance/text/plain/claude@`))
}

func TestStarterRust(t *testing.T) {
	t.Parallel()
	needsPrograms(t)
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("there is no cargo here; the project needs nothing else")
	}
	g := NewWithT(t)
	dir := t.TempDir()
	program, err := filepath.Abs(filepath.Join(*built, ours(t).binary()))
	g.Expect(err).NotTo(HaveOccurred())
	output(t, dir, program, "init", "--lang", "rust")
	env := []string{someCases, "TURNSPEC=" + program}
	test := []string{"test", "--offline", "--manifest-path", "conformance/Cargo.toml"}
	passed, out := tested(t, dir, env, "cargo", test...)
	g.Expect(passed).To(BeTrue(), out)
	g.Expect(out).To(ContainSubstring("test text.once ... ok"))
	g.Expect(out).To(ContainSubstring("test text.retracted ... ignored"))

	breakAdapter(t, filepath.Join(dir, "conformance", "main.rs"), `emit.event("delta"`)
	passed, out = tested(t, dir, env, "cargo", test...)
	g.Expect(passed).To(BeFalse(), out)
	g.Expect(out).To(ContainSubstring("test text.once ... FAILED"))
}
