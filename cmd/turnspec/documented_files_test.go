package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/fixtures"
)

// provide makes what a page takes to be in the reader's folder.
func provide(t *testing.T, dir, name string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	switch name {
	case "my_adapter.py", "claude.py":
		copyTo(t, file, "conformance/plug/jsonl/examples/python/claude.py")
	case "my_adapter.py that fails":
		provide(t, dir, "my_adapter.py")
		text, err := os.ReadFile(filepath.Join(dir, "my_adapter.py"))
		if err != nil {
			t.Fatal(err)
		}
		wrong := regexp.MustCompile(`emit\("delta", text=([^,]+),`).ReplaceAll(text, []byte(`emit("delta", text=$1 + $1,`))
		if bytes.Equal(text, wrong) {
			t.Fatal("the example emits no delta")
		}
		writeTo(t, filepath.Join(dir, "my_adapter.py"), string(wrong))
	case "my_adapter.py with its own events":
		provide(t, dir, "my_adapter.py")
		text, err := os.ReadFile(filepath.Join(dir, "my_adapter.py"))
		if err != nil {
			t.Fatal(err)
		}
		own := regexp.MustCompile(`write\(sys.stdout, event=.*`).ReplaceAll(text, []byte(`write(sys.stdout, kind=type, **data)`))
		if bytes.Equal(text, own) {
			t.Fatal("the example writes no event")
		}
		writeTo(t, filepath.Join(dir, "my_adapter.py"), string(own))
	case "sample.jsonl":
		writeTo(t, file, `{"kind":"session_ready","session_id":"s1"}
{"kind":"turn_start","cause":"user"}
{"kind":"delta","text":"The Danube, ","block_id":"1"}
{"kind":"delta","text":"the Nile","block_id":"1"}
{"kind":"done","stopped":false}
{"kind":"session_end","reason":"closed"}
`)
	case "my.json":
		provide(t, dir, "sample.jsonl")
		outputOfTurnspec(t, "", "map", "--from", filepath.Join(dir, "sample.jsonl"), "--to", file)
	case "my_adapter.ts", "claude.ts":
		needNode(t)
		copyTo(t, file, "conformance/plug/jsonl/examples/typescript/claude.ts")
	case "server.js":
		copyTo(t, file, "conformance/plug/sse/examples/server.js")
	case "chat.js":
		copyTo(t, file, "conformance/plug/sse/examples/chat.js")
	case "conformance/plug.ts": // as init writes it, with the library installed
		provide(t, dir, "plug.ts")
		outputOfTurnspec(t, "", "init", "--lang", "typescript", dir)
	case "conformance/plug.py":
		outputOfTurnspec(t, "", "init", "--lang", "python", dir)
		copyTo(t, filepath.Join(dir, "conformance", "turnspec_plug", "__init__.py"), "conformance/plug/python/src/turnspec_plug/__init__.py")
	case "plug.py":
		copyTo(t, file, "conformance/plug/starter/python/claude/plug.py")
		copyTo(t, filepath.Join(dir, "adapter.py"), "conformance/plug/starter/python/claude/adapter.py")
		copyTo(t, filepath.Join(dir, "turnspec_plug", "__init__.py"), "conformance/plug/python/src/turnspec_plug/__init__.py")
	case "plug.ts":
		needNode(t)
		copyTo(t, file, "conformance/plug/starter/typescript/claude/plug.ts")
		copyTo(t, filepath.Join(dir, "adapter.ts"), "conformance/plug/starter/typescript/claude/adapter.ts")
		for _, f := range []string{"package.json", "index.js"} {
			copyTo(t, filepath.Join(dir, "node_modules/@turnspec/plug", f), "conformance/plug/typescript/"+f)
		}
	case "node_modules": // as npm installs the program
		writeTo(t, filepath.Join(dir, "package.json"), `{"name":"mine","private":true}`)
		program, err := exec.LookPath("turnspec")
		if err != nil {
			t.Fatal(err)
		}
		bin := filepath.Join(file, ".bin", "turnspec")
		writeTo(t, bin, "#!/bin/sh\nexec '"+program+"' \"$@\"\n")
		if err := os.Chmod(bin, 0o755); err != nil {
			t.Fatal(err)
		}
	case "bin/my-adapter": // of a Codex
		writeTo(t, file, "#!/bin/sh\nexec codex --version\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	case "my-adapter":
		provide(t, dir, "my_adapter.py")
		writeTo(t, file, "#!/bin/sh\nexec python3 my_adapter.py\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	case "known.txt":
		writeTo(t, file, "# None yet.\n")
	case "policy.yaml":
		writeTo(t, file, "mode: implementation\ndeny: [\"Bash(git push:*)\"]\n")
	case "templates":
		writeTo(t, filepath.Join(file, "same.md"), reviewer)
		writeTo(t, filepath.Join(file, "claude", "reviewer.md"), reviewer)
		writeTo(t, filepath.Join(file, "codex", "reviewer.toml"), "name = \"reviewer\"\ndescription = \"Reads code.\"\ndeveloper_instructions = \"Read the code.\"\n")
	case "adapter_test.go":
		copyTo(t, file, "conformance/example_subject_test.go")
	case "go.mod":
		writeTo(t, file, "module mine\n")
	case "../turnspec":
		clone, err := filepath.Abs(repository)
		if err == nil {
			err = os.Symlink(clone, file)
		}
		if err != nil {
			t.Fatal(err)
		}
	case "../service":
		if err := os.MkdirAll(file, 0o755); err != nil {
			t.Fatal(err)
		}
	case "transcript.jsonl":
		writeTo(t, file, outputOf(t, "claude/newest/text/plain"))
	case "wire.jsonl":
		writeTo(t, file, outputOf(t, "codex/0.120.0/text/plain"))
	case "session.jsonl":
		writeTo(t, file, outputOf(t, "claude/newest/text/plain"))
	case "session.txtar", "imported.txtar":
		copyTo(t, file, "fixtures/claude/2.1.197/text/plain.txtar")
	case "my":
		const id = "claude/2.1.197/text/plain.txtar"
		copyTo(t, filepath.Join(file, id), "fixtures/"+id)
	case "events.jsonl":
		writeTo(t, file, outputOfTurnspec(t, outputOf(t, "codex/newest/text/plain"), "normalize", "codex"))
	case "chats.db":
		outputOfTurnspec(t, outputOfTurnspec(t, outputOf(t, "codex/newest/text/plain"), "normalize", "codex"), "log", "append", file)
	case "chats.db with an image":
		writeLogWithImage(t, filepath.Join(dir, "chats.db"))
	case "reports":
		if err := os.MkdirAll(file, 0o755); err != nil {
			t.Fatal(err)
		}
	case "part-1.json", "reports/1.json":
		writeTo(t, file, storedReport(t))
	case "old.json", "new.json":
		writeTo(t, file, storedBench(t))
	case "sessions.json":
		writeTo(t, file, storedSessions(t))
	case "corpus":
		provideCorpus(t, file)
	default:
		t.Fatalf("nothing provides %s", name)
	}
}

// What several commands read is made once.
var (
	storedReport = once(func(t *testing.T) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "report.json")
		outputOfTurnspec(t, "", append([]string{"run", "--report", "json=" + file}, strings.Fields(plainCase)...)...)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	})
	storedBench = once(func(t *testing.T) string {
		t.Helper()
		return outputOfTurnspec(t, "", append([]string{"bench", "--json", "--runtime", "claude"}, strings.Fields(quick)...)...)
	})
	storedSessions = once(func(t *testing.T) string {
		t.Helper()
		return outputOfTurnspec(t, "", "bench", "--json", "--sessions", "2", "--runtime", "claude", "--deltas", "5", "--rate", "500", "--repeat", "1", "--control", "raw")
	})
)

// once returns a function that calls produce until it has returned a text, and returns
// that text from then on.
func once(produce func(t *testing.T) string) func(t *testing.T) string {
	var (
		mu   sync.Mutex
		text string
	)
	return func(t *testing.T) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if text == "" {
			text = produce(t)
		}
		return text
	}
}

// provideCorpus writes a corpus of one scenario: its cases, and what belongs to no case.
func provideCorpus(t *testing.T, dir string) {
	t.Helper()
	c := fixtures.Embedded()
	err := fs.WalkDir(c.FS, ".", func(name string, d fs.DirEntry, err error) error {
		of := strings.TrimSuffix(name, filepath.Ext(name))
		if err != nil || d.IsDir() || !strings.HasSuffix(of, "/text/plain") && path.Base(name) != "lifecycle.txtar" && path.Base(name) != "schema.txt" {
			return err
		}
		b, err := fs.ReadFile(c.FS, name)
		writeTo(t, filepath.Join(dir, filepath.FromSlash(name)), string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const reviewer = "---\nname: reviewer\ndescription: Reads code.\n---\nRead the code.\n"

// needNode skips a test if Node runs no TypeScript, except in CI.
func needNode(t *testing.T) {
	t.Helper()
	if err := exec.Command("node", "--eval", "process.exit(process.features.typescript ? 0 : 1)").Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node runs no TypeScript: it needs 22.18 or newer")
		}
		t.Skip("node runs no TypeScript: it needs 22.18 or newer")
	}
}

// outputOf returns what the runtime of a case wrote to stdout.
func outputOf(t *testing.T, id string) string {
	t.Helper()
	c, err := fixtures.Embedded().LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, l := range c.Wire {
		if l.Dir == fixtures.Out {
			b.Write(l.Bytes)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func copyTo(t *testing.T, file, from string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(from)))
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, file, string(b))
}

func writeTo(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outputOfTurnspec runs a command and returns its output.
func outputOfTurnspec(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("turnspec", args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("turnspec %v: %v", args, err)
	}
	return string(out)
}
