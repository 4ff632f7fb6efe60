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
	"mvdan.cc/sh/v3/shell"

	"github.com/turnspec/turnspec/fixtures/racesample"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
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

var times = regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b`)

func TestReadmeShowsTheRealDemo(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := execute(t.Context(), []string{"demo"}, strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	want, got := shownBelow(t, "go run ./cmd/turnspec demo"), out.String()
	if times.ReplaceAllString(got, "TIME") != times.ReplaceAllString(want, "TIME") {
		t.Errorf("README shows\n%s\nthe demo prints\n%s", want, got)
	}
}

// Every turnspec command in README names an existing subcommand and flags, with a
// valid number of arguments.
func TestReadmeCommandsExist(t *testing.T) {
	commands := regexp.MustCompile("(?m)(?:^\\$ go run \\./cmd/turnspec|[`]turnspec)((?: [^`\n]*)?)(?:`|$)").FindAllStringSubmatch(readme(t), -1)
	if len(commands) < 8 {
		t.Fatalf("found only %d commands", len(commands))
	}
	for _, c := range commands {
		args, err := shell.Fields(strings.NewReplacer("<", "", ">", "").Replace(c[1]), nil)
		if err != nil {
			t.Errorf("turnspec%s: %v", c[1], err)
		}
		if len(args) == 0 {
			continue
		}
		cmd, rest, err := rootWithCompletion().Find(args)
		if err != nil {
			t.Errorf("turnspec%s: %v", c[1], err)
			continue
		}
		if cmd.DisableFlagParsing {
			if _, _, err := playArgs(rest); err != nil {
				t.Errorf("turnspec%s: %v", c[1], err)
			}
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("turnspec%s: %v", c[1], err)
		} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("turnspec%s: %v", c[1], err)
		}
	}
}

func rootWithCompletion() *cobra.Command {
	root := rootCmd()
	root.InitDefaultCompletionCmd("bash")
	return root
}

// Every `make` target in README exists.
func TestReadmeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := regexp.MustCompile("(?m)(?:^\\$ |`)make ([a-z-]+)").FindAllStringSubmatch(readme(t), -1)
	if len(targets) == 0 {
		t.Fatal("README names no target")
	}
	for _, m := range targets {
		if !bytes.Contains(makefile, []byte("\n"+m[1]+":")) {
			t.Errorf("README names make %s, the Makefile has no such target", m[1])
		}
	}
}

var update = flag.Bool("update", false, "write what README shows of the corpus")

// README's coverage table is that of the embedded corpus.
func TestReadmeCoverage(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it reads the whole corpus in one goroutine, which takes minutes with the race detector; it is run without")
	}
	var out, errOut bytes.Buffer
	if code := execute(t.Context(), []string{"coverage", "--markdown"}, strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	text := readme(t)
	before, rest, ok := strings.Cut(text, "-run TestReadmeCoverage -update` -->\n")
	shown, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("README has no place for the table")
	}
	if shown == out.String() {
		return
	}
	if !*update {
		t.Fatalf("README shows\n%sthe corpus has\n%srun go test ./cmd/turnspec -run TestReadmeCoverage -update", shown, out.String())
	}
	text = before + "-run TestReadmeCoverage -update` -->\n" + out.String() + "<!-- end -->" + after
	if err := os.WriteFile("../../README.md", []byte(text), 0o644); err != nil {
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
	const line = "TURNSPEC_CASE=codex/0.169.0/text/plain bin/codex --version"
	cmd := exec.Command("codex", "--version")
	cmd.Env = append(os.Environ(), "TURNSPEC_CASE=codex/0.169.0/text/plain")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := shownBelow(t, line); string(got) != want {
		t.Errorf("README shows %q, the stand-in prints %q", want, got)
	}
}
