package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/shell"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/plug/conversation"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
)

// processesPerCPU is how many cases with real processes run at the same time for
// each processor: they wait most of the time.
const processesPerCPU = 4

// commandFlags are the flags that say what the command after -- speaks; without one, and with
// --subject, it is a program over stdio.
var commandFlags = []string{acpFlag, runnerFlag, httpFlag}

// subjects returns the subjects that the flags name.
func (f runFlags) subjects() ([]conformance.Subject, error) {
	if !f.external() {
		return references(f.name())
	}
	var s conformance.Subject
	var err error
	switch {
	case f.acp:
		s, err = agent(f.command, f.name())
	case f.runner:
		s, err = conversationRunner(f.command, f.name())
	case f.http != "":
		s, err = f.server()
	default:
		s, err = f.program()
	}
	if err != nil {
		return nil, err
	}
	return []conformance.Subject{s}, nil
}

// external reports whether the subject is a program.
func (f runFlags) external() bool { return f.acp || f.runner || f.subject != "" || f.http != "" }

// smokeCommand returns the command of a smoke test of the subject.
func (f runFlags) smokeCommand() string { return f.subjectCommand("turnspec smoke") }

// subjectCommand returns a command of turnspec with the flags and the command of the
// subject.
func (f runFlags) subjectCommand(out string) string {
	out += " --runtime " + f.name()
	command := f.subject
	switch {
	case f.acp:
		out += " --acp"
	case f.runner:
		out += " --runner"
	case f.http != "":
		out += " --http " + quoted(f.http)
		if f.standin != "" {
			out += " --standin " + quoted(f.standin)
		}
	}
	if f.dialect != "" {
		out += " --dialect " + quoted(f.dialect)
	}
	if len(f.command) > 0 {
		command = strings.Join(quotedAll(f.command), " ")
	}
	if command == "" {
		return out
	}
	return out + " -- " + command
}

// alone reports whether a subject runs one case at a time.
func alone(subjects []conformance.Subject) bool {
	return slices.ContainsFunc(subjects, func(s conformance.Subject) bool {
		one, is := s.(interface{ Alone() bool })
		return is && one.Alone()
	})
}

// takeCommand takes the arguments as the command of the subject. It rejects arguments
// that start no program, and flags without a command. Dashes reports whether -- stands
// before the arguments.
func (f *runFlags) takeCommand(args []string, dashes bool) error {
	switch {
	case f.dialect != "" && !f.external() && !dashes:
		return errors.New("--dialect is the vocabulary of your adapter's events: give its command after --, or a server's address with --http")
	case f.acp && len(args) == 0:
		return errors.New("give the command that starts the agent after --: turnspec run --runtime codex --acp -- npx -y @agentclientprotocol/codex-acp")
	case f.runner && len(args) == 0:
		return errors.New("give the command of the runner after --: turnspec run --runtime claude --runner -- turnspec runner --runtime claude")
	case f.subject != "" && len(args) > 0:
		return errors.New("give your adapter's command with --subject or after --, not both")
	case f.external():
		f.command = args
		return nil
	case dashes && strings.TrimSpace(strings.Join(args, "")) == "": // an unset variable must not test the reference instead
		return errors.New("the command after -- is empty: give the command of your adapter, or leave -- out to test the reference")
	case len(args) > 0 && !dashes:
		return fmt.Errorf("unexpected %q: give your adapter's command after --, such as -- python3 my_adapter.py; an ACP agent's with --acp -- CMD, a runner's with --runner -- CMD, a server's with --http URL -- CMD", strings.Join(args, " "))
	}
	f.subject = strings.Join(quotedAll(args), " ")
	return nil
}

// agent returns the ACP agent that a command starts.
func agent(argv []string, runtime string) (*acp.Subject, error) {
	argv, err := commandAfter("--acp", "agent", argv, runtime)
	if err != nil {
		return nil, err
	}
	return &acp.Subject{Program: plug.Program{Title: filepath.Base(argv[len(argv)-1]), Of: runtime, Command: argv}}, nil
}

// conversationRunner returns the runner that a command starts.
func conversationRunner(argv []string, runtime string) (*conversation.Subject, error) {
	argv, err := commandAfter("--runner", "runner", argv, runtime)
	if err != nil {
		return nil, err
	}
	return &conversation.Subject{Program: plug.Program{Title: filepath.Base(argv[0]), Of: runtime, Command: argv}}, nil
}

// commandAfter checks the command of a subject that follows --: a list of words, or one word
// to split as a shell does.
func commandAfter(flag, kind string, argv []string, runtime string) ([]string, error) {
	argv, err := words(flag, argv)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("the command of the %s is empty", kind)
	}
	return argv, wraps(runtime)
}

// words returns a command as a list of words; a single word is split as a shell
// does.
func words(flag string, argv []string) ([]string, error) {
	if len(argv) != 1 {
		return argv, nil
	}
	argv, err := shell.Fields(argv[0], nil)
	if err != nil {
		return nil, fmt.Errorf("%s: the command: %w", flag, err)
	}
	return argv, nil
}

// server returns the HTTP server that the flags name.
func (f runFlags) server() (*sse.Subject, error) {
	var dialect *mapping.Mapping
	if f.dialect != "" {
		var err error
		if dialect, err = dialectNamed(f.dialect); err != nil {
			return nil, err
		}
		if !dialect.TakesCommands() {
			return nil, fmt.Errorf("--dialect %s: it has stdin or args, which are for a program over stdio: leave --http out", f.dialect)
		}
	}
	return server(f.http, f.standin, dialect, f.command, f.name())
}

// The flags that name a subject.
const (
	subjectFlag = "subject"
	acpFlag     = "acp"
	runnerFlag  = "runner"
	httpFlag    = "http"
)

// subjectFlags adds the flags with these names, of which one may be given, and --dialect.
func (f *runFlags) subjectFlags(cmd *cobra.Command, names ...string) {
	fl := cmd.Flags()
	for _, name := range names {
		switch name {
		case subjectFlag:
			fl.StringVar(&f.subject, name, "", "the command of an adapter to run instead of the reference, as one text; with --runtime")
		case acpFlag:
			fl.BoolVar(&f.acp, name, false, "run an ACP agent instead of the reference: its command follows, after --; with --runtime")
		case runnerFlag:
			fl.BoolVar(&f.runner, name, false, "run a runner (turnspec runner --help) instead of the reference: its command follows, after --; with --runtime")
		case httpFlag:
			fl.StringVar(&f.http, name, "", "run a sidecar at this address instead of the reference, started by the command after --, if there is one; with --runtime")
		}
	}
	cmd.MarkFlagsMutuallyExclusive(names...)
	dialectFlag(cmd, &f.dialect)
}

func dialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "the vocabulary of the events of a program or server: "+strings.Join(mapping.Names(), ", ")+", or the file of a mapping (turnspec map proposes one)")
	if err := cmd.RegisterFlagCompletionFunc("dialect", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return mapping.Names(), cobra.ShellCompDirectiveDefault // or the name of a file
	}); err != nil {
		panic(err) // the flag exists
	}
	for _, other := range []string{acpFlag, runnerFlag} { // their events have one vocabulary
		if cmd.Flags().Lookup(other) != nil {
			cmd.MarkFlagsMutuallyExclusive("dialect", other)
		}
	}
}

// dialectNamed returns a built-in mapping, or the one in a file, with the strict checker of
// its vocabulary.
func dialectNamed(name string) (*mapping.Mapping, error) {
	m, err := mappingNamed(name)
	if err != nil {
		return nil, err
	}
	return backend.Strict(m), nil
}

func mappingNamed(name string) (*mapping.Mapping, error) {
	if slices.Contains(mapping.Names(), name) {
		return mapping.Builtin(name)
	}
	b, err := os.ReadFile(name)
	if err != nil && !strings.ContainsAny(name, "./") {
		return mapping.Builtin(name) // its error lists the names
	}
	if err != nil {
		return nil, fmt.Errorf("--dialect: %w", err)
	}
	return mapping.Parse(name, b)
}

// server returns the HTTP server that a command starts, or one that already runs
// and finds the stand-in in a folder.
func server(url, standin string, dialect *mapping.Mapping, argv []string, runtime string) (*sse.Subject, error) {
	argv, err := words("--http", argv)
	if err != nil {
		return nil, err
	}
	if err := wraps(runtime); err != nil {
		return nil, err
	}
	s := &sse.Subject{Program: plug.Program{Title: url, Of: runtime, Command: argv}, URL: url, Dialect: dialect}
	if len(argv) > 0 {
		s.Title = filepath.Base(argv[len(argv)-1])
		return s, s.Check()
	}
	if s.StandinDir, err = place(standin); err != nil {
		return nil, err
	}
	return s, s.Check()
}

// wraps checks the --runtime of a subject.
func wraps(runtime string) error {
	switch {
	case runtime == "":
		return fmt.Errorf("--runtime is missing: name the runtime that the subject wraps, %s", strings.Join(runtimeNames(), ", "))
	case !slices.Contains(runtimeNames(), runtime):
		return fmt.Errorf("unknown runtime %q; want one of %s", runtime, strings.Join(runtimeNames(), ", "))
	}
	return nil
}

// program returns the subject that --subject starts.
func (f runFlags) program() (*jsonl.Subject, error) {
	argv, err := shell.Fields(f.subject, nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--subject %q: %w", f.subject, err)
	case len(argv) == 0:
		return nil, errors.New("--subject is empty: give the command that starts your adapter")
	}
	if err := wraps(f.name()); err != nil {
		return nil, err
	}
	return f.stdio(argv)
}

// stdio returns the program over stdio that a command starts.
func (f runFlags) stdio(argv []string) (*jsonl.Subject, error) {
	s := &jsonl.Subject{Program: plug.Program{Title: filepath.Base(argv[len(argv)-1]), Of: f.name(), Command: argv}}
	if f.dialect == "" {
		return s, nil
	}
	var err error
	if s.Dialect, err = dialectNamed(f.dialect); err != nil {
		return nil, err
	}
	if s.Dialect.Post != nil {
		return nil, fmt.Errorf("--dialect %s: it has post, which is for a server: give its address with --http, or a mapping without post", f.dialect)
	}
	return s, nil
}

// builtin returns the reference adapters. A test replaces it by a broken one.
var builtin = func() []conformance.Subject {
	var out []conformance.Subject
	for _, a := range reference.All() {
		out = append(out, backend.Adapter(a.Capabilities().Runtime, a))
	}
	return out
}

// references returns the reference adapter of a runtime, or all if runtime is "".
func references(runtime string) ([]conformance.Subject, error) {
	all := builtin()
	if runtime == "" {
		return all, nil
	}
	var names []string
	for _, s := range all {
		if s.Runtime() == runtime {
			return []conformance.Subject{s}, nil
		}
		names = append(names, s.Runtime())
	}
	return nil, fmt.Errorf("no reference adapter for runtime %q, only for %s", runtime, strings.Join(names, ", "))
}
