package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/recorder/tap"
)

// runnerFlags are the flags of runner.
type runnerFlags struct {
	runtime, caseID                  string
	dir, conversation, resume        string
	mode, model                      string
	tools                            toolFlags
	schema, instructions, mcpServers string
	effort, tap                      string
	args, extraDirs, settings        []string
	maxRequests                      int
	maxCost                          float64
	speed                            float64
	fork, checkpoints                bool
}

func runnerCmd() *cobra.Command {
	var f runnerFlags
	cmd := &cobra.Command{
		Use:   "runner",
		Short: "Run one conversation: commands in on stdin, messages out on stdout",
		Long: `Runner runs one conversation with a runtime in one process. It reads commands from
stdin and writes messages to stdout, one JSON object on each line.

Without --runtime it is a demo that replays a recorded case, without a key or a network.
Whatever message is sent, the recorded one is.

What the runtime does not have, such as --max-budget-usd on Codex, is refused when the
session is opened.

MCP servers come from .mcp.json in the working directory and from --mcp-servers-file,
which has precedence. --policy and --tool-preset bound the tools; what the runtime does without asking
is listed by ` + "`turnspec policy`" + `.

` + "`go doc github.com/turnspec/turnspec/adapters/backend/runner`" + ` lists the commands, and
` + "`go doc github.com/turnspec/turnspec/adapters/backend/runner/message`" + ` the messages.

Exit codes: 0 the conversation is complete, or SIGTERM, SIGINT or SIGHUP ended it; 1 it
failed; 2 it could not begin.`,
		Example: `  echo '{"type":"message","content":"hello"}' | turnspec runner
  turnspec runner --runtime claude --cwd ~/project --permission-mode default
  turnspec runner --runtime codex --tool-preset read-only --resume SESSION
  turnspec runner --runtime claude --tap recordings`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConversation(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.runtime, "runtime", "", "the runtime, which must be installed (default: a demo)")
	fl.StringVar(&f.caseID, "case", "", "the case that a demo replays (default: claude/newest/permission/allow)")
	fl.Float64Var(&f.speed, "speed", 1, "the speed of a demo: 2 halves the recorded pauses")
	fl.StringVar(&f.dir, "cwd", "", "working directory (default: the current one)")
	fl.StringVar(&f.conversation, "conversation-id", "default", "name of the conversation, for the message ready")
	fl.StringVar(&f.resume, "resume", "", "the runtime's id of the session to continue")
	fl.BoolVar(&f.fork, "fork", false, "with --resume: continue in a new session with that history")
	fl.BoolVar(&f.checkpoints, "enable-checkpointing", false, "keep copies of changed files, for rewind_files")
	fl.StringVar(&f.schema, "structured-output", "", "JSON schema of the final answer of each turn")
	fl.StringVar(&f.mode, "permission-mode", "bypassPermissions", "bypassPermissions, default, acceptEdits, plan, dontAsk, or one of the runtime's")
	fl.StringVar(&f.model, "model", "", "the model (default: the runtime's)")
	fl.StringVar(&f.instructions, "instructions-file", "", "file with instructions for the model, which follow the runtime's own")
	fl.StringVar(&f.mcpServers, "mcp-servers-file", "", "file with MCP servers, in the form of .mcp.json")
	fl.StringVar(&f.effort, "effort", "", "how much the model reasons: low, medium, high, or a level of the runtime's")
	fl.IntVar(&f.maxRequests, "max-turns", 0, "how often a turn may ask the model (default: no limit)")
	fl.Float64Var(&f.maxCost, "max-budget-usd", 0, "what the session may cost, in US dollars (default: no limit)")
	fl.StringArrayVar(&f.extraDirs, "add-dir", nil, "a further folder in which tools may work (may be repeated)")
	fl.StringSliceVar(&f.settings, "setting-sources", nil, "settings that the runtime reads: user, project, local (default: the runtime's)")
	fl.StringArrayVar(&f.args, "arg", nil, "an argument for the runtime's program (may be repeated)")
	f.tools.register(cmd)
	tapFlag(cmd, &f.tap)
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete(reference.Names))
	_ = cmd.RegisterFlagCompletionFunc("case", complete(caseIDs))
	_ = cmd.RegisterFlagCompletionFunc("permission-mode", cobra.FixedCompletions([]string{"bypassPermissions", "default", "acceptEdits", "plan", "dontAsk"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("runtime", "case")
	return cmd
}

func runConversation(cmd *cobra.Command, f runnerFlags) error {
	c, taps, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer taps.Wait()
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	err = runner.Run(ctx, c, cmd.InOrStdin(), cmd.OutOrStdout())
	if errors.Is(err, runner.ErrFailed) {
		return errFailed // the messages say why
	}
	return err
}

// untilSignal returns a context that the first SIGTERM, SIGINT or SIGHUP ends, with its name
// as the cause. A second one ends the program.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endingSignals()...)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			names := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP"}
			cancel(errors.New(names[s]))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// config returns what the flags ask for.
func (f runnerFlags) config(errOut io.Writer) (c runner.Config, taps *tap.Folder, err error) {
	c = runner.Config{ConversationID: f.conversation, ToolPreset: f.tools.preset}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return c, nil, err
	}
	if c.Adapter, taps, err = f.adapter(errOut); err != nil {
		return c, nil, err
	}
	o := adapters.Options{
		Opening: op.Opening{
			Resume: f.resume, Fork: f.fork, Dir: dir, Model: f.model, Mode: message.Mode(f.mode), Args: f.args, Checkpoints: f.checkpoints,
			Effort: f.effort, MaxRequests: f.maxRequests, MaxCost: f.maxCost, ExtraDirs: f.extraDirs, SettingSources: f.settings,
		},
	}
	if f.schema != "" {
		if o.Schema = jsontext.Value(f.schema); !o.Schema.IsValid() {
			return c, nil, fmt.Errorf("--structured-output is not JSON")
		}
	}
	if f.instructions != "" {
		b, err := os.ReadFile(f.instructions)
		if err != nil {
			return c, nil, err
		}
		o.Instructions = string(b)
	}
	if o.MCP, err = f.servers(dir); err != nil {
		return c, nil, err
	}
	if o.Judge, err = f.tools.judge(); err != nil {
		return c, nil, err
	}
	c.Options = o
	return c, taps, nil
}

// adapter returns the adapter of the runtime, or of a demo, and its recordings, which may be
// nil.
func (f runnerFlags) adapter(errOut io.Writer) (adapters.Adapter, *tap.Folder, error) {
	a, err := f.untapped()
	if err != nil {
		return nil, nil, err
	}
	taps := tapsInto(f.tap, errOut)
	a, err = tapped(a, taps)
	return a, taps, err
}

func (f runnerFlags) untapped() (adapters.Adapter, error) {
	if f.runtime == "" {
		return newReplayed(cmp.Or(f.caseID, "claude/newest/permission/allow"), strconv.FormatFloat(f.speed, 'g', -1, 64))
	}
	if a := reference.Of(f.runtime); a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("no runtime %q: use one of %s", f.runtime, strings.Join(reference.Names(), ", "))
}

// servers returns the MCP servers of the project and of the user. A demo uses none.
func (f runnerFlags) servers(dir string) ([]adapters.MCPServer, error) {
	if f.runtime == "" {
		return nil, nil
	}
	project, err := runner.ReadServers(filepath.Join(dir, ".mcp.json"))
	if err != nil || f.mcpServers == "" {
		return project, err
	}
	if _, err := os.Stat(f.mcpServers); err != nil {
		return nil, err
	}
	user, err := runner.ReadServers(f.mcpServers)
	return runner.MergeServers(project, user), err
}
