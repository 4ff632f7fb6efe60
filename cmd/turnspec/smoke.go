package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/plug/conversation"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

func smokeCmd() *cobra.Command {
	var runtime, address, dir, dialect, of string
	var isACP, isRunner bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "smoke --runtime RUNTIME -- CMD [ARG…]",
		Short: "Check that a program is connected correctly as a subject",
		Long: `Smoke starts a program that wraps a runtime, replays one turn of text to it and
prints each line of the protocol (conformance/plug/jsonl/PROTOCOL.md): hello, open,
send, close. It tests the connection only; ` + "`turnspec run --subject`" + ` is the suite.

With --case it replays that case instead, prints its lines and how each step of the
client went, and judges nothing.

With --acp the program is an agent of the Agent Client Protocol, with --runner a runner
(turnspec runner --help), with --http a server
(conformance/plug/sse/ROUTES.md), which may also run already. With --dialect its events
are in another vocabulary; a failure lists the messages that no rule reads.

Exit codes: 0 the program is connected, 1 it is not, 2 wrong use.`,
		Example: `  turnspec smoke --runtime claude -- python3 my_adapter.py
  turnspec smoke --runtime claude --case permission/allow -- python3 my_adapter.py
  turnspec smoke --runtime claude@2.1.197 -- ./my-adapter --stdio
  turnspec smoke --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec smoke --runtime codex --acp -- npx -y @agentclientprotocol/codex-acp
  turnspec smoke --runtime claude --http http://127.0.0.1:0 -- node server.js`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && address == "" {
				return errors.New("give the command that starts your adapter: turnspec smoke --runtime claude -- python3 my_adapter.py")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			shown := strings.TrimSpace(address + " " + strings.Join(args, " "))
			ctx, stop := interruptible(cmd)
			defer stop()
			return smoke(ctx, cmd.OutOrStdout(), runtime, of, shown, limit, func(name string, show func(bool, string)) (conformance.Subject, string, error) {
				return plugged(name, isACP, isRunner, address, dir, dialect, args, show)
			})
		},
	}
	cmd.Flags().StringVar(&runtime, "runtime", "", "the runtime that the program wraps: "+strings.Join(runtimeNames(), ", ")+"; with a version: claude@2.1.197")
	cmd.Flags().StringVar(&of, "case", "", "trace this case, such as permission/allow or claude/2.1.329/permission/allow")
	cmd.Flags().BoolVar(&isACP, "acp", false, "the program is an ACP agent")
	cmd.Flags().BoolVar(&isRunner, "runner", false, "the program is a runner")
	cmd.Flags().StringVar(&address, "http", "", "the program is a server at this address, started by the command if there is one")
	dialectFlag(cmd, &dialect)
	standinFlag(cmd, &dir)
	startLimitFlag(cmd, &limit)
	cmd.MarkFlagsMutuallyExclusive(commandFlags...)
	completeFlag(cmd, "runtime", runtimeNames)
	completeFlag(cmd, "case", caseIDs)
	return cmd
}

// smokeLines is how many lines of the protocol a smoke test prints: a program may write without end.
const smokeLines = 200

func startLimitFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "start-limit", defaultStartLimit, "how long the program may take for its first line in the smoke test")
}

// plugged returns the subject of a smoke test, and the flag that names it for run.
func plugged(name string, isACP, isRunner bool, address, dir, dialect string, argv []string, show func(in bool, text string)) (conformance.Subject, string, error) {
	if address != "" {
		s, err := runFlags{http: address, standin: dir, dialect: dialect, command: argv, runtime: name}.server()
		if err != nil {
			return nil, "", err
		}
		s.Watch = show
		flag := "--http " + address
		if dialect != "" {
			flag += " --dialect " + quoted(dialect)
		}
		if dir != "" {
			flag += " --standin " + quoted(dir)
		}
		if len(argv) > 0 {
			flag += " -- " + strings.Join(argv, " ")
		}
		return s, flag, nil
	}
	title := filepath.Base(argv[len(argv)-1])
	if isACP {
		return &acp.Subject{Program: plug.Program{Title: title, Of: name, Command: argv, Watch: show}}, "--acp -- " + strings.Join(argv, " "), nil
	}
	if isRunner {
		return &conversation.Subject{Program: plug.Program{Title: filepath.Base(argv[0]), Of: name, Command: argv, Watch: show}}, "--runner -- " + strings.Join(argv, " "), nil
	}
	s, err := runFlags{dialect: dialect, runtime: name}.stdio(argv)
	if err != nil {
		return nil, "", err
	}
	s.Watch = show
	flag := "-- " + strings.Join(quotedAll(argv), " ")
	if dialect != "" {
		flag = "--dialect " + quoted(dialect) + " " + flag
	}
	return s, flag, nil
}

func smoke(ctx context.Context, out io.Writer, runtime, of, shown string, limit time.Duration, plug func(name string, show func(in bool, text string)) (conformance.Subject, string, error)) error {
	name, version, _ := strings.Cut(runtime, "@")
	if !slices.Contains(runtimeNames(), name) {
		return fmt.Errorf("--runtime is missing: name the runtime that the program wraps, %s", strings.Join(runtimeNames(), ", "))
	}
	rec, err := smokeRecording(fixtures.Embedded(), name, version, cmp.Or(of, jsonl.SmokeScenario))
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
	s, flag, err := plug(name, show)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "replaying %s to: %s\n", rec.Case.ID, shown)
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
		return printTrace(out, r, fmt.Sprintf("turnspec run --runtime %s --case %s %s", name, rec.Case.ID, flag))
	}
	if !printSmoke(out, st, s, r, jsonl.Connection(r)) {
		return errFailed
	}
	fmt.Fprintf(out, "\nThe program is connected. Next:\n  turnspec run --runtime %s %s\n", name, flag)
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
