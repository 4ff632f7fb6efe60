package main

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeSpan     = regexp.MustCompile("`([^`]+)`")
	topFolder    = regexp.MustCompile(`^(adapters|cmd|conformance|fakes|fixtures|recorder|\.ci)(/|$)`)
	fileName     = regexp.MustCompile(`^[a-z_-]+\.(go|js|mjs|txt|txtar|json|md)$`)
	testName     = regexp.MustCompile(`\bTest[A-Z]\w*`)
	targetName   = regexp.MustCompile(`^make ([a-z -]+)`)
	exportedName = regexp.MustCompile(`^[A-Z][A-Za-z]+(\.[A-Z][A-Za-z]+)*$`)
)

// brokenNames returns the names in the code spans of a page that the repository does not have:
// files, folders, tests, targets of the Makefile, and exported names of Go. A file without a
// folder is one of the folder that was named last, or of any.
func brokenNames(page string, repository fs.FS) (out []string) {
	var files []string
	var code bytes.Buffer // without tests
	var tests bytes.Buffer
	_ = fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		files = append(files, name)
		if path.Ext(name) == ".go" {
			b, _ := fs.ReadFile(repository, name)
			if strings.HasSuffix(name, "_test.go") {
				tests.Write(b)
			} else {
				code.Write(b)
			}
		}
		return nil
	})
	makefile, _ := fs.ReadFile(repository, "Makefile")
	folder := ""
	for _, m := range codeSpan.FindAllStringSubmatch(page, -1) {
		span := m[1]
		word, _, _ := strings.Cut(span, " ")
		for _, name := range testName.FindAllString(span, -1) {
			if !bytes.Contains(tests.Bytes(), []byte("func "+name+"(")) {
				out = append(out, name)
			}
		}
		switch {
		case topFolder.MatchString(word) && word == span:
			name := strings.NewReplacer("NAME", "codex", "DIALECT", "agui").Replace(word)
			if strings.ContainsAny(name, "<…*") || strings.Contains(name, "VERSION") {
				continue
			}
			info, err := fs.Stat(repository, name)
			if err != nil {
				out = append(out, word)
				continue
			}
			if folder = name; !info.IsDir() {
				folder = path.Dir(name)
			}
		case fileName.MatchString(span):
			if _, err := fs.Stat(repository, path.Join(folder, span)); err != nil &&
				!slices.ContainsFunc(files, func(f string) bool { return path.Base(f) == span }) {
				out = append(out, span)
			}
		case targetName.MatchString(span):
			for name := range strings.FieldsSeq(targetName.FindStringSubmatch(span)[1]) {
				if !bytes.Contains(makefile, []byte("\n"+name+":")) {
					out = append(out, "make "+name)
				}
			}
		case exportedName.MatchString(span) && strings.ToUpper(span) != span && !testName.MatchString(span):
			name := span[strings.LastIndexByte(span, '.')+1:]
			if !regexp.MustCompile(`\b` + name + `\b`).Match(code.Bytes()) {
				out = append(out, span)
			}
		}
	}
	return out
}

// TestContributing checks that what CONTRIBUTING names exists.
func TestContributing(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	if broken := brokenNames(string(page), os.DirFS(root)); len(broken) > 0 {
		t.Errorf("CONTRIBUTING.md names what does not exist: %q", broken)
	}
	const wrong = "`fakes/standin/nothing.go` `recorder/NAME` `no_such.go` `TestNothingAtAll` `make nothing` `Scope.Emits2` `NoSuchName` and `adapters/codex` with `client.go`"
	want := []string{"fakes/standin/nothing.go", "recorder/NAME", "no_such.go", "TestNothingAtAll", "make nothing", "NoSuchName"}
	if got := brokenNames(wrong, os.DirFS(root)); !slices.Equal(got, want) {
		t.Errorf("of a page that is wrong: %q, want %q", got, want)
	}
}
