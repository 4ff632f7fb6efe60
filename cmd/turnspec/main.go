// Command turnspec answers one question: does an agent-runtime adapter conform,
// and where does it not?
//
// Each subcommand stands in a file of its own and holds no logic but its flags
// and its output. `turnspec --help` lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/mcp"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a check failed, a recording differs
	exitUsage       = 2 // wrong arguments, unreadable input, a harness that could not run
	exitInterrupted = 130
)

// errFailed says that a verdict is bad. What is bad has been printed already.
var errFailed = errors.New("failed")

func main() { os.Exit(run()) }

func run() int {
	conformance.Main()
	benchMain()
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
		return exitUsage // the reader has gone: there is nobody to tell
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "turnspec: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(errOut, "turnspec:", err)
	return exitUsage
}

// exitError is the exit code of a program that ran in our place.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "turnspec",
		Short: "A conformance harness for agent-runtime adapters",
		Long: `Turnspec checks the code that wraps an agent runtime (Claude Code, Codex) and
turns its wire into a stream of events. It plays recordings of the real runtimes
to the adapter, with no key and no network, and judges the events by what the
model really said.

Exit codes: 0 all is well, 1 a check failed, 2 wrong use or a harness error.`,
		Example: `  turnspec demo
  turnspec run
  turnspec explain text.once`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; `%s --help` lists the flags", err, cmd.CommandPath())
	})
	root.AddCommand(demoCmd(), runCmd(), smokeCmd(), envCmd(), mergeCmd(), listCmd(), explainCmd(), showCmd(), recordCmd(), updateCmd(), playCmd(),
		normalizeCmd(), chatCmd(), logCmd(), runtimesCmd(), schemaCmd(), coverageCmd(), driftCmd(), lintCmd(), benchCmd(), importCmd(), versionCmd(), policyCmd(), agentsCmd())
	return root
}

// interruptible is the command's context, done at ^C or SIGTERM. What only
// streams does without: there ^C may end the program as it stands.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}
