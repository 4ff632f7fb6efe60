package runtimes_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

func locateRuntime(t *testing.T, dir, name string) runtimes.Runtime {
	t.Helper()
	rt, err := runtimes.Locate(dir, name, "")
	if err != nil {
		t.Skip(err)
	}
	return rt
}

func writeBinary(t *testing.T, rt runtimes.Runtime) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(rt.Binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rt.Binary, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFindErrorNamesTheCommand(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	want := locateRuntime(t, dir, "codex")
	_, err := runtimes.Find(dir, "codex", "")
	g.Expect(err).To(MatchError(runtimes.ErrNotInstalled))
	g.Expect(err).To(MatchError(ContainSubstring("run `turnspec runtimes install codex@" + runtimes.Versions("codex")[0] + "`")))
	writeBinary(t, want)
	rt, err := runtimes.Find(dir, "codex", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rt).To(Equal(want))
	g.Expect(rt.Path).NotTo(BeEmpty(), "the programs that it starts")
	t.Setenv(runtimes.Env, dir)
	rt, err = runtimes.Find("", "codex", rt.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rt).To(Equal(want))
}

// opencode is an agent of ACP too: it is installed once.
func TestARuntimeMayBeTheProgramOfAnother(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	program := locateRuntime(t, dir, "opencode")
	agent, err := runtimes.Locate(dir, "acp", "opencode-"+program.Version)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(agent.Binary).To(Equal(program.Binary))
	_, err = runtimes.Find(dir, "acp", agent.Version)
	g.Expect(err).To(MatchError(ContainSubstring("turnspec runtimes install opencode@" + program.Version)))
	writeBinary(t, program)
	_, err = runtimes.Find(dir, "acp", agent.Version)
	g.Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	fakeNPM(t, "exit 1")
	g.Expect(runtimes.Install(t.Context(), dir, &out, []runtimes.Pin{{Name: "acp", Version: agent.Version}})).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("is installed: " + program.Binary))
}

func TestUnpinnedVersionsAreRejected(t *testing.T) {
	g := NewWithT(t)
	_, err := runtimes.Find(t.TempDir(), "codex", "0.0.1")
	g.Expect(err).To(MatchError(ContainSubstring("codex 0.0.1 is not pinned, only " + strings.Join(runtimes.Versions("codex"), ", "))))
	_, err = runtimes.Find(t.TempDir(), "other", "")
	g.Expect(err).To(MatchError(ContainSubstring(`no runtime "other" is pinned, only acp, chat, claude, codex`)))
}

// fakeNPM puts a script into PATH as npm.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestInstallReportsSizeAndPinsIntegrity(t *testing.T) {
	g := NewWithT(t)
	dir, kept := t.TempDir(), t.TempDir()
	rt := locateRuntime(t, dir, "codex")
	inside, err := filepath.Rel(rt.Root, rt.Binary)
	g.Expect(err).NotTo(HaveOccurred())
	fakeNPM(t, `cp package.json package-lock.json `+kept+`; echo "$@" > `+kept+`/args; mkdir -p "$(dirname `+inside+`)"; printf x > `+inside+`; chmod +x `+inside)
	var out bytes.Buffer
	newest, err := runtimes.Choose(false, "codex")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runtimes.Install(t.Context(), dir, &out, newest)).To(Succeed())
	g.Expect(out.String()).To(HavePrefix("423 MB will be installed into " + dir))
	_, err = runtimes.Find(dir, "codex", "")
	g.Expect(err).NotTo(HaveOccurred())

	lock, err := os.ReadFile(filepath.Join(kept, "package-lock.json"))
	g.Expect(err).NotTo(HaveOccurred())
	_, sum, _ := strings.Cut(string(lock), `"integrity": "sha512-`)
	sum, _, _ = strings.Cut(sum, `"`)
	raw, err := base64.StdEncoding.DecodeString(sum)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(HaveLen(64))
	args, err := os.ReadFile(filepath.Join(kept, "args"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(args)).To(And(HavePrefix("ci "), ContainSubstring("--ignore-scripts")), "only ci uses the lock")

	out.Reset()
	g.Expect(runtimes.Install(t.Context(), dir, &out, newest)).To(Succeed())
	g.Expect(out.String()).To(HavePrefix("codex "+runtimes.Versions("codex")[0]+" is installed"), "the second call does nothing")
}

// Some registries, and some entries of npm's own, have no size.
func TestEnsureInstallsReleaseWithoutSize(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	rt := locateRuntime(t, dir, "claude")
	inside, err := filepath.Rel(rt.Root, rt.Binary)
	g.Expect(err).NotTo(HaveOccurred())
	fakeNPM(t, `case "$*" in
*dist.integrity*) echo '"sha512-AAAA"';;
*dist.unpackedSize*) ;;
ci*) mkdir -p "$(dirname `+inside+`)"; printf x > `+inside+`; chmod +x `+inside+`;;
esac`)
	var out bytes.Buffer
	got, err := runtimes.Ensure(t.Context(), dir, "claude", "99.0.1", &out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Version).To(Equal("99.0.1"))
	g.Expect(out.String()).To(ContainSubstring("99.0.1"))
	g.Expect(out.String()).NotTo(ContainSubstring("0 MB"))

	fakeNPM(t, `true`)
	_, err = runtimes.Ensure(t.Context(), dir, "claude", "99.0.2", &out)
	g.Expect(err).To(MatchError(ContainSubstring("the registry has no")), "an unknown version")
}

func TestAFailedInstallLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	for script, want := range map[string]string{
		"echo EINTEGRITY >&2; exit 1": "EINTEGRITY",
		"true":                        "the package holds no program",
	} {
		dir := t.TempDir()
		locateRuntime(t, dir, "claude")
		fakeNPM(t, script)
		newest, err := runtimes.Choose(false, "claude")
		g.Expect(err).NotTo(HaveOccurred())
		err = runtimes.Install(t.Context(), dir, &bytes.Buffer{}, newest)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
		left, err := os.ReadDir(filepath.Join(dir, "claude"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left).To(BeEmpty())
	}
}

func TestChoose(t *testing.T) {
	g := NewWithT(t)
	versions := runtimes.Versions("codex")
	var each []runtimes.Pin
	for _, name := range runtimes.Names() {
		each = append(each, runtimes.Pin{Name: name, Version: runtimes.Versions(name)[0]})
	}
	for _, c := range []struct {
		all   bool
		names []string
		want  []runtimes.Pin
	}{
		{false, []string{"codex"}, []runtimes.Pin{{"codex", versions[0]}}},
		{false, []string{"codex@" + versions[1], "codex"}, []runtimes.Pin{{"codex", versions[1]}, {"codex", versions[0]}}},
		{true, []string{"codex@" + versions[0]}, []runtimes.Pin{{"codex", versions[0]}}},
		{false, nil, each},
	} {
		g.Expect(runtimes.Choose(c.all, c.names...)).To(Equal(c.want))
	}
	g.Expect(runtimes.Choose(true, "codex")).To(HaveLen(len(versions)))
	_, err := runtimes.Choose(true, "other")
	g.Expect(err).To(MatchError(ContainSubstring(`no runtime "other" is pinned, only acp, chat, claude, codex`)))
	_, err = runtimes.Choose(false, "codex@0.0.1")
	g.Expect(err).To(MatchError(ContainSubstring("codex 0.0.1 is not pinned, only " + versions[0])))
}
