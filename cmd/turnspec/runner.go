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

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/recorder/tap"
)

// runnerFlags are the flags of runner.
type runnerFlags struct {
	sessionFlags
	runtime, caseID           string
	dir, conversation, resume string
	tap                       string
	tools                     toolFlags
	speed                     float64
	fork, checkpoints         bool
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
	f.register(cmd, "bypassPermissions")
	f.tools.register(cmd)
	tapFlag(cmd, &f.tap)
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete(reference.Names))
	_ = cmd.RegisterFlagCompletionFunc("case", complete(caseIDs))
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
	o, err := f.options()
	if err != nil {
		return c, nil, err
	}
	o.Resume, o.Fork, o.Dir, o.Checkpoints = f.resume, f.fork, dir, f.checkpoints
	if f.runtime == "" {
		o.MCP = nil // a demo uses none
	} else if err := withProjectServers(&o); err != nil {
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
