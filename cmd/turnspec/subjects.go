package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/shell"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/plug/conversation"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fixtures"
)

// processesPerCPU is how many cases with real processes run at the same time for
// each processor: they wait most of the time.
const processesPerCPU = 4

// subjectFlags name the subject of a command: --subject, with --dialect and --standin, and the
// command after --. The flags --acp, --runner and --http are an old spelling of --subject.
type subjectFlags struct {
	runtime     string // a runtime, or RUNTIME@VERSION
	text        string // of --subject
	acp, runner bool
	http        string
	dialect     string // of a program or server
	standin     string // the folder of the stand-in, for a server that runs already

	// What parse makes of them.
	kind     subjectKind
	address  string // of a server
	adapter  string // the runtime of a reference adapter; "": that of --runtime
	command  []string
	spelling string // how the user spelled the kind, for errors
}

// subjectKind is what a subject is, as --subject spells it before a colon. A server is spelled
// by its address.
type subjectKind string

const (
	kindNone      subjectKind = "" // no subject is named, which means the reference adapters
	kindReference subjectKind = "reference"
	kindProgram   subjectKind = "program"
	kindACP       subjectKind = "acp"
	kindRunner    subjectKind = "runner"
	kindServer    subjectKind = "server"
)

// kindsHelp says what --subject takes.
const kindsHelp = "acp:CMD, runner:CMD, program:CMD, reference:RUNTIME, or an address that begins with http://, https://, ws:// or wss://"

// addressSchemes begin the address of a server.
var addressSchemes = []string{"http", "https", "ws", "wss"}

// beginsWithKind matches a text that begins with a kind. One letter is the drive of a path.
var beginsWithKind = regexp.MustCompile(`^([a-z][a-z0-9]+):`)

// The flags that name a subject.
const (
	subjectFlag = "subject"
	acpFlag     = "acp"
	runnerFlag  = "runner"
	httpFlag    = "http"
)

// declare adds the flags that name a subject, but not --runtime.
func (f *subjectFlags) declare(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.text, subjectFlag, "", "your adapter instead of the reference: the command of a program over JSON lines, "+kindsHelp+"; the command may follow after --; with --runtime")
	fl.BoolVar(&f.acp, acpFlag, false, "the old spelling of --subject acp")
	fl.BoolVar(&f.runner, runnerFlag, false, "the old spelling of --subject runner")
	fl.StringVar(&f.http, httpFlag, "", "the old spelling of --subject URL")
	for _, old := range []string{acpFlag, runnerFlag, httpFlag} {
		if err := fl.MarkHidden(old); err != nil {
			panic(err) // the flag exists
		}
	}
	cmd.MarkFlagsMutuallyExclusive(subjectFlag, acpFlag, runnerFlag, httpFlag)
	if err := cmd.RegisterFlagCompletionFunc(subjectFlag, completeSubject); err != nil {
		panic(err) // the flag exists
	}
	dialectFlag(cmd, &f.dialect)
	standinFlag(cmd, &f.standin)
}

// completeSubject completes the kinds of --subject; a word that begins with none is the name of
// a file.
func completeSubject(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	kinds := []string{"acp:", "runner:", "program:", "http://", "ws://"}
	for _, name := range reference.Names() {
		kinds = append(kinds, string(kindReference)+":"+name)
	}
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return !strings.HasPrefix(kind, word) })
	return kinds, cobra.ShellCompDirectiveNoSpace
}

// name returns the name of the runtime of --runtime.
func (f subjectFlags) name() string {
	name, _, _ := strings.Cut(f.runtime, "@")
	return name
}

// version returns the version of --runtime; "" means the newest if live, else all.
func (f subjectFlags) version() string {
	_, version, _ := strings.Cut(f.runtime, "@")
	return version
}

// parse reads the flags and args, the command of the subject. dashes reports whether -- stands
// before args.
func (f *subjectFlags) parse(cmd *cobra.Command, args []string, dashes bool) error {
	for _, name := range []string{subjectFlag, httpFlag} { // an unset variable must not test the reference instead
		if flag := cmd.Flags().Lookup(name); flag.Changed && strings.TrimSpace(flag.Value.String()) == "" {
			return fmt.Errorf("--%s is empty: give the command or address of your adapter, or leave --%s out to test the reference", name, name)
		}
	}
	if err := f.parseKind(); err != nil {
		return err
	}
	if err := f.parseCommand(args, dashes); err != nil {
		return err
	}
	f.runtime = cmp.Or(f.runtime, f.adapter)
	if name, version, ok := strings.Cut(f.runtime, "@"); ok {
		f.runtime = strings.Replace(fixtures.Embedded().Resolve(name+"/"+version), "/", "@", 1)
	}
	switch {
	case f.dialect == "":
	case f.kind == kindACP || f.kind == kindRunner:
		return fmt.Errorf("--dialect is for a program or server: the events of --subject %s have one vocabulary", f.kind)
	case !f.external():
		return errors.New("--dialect is the vocabulary of your adapter's events: give its command after --, or a server's address with --subject")
	}
	return nil
}

// parseKind reads the flags. f.command is what follows the kind.
func (f *subjectFlags) parseKind() error {
	text := strings.TrimSpace(f.text)
	rest := ""
	f.spelling = "--subject"
	switch match := beginsWithKind.FindStringSubmatch(text); {
	case f.acp:
		f.kind, f.spelling = kindACP, "--acp"
	case f.runner:
		f.kind, f.spelling = kindRunner, "--runner"
	case f.http != "":
		f.kind, f.address, f.spelling = kindServer, f.http, "--http"
	case text == "":
		return nil
	case match == nil:
		if kind := subjectKind(text); kind.takesText() {
			f.kind = kind // the command follows after --
			return nil
		}
		f.kind, rest = kindProgram, text
	case slices.Contains(addressSchemes, match[1]) && strings.HasPrefix(text[len(match[0]):], "//"):
		f.kind, f.address = kindServer, text
	default:
		f.kind, rest = subjectKind(match[1]), strings.TrimSpace(text[len(match[0]):])
		if !f.kind.takesText() {
			return fmt.Errorf("--subject %s: there is no kind %q: give %s; a command that begins so follows after --", quoted(text), match[1], kindsHelp)
		}
	}
	if f.kind == kindReference {
		f.adapter = rest
		return nil
	}
	var err error
	if f.command, err = shell.Fields(rest, nil); err != nil {
		return fmt.Errorf("--subject %q: %w", text, err)
	}
	return nil
}

// takesText reports whether a kind is spelled by its name.
func (k subjectKind) takesText() bool {
	return slices.Contains([]subjectKind{kindReference, kindProgram, kindACP, kindRunner}, k)
}

// parseCommand reads the command in args.
func (f *subjectFlags) parseCommand(args []string, dashes bool) error {
	blank := strings.TrimSpace(strings.Join(args, "")) == ""
	switch {
	case f.kind == kindNone && len(args) > 0 && !dashes:
		return fmt.Errorf("unexpected %q: give your adapter's command after --, such as -- python3 my_adapter.py; an ACP agent's with --subject acp -- CMD, a runner's with --subject runner -- CMD, a server's with --subject URL -- CMD", strings.Join(args, " "))
	case f.kind == kindNone && dashes && blank: // an unset variable must not test the reference instead
		return errors.New("the command after -- is empty: give the command of your adapter, or leave -- out to test the reference")
	case f.kind == kindNone && len(args) > 0:
		f.kind, f.command = kindProgram, args
		return nil
	case f.kind == kindReference && len(args) > 0:
		return errors.New("--subject reference takes no command: leave it out, or give your adapter's command without --subject")
	case len(f.command) > 0 && len(args) > 0:
		return errors.New("give your adapter's command with --subject or after --, not both")
	case len(args) == 1 && f.kind != kindProgram: // one word is split as a shell does
		var err error
		if args, err = shell.Fields(args[0], nil); err != nil {
			return fmt.Errorf("%s: the command: %w", f.spelling, err)
		}
		fallthrough
	case len(args) > 0:
		f.command = args
	}
	if len(f.command) > 0 && strings.TrimSpace(strings.Join(f.command, "")) != "" {
		return nil
	}
	switch f.kind {
	case kindACP:
		return errors.New("give the command that starts the agent after --: turnspec run --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp")
	case kindRunner:
		return errors.New("give the command of the runner after --: turnspec run --runtime claude --subject runner -- turnspec runner --runtime claude")
	case kindProgram:
		return errors.New("give the command that starts your adapter after --: turnspec run --runtime claude -- python3 my_adapter.py")
	}
	return nil
}

// external reports whether the subject is a program.
func (f subjectFlags) external() bool { return f.kind != kindNone && f.kind != kindReference }

// subjects returns the subject that the flags name; without one, the reference adapter of
// --runtime, or all.
func (f subjectFlags) subjects() ([]conformance.Subject, error) {
	if f.external() {
		s, err := f.program(nil)
		if err != nil {
			return nil, err
		}
		return []conformance.Subject{s}, nil
	}
	if f.adapter != "" && f.name() != f.adapter {
		return nil, fmt.Errorf("--subject reference:%s: the runtime is %s: leave :%s out", f.adapter, f.name(), f.adapter)
	}
	return references(f.name())
}

// subject returns the one subject that the flags name. watch receives each line between a program
// and the suite; nil: none does.
func (f subjectFlags) subject(watch func(in bool, text string)) (conformance.Subject, error) {
	if f.external() {
		return f.program(watch)
	}
	all, err := f.subjects()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// recording returns the recording of a case or scenario of the subject's runtime.
func (f subjectFlags) recording(corpus fixtures.Corpus, of string) (perform.Recording, error) {
	if err := wraps(f.name()); err != nil {
		return perform.Recording{}, err
	}
	return smokeRecording(corpus, f.name(), f.version(), of)
}

// shown returns how output names the subject.
func (f subjectFlags) shown() string {
	if f.kind == kindReference {
		return "the reference adapter"
	}
	return strings.TrimSpace(f.address + " " + strings.Join(f.command, " "))
}

// program returns the subject that is a program. watch receives each line between it and the
// suite; nil: none does.
func (f subjectFlags) program(watch func(in bool, text string)) (conformance.Subject, error) {
	if err := wraps(f.name()); err != nil {
		return nil, err
	}
	p := plug.Program{Title: f.address, Of: f.name(), Command: f.command, Watch: watch}
	if len(f.command) > 0 {
		p.Title = filepath.Base(f.command[len(f.command)-1])
	}
	switch f.kind {
	case kindACP:
		return &acp.Subject{Program: p}, nil
	case kindRunner:
		p.Title = filepath.Base(f.command[0])
		return &conversation.Subject{Program: p}, nil
	case kindServer:
		return f.server(p)
	}
	s := &jsonl.Subject{Program: p}
	if f.dialect == "" {
		return s, nil
	}
	var err error
	if s.Dialect, err = dialectNamed(f.dialect); err != nil {
		return nil, err
	}
	if s.Dialect.Post != nil {
		return nil, fmt.Errorf("--dialect %s: it has post, which is for a server: give its address with --subject, or a mapping without post", f.dialect)
	}
	return s, nil
}

// server returns the server that p starts, or one that already runs and finds the stand-in in a
// folder.
func (f subjectFlags) server(p plug.Program) (conformance.Subject, error) {
	s := &sse.Subject{Program: p, URL: f.address}
	var err error
	if f.dialect != "" {
		if s.Dialect, err = dialectNamed(f.dialect); err != nil {
			return nil, err
		}
		if !s.Dialect.TakesCommands() {
			return nil, fmt.Errorf("--dialect %s: it has stdin or args, which are for a program over stdio: leave the address out", f.dialect)
		}
	}
	if len(f.command) == 0 {
		if s.StandinDir, err = place(f.standin); err != nil {
			return nil, err
		}
	}
	return s, s.Check()
}

// smokeCommand returns the command of a smoke test of the subject.
func (f subjectFlags) smokeCommand() string { return f.subjectCommand("turnspec smoke") }

// subjectCommand returns a command of turnspec with the flags and the command of the
// subject.
func (f subjectFlags) subjectCommand(out string) string {
	return strings.TrimRight(out+" --runtime "+f.name()+" "+f.arguments(), " ")
}

// arguments returns the arguments that name the subject, without --runtime.
func (f subjectFlags) arguments() string {
	var out []string
	switch f.kind {
	case kindACP, kindRunner, kindReference:
		out = append(out, "--subject", string(f.kind))
	case kindServer:
		out = append(out, "--subject", quoted(f.address))
		if f.standin != "" {
			out = append(out, "--standin", quoted(f.standin))
		}
	}
	if f.dialect != "" {
		out = append(out, "--dialect", quoted(f.dialect))
	}
	if len(f.command) > 0 {
		out = append(append(out, "--"), quotedAll(f.command)...)
	}
	return strings.Join(out, " ")
}

// alone reports whether a subject runs one case at a time.
func alone(subjects []conformance.Subject) bool {
	return slices.ContainsFunc(subjects, func(s conformance.Subject) bool {
		one, is := s.(interface{ Alone() bool })
		return is && one.Alone()
	})
}

func dialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "the vocabulary of the events of a program or server: "+strings.Join(mapping.Names(), ", ")+", or the file of a mapping (turnspec map proposes one)")
	if err := cmd.RegisterFlagCompletionFunc("dialect", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return mapping.Names(), cobra.ShellCompDirectiveDefault // or the name of a file
	}); err != nil {
		panic(err) // the flag exists
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
