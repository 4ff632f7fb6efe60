package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/eventlog"
	"github.com/turnspec/turnspec/adapters/eventlog/sqlite"
	"github.com/turnspec/turnspec/conformance/bench/serverload"
)

func benchServerCmd() *cobra.Command {
	c := serverload.Config{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Measure the server of sessions: delay to listeners, lost events, memory",
		Long: `Server starts the server of turnspec serve with sessions that emit deltas at a fixed
rate, and listens to them over HTTP. It prints how late deltas reach the listeners, in
multiples of the delay of a listener in the server's process in the same run, and for
comparison that of a plain handler that writes the same events without a log. It counts
events that are lost or doubled, and measures the memory of idle listeners. The server and
the listeners are two processes of this machine, which share its processors.
conformance/bench/BENCH.md says more.

Each listener needs an open file in each process: ` + "`ulimit -n 16384`" + `.

Exit codes: 0 measured, 1 an event was lost or doubled, 2 it could not run.`,
		Example: `  turnspec bench server --sessions 10 --listeners 2 --for 1s --idle 100
  turnspec bench server --sessions 1000 --listeners 5 --rate 2 --for 30s --idle 10000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return benchServer(cmd, c, asJSON) },
	}
	fl := cmd.Flags()
	fl.IntVar(&c.Sessions, "sessions", 1000, "sessions that run at once")
	fl.IntVar(&c.Listeners, "listeners", 5, "listeners of each session")
	fl.Float64Var(&c.Rate, "rate", 2, "deltas a second of each session")
	fl.DurationVar(&c.For, "for", 30*time.Second, "how long the sessions emit deltas")
	fl.IntVar(&c.Idle, "idle", 10_000, "idle listeners whose memory is measured")
	fl.StringVar(&c.Log, "log", "sqlite", "event log: sqlite, in a temporary file; durable, which is that with turnspec serve --durable; or memory")
	fl.StringVar(&c.Profile, "profile", "", "write the server's CPU profile to this file")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]string{"sqlite", "durable", "memory"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func benchServer(cmd *cobra.Command, c serverload.Config, asJSON bool) error {
	if c.Sessions < 1 || c.Listeners < 1 || c.Rate <= 0 || c.For <= 0 || c.Idle < 0 {
		return errors.New("--sessions, --listeners, --rate and --for must be above 0")
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	dir, err := os.MkdirTemp("", "turnspec-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c.Dir = dir
	step, wipe := progress(cmd.ErrOrStderr())
	r, err := serverload.Run(ctx, c, func(done, total int, what string) {
		if step != nil {
			step(done, total, what)
		}
	})
	wipe()
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), r)
	} else {
		printServerLoad(cmd.OutOrStdout(), r)
	}
	for _, p := range r.Phases {
		if err == nil && p.Lost+p.Doubled > 0 {
			err = errFailed
		}
	}
	return err
}

// printServerLoad prints a result as a table.
func printServerLoad(w io.Writer, r *serverload.Result) {
	fmt.Fprintf(w, "%d sessions, %d listeners each, %g deltas a second and session, log: %s\n\n", r.Sessions, r.Listeners, r.Rate, r.Log)
	fmt.Fprintf(w, "%-9s %9s %6s %8s  %11s %11s  %11s %11s  %9s  %s\n", "", "delivered", "lost", "doubled", "process p50", "process p99", "HTTP p50", "HTTP p99", "p99 ratio", "CPU")
	for _, p := range r.Phases {
		ms := func(s float64) string { return fmt.Sprintf("%.2f ms", s*1000) }
		fmt.Fprintf(w, "%-9s %9d %6d %8d  %11s %11s  %11s %11s  %8.1fx  %.1f s of %.1f s\n", p.Name, p.Delivered, p.Lost, p.Doubled,
			ms(p.InProcess.P50), ms(p.InProcess.P99), ms(p.HTTP.P50), ms(p.HTTP.P99), p.Ratio(), p.CPU, p.Took)
	}
	if i := r.Idle; i != nil {
		fmt.Fprintf(w, "\n%d idle listeners: %.1f KiB each (heap and stacks), the server resides in %.0f MiB\n", i.Listeners, i.PerListener/1024, i.Resident/(1<<20))
	}
}

// benchLogs open the event logs of turnspec serve.
var benchLogs = map[string]serverload.Open{
	"sqlite":  func(ctx context.Context, dir string) (eventlog.Log, error) { return openBenchLog(ctx, dir, true) },
	"durable": func(ctx context.Context, dir string) (eventlog.Log, error) { return openBenchLog(ctx, dir, false) },
}

func openBenchLog(ctx context.Context, dir string, relaxed bool) (eventlog.Log, error) {
	return sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{Relaxed: relaxed})
}
