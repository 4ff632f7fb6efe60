package jsonl_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// ownWords is another vocabulary for the events of package event.
const ownWords = `{
  "name": "own-words",
  "rules": [
    {"when": {"kind": "say"}, "emit": "delta", "data": {"text": "body.text", "block_id": "body.block_id", "message_id": "body.message_id"}},
    {"when": {"kind": "call"}, "emit": "tool_start", "data": {"tool_use_id": "body.tool_use_id", "tool": "body.tool", "input": "body.input"}},
    {"when": {"kind": "returned"}, "emit": "tool_result", "data": {"tool_use_id": "body.tool_use_id", "output": "body.output", "is_error": "body.is_error", "status": "body.status"}},
    {"when": {"kind": "may-i"}, "emit": "permission_request", "data": {"request_id": "body.request_id", "tool_use_id": "body.tool_use_id", "tool_name": "body.tool_name", "tool_input": "body.tool_input"}},
    {"when": {"kind": "answered"}, "emit": "permission_resolved", "data": {"request_id": "body.request_id", "tool_name": "body.tool_name", "allowed": "body.allowed", "decision": "body.decision", "by": "body.by"}},
    {"when": {"kind": "over"}, "emit": "done", "data": {"stopped": "body.stopped"}},
    {"when": {"kind": "failed"}, "emit": "error", "data": {"message": "body.message", "code": "body.code"}}
  ]
}`

// ownKinds are the types of the messages of ownWords. Other events it does not have.
var ownKinds = map[event.Type]string{
	event.TypeDelta: "say", event.TypeToolStart: "call", event.TypeToolResult: "returned", event.TypePermissionRequest: "may-i",
	event.TypePermissionResolved: "answered", event.TypeDone: "over", event.TypeError: "failed",
}

// writeOwn writes an event in the vocabulary ownWords.
func writeOwn(e event.Event, write func(any)) {
	if kind := ownKinds[e.Type()]; kind != "" && e.SubagentID == "" {
		write(map[string]any{"kind": kind, "body": e.Data})
	}
}

// addOwnWords adds programs that write ownWords to programs.
func addOwnWords() {
	own := func(b *bridge) func() {
		b.event = func(e event.Event, _ func(event.Event)) { writeOwn(e, b.write) }
		return b.run
	}
	programs["own words"] = own(&bridge{runtime: "claude"})
	twice := &bridge{runtime: "claude"}
	twice.event = func(e event.Event, _ func(event.Event)) {
		writeOwn(e, twice.write)
		if e.Type() == event.TypeDelta {
			writeOwn(e, twice.write)
		}
	}
	programs["own words twice"] = twice.run
	programs["own words and chatter"] = func() {
		b := &bridge{runtime: "claude"}
		b.event = func(e event.Event, _ func(event.Event)) {
			b.write(map[string]any{"kind": "mood", "body": map[string]any{"value": "good"}})
			writeOwn(e, b.write)
		}
		b.run()
	}
	programs["reads lines"] = func() {
		in := bufio.NewReader(os.Stdin)
		var s adapters.Session
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				break
			}
			var m struct{ Dir, Text string }
			if err := json.Unmarshal(line, &m, json.MatchCaseInsensitiveNames(true)); err != nil {
				panic(err)
			}
			if s == nil {
				s = openReference(m.Dir)
				defer func() { _ = s.Close(context.Background()) }()
			}
			turnInOwnWords(s, m.Text)
		}
	}
	programs["takes one"] = func() { takeOne(os.Args[3:]) }
}

// openReference opens the reference adapter, without permission requests.
func openReference(dir string) adapters.Session {
	s, err := conformance.Adapter("claude", claude.New()).Open(context.Background(), conformance.Open{Opening: op.Opening{SessionID: "s", Dir: dir, Mode: adapters.ModeNever}})
	if err != nil {
		panic(err)
	}
	return s
}

// turnInOwnWords plays a turn and writes its events.
func turnInOwnWords(s adapters.Session, text string) {
	if err := s.Send(context.Background(), adapters.Message{ID: "m", Text: text}); err != nil {
		panic(err)
	}
	for e := range s.Events() {
		writeOwn(e, func(line any) {
			b, err := json.Marshal(line)
			if err != nil {
				panic(err)
			}
			fmt.Println(string(b))
		})
		if t := e.Type(); t == event.TypeDone || t == event.TypeError {
			return
		}
	}
}

// takeOne is a program that plays the turn of its arguments: a folder, a message and a word that
// says how it ends.
func takeOne(args []string) {
	s := openReference(args[0])
	turnInOwnWords(s, args[1])
	_ = s.Close(context.Background())
	if args[2] == "fail" {
		fmt.Fprintln(os.Stderr, "no more paper")
		os.Exit(3)
	}
}

// mappedTo returns a program with a mapping.
func mappedTo(t *testing.T, program, text string) *jsonl.Subject {
	t.Helper()
	s := of(t, program, "claude")
	m, err := mapping.Parse("own.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Dialect = backend.Strict(m)
	return s
}

// with returns the mapping ownWords with a change.
func with(t *testing.T, from, to string) string {
	t.Helper()
	if !strings.Contains(ownWords, from) {
		t.Fatalf("ownWords does not contain %s", from)
	}
	return strings.Replace(ownWords, from, to, 1)
}

// TestOwnWordsConnect makes the smoke test of programs with a vocabulary of their own: that
// take commands, that take lines, and that are started for each message.
func TestOwnWordsConnect(t *testing.T) {
	t.Parallel()
	const name = `"name": "own-words",`
	lines := mappedTo(t, "reads lines", with(t, name, name+`"stdin": {"dir": "{dir}", "text": "{message}"},`))
	args := mappedTo(t, "takes one", with(t, name, name+`"args": ["{dir}", "{message}", "well"],`))
	atExit := mappedTo(t, "takes one", strings.Replace(with(t, name, name+`"args": ["{dir}", "{message}", "well"],`), `"emit": "done", "data": {"stopped": "body.stopped"}`, `"note": "its exit ends the turn"`, 1))
	for _, s := range []*jsonl.Subject{mappedTo(t, "own words", ownWords), mappedTo(t, "own words and chatter", ownWords), lines, args, atExit} {
		for _, step := range smoke(t, s) {
			if step.Err != nil {
				t.Errorf("%s: %s: %v", s.Command, step.Name, step.Err)
			}
		}
	}
}

// TestOwnWordsBroken checks that the smoke test notices a rule that is missing, a program that
// fails, and one that writes what is no message.
func TestOwnWordsBroken(t *testing.T) {
	t.Parallel()
	const name = `"name": "own-words",`
	fails := mappedTo(t, "takes one", strings.Replace(with(t, name, name+`"args": ["{dir}", "{message}", "fail"],`), `"emit": "done", "data": {"stopped": "body.stopped"}`, `"note": "its exit ends the turn"`, 1))
	for _, c := range []struct {
		s          *jsonl.Subject
		step, want string
	}{
		{mappedTo(t, "own words", with(t, `{"kind": "say"}`, `{"kind": "said"}`)), "text", `the deltas hold ""`},
		{mappedTo(t, "own words twice", ownWords), "text", "the deltas hold"},
		{fails, "done", "error (crash: the program ended (exit code 3) no more paper)"},
		{mappedTo(t, "reads lines", ownWords), "hello", "wrote no line"},
	} {
		if c.step == "hello" {
			c.s.StartLimit = time.Second // it reads lines, and writes no hello
		}
		steps := smoke(t, c.s)
		last := steps[len(steps)-1]
		if last.Err == nil || last.Name != c.step || !strings.Contains(last.Err.Error(), c.want) {
			t.Errorf("%s: got %s: %v, want %s: %s", c.s.Command, last.Name, last.Err, c.step, c.want)
		}
	}
}

// TestOwnWordsAreJudged runs the checks on cases with tools, questions and a stop: a program in its
// own words passes them, and one that repeats its text fails text.once.
func TestOwnWordsAreJudged(t *testing.T) {
	t.Parallel()
	run := func(program string) (passed, failed []string) {
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: fixtures.Embedded(), Checks: withoutFaults(checks.All()), Workers: 4, Places: 1,
			Subjects: []conformance.Subject{mappedTo(t, program, ownWords)},
			Cases:    []string{newest["claude"] + "permission/allow", newest["claude"] + "stop/twice", newest["claude"] + "tool/parallel"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rep.Results {
			switch {
			case r.Verdict.Bad():
				failed = append(failed, r.Check.ID)
			case r.Verdict == conformance.Pass:
				passed = append(passed, r.Check.ID)
			}
		}
		return passed, failed
	}
	g := NewWithT(t)
	passed, failed := run("own words")
	g.Expect(failed).To(BeEmpty())
	g.Expect(passed).To(ContainElements("text.once", "tool.paired", "tool.output", "permission.resolved", "turn.one-terminal", "turn.stop"))
	_, failed = run("own words twice")
	g.Expect(failed).To(ContainElement("text.once"))
}

// withoutFaults returns the checks that judge runs without a fault.
func withoutFaults(all []*conformance.Check) (out []*conformance.Check) {
	for _, c := range all {
		less := *c
		less.Faults, less.JudgeFault = nil, nil
		if less.Judge != nil {
			out = append(out, &less)
		}
	}
	return slices.Clip(out)
}
