package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures/racesample"
)

func readme(t *testing.T) string {
	t.Helper()
	return readPage(t, "../../README.md")
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// shownBelow returns the output that README shows below a command.
func shownBelow(t *testing.T, command string) string {
	t.Helper()
	_, rest, found := strings.Cut(readme(t), "$ "+command+"\n")
	if !found {
		t.Fatalf("README does not show %q", command)
	}
	out, _, _ := strings.Cut(rest, "\n```")
	return out + "\n"
}

// versionNumbers are what differs from one version of a runtime to the next, in an output that
// README shows.
var versionNumbers = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

var times = regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b`)

func TestReadmeShowsTheRealDemo(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := execute(t.Context(), []string{"demo"}, strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	want, got := shownBelow(t, "go run ./cmd/turnspec demo"), out.String()
	timeless := func(s string) string {
		return times.ReplaceAllString(versionNumbers.ReplaceAllString(s, "VERSION"), "TIME")
	}
	if timeless(got) != timeless(want) {
		t.Errorf("README shows\n%s\nthe demo prints\n%s", want, got)
	}
}

func rootWithCompletion() *cobra.Command {
	root := rootCmd()
	root.InitDefaultCompletionCmd("bash")
	return root
}

var update = flag.Bool("update", false, "write what the index of the pages shows of the corpus")

// The coverage table of the index is that of the embedded corpus.
func TestIndexCoverage(t *testing.T) {
	if !*update && !racesample.Whole() {
		t.Skip("it reads the whole corpus: set TURNSPEC_MATRIX=whole; .ci/run does in its step corpus")
	}
	var out, errOut bytes.Buffer
	if code := execute(t.Context(), []string{"coverage", "--markdown"}, strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	const file = "../docs/index.md"
	text := readPage(t, file)
	before, rest, ok := strings.Cut(text, "-run TestIndexCoverage -update` -->\n")
	shown, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("the index has no place for the table")
	}
	if shown == out.String() {
		return
	}
	if !*update {
		t.Fatalf("the index shows\n%sthe corpus has\n%srun go test ./cmd/turnspec -run TestIndexCoverage -update", shown, out.String())
	}
	text = before + "-run TestIndexCoverage -update` -->\n" + out.String() + "<!-- end -->" + after
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The Go version in README is that of go.mod.
func TestReadmeGoVersion(t *testing.T) {
	b, err := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "Go " + strings.TrimSpace(string(b)); !strings.Contains(readme(t), want) {
		t.Errorf("README does not ask for %s", want)
	}
}

// README's stand-in example prints what README shows.
func TestReadmeStandIn(t *testing.T) {
	const line = "TURNSPEC_CASE=codex/newest/text/plain bin/codex --version"
	cmd := exec.Command("codex", "--version")
	cmd.Env = append(os.Environ(), "TURNSPEC_CASE=codex/newest/text/plain")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := shownBelow(t, line); versionNumbers.ReplaceAllString(string(got), "VERSION") != versionNumbers.ReplaceAllString(want, "VERSION") {
		t.Errorf("README shows %q, the stand-in prints %q", want, got)
	}
}

// README is read to the end by those who never heard of us: it stays short.
func TestReadmeIsShort(t *testing.T) {
	if n := len(readme(t)); n > 9<<10 {
		t.Errorf("README has %d bytes, more than 9 KiB: move what not every reader needs to cmd/docs/index.md", n)
	}
}
