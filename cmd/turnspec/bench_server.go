package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/conformance/lab/bench/serverload"
)

func benchServerCmd() *cobra.Command {
	var o serverBench
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Measure the server of sessions: delay to listeners, lost events, memory",
		Long: `Server starts the server of turnspec serve with sessions that emit deltas at a fixed
rate, and listens to them over HTTP. It prints how late deltas reach the listeners, in
multiples of the delay of a listener in the server's process in the same run, and for
comparison that of a plain handler that writes the same events without a log. It counts
events that are lost or doubled, and measures the memory of idle listeners. The server and
the listeners are two processes of this machine, which share its processors.
conformance/lab/bench/BENCH.md says more.

A run is short beside what else a machine does: --repeat prints the median of several, and
--max-ratio makes it a gate.

Each listener needs an open file in each process: ` + "`ulimit -n 16384`" + `.

Exit codes: 0 measured, 1 an event was lost or doubled or the ratio is above --max-ratio, 2 it could
not run.`,
		Example: `  turnspec bench server --sessions 10 --listeners 2 --for 1s --idle 100
  turnspec bench server --sessions 1000 --listeners 5 --rate 2 --for 30s --idle 10000
  turnspec bench server --idle 0 --repeat 5 --max-ratio 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	fl := cmd.Flags()
	fl.IntVar(&o.c.Sessions, "sessions", 1000, "sessions that run at once")
	fl.IntVar(&o.c.Listeners, "listeners", 5, "listeners of each session")
	fl.Float64Var(&o.c.Rate, "rate", 2, "deltas a second of each session")
	fl.DurationVar(&o.c.For, "for", 30*time.Second, "how long the sessions emit deltas")
	fl.IntVar(&o.c.Idle, "idle", 10_000, "idle listeners whose memory is measured")
	fl.StringVar(&o.c.Log, "log", "sqlite", "event log: sqlite, in a temporary file; durable, which is that with turnspec serve --durable; or memory")
	fl.StringVar(&o.c.Profile, "profile", "", "write the server's CPU profile to this file")
	fl.IntVar(&o.repeat, "repeat", 1, "runs")
	fl.Float64Var(&o.maxRatio, "max-ratio", 0, "fail if the median of the p99 over HTTP is above this multiple of that in the process")
	fl.BoolVar(&o.json, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]string{"sqlite", "durable", "memory"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// serverBench is what the flags say.
type serverBench struct {
	c        serverload.Config
	repeat   int
	maxRatio float64
	json     bool
}

// serverRuns is what the runs measured.
type serverRuns struct {
	Runs []*serverload.Result `json:"runs"`
	// Ratio is the median of the p99 over HTTP, in multiples of the p99 in the process.
	Ratio float64 `json:"ratio"`
}

func (o serverBench) run(cmd *cobra.Command) error {
	c := o.c
	if c.Sessions < 1 || c.Listeners < 1 || c.Rate <= 0 || c.For <= 0 || c.Idle < 0 || o.repeat < 1 || o.maxRatio < 0 {
		return errors.New("--sessions, --listeners, --rate, --for and --repeat must be above 0")
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	var all serverRuns
	var ratios []float64
	var failed error
	for n := range o.repeat {
		r, err := o.runOnce(ctx, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		all.Runs = append(all.Runs, r)
		for _, p := range r.Phases {
			if p.Lost+p.Doubled > 0 {
				failed = errFailed
			}
		}
		ratios = append(ratios, r.Phases[len(r.Phases)-1].Ratio())
		if !o.json {
			printServerLoad(cmd.OutOrStdout(), r, n == 0)
		}
	}
	all.Ratio = medianOf(ratios)
	if all.Ratio > o.maxRatio && o.maxRatio > 0 {
		failed = errFailed
	}
	if o.json {
		return cmp.Or(printJSON(cmd.OutOrStdout(), all), failed)
	}
	if o.repeat > 1 || o.maxRatio > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "\np99 ratio of the server, median of %d: %.2fx%s\n", o.repeat, all.Ratio, o.verdict(all.Ratio))
	}
	return failed
}

// verdict says whether a ratio is within the limit.
func (o serverBench) verdict(ratio float64) string {
	switch {
	case o.maxRatio == 0:
		return ""
	case ratio > o.maxRatio:
		return fmt.Sprintf(", above %gx", o.maxRatio)
	}
	return fmt.Sprintf(", at most %gx", o.maxRatio)
}

// medianOf returns the median, of an even number the mean of the two in the middle.
func medianOf(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func (o serverBench) runOnce(ctx context.Context, stderr io.Writer) (*serverload.Result, error) {
	dir, err := os.MkdirTemp("", "turnspec-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := o.c
	c.Dir = dir
	step, wipe := progress(stderr)
	defer wipe()
	return serverload.Run(ctx, c, func(done, total int, what string) {
		if step != nil {
			step(done, total, what)
		}
	})
}

// printServerLoad prints a result as a table, with its head if it is the first.
func printServerLoad(w io.Writer, r *serverload.Result, first bool) {
	if first {
		printServerHead(w, r)
	}
	for _, p := range r.Phases {
		ms := func(s float64) string { return fmt.Sprintf("%.2f ms", s*1000) }
		fmt.Fprintf(w, "%-9s %9d %6d %8d  %11s %11s  %11s %11s  %8.1fx  %.1f s of %.1f s\n", p.Name, p.Delivered, p.Lost, p.Doubled,
			ms(p.InProcess.P50), ms(p.InProcess.P99), ms(p.HTTP.P50), ms(p.HTTP.P99), p.Ratio(), p.CPU, p.Took)
	}
	if i := r.Idle; i != nil {
		fmt.Fprintf(w, "\n%d idle listeners: %.1f KiB each (heap and stacks), the server resides in %.0f MiB\n", i.Listeners, i.PerListener/1024, i.Resident/(1<<20))
	}
}

func printServerHead(w io.Writer, r *serverload.Result) {
	fmt.Fprintf(w, "%d sessions, %d listeners each, %g deltas a second and session, log: %s\n\n", r.Sessions, r.Listeners, r.Rate, r.Log)
	fmt.Fprintf(w, "%-9s %9s %6s %8s  %11s %11s  %11s %11s  %9s  %s\n", "", "delivered", "lost", "doubled", "process p50", "process p99", "HTTP p50", "HTTP p99", "p99 ratio", "CPU")
}

// benchLogs open the event logs of turnspec serve.
var benchLogs = map[string]serverload.Open{
	"sqlite":  func(ctx context.Context, dir string) (eventlog.Log, error) { return openBenchLog(ctx, dir, true) },
	"durable": func(ctx context.Context, dir string) (eventlog.Log, error) { return openBenchLog(ctx, dir, false) },
}

func openBenchLog(ctx context.Context, dir string, relaxed bool) (eventlog.Log, error) {
	return sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{Relaxed: relaxed})
}
