// Command turnspec tests adapters of agent runtimes: it runs the conformance
// suite, maintains the corpus of recordings, and gives access to the reference
// adapters. `turnspec --help` lists its subcommands; each is in a separate
// file that contains only flags and output.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/recorder/tap"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a check failed, a recording differs
	exitUsage       = 2   // wrong arguments, unreadable input, a harness that could not run
	exitInterrupted = 130 // SIGINT
	exitTerminated  = 143 // SIGTERM
)

// errFailed reports a failed verdict whose details have been printed already.
var errFailed = errors.New("failed")

func main() { os.Exit(run()) }

func run() int {
	conformance.Main()
	benchMain()
	if tap.Main(os.Args) {
		return exitOK
	}
	if ok, code := mcp.Main(os.Args); ok {
		return code
	}
	if code, ok := standIn(os.Args); ok {
		return code
	}
	return execute(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// execute runs a command line and returns its exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := rootCmd()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var code exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, syscall.EPIPE):
		return exitUsage // the reader of the output is gone
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "turnspec: interrupted")
		proc.KillAll()
		return interruptCode()
	}
	fmt.Fprintln(errOut, "turnspec:", err)
	return exitUsage
}

// exitError is an exit code to return without printing an error.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "turnspec",
		Short: "A conformance harness for agent-runtime adapters",
		Long: `Turnspec checks the code that wraps an agent runtime (Claude Code, Codex) and
turns its wire into a stream of events. It replays recordings of the real runtimes
to the adapter, without a key or a network, and compares the events with what the
model really said.

Exit codes: 0 success, 1 a check failed, 2 wrong use or a harness error, 130 ended by
^C, 143 ended by SIGTERM. After a signal a command ends within seconds, prints what it
has so far, and leaves no process of the subject.`,
		Example: `  turnspec demo
  turnspec run
  turnspec explain text.once`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; `%s --help` lists the flags", err, cmd.CommandPath())
	})
	addGroup(root, "Test an adapter:", demoCmd(), initCmd(), runCmd(), smokeCmd(), mapCmd(), debugCmd(), explainCmd(), listCmd(), factsCmd(), showCmd(), envCmd(), mergeCmd(), benchCmd(), exploreCmd(), shrinkCmd())
	addGroup(root, "Build on the adapters:", serveCmd(), runnerCmd(), agentCmd(), normalizeCmd(), chatCmd(), logCmd(), emitCmd(), playCmd(), modelCmd(), tapCmd(), policyCmd(), agentsCmd())
	addGroup(root, "Maintain the corpus:", recordCmd(), updateCmd(), importCmd(), lintCmd(), packCmd(), runtimesCmd(), schemaCmd(), coverageCmd(), driftCmd(), censusCmd())
	root.AddCommand(versionCmd())
	return root
}

// addGroup adds commands that help lists together, for one kind of reader.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// endingSignals are the signals at which a program that runs sessions ends them. A closed
// terminal ends no program that was started with nohup.
func endingSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// interruptLimit is how long a command may take to end after a signal.
const interruptLimit = 4 * time.Second

// interruptedBy is the signal that ended the command; nil: none did.
var interruptedBy atomic.Pointer[os.Signal]

// interruptCode returns the exit code of a command that was interrupted.
func interruptCode() int {
	if s := interruptedBy.Load(); s != nil && *s == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// interruptible returns the command's context, canceled by ^C or SIGTERM. If the command has not
// ended after half of interruptLimit, the processes that it has started are killed, and after all
// of it the program exits. Another signal ends each wait. Commands that only stream do not use
// it: there ^C ends the program at once.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(cmd.Context())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	errOut := cmd.ErrOrStderr()
	go func() {
		select {
		case s := <-signals:
			interruptedBy.Store(&s)
			cancel()
		case <-ended:
			return
		}
		for range 2 { // without its processes the command can end, and remove its folders
			limit := time.NewTimer(interruptLimit / 2)
			defer limit.Stop()
			select {
			case <-signals:
			case <-limit.C:
			case <-ended:
				return
			}
			proc.KillAll()
		}
		fmt.Fprintln(errOut, "turnspec: interrupted")
		os.Exit(interruptCode())
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(ended)
		cancel()
	})
}
