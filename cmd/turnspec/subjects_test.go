package main

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/sse"
)

// subjectCommands are the commands that take a subject, each with the other arguments that it
// needs.
var subjectCommands = []struct {
	before []string
	make   func() *cobra.Command
}{
	{[]string{"run", "--runtime", "claude"}, runCmd},
	{[]string{"smoke", "--runtime", "claude"}, smokeCmd},
	{[]string{"debug", "text/plain", "--runtime", "claude"}, debugCmd},
	{[]string{"bench", "--runtime", "claude", "--deltas", "1"}, benchCmd},
	{[]string{"explore", "--runtime", "claude", "--count", "1"}, exploreCmd},
	{[]string{"shrink", "claude/newest/text/plain", "--check", "text.once", "-o", "none.zip"}, shrinkCmd},
}

// parsedSubject returns the subject that flags and words name, as a command parses them.
func parsedSubject(t *testing.T, words ...string) (conformance.Subject, subjectFlags, error) {
	t.Helper()
	var f subjectFlags
	cmd := &cobra.Command{Use: "test", RunE: func(cmd *cobra.Command, args []string) error {
		return f.parse(cmd, args, cmd.ArgsLenAtDash() == 0)
	}, SilenceErrors: true, SilenceUsage: true}
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "")
	f.declare(cmd)
	cmd.SetArgs(words)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return nil, f, err
	}
	s, err := f.subject(nil)
	return s, f, err
}

// TestSubjectKinds checks that all spellings of a subject name the same one.
func TestSubjectKinds(t *testing.T) {
	for _, c := range []struct {
		again     string // how reports spell it
		spellings [][]string
	}{
		{"--runtime claude -- python3 'my adapter.py'", [][]string{
			{"--runtime", "claude", "--", "python3", "my adapter.py"},
			{"--runtime", "claude", "--subject", "python3 'my adapter.py'"},
			{"--runtime", "claude", "--subject", "program:python3 'my adapter.py'"},
			{"--runtime", "claude", "--subject", "program", "--", "python3", "my adapter.py"},
			{"--runtime", "claude", "--subject", "program:", "--", "python3", "my adapter.py"},
		}},
		{"--runtime codex --subject acp -- npx -y agent", [][]string{
			{"--runtime", "codex", "--subject", "acp:npx -y agent"},
			{"--runtime", "codex", "--subject", "acp: npx -y agent"},
			{"--runtime", "codex", "--subject", "acp", "--", "npx", "-y", "agent"},
			{"--runtime", "codex", "--subject", "acp", "--", "npx -y agent"},
			{"--runtime", "codex", "--acp", "--", "npx", "-y", "agent"},
			{"--runtime", "codex", "--acp", "npx -y agent"},
		}},
		{"--runtime claude --subject runner -- ./runner x", [][]string{
			{"--runtime", "claude", "--subject", "runner:./runner x"},
			{"--runtime", "claude", "--subject", "runner", "--", "./runner", "x"},
			{"--runtime", "claude", "--runner", "--", "./runner", "x"},
		}},
		{"--runtime claude --subject http://127.0.0.1:0/api -- node server.js", [][]string{
			{"--runtime", "claude", "--subject", "http://127.0.0.1:0/api", "--", "node", "server.js"},
			{"--runtime", "claude", "--http", "http://127.0.0.1:0/api", "--", "node", "server.js"},
		}},
		{"--runtime claude --subject http://127.0.0.1:3000 --standin s", [][]string{
			{"--runtime", "claude", "--subject", "http://127.0.0.1:3000", "--standin", "s"},
			{"--runtime", "claude", "--http", "http://127.0.0.1:3000", "--standin", "s"},
		}},
		{"--runtime claude --subject ws://127.0.0.1:0 --dialect wsmessages -- node server.js", [][]string{
			{"--runtime", "claude", "--subject", "ws://127.0.0.1:0", "--dialect", "wsmessages", "--", "node server.js"},
			{"--runtime", "claude", "--http", "ws://127.0.0.1:0", "--dialect", "wsmessages", "--", "node server.js"},
		}},
	} {
		var first conformance.Subject
		for _, words := range c.spellings {
			s, f, err := parsedSubject(t, words...)
			if err != nil {
				t.Errorf("%q: %v", words, err)
				continue
			}
			if server, is := s.(*sse.Subject); is {
				server.Dialect = nil // a mapping is read again
			}
			if first == nil {
				first = s
			}
			if !reflect.DeepEqual(s, first) {
				t.Errorf("%q is %+v, %q is %+v", words, s, c.spellings[0], first)
			}
			if got := f.subjectCommand("run"); got != "run "+c.again {
				t.Errorf("%q is spelled %q, want %q", words, got, "run "+c.again)
			}
		}
	}
	for _, words := range [][]string{{"--subject", "reference:codex"}, {"--subject", "reference", "--runtime", "codex"}, {"--runtime", "codex@0.169.0", "--subject", "reference:codex"}} {
		s, f, err := parsedSubject(t, words...)
		if err != nil || s.Runtime() != "codex" || f.external() {
			t.Errorf("%q: %v, %v", words, s, err)
		}
	}
}

// TestSubjectErrors checks that an error says what to do next.
func TestSubjectErrors(t *testing.T) {
	kinds := []string{"acp:CMD", "runner:CMD", "program:CMD", "reference:RUNTIME", "http://", "ws://"}
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"--subject", "apc:npx agent"}, append(kinds, `no kind "apc"`, "follows after --")},
		{[]string{"--subject", "ftp://127.0.0.1"}, append(kinds, `no kind "ftp"`)},
		{[]string{"--subject", "server:node server.js"}, append(kinds, `no kind "server"`)},
		{[]string{"--subject", "none:x"}, append(kinds, `no kind "none"`)},
		{[]string{"--subject", "http:127.0.0.1"}, append(kinds, `no kind "http"`)},
		{[]string{"--subject", "acp:"}, []string{"give the command that starts the agent"}},
		{[]string{"--subject", "acp", "--", ""}, []string{"give the command that starts the agent"}},
		{[]string{"--subject", "runner"}, []string{"give the command of the runner"}},
		{[]string{"--subject", "program:"}, []string{"give the command that starts your adapter"}},
		{[]string{"--subject", ""}, []string{"--subject is empty"}},
		{[]string{"--http", " "}, []string{"--http is empty"}},
		{[]string{"--subject", "acp:agent", "--", "agent"}, []string{"not both"}},
		{[]string{"--subject", "reference", "--", "agent"}, []string{"takes no command"}},
		{[]string{"--subject", "reference:codex"}, []string{"the runtime is claude"}},
		{[]string{"--subject", "http://127.0.0.1:0"}, []string{"port 0 needs a command"}},
		{[]string{"--subject", "acp:agent", "--acp"}, []string{"none of the others can be"}},
		{[]string{"--subject", "acp:agent", "--dialect", "uistream"}, []string{"--dialect is for a program or server"}},
		{[]string{"--dialect", "uistream"}, []string{"--dialect is the vocabulary of your adapter's events"}},
		{[]string{"--"}, []string{"the command after -- is empty"}},
		{[]string{"--", ""}, []string{"the command after -- is empty"}},
		{[]string{"agent"}, []string{"after --", "--subject acp -- CMD", "--subject URL -- CMD"}},
	} {
		_, _, err := parsedSubject(t, append([]string{"--runtime", "claude"}, c.words...)...)
		if err == nil {
			t.Errorf("%q is accepted", c.words)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q does not contain %q", c.words, err, want)
			}
		}
	}
	if _, _, err := parsedSubject(t, "--subject", "acp:agent"); err == nil || !strings.Contains(err.Error(), "--runtime is missing") {
		t.Errorf("without --runtime: %v", err)
	}
	if _, f, err := parsedSubject(t, "--runtime", "claude", "--subject", `C:\adapter.exe x`); err != nil || f.kind != kindProgram {
		t.Errorf("the drive of a path: %v, kind %q", err, f.kind)
	}
}

// TestSubjectOfEachCommand checks that each command takes each kind of subject in both
// spellings: it fails because a mapping is missing, or because the program does not start.
func TestSubjectOfEachCommand(t *testing.T) {
	for _, c := range subjectCommands {
		for _, flags := range [][]string{
			{"--", "no-such-program"},
			{"--subject", "no-such-program"},
			{"--subject", "program:no-such-program"},
			{"--subject", "acp:no-such-program"},
			{"--subject", "runner:no-such-program"},
			{"--subject", "http://127.0.0.1:0", "--", "no-such-program"},
			{"--subject", "ws://127.0.0.1:0", "--", "no-such-program"},
			{"--subject", "reference"},
			{"--acp", "--", "no-such-program"},
			{"--runner", "--", "no-such-program"},
			{"--http", "http://127.0.0.1:0", "--", "no-such-program"},
		} {
			cmd := c.make()
			words := slices.Concat(c.before[1:], flags)
			if err := cmd.ParseFlags(words); err != nil {
				t.Errorf("%s %q: %v", c.before[0], flags, err)
			} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%s %q: %v", c.before[0], flags, err)
			}
		}
		for want, flags := range map[string][]string{
			"no-such.json":                         {"--dialect", "no-such.json", "--", "cat"},
			"--dialect is for a program or server": {"--dialect", "no-such.json", "--subject", "acp:cat"},
			"--dialect is the vo":                  {"--dialect", "no-such.json"},
			"acp:CMD, runner:CMD":                  {"--subject", "none:cat"},
		} {
			var out, errOut bytes.Buffer
			code := execute(t.Context(), slices.Concat(c.before, flags), strings.NewReader(""), &out, &errOut)
			if c.before[0] == "explore" && strings.Contains(errOut.String(), "turnspec runtimes install") {
				continue // only with a runtime does it read the mapping
			}
			if code != exitUsage || !strings.Contains(errOut.String(), want) {
				t.Errorf("%v %v: exit code %d, want %q: %s", c.before, flags, code, want, errOut.String())
			}
		}
		help := c.make().UsageString()
		if !strings.Contains(help, "--subject") || strings.Contains(help, "      --http ") || strings.Contains(help, "      --acp ") {
			t.Errorf("the flags of %s: want --subject, and no --acp or --http:\n%s", c.before[0], help)
		}
	}
}

// TestSubjectCompletes checks that a shell completes the kinds of subjects.
func TestSubjectCompletes(t *testing.T) {
	for word, want := range map[string][]string{
		"":     {"acp:", "http://", "program:", "runner:", "ws://", "reference:claude"},
		"r":    {"runner:", "reference:claude"},
		"acp:": {"acp:"},
		"./ad": nil,
	} {
		var out, errOut bytes.Buffer
		if code := execute(t.Context(), []string{"__complete", "smoke", "--subject", word}, strings.NewReader(""), &out, &errOut); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", word, code, errOut.String())
		}
		got := strings.Fields(out.String())
		for _, kind := range want {
			if !slices.Contains(got, kind) {
				t.Errorf("%q completes %v, want %s too", word, got, kind)
			}
		}
		if len(want) == 0 && len(got) != 1 { // the directive, which lets the shell complete files
			t.Errorf("%q completes %v", word, got)
		}
	}
}
