package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

func smokeCmd() *cobra.Command {
	var f subjectFlags
	var of string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "smoke --runtime RUNTIME -- CMD [ARG…]",
		Short: "Check that a program is connected correctly as a subject",
		Long: `Smoke starts a program that wraps a runtime, replays one turn of text to it and
prints each line of the protocol (conformance/plug/jsonl/PROTOCOL.md): hello, open,
send, close. It tests the connection only; ` + "`turnspec run`" + ` is the suite.

With --case it replays that case instead, prints its lines and how each step of the
client went, and judges nothing.

--subject names another kind of adapter, as in ` + "`turnspec run`" + `: an ACP agent, a runner, a
server, which may also run already, or a reference adapter. With --dialect its events
are in another vocabulary; a failure lists the messages that no rule reads.

Exit codes: 0 the program is connected, 1 it is not, 2 wrong use.`,
		Example: `  turnspec smoke --runtime claude -- python3 my_adapter.py
  turnspec smoke --runtime claude --case permission/allow -- python3 my_adapter.py
  turnspec smoke --runtime claude@2.1.197 -- ./my-adapter --stdio
  turnspec smoke --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec smoke --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp
  turnspec smoke --runtime claude --subject http://127.0.0.1:0 -- node server.js`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(cmd, args, cmd.ArgsLenAtDash() == 0); err != nil {
				return err
			}
			if f.kind == kindNone {
				return errors.New("give the command that starts your adapter: turnspec smoke --runtime claude -- python3 my_adapter.py")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			return smoke(ctx, cmd.OutOrStdout(), f, of, limit)
		},
	}
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "the runtime that the program wraps: "+strings.Join(runtimeNames(), ", ")+"; with a version: claude@2.1.197")
	cmd.Flags().StringVar(&of, "case", "", "trace this case, such as permission/allow or claude/newest/permission/allow")
	f.declare(cmd)
	startLimitFlag(cmd, &limit)
	completeFlag(cmd, "runtime", runtimeNames)
	completeFlag(cmd, "case", caseIDs)
	return cmd
}

// smokeLines is how many lines of the protocol a smoke test prints: a program may write without end.
const smokeLines = 200

func startLimitFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "start-limit", defaultStartLimit, "how long the program may take for its first line in the smoke test")
}

func smoke(ctx context.Context, out io.Writer, f subjectFlags, of string, limit time.Duration) error {
	rec, err := f.recording(fixtures.Embedded(), cmp.Or(of, jsonl.SmokeScenario))
	if err != nil {
		return err
	}
	st, width := styleOf(out), terminalWidth(out)
	var mu sync.Mutex
	lines := 0
	show := func(in bool, text string) {
		mu.Lock()
		defer mu.Unlock()
		if lines++; lines > smokeLines {
			return
		}
		arrow := "<"
		if in {
			arrow = ">"
		}
		fmt.Fprintln(out, st.Dim(clipColumns(arrow+" "+clip(text, 240), width)))
	}
	s, err := f.subject(show)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "replaying %s to: %s\n", rec.Case.ID, f.shown())
	r, err := smokeTest(ctx, s, rec, limit)
	if err != nil {
		return err
	}
	mu.Lock() // a program that was killed may still be read
	defer mu.Unlock()
	if lines > smokeLines {
		fmt.Fprintf(out, "… %d further lines are not shown\n", lines-smokeLines)
	}
	fmt.Fprintln(out)
	if of != "" {
		return printTrace(out, r, f.subjectCommand("turnspec run --case "+rec.Case.ID))
	}
	if !printSmoke(out, st, s, r, jsonl.Connection(r)) {
		return errFailed
	}
	fmt.Fprintf(out, "\nThe program is connected. Next:\n  %s\n", f.subjectCommand("turnspec run"))
	return nil
}

// printTrace prints how each step of a run went, which may be as it must. The command
// verdicts judges the case.
func printTrace(out io.Writer, r *conformance.Run, verdicts string) error {
	st := styleOf(out)
	for _, step := range jsonl.Trace(r) {
		if step.Err == nil {
			fmt.Fprintf(out, "%s    %s\n", st.Good("ok"), step.Name)
			continue
		}
		fmt.Fprintf(out, "%s %s\n%s\n", st.Bad("error"), step.Name, indent(step.Err.Error()))
	}
	if err := jsonl.Ended(r); err != nil {
		fmt.Fprintf(out, "%s  end\n%s\n", st.Bad("FAIL"), indent(err.Error()+programOutput(r, err)))
		return errFailed
	}
	fmt.Fprintf(out, "\nThe case was replayed to its end. Its verdicts: %s\n", verdicts)
	return nil
}
