package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// small returns a release and writes its packages for a target with a short program.
func small(t *testing.T, of target) *release {
	t.Helper()
	g := NewWithT(t)
	r := &release{Version: "1.2.3-rc.4", Commit: "c0ffee", Time: time.Unix(1e9, 0).UTC(), Source: "../..", Out: t.TempDir()}
	program := []byte("the program")
	g.Expect(r.writeArchive(of, program)).To(Succeed())
	g.Expect(r.writePlatformPackage(of, program)).To(Succeed())
	g.Expect(r.writeWheel(of, program)).To(Succeed())
	g.Expect(r.writeMainPackage([]target{of})).To(Succeed())
	g.Expect(r.writeChecksums()).To(Succeed())
	return r
}

// Each platform gets its files, and writing them again makes the same bytes.
func TestFiles(t *testing.T) {
	for _, of := range targets {
		g := NewWithT(t)
		one, two := small(t, of), small(t, of)
		sums, err := os.ReadFile(filepath.Join(one.Out, "checksums.txt"))
		g.Expect(err).NotTo(HaveOccurred())
		again, err := os.ReadFile(filepath.Join(two.Out, "checksums.txt"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(again)).To(Equal(string(sums)))
		var names []string
		for line := range strings.Lines(string(sums)) {
			names = append(names, strings.Fields(line)[1])
		}
		ext := ".tar.gz"
		if of.OS == "windows" {
			ext = ".zip"
		}
		g.Expect(names).To(ConsistOf("turnspec_1.2.3-rc.4_"+of.OS+"_"+of.Arch+ext, "turnspec-1.2.3-rc.4.tgz",
			"turnspec-"+of.Npm+"-1.2.3-rc.4.tgz", "turnspec-1.2.3rc4-py3-none-"+of.Wheel+".whl"))
	}
}

// A wheel lists each of its files with the checksum, and its program is executable.
func TestWheel(t *testing.T) {
	g := NewWithT(t)
	r := small(t, targets[0])
	b, err := os.ReadFile(filepath.Join(r.Out, "turnspec-1.2.3rc4-py3-none-"+targets[0].Wheel+".whl"))
	g.Expect(err).NotTo(HaveOccurred())
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	g.Expect(err).NotTo(HaveOccurred())
	content := map[string]string{}
	for _, f := range z.File {
		o, err := f.Open()
		g.Expect(err).NotTo(HaveOccurred())
		b, err := io.ReadAll(o)
		g.Expect(err).NotTo(HaveOccurred())
		content[f.Name] = string(b)
		g.Expect(f.Mode()&0o100 != 0).To(Equal(strings.Contains(f.Name, "/scripts/")), f.Name)
	}
	const info = "turnspec-1.2.3rc4.dist-info/"
	record := content[info+"RECORD"]
	for name, text := range content {
		want := name + ",,\n"
		if name != info+"RECORD" {
			sum := sha256.Sum256([]byte(text))
			want = fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		}
		g.Expect(record).To(ContainSubstring(want))
	}
	g.Expect(content).To(HaveKeyWithValue("turnspec-1.2.3rc4.data/scripts/turnspec", "the program"))
	g.Expect(content[info+"WHEEL"]).To(ContainSubstring("Tag: py3-none-manylinux2014_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n"))
}

// npm installs the package of its platform, and no other.
func TestNpm(t *testing.T) {
	g := NewWithT(t)
	r := small(t, targets[4])
	part := npmManifest(t, filepath.Join(r.Out, "turnspec-win32-x64-1.2.3-rc.4.tgz"))
	g.Expect(part.Name).To(Equal("@turnspec/win32-x64"))
	g.Expect(part.OS).To(Equal([]string{"win32"}))
	g.Expect(part.CPU).To(Equal([]string{"x64"}))
	whole := npmManifest(t, filepath.Join(r.Out, "turnspec-1.2.3-rc.4.tgz"))
	g.Expect(whole.Optional).To(Equal(map[string]string{"@turnspec/win32-x64": "1.2.3-rc.4"}))
	g.Expect(whole.Bin).To(HaveKey("turnspec"))
}

// npmManifest returns the package.json of a packed package.
func npmManifest(t *testing.T, file string) manifest {
	t.Helper()
	var m manifest
	if err := json.Unmarshal([]byte(tarContent(t, file)["package/package.json"]), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// tarContent returns the files of a compressed tar archive.
func tarContent(t *testing.T, file string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	b, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	z, err := gzip.NewReader(bytes.NewReader(b))
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		g.Expect(err).NotTo(HaveOccurred())
		b, err := io.ReadAll(r)
		g.Expect(err).NotTo(HaveOccurred())
		out[h.Name] = string(b)
	}
}

// The plugs have the version of the release, and all of their files.
func TestPlugs(t *testing.T) {
	g := NewWithT(t)
	r := &release{Version: "1.2.3", Time: time.Unix(1e9, 0), Source: "../..", Out: t.TempDir()}
	g.Expect(r.writePlugPackage()).To(Succeed())
	g.Expect(r.writePlugWheel()).To(Succeed())
	file := filepath.Join(r.Out, "turnspec-plug-1.2.3.tgz")
	g.Expect(npmManifest(t, file).Version).To(Equal("1.2.3"))
	for _, name := range []string{"index.js", "index.d.ts", "suite.js", "suite.d.ts", "types.d.ts", "README.md", "LICENSE"} {
		g.Expect(tarContent(t, file)).To(HaveKey("package/" + name))
	}
	z, err := zip.OpenReader(filepath.Join(r.Out, "turnspec_plug-1.2.3-py3-none-any.whl"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = z.Close() }()
	for _, name := range []string{"__init__.py", "__init__.pyi", "_types.pyi", "py.typed", "suite.py"} {
		_, err := z.Open("turnspec_plug/" + name)
		g.Expect(err).NotTo(HaveOccurred(), name)
	}
}

// The formula names the archives and their checksums. It is written only if all of them
// were built.
func TestFormula(t *testing.T) {
	g := NewWithT(t)
	r := &release{Version: "1.2.3", Time: time.Unix(1e9, 0), Source: "../..", Out: t.TempDir()}
	for _, of := range targets {
		g.Expect(r.writeArchive(of, []byte(of.String()))).To(Succeed())
	}
	g.Expect(r.writeFormula(targets[:1])).To(Succeed())
	g.Expect(filepath.Join(r.Out, "turnspec.rb")).NotTo(BeAnExistingFile())
	g.Expect(r.writeFormula(targets)).To(Succeed())
	b, err := os.ReadFile(filepath.Join(r.Out, "turnspec.rb"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, of := range targets[:4] {
		sum, err := r.checksum(r.archiveName(of))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(b)).To(MatchRegexp(`/v1\.2\.3/%s"\n +sha256 "%s"`, r.archiveName(of), sum))
	}
}

func TestVersions(t *testing.T) {
	g := NewWithT(t)
	for semver, python := range map[string]string{"1.2.3": "1.2.3", "0.0.0-dev.406": "0.0.0.dev406", "1.0.0-rc.1": "1.0.0rc1"} {
		g.Expect(semantic.MatchString(semver)).To(BeTrue())
		g.Expect(pythonVersion(semver)).To(Equal(python))
	}
	for _, bad := range []string{"v1.2.3", "1.2", "1.2.3-dev", ""} {
		g.Expect(semantic.MatchString(bad)).To(BeFalse(), bad)
	}
	_, err := chooseTargets("linux/amd64,plan9/mips")
	g.Expect(err).To(MatchError(ContainSubstring(`unknown target "plan9/mips"`)))
}
