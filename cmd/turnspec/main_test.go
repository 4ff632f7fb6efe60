package main

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/cmd/turnspec/internal/databases"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// A program built with the race detector sleeps for a second at exit.
const raceOptions = "atexit_sleep_ms=10"

func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", raceOptions); err != nil {
		panic(err)
	}
	openDatabase = func(ctx context.Context, address string) (sharedLog, error) { return databases.Open(ctx, address) }
	// Many scripts and commands wait for a limit, or for another program. `go test -parallel` wins.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	program := func() { os.Exit(run()) }
	testscript.Main(m, map[string]func(){
		"turnspec": program,
		"turnspec-with-a-panic": func() {
			builtin = func() []conformance.Subject {
				return []conformance.Subject{panics{conformance.Adapter("claude", claude.New())}}
			}
			program()
		},
		"subject-that": subjectThat,
		// Under the name of a runtime the program is its stand-in.
		"codex":  program,
		"claude": program,
	})
}

// panics is the reference adapter, except that one of its goroutines panics after a
// message that contains the word rivers.
type panics struct{ conformance.Subject }

func (p panics) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	s, err := p.Subject.Open(ctx, o)
	return panicsSession{s}, err
}

type panicsSession struct{ adapters.Session }

func (s panicsSession) Send(ctx context.Context, m adapters.Message) error {
	if strings.Contains(m.Text, "rivers") {
		go panic("no such river")
		<-make(chan struct{}) // the end of the program is all that ends this
	}
	return s.Session.Send(ctx, m)
}

// concurrentScripts lists the scripts in which the program runs several goroutines: it replays
// and measures, follows a log, shows progress, or talks to another program. The other
// scripts parse, judge and print in one goroutine. With the race detector each of
// their commands takes seconds, so they run only without it.
var concurrentScripts = []string{"bench", "bench-server", "chat", "connect", "connect-acp", "connect-http", "first-screen", "http", "isolate", "log", "play", "record", "record-live", "run", "subject", "terminal"}

// scripts returns the scripts to run, with the newest version of a runtime in place of its
// name in braces: codex/{codex}/text/plain.
func scripts(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var out []string
	for _, file := range scriptFiles(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := runtimeInBraces.ReplaceAllStringFunc(string(b), func(name string) string {
			return newestOf(t, strings.Trim(name, "{}"))
		})
		out = append(out, filepath.Join(dir, filepath.Base(file)))
		if err := os.WriteFile(out[len(out)-1], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var runtimeInBraces = regexp.MustCompile(`\{(claude|codex)\}`)

// newestOf returns the newest version of a runtime in the corpus.
func newestOf(t *testing.T, runtime string) string {
	t.Helper()
	versions, err := fixtures.Embedded().Versions(runtime)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no version of %s: %v", runtime, err)
	}
	return versions[0]
}

// scriptFiles returns the files of the scripts to run: with the race detector only the
// concurrent ones.
func scriptFiles(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if !racesample.Enabled {
		return all
	}
	var out []string
	for _, name := range concurrentScripts {
		file := filepath.Join("testdata", "script", name+".txtar")
		if !slices.Contains(all, file) {
			t.Errorf("there is no script %s", file)
		}
		out = append(out, file)
	}
	return out
}

// TestScripts runs the program as its users do.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"CI", "NO_COLOR", "TURNSPEC_CASE"} {
				e.Setenv(name, "")
			}
			e.Setenv("GORACE", raceOptions)
			// Hide the runtimes of this machine.
			e.Setenv("TURNSPEC_RUNTIMES", filepath.Join(e.WorkDir, "none"))
			examples, err := filepath.Abs("../../conformance/plug/jsonl/examples")
			e.Setenv("EXAMPLES", examples)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"corpus":     corpusCommand,
			"repeat":     repeatCommand,
			"status":     statusCommand,
			"substitute": substituteCommand,
		},
	})
}

// corpusCommand writes the newest cases that match the globs, with their scenarios and
// goldens, and what belongs to no case, into a folder: corpus DIR [GLOB…]. A glob that begins
// with scenarios/ names further scenarios.
func corpusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: corpus DIR [GLOB…]")
	}
	c := fixtures.Embedded()
	ids, err := c.CaseIDs()
	ts.Check(err)
	matches := func(id string) bool {
		return slices.ContainsFunc(args[1:], func(glob string) bool { return conformance.Match(glob, id) })
	}
	chosen := map[string]bool{} // cases, and their scenarios
	for _, id := range fixtures.Newest(ids) {
		if matches(id) {
			_, _, scenario := fixtures.SplitCaseID(id)
			chosen[id], chosen["scenarios/"+scenario] = true, true
		}
	}
	copied := 0
	ts.Check(fs.WalkDir(c.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		id := strings.TrimSuffix(name, filepath.Ext(name))
		base := filepath.Base(name)
		want := chosen[id] || base == "lifecycle.txtar" || base == "schema.txt" || strings.HasPrefix(id, "scenarios/") && matches(id)
		if chosen[id] {
			copied++
		}
		if !want {
			return nil
		}
		b, err := fs.ReadFile(c.FS, name)
		if err != nil {
			return err
		}
		file := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, b, 0o644)
	}))
	if len(args) > 1 && copied == 0 {
		ts.Fatalf("no case matches %v", args[1:])
	}
}

// repeatCommand writes a file with the head once and the body n times:
// repeat N HEAD BODY FILE.
func repeatCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: repeat N HEAD BODY FILE")
	}
	n := 0
	for _, r := range args[0] {
		n = n*10 + int(r-'0')
	}
	body := ts.ReadFile(args[2])
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(ts.ReadFile(args[1])+strings.Repeat(body, n)), 0o644))
}

// statusCommand runs a program and requires this exit code: status CODE NAME ARG….
// The commands stdout and stderr see its output.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE NAME [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := args[0]; want != strconv.Itoa(got) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// substituteCommand replaces a text in a file, which must contain it: substitute
// FILE OLD NEW.
func substituteCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: substitute FILE OLD NEW")
	}
	s := ts.ReadFile(args[0])
	if !strings.Contains(s, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(s, args[1], args[2], 1)), 0o644))
}
