//go:build dist

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// The tests of this file install the files that `make dist` built, as users do.

var (
	built = flag.String("built", "../../dist", "the folder with the files of a release")
	again = flag.String("again", "", "a folder with the files of a second build")
)

// ours is the target on which the tests run.
func ours(t *testing.T) target {
	t.Helper()
	i := slices.IndexFunc(targets, func(of target) bool { return of.OS == runtime.GOOS && of.Arch == runtime.GOARCH })
	if i < 0 {
		t.Skipf("there is no release for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return targets[i]
}

// one returns the absolute path of the only file of the release with the pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(*built, pattern))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(1), "%s: `make dist` builds it", pattern)
	abs, err := filepath.Abs(files[0])
	g.Expect(err).NotTo(HaveOccurred())
	return abs
}

// output runs a program in a folder and returns what it prints.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

// wantVersion is what the installed program must print: version and commit.
func wantVersion(t *testing.T) string {
	t.Helper()
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("turnspec version v%s %.12s", npmManifest(t, one(t, "turnspec-[0-9]*.tgz")).Version, commit)
}

// firstVerdict runs a check on an adapter that is not ours. The bound is far above what
// it takes (a few seconds), and is what README promises.
func firstVerdict(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	adapter, err := filepath.Abs("../../conformance/plug/jsonl/examples/python/claude.py")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		// The stand-in that a program under test finds is a shell script (fakes/relay).
		if out := output(t, dir, program, append(args, "demo")...); !strings.Contains(out, "text.once") {
			t.Error(out)
		}
		return
	}
	began := time.Now()
	out := output(t, dir, program, append(args, "run", "--runtime", "claude", "--case", "claude/newest/text/plain", "--check", "text.once",
		"--subject", "python3 "+adapter)...)
	took := time.Since(began)
	t.Logf("the first verdict took %v", took)
	if !strings.Contains(out, "1 check, 1 pass") || took > time.Minute {
		t.Errorf("after %v: %s", took, out)
	}
}

// registry serves the npm packages of the release, as the public one would, and nothing
// else.
func registry(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*built, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, file := range files {
			m := npmManifest(t, file)
			switch r.URL.Path {
			case "/" + m.Name:
				_ = json.NewEncoder(w).Encode(map[string]any{"name": m.Name, "dist-tags": map[string]string{"latest": m.Version}, "versions": map[string]any{
					m.Version: struct {
						manifest
						Dist map[string]string `json:"dist"`
					}{m, map[string]string{"tarball": server.URL + "/" + filepath.Base(file)}},
				}})
				return
			case "/" + filepath.Base(file):
				http.ServeFile(w, r, file)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// In an empty folder: npm install, then the program and a verdict. Once from the files
// alone, once by name from a registry, which finds the platform's package.
func TestNpmInstall(t *testing.T) {
	t.Parallel()
	of, url := ours(t), registry(t)
	version := wantVersion(t)
	for name, packages := range map[string][]string{
		"files":    {one(t, "turnspec-[0-9]*.tgz"), one(t, "turnspec-"+of.Npm+"-*.tgz")},
		"registry": {"turnspec"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			npm := []string{"--registry=" + url, "--cache=" + t.TempDir(), "--no-audit", "--no-fund", "--loglevel=error"}
			output(t, dir, "npm", slices.Concat([]string{"install"}, npm, packages)...)
			g.Expect(output(t, dir, "npx", "--no-install", "turnspec", "--version")).To(HavePrefix(version))
			firstVerdict(t, dir, "npx", "--no-install", "turnspec")

			starter := filepath.Join(dir, "node_modules", "turnspec", "bin", "turnspec.js")
			wrong := exec.Command("node", starter, "explain", "no-such-check")
			msg, _ := wrong.CombinedOutput()
			g.Expect(wrong.ProcessState.ExitCode()).To(Equal(2), string(msg))

			g.Expect(os.RemoveAll(filepath.Join(dir, "node_modules", "@turnspec"))).To(Succeed())
			absent := exec.Command("node", starter, "--version")
			msg, _ = absent.CombinedOutput()
			g.Expect(absent.ProcessState.ExitCode()).To(Equal(2))
			g.Expect(string(msg)).To(ContainSubstring("the package @turnspec/" + of.Npm + " is not installed"))
		})
	}
}

// A signal to the starter reaches the program.
func TestNpmStarterPassesSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	g := NewWithT(t)
	program := filepath.Join(t.TempDir(), "program")
	g.Expect(os.WriteFile(program, []byte("#!/bin/sh\ntrap 'exit 7' TERM\necho ready\nwhile :; do sleep 0.1; done\n"), 0o755)).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "npm/turnspec.js")
	cmd.Env = append(os.Environ(), "TURNSPEC_BINARY="+program)
	stdout, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	_, err = stdout.Read(make([]byte, 6))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
	_ = cmd.Wait()
	g.Expect(cmd.ProcessState.ExitCode()).To(Equal(7))
}

// In a new virtual environment: pip install, then the program and a verdict.
func TestPipInstall(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	of := ours(t)
	dir := t.TempDir()
	output(t, dir, "python3", "-m", "venv", "env")
	bin := filepath.Join(dir, "env", "bin")
	if runtime.GOOS == "windows" {
		bin = filepath.Join(dir, "env", "Scripts")
	}
	output(t, dir, filepath.Join(bin, "pip"), "install", "--no-index", "--disable-pip-version-check", one(t, "turnspec-[0-9]*-"+of.Wheel+".whl"))
	g.Expect(output(t, dir, filepath.Join(bin, "turnspec"), "--version")).To(HavePrefix(wantVersion(t)))
	firstVerdict(t, dir, filepath.Join(bin, "turnspec"))
	g.Expect(output(t, dir, filepath.Join(bin, "pip"), "show", "--files", "turnspec")).To(ContainSubstring("turnspec"))
}

// The archive and the Debian package contain the program.
func TestUnpacked(t *testing.T) {
	g := NewWithT(t)
	of := ours(t)
	if of.OS != "linux" {
		t.Skip("the test unpacks what is for Linux")
	}
	dir := t.TempDir()
	output(t, dir, "tar", "-xzf", one(t, "turnspec_*_"+of.OS+"_"+of.Arch+".tar.gz"))
	g.Expect(output(t, dir, "./turnspec", "--version")).To(HavePrefix(wantVersion(t)))
	info, err := os.Stat(filepath.Join(dir, "turnspec"))
	g.Expect(err).NotTo(HaveOccurred())
	corpus, err := os.Stat("../../fixtures/corpus.packed")
	g.Expect(err).NotTo(HaveOccurred())
	// What makes it grow at once: a template that is executed (html/template), because the
	// linker then keeps all methods, and large clients such as openai-go.
	g.Expect(info.Size() - corpus.Size()).To(BeNumerically("<=", 37e6))
	g.Expect(corpus.Size()).To(BeNumerically("<=", 9e6), "it is in each program that is downloaded")
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there is no dpkg-deb here")
	}
	output(t, dir, "dpkg-deb", "-x", one(t, "turnspec_*_"+of.Arch+".deb"), "deb")
	g.Expect(output(t, dir, "deb/usr/bin/turnspec", "--version")).To(HavePrefix(wantVersion(t)))
}

// TestEmptyRoot runs what the archive and the Debian package hold in a root that holds nothing
// else, as an image without a distribution has it: no loader, no certificates, no folder for
// temporary files, no network.
func TestEmptyRoot(t *testing.T) {
	of := ours(t)
	if of.OS != "linux" {
		t.Skip("only Linux can give a process another root without rights")
	}
	for name, unpack := range map[string]struct {
		command []string
		program string
	}{
		"archive": {[]string{"tar", "-xzf", one(t, "turnspec_*_"+of.OS+"_"+of.Arch+".tar.gz")}, "/turnspec"},
		"deb":     {[]string{"dpkg-deb", "-x", one(t, "turnspec_*_"+of.Arch+".deb"), "."}, "/usr/bin/turnspec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			root := t.TempDir()
			output(t, root, unpack.command[0], unpack.command[1:]...)
			inRoot := func(args ...string) string {
				return output(t, root, "unshare", slices.Concat([]string{"--map-root-user", "--net", "--root=" + root, unpack.program}, args)...)
			}
			g.Expect(inRoot("--version")).To(HavePrefix(wantVersion(t)))
			g.Expect(inRoot("demo")).To(ContainSubstring("FAIL"))
			g.Expect(inRoot("run", "--case", "codex/newest/text/plain")).To(ContainSubstring("1 cases"))
		})
	}
}

// The program contains the same corpus as the sources, and each module of the program
// is in its list.
func TestContents(t *testing.T) {
	g := NewWithT(t)
	of := ours(t)
	program, err := filepath.Abs(filepath.Join(*built, of.binary()))
	g.Expect(err).NotTo(HaveOccurred())
	binary, err := os.ReadFile(program)
	g.Expect(err).NotTo(HaveOccurred())
	var corpus bytes.Buffer
	g.Expect(fixtures.Pack(&corpus, fixtures.Embedded().FS)).To(Succeed())
	g.Expect(bytes.Contains(binary, corpus.Bytes())).To(BeTrue())

	b, err := os.ReadFile(one(t, "turnspec_*_"+of.OS+"_"+of.Arch+".cdx.json"))
	g.Expect(err).NotTo(HaveOccurred())
	var bom struct {
		Components []component `json:"components"`
	}
	g.Expect(json.Unmarshal(b, &bom)).To(Succeed())
	modules := strings.Count(output(t, "../..", "go", "version", "-m", program), "\tdep\t")
	g.Expect(modules).To(BeNumerically(">", 20))
	g.Expect(bom.Components).To(HaveLen(modules+1), "the standard library is listed too")
}

// A second build, in another folder, made the same bytes.
func TestReproducible(t *testing.T) {
	if *again == "" {
		t.Skip("no -again: only one build was made")
	}
	g := NewWithT(t)
	want, err := os.ReadFile(filepath.Join(*built, "checksums.txt"))
	g.Expect(err).NotTo(HaveOccurred())
	got, err := os.ReadFile(filepath.Join(*again, "checksums.txt"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got)).To(Equal(string(want)))
}
