package codexexec

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

const runtimeName = "codexexec"

// Adapter is the adapter for codex exec. It has no state.
type Adapter struct{}

var _ adapters.Transcriber = Adapter{}

// New returns the adapter for codex exec.
func New() Adapter { return Adapter{} }

// Capabilities implements adapters.Adapter.
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Thinking: true,
		// No sandbox writes to the working directory alone, so that further folders have no meaning.
		Can: op.SetOf(op.SetModel, op.SetMode, op.StopAll, op.Withdraw).And("resume", "instructions", "effort", "mcp", "schema", "config"),
	}
}

// sandboxes are the modes in which the runtime asks nobody.
var sandboxes = map[string]string{
	"":                    "",
	adapters.ModeDontAsk:  "read-only",
	adapters.ModeReadOnly: "read-only",
	adapters.ModeNever:    "danger-full-access",
}

// Open implements adapters.Adapter. It starts no turn; the first message does, and
// session_ready follows it.
func (Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	if err := checkOptions(o); err != nil {
		return nil, session.InvalidOptions(err)
	}
	if o.SessionID == "" {
		o.SessionID = "codexexec-" + rand.Text()
	}
	inner := o.Launch
	if inner == nil {
		inner = proc.Exec{}
	}
	ps := turnproc.New(inner, o.Limits.WithDefaults())
	o.Launch = ps
	files := turnproc.NewFiles(o.Env)
	arguments, err := fileArguments(o, files)
	if err != nil {
		files.Remove()
		return nil, &adapters.OpenError{Code: event.ErrorStartFailure, Op: "files", Err: err}
	}
	version := proc.Command{Argv: append(program(o), "--version"), Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: runtimeName, ProviderSessionID: o.Resume, Resumed: o.Resume != "", Model: o.Model, Cwd: o.Dir, Mode: o.Mode}
	s, _, err := session.Open(ctx, o, version, hint, func(h session.Host) *client { return newClient(h, o, ps, files, arguments) })
	if err != nil {
		files.Remove()
		return nil, err
	}
	return turnproc.SessionOf(s, files), nil
}

// checkOptions returns an error for an option that the runtime cannot honour.
func checkOptions(o adapters.Options) error {
	if err := New().Capabilities().Refuse(o); err != nil {
		return err
	}
	if err := codexcli.CheckServers(o.MCP); err != nil {
		return err
	}
	return session.CheckMode(o.Mode, sandboxes)
}

// fileArguments writes the files that hold options, and returns the arguments that name them.
func fileArguments(o adapters.Options, files *turnproc.Files) (args []string, err error) {
	if o.ReplaceInstructions && o.Instructions != "" {
		name, err := files.Write("instructions.md", []byte(o.Instructions))
		if err != nil {
			return nil, err
		}
		args = append(args, "-c", "model_instructions_file="+string(lenient.Encode(name)))
	}
	if len(o.Schema) > 0 {
		name, err := files.Write("schema.json", o.Schema)
		if err != nil {
			return nil, err
		}
		args = append(args, "--output-schema", name)
	}
	return args, nil
}

// program is the program and the arguments that all of its subcommands take.
func program(o adapters.Options) []string {
	if len(o.Command) > 0 {
		return slices.Clone(o.Command)
	}
	return []string{codexcli.Executable(o.Env)}
}

// Arguments implements turnproc.Runtime. The options precede the word resume, as versions
// before 0.120 demand; pictures come last, because the option takes all that follows it.
func (c *client) Arguments(m adapters.Message) []string {
	o := c.Options
	args := append(program(o), "exec", "--json", "--skip-git-repo-check")
	for _, k := range slices.Sorted(maps.Keys(o.Config)) {
		args = append(args, "-c", k+"="+o.Config[k])
	}
	if o.Instructions != "" && !o.ReplaceInstructions {
		args = append(args, "-c", "developer_instructions="+string(lenient.Encode(o.Instructions)))
	}
	args = append(args, codexcli.SessionArgs(o)...)
	args = append(args, codexcli.ServerArgs(o.MCP, "")...)
	if sandbox := sandboxes[c.Mode]; sandbox != "" {
		args = append(args, "--sandbox", sandbox)
	}
	if o.Dir != "" {
		args = append(args, "--cd", o.Dir)
	}
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	args = append(append(args, c.fileArguments...), o.Args...)
	if c.t.thread != "" {
		args = append(args, "resume", c.t.thread)
	}
	for _, path := range c.Files.Paths(m.ID) {
		args = append(args, "--image", path)
	}
	return args
}
