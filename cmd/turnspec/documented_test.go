package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/fixtures/racesample"
)

const repository = "../.."

// documented is a command that a page or the help of a subcommand contains.
type documented struct {
	text  string
	where string
	name  bool // it only names a command, in a sentence
}

// TestDocumentedCommands runs each command of the docs and of the examples in the
// help as it is typed: in an empty folder, with the exit code 0, unless
// documentedTable says otherwise. Each is also parsed: its subcommand, flags, make
// target, Go packages and tests exist. Of commands that differ only in values it runs the
// first one, and those of README, unless TURNSPEC_MATRIX is whole.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	if racesample.Enabled {
		t.Skip("it runs other programs; it is run without the race detector")
	}
	all := append(documentedInPages(t), documentedInHelp()...)
	if len(all) < 150 {
		t.Fatalf("found only %d commands", len(all))
	}
	slices.SortStableFunc(all, func(a, b documented) int { return strings.Compare(rank(a), rank(b)) })
	seen, parts := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		how := documentedTable[c.text]
		shape, err := parseDocumented(how.filled(c.text))
		if err != nil {
			t.Errorf("%s: %s: %v", c.where, c.text, err)
		}
		if seen[c.text] || c.name {
			continue
		}
		seen[c.text] = true
		if how.notRun != "" || how.night && !racesample.Whole() {
			continue
		}
		if !addParts(parts, shape) && !racesample.Whole() && c.where != "README.md" {
			continue
		}
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			runDocumented(t, c)
		})
	}
	for text := range documentedTable {
		if !seen[text] {
			t.Errorf("documentedTable has %q, which no page contains", text)
		}
	}
}

// addParts adds the subcommands and flags of a shape, and reports whether any is new. A flag is new with
// each subcommand.
func addParts(parts map[string]bool, shape string) (added bool) {
	for call := range strings.SplitSeq(shape, "; ") {
		command, flags, _ := strings.Cut(call, " --")
		for flag := range strings.SplitSeq(flags, " --") {
			part := command + " --" + flag
			added = added || !parts[part]
			parts[part] = true
		}
	}
	return added
}

// rank sorts the commands of README before all others.
func rank(c documented) string {
	if c.where == "README.md" {
		return ""
	}
	return "others"
}

// runDocumented runs a command in a folder that has what its row names.
func runDocumented(t *testing.T, c documented) {
	t.Helper()
	how := documentedTable[c.text]
	dir := t.TempDir()
	for _, name := range how.files {
		provide(t, dir, name)
	}
	modules, built, _ := strings.Cut(strings.TrimSpace(goFolders(t)), "\n")
	env := append(os.Environ(), "HOME="+filepath.Join(dir, ".home"), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), "NO_COLOR=1", "CI=",
		"TURNSPEC_RUNTIMES="+filepath.Join(dir, ".none"), "npm_config_offline=true", "GOMODCACHE="+strings.TrimSpace(modules), "GOCACHE="+built)
	if !how.graph {
		env = append(env, "GOPROXY=off")
	}
	if how.clone {
		dir = repository
	}
	for _, before := range how.after {
		text := documentedTable[before].filled(before)
		if code, out := shellRun(t, dir, env, text); code != documentedTable[before].exit {
			t.Fatalf("before: %s: exit code %d\n%s", text, code, out)
		}
	}
	text := how.filled(c.text)
	if code, out := shellRun(t, dir, env, text); code != how.exit {
		t.Errorf("%s: %s: exit code %d, want %d\n%s\nMend the page, or say in documentedTable what the command needs.", c.where, text, code, how.exit, out)
	}
}

// goFolders are the folders of modules and of built packages, which a command that gets
// another HOME would not find.
var goFolders = once(func(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
})

// documentedLimit is the time that a documented command may take. One that takes
// longer is marked takesMinutes and not run.
const documentedLimit = 2 * time.Minute

// shellRun runs a command line and returns its exit code and its output.
func shellRun(t *testing.T, dir string, env []string, line string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), documentedLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	if n := 3000; len(text) > n {
		text = text[:n/2] + "\n…\n" + text[len(text)-n/2:]
	}
	if ctx.Err() != nil {
		t.Fatalf("%s: still running after %v; if it takes minutes, say so in documentedTable\n%s", line, documentedLimit, text)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), text
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, text)
	}
	return 0, text
}

// filled returns the command with the values of its placeholders and with the flags
// that make it short.
func (h how) filled(text string) string {
	for from, to := range h.replace {
		text = strings.ReplaceAll(text, from, to)
	}
	if h.add != "" {
		words := strings.SplitAfterN(text, " ", 3) // turnspec, the subcommand, the rest
		for len(words) < 3 {
			words = append(words, "")
		}
		text = strings.TrimSpace(words[0]) + " " + strings.TrimSpace(words[1]) + " " + h.add + " " + words[2]
	}
	return text
}

var (
	fence  = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")
	inline = regexp.MustCompile("`([^`\n]+)`")
	typed  = regexp.MustCompile(`^(turnspec|npx|npm|pip|make|go|node|python3|cargo|eval) `)
	// aName is a sentence's name for a command, without arguments.
	aName = regexp.MustCompile(`^(turnspec( (log|policy|agents|bench|runtimes|list))? [a-z]+|(npx|npm|pip|go) [a-z]+|make .*)$`)
)

// documentedInPages returns the commands of all pages: the lines after a prompt, the
// commands of workflows, and the code in sentences that begins with a program.
func documentedInPages(t *testing.T) (out []documented) {
	t.Helper()
	err := filepath.WalkDir(repository, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules" || d.Name() == "dist" && filepath.Dir(file) == repository):
			return filepath.SkipDir
		case filepath.Ext(file) != ".md":
			return nil
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		page, err := filepath.Rel(repository, file)
		out = append(out, documentedIn(t, filepath.ToSlash(page), string(b))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func documentedIn(t *testing.T, page, text string) (out []documented) {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		switch kind, block := m[1], m[2]; kind {
		case "console":
			for line := range strings.Lines(block) {
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
					out = append(out, documented{text: command, where: page})
				}
			}
		case "sh", "bash":
			t.Errorf("%s: a block of commands is ```console, with a prompt before each command", page)
		case "yaml":
			var v any
			if err := yaml.Unmarshal([]byte(block), &v); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			for _, command := range workflowCommands(v) {
				out = append(out, documented{text: command, where: page})
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if command := strings.ReplaceAll(m[1], `\|`, "|"); typed.MatchString(command) {
			out = append(out, documented{text: command, where: page, name: aName.MatchString(command)})
		}
	}
	return out
}

// workflowCommands returns what the jobs of a workflow of GitHub or GitLab run.
func workflowCommands(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, workflowCommands(x)...)
		}
	case map[string]any:
		if run, ok := v["run"].(string); ok {
			out = append(out, run)
		}
		if script, ok := v["script"].([]any); ok {
			for _, line := range script {
				out = append(out, fmt.Sprint(line))
			}
		}
		for _, x := range v {
			out = append(out, workflowCommands(x)...)
		}
	}
	slices.Sort(out)
	return out
}

// documentedInHelp returns the examples of all subcommands.
func documentedInHelp() (out []documented) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, documented{text: line, where: c.CommandPath() + " --help"})
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCmd())
	return out
}

// parseDocumented checks that what a command line names exists. It returns the shape of the
// line, which is equal for lines that differ only in values.
func parseDocumented(line string) (shape string, err error) {
	line = regexp.MustCompile(`<([a-z-]+)>`).ReplaceAllString(line, "$1") // a placeholder
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return "", err
	}
	var problems []error
	var shapes []string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, w := range call.Args {
			s, err := expand.Literal(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "1" }), CmdSubst: func(_ io.Writer, _ *syntax.CmdSubst) error { return nil }}, w)
			if err != nil {
				problems = append(problems, err)
			}
			words = append(words, s)
		}
		shape, err := parseCall(words)
		shapes, problems = append(shapes, shape), append(problems, err)
		return true
	})
	return strings.Join(shapes, "; "), errors.Join(problems...)
}

// parseCall checks one call, and returns its shape: of a call of turnspec the subcommand and
// the names of the flags, of another program all words.
func parseCall(words []string) (shape string, err error) {
	program, args := filepath.Base(words[0]), words[1:]
	shape = strings.Join(words, " ")
	switch {
	case program == "npx" && len(args) > 0 && args[0] == "turnspec":
		shape, err = parseTurnspec(args[1:])
		return "npx " + shape, err
	case program == "turnspec":
		return parseTurnspec(args)
	case program == "make":
		return shape, parseMake(args)
	case program == "go":
		return shape, parseGo(args)
	}
	return shape, nil
}

func parseTurnspec(args []string) (shape string, err error) {
	if len(args) == 0 {
		return "turnspec", nil
	}
	cmd, rest, err := rootWithCompletion().Find(args)
	if err != nil {
		return "", err
	}
	if cmd.DisableFlagParsing {
		_, _, err := playArgs(rest)
		return cmd.CommandPath() + " " + strings.Join(rest, " "), err
	}
	err = cmd.ParseFlags(rest)
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name) }) // sorted
	if cmd.Flags().ArgsLenAtDash() >= 0 {
		words = append(words, "--")
	}
	return strings.Join(words, " "), err
}

var makeTarget = regexp.MustCompile(`^[a-z-]+$`)

func parseMake(args []string) error {
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		return err
	}
	for _, name := range args {
		if !makeTarget.MatchString(name) {
			break // a variable, or the output
		}
		if !bytes.Contains(makefile, []byte("\n"+name+":")) {
			return fmt.Errorf("the Makefile has no target %s", name)
		}
	}
	return nil
}

// parseGo checks that the folders and the test of a go command exist.
func parseGo(args []string) error {
	name := ""
	var folders []string
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, "github.com/turnspec/turnspec/"); ok {
			a, _, _ = strings.Cut("./"+rest, "@")
		}
		if strings.HasPrefix(a, "./") && !strings.HasSuffix(a, "...") {
			folders = append(folders, a)
		}
		if a == "-run" && i+1 < len(args) {
			name, _, _ = strings.Cut(args[i+1], "/") // a subtest may have any name
		}
	}
	found := name == "" || len(folders) == 0
	for _, folder := range folders {
		files, err := os.ReadDir(filepath.Join(repository, folder))
		if err != nil {
			return err
		}
		for _, f := range files {
			if !found && strings.HasSuffix(f.Name(), "_test.go") {
				b, err := os.ReadFile(filepath.Join(repository, folder, f.Name()))
				if err != nil {
					return err
				}
				found = bytes.Contains(b, []byte("\nfunc "+name+"(t *testing.T)"))
			}
		}
	}
	if !found {
		return fmt.Errorf("there is no test %s in %v", name, folders)
	}
	return nil
}
