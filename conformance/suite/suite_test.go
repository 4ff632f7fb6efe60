package suite_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
)

// inside is set in the test program that TestRun starts.
const inside = "TURNSPEC_SUITE_TEST"

// TestRun starts this test program on subjects that fail or panic, and reads what it
// prints.
func TestRun(t *testing.T) {
	for _, x := range []struct {
		name, subject, run string
		code               int
		want, not          []string
	}{
		{"all cases", "sound", "TestInside$", 0, []string{
			`--- PASS: TestInside/text/plain/claude@2\.1\.332 `, `--- PASS: TestInside/tool/parallel/claude@2\.1\.332 `}, nil},
		{"a topic", "sound", "TestInside/text", 0, []string{`--- PASS: TestInside/text/plain/claude@2\.1\.332 `}, []string{"TestInside/tool"}},
		{"a case", "sound", "TestInside/tool/parallel/claude", 0, []string{`--- PASS: TestInside/tool/parallel/claude`}, []string{"TestInside/text"}},
		{"a failure", "silent", "TestInside/text", 1, []string{`--- FAIL: TestInside/text/plain/claude@2\.1\.332 `, `FAIL claude/2\.1\.332/text/plain \[witness\] text\.`, `text\.once: the text is not what the model said`, `rerun: go test github.com/turnspec/turnspec/conformance/suite -run '\^TestInside\$/\^text\$/\^plain\$/\^claude@2\.1\.332\$'\n`}, []string{"\x1b", "turnspec run"}},
		// The panic is in a goroutine of the subject, so only a worker process survives it.
		{"a panic", "panics", "TestInside", 1, []string{`--- FAIL: TestInside/text/plain/claude`, `panic: no such river`, `--- PASS: TestInside/tool/parallel/claude`}, nil},
		{"the table", "silent", "TestInside/text", 1, []string{`\n *text\.once +FAIL 1 of 1 cases`, `\n *1 cases and `}, nil},
		{"a case that no adapter can perform", "sound-misuse", "TestInside$", 0, []string{`--- SKIP: TestInside/misuse/without-handshake/claude`, `--- PASS: TestInside/text/plain/claude`}, nil},
		{"a subject that supports nothing", "unsupported", "TestInside$", 1, []string{`no check gave a verdict: open: not supported`}, nil},
		{"a stale known failure", "sound-known", "TestInside$", 1, []string{`known\.txt:3: text\.once: it does not fail any more; remove the entry`}, nil},
		{"a stale known failure of cases that do not run", "sound-known", "TestInside/tool", 0, nil, []string{"known.txt"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+x.run, "-test.v")
			cmd.Env = append(os.Environ(), inside+"="+x.subject, "NO_COLOR=")
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != x.code {
				t.Errorf("exit code %d, want %d", code, x.code)
			}
			for _, w := range x.want {
				if !regexp.MustCompile(w).Match(out) {
					t.Errorf("the output lacks %s", w)
				}
			}
			for _, n := range x.not {
				if bytes.Contains(out, []byte(n)) {
					t.Errorf("the output contains %q", n)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

// TestInside is the conformance test of a user. TestRun starts it.
func TestInside(t *testing.T) {
	subject := os.Getenv(inside)
	if subject == "" {
		t.Skip("TestRun starts this test in a process of its own")
	}
	flag.Parse()
	cfg := conformance.Config{
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{misbehaving{conformance.Adapter("claude", claude.New()), subject}},
		Checks:   checks.All(),
		Cases:    []string{"claude/newest/text/plain", "claude/newest/tool/parallel"},
	}
	if subject == "sound-misuse" {
		cfg.Cases = append(cfg.Cases, "claude/newest/misuse/without-handshake")
	}
	if subject == "sound-known" {
		cfg.KnownFailures = []conformance.KnownFailure{{Check: "text.once", Case: "text/plain", Reason: "it was broken", At: "known.txt:3"}}
	}
	suite.Run(t, cfg)
}

// misbehaving is the reference adapter, except that its sessions do what kind says.
type misbehaving struct {
	conformance.Subject
	kind string
}

func (m misbehaving) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if m.kind == "unsupported" {
		return nil, adapters.ErrUnsupported
	}
	s, err := m.Subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	switch m.kind {
	case "silent":
		return newSilent(s), nil
	case "panics":
		return panics{s}, nil
	}
	return s, nil
}

// silent is a session without its text.
type silent struct {
	adapters.Session
	events chan event.Event
}

func newSilent(s adapters.Session) silent {
	out := silent{s, make(chan event.Event)}
	go func() {
		defer close(out.events)
		for e := range s.Events() {
			if e.Type() != event.TypeDelta {
				out.events <- e
			}
		}
	}()
	return out
}

func (s silent) Events() <-chan event.Event { return s.events }

// panics is a session with a goroutine that panics when a message is about rivers.
type panics struct{ adapters.Session }

func (p panics) Send(ctx context.Context, m adapters.Message) error {
	if strings.Contains(m.Text, "rivers") {
		go panic("no such river")
	}
	return p.Session.Send(ctx, m)
}

// TestReports lets a run write reports, and fails for a report that it cannot write.
func TestReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestInside/text")
	cmd.Env = append(os.Environ(), inside+"=silent", "TURNSPEC_REPORT=json="+file+",junit="+file+".xml,sarif="+file+".sarif")
	out, _ := cmd.CombinedOutput()
	var d report.Document
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil || !d.Failed || d.Cases != 1 || len(d.Results) < 20 || len(d.Times) != 1 {
		t.Errorf("%v: failed %t, %d cases, %d results, %d times\n%s", err, d.Failed, d.Cases, len(d.Results), len(d.Times), out)
	}
	if b, err := os.ReadFile(file + ".xml"); err != nil || !bytes.Contains(b, []byte("rerun: go test ")) {
		t.Errorf("%v: the JUnit report names no go test to rerun", err)
	}
	if b, err := os.ReadFile(file + ".sarif"); err != nil || !bytes.Contains(b, []byte(`"version": "2.1.0"`)) {
		t.Errorf("%v: the SARIF report has no version", err)
	}
	cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestInside/text")
	cmd.Env = append(os.Environ(), inside+"=sound", "TURNSPEC_REPORT=pdf=report.pdf")
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("TURNSPEC_REPORT=pdf=report.pdf: want FORMAT=FILE, with one of the formats json, ")) {
		t.Errorf("%v\n%s", err, out)
	}
}
