package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/lab/bench/curve"
	"github.com/turnspec/turnspec/conformance/lab/bench/report"
	"github.com/turnspec/turnspec/conformance/report/table"
	"github.com/turnspec/turnspec/fixtures"
)

// curveNames are what grows, in the order in which they are measured.
var curveNames = []string{"deltas", "turns", "sessions", "events", "cases"}

type benchCurvesFlags struct {
	runtime  string
	most     int
	json     bool
	markdown bool
}

func benchCurvesCmd() *cobra.Command {
	var f benchCurvesFlags
	cmd := &cobra.Command{
		Use:   "curves [" + strings.Join(curveNames, "|") + "]…",
		Short: "Measure how costs grow with deltas, turns, sessions, events and cases",
		Long: `Curves does the same work at sizes that grow tenfold, and prints what it costs for each
unit: where that stays the same, the cost is linear.

  deltas    a turn of more and more deltas, as fast as the adapter reads them
  turns     a session of more and more turns; memory is what the adapter still holds
  sessions  more and more sessions at once, 50 to a stand-in; memory is what they hold
            before their turns, and time the 99th percentile of the delay of a delta
  events    a log of SQLite with more and more events of one session
  cases     more and more runs of the suite, with and without faults, by a program of its
            own; memory is the most that it held

Many sessions need open files: ` + "`ulimit -n 16384`" + `.

Exit codes: 0 measured, 2 it could not run.`,
		Example: `  turnspec bench curves
  turnspec bench curves turns events --most 10000
  turnspec bench curves deltas --runtime claude --json`,
		ValidArgs: curveNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(curveNames, a) {
					return fmt.Errorf("unknown curve %q; want one of %s", a, strings.Join(curveNames, ", "))
				}
			}
			return runBenchCurves(cmd, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.runtime, "runtime", "codex", "the runtime whose adapter is measured")
	fl.IntVar(&f.most, "most", 1_000_000, "largest size; 10000000 events take ten minutes and 2 GB on disk")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.markdown, "markdown", false, "print Markdown tables")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// curveRun measures curves.
type curveRun struct {
	adapter  adapters.Adapter
	corpus   fixtures.Corpus
	cfg      bench.Config
	step     func(done, total int, what string)
	done     int
	failures bytes.Buffer // the reports of runs of the suite with a failed check
}

func runBenchCurves(cmd *cobra.Command, f benchCurvesFlags, names []string) error {
	if len(names) == 0 {
		names = curveNames
	}
	if f.most < 1 {
		return fmt.Errorf("--most %d: must be at least 1", f.most)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	r := curveRun{corpus: fixtures.Embedded()}
	for _, a := range reference.All() {
		if a.Capabilities().Runtime == f.runtime {
			r.adapter = a
		}
	}
	if r.adapter == nil {
		return fmt.Errorf("unknown runtime %q; want one of %s", f.runtime, strings.Join(runtimeNames(), ", "))
	}
	id, err := newestCase(r.corpus, f.runtime, "text/plain")
	if err != nil {
		return err
	}
	r.cfg = bench.Config{
		Subjects: []conformance.Subject{conformance.Adapter(f.runtime, r.adapter)}, Cases: map[string]string{f.runtime: id},
		Corpus: r.corpus, Turnspec: buildVersion(),
	}
	step, wipe := progress(cmd.ErrOrStderr())
	r.step = step
	var curves []curve.Curve
	for _, name := range names {
		c, e := r.measure(ctx, name, id, f)
		if err = e; err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
		curves = append(curves, c)
	}
	wipe()
	if _, e := r.failures.WriteTo(cmd.ErrOrStderr()); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), curves)
	}
	return printCurves(cmd.OutOrStdout(), curves, f.markdown)
}

func (r *curveRun) measure(ctx context.Context, name, caseID string, f benchCurvesFlags) (curve.Curve, error) {
	c := curve.Curve{Name: name, Of: f.runtime}
	ownCPU := func() int64 { own, _ := bench.CPUTime(); return own }
	var sizes []int
	var one func(n int) (curve.Point, error)
	switch name {
	case "deltas":
		sizes, c.Memory = curve.Sizes(3, f.most), "held at most"
		one = func(n int) (curve.Point, error) { return curve.Deltas(ctx, r.cfg, n) }
	case "turns":
		t, ok := r.adapter.(adapters.Transcriber)
		if !ok {
			return c, fmt.Errorf("the adapter of %s does not read recordings, so turns cannot be repeated; try --runtime codex", f.runtime)
		}
		played, err := r.corpus.LoadCase(caseID)
		if err != nil {
			return c, err
		}
		sizes, c.Memory = curve.Sizes(1, min(f.most, 100_000)), "held at the end"
		one = func(n int) (curve.Point, error) { return curve.Turns(t, played, n, ownCPU) }
	case "sessions":
		sizes, c.Memory = curve.Sizes(1, min(f.most, 1000)), "held before the turns"
		one = func(n int) (curve.Point, error) { return curve.Sessions(ctx, r.cfg, n) }
	case "events":
		sizes, c.Of, c.Memory = curve.Sizes(3, f.most), "sqlite", "held at the end"
		one = func(n int) (curve.Point, error) { return logPoint(ctx, n, ownCPU) }
	case "cases":
		self, err := os.Executable()
		if err != nil {
			return c, err
		}
		sizes, c.Memory = []int{8, 4, 2, 1}, "resident at most"
		one = func(part int) (curve.Point, error) {
			return curve.Suite(ctx, &r.failures, self, "run", "--runtime", f.runtime, "--shard", fmt.Sprintf("%d/%d", part, part))
		}
	}
	for _, n := range sizes {
		if r.step != nil {
			r.step(r.done, r.done+len(sizes), fmt.Sprintf("%s %d", name, n))
		}
		r.done++
		p, err := one(n)
		if err != nil {
			return c, err
		}
		c.Points = append(c.Points, p)
	}
	return c, nil
}

// logPoint measures a log of SQLite in a temporary folder.
func logPoint(ctx context.Context, n int, cpu func() int64) (p curve.Point, err error) {
	dir, err := os.MkdirTemp("", "turnspec-curve-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := sqlite.Open(ctx, filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return curve.Log(ctx, l, n, cpu, func() float64 { return sizeOf(dir) })
}

// sizeOf returns the size of the files in a folder.
func sizeOf(dir string) (sum float64) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if i, err := e.Info(); err == nil {
			sum += float64(i.Size())
		}
	}
	return sum
}

// startup is the processor time that begins to say something of a unit.
const startup = 0.02

func printCurves(w io.Writer, curves []curve.Curve, markdown bool) error {
	out := table.New(w)
	for i, c := range curves {
		head, rows := curveRows(c)
		if i > 0 {
			out.Printf("\n")
		}
		growth := "too small for a growth"
		if g := c.Growth(startup); !math.IsNaN(g) {
			growth = fmt.Sprintf("tenfold size: %.2f times the processor time for each", g)
		}
		if markdown {
			out.Printf("**%s, %s** (%s)\n\n", c.Name, c.Of, growth)
			out.Markdown(head, rows)
			continue
		}
		out.Printf("%s, %s (%s)\n", c.Name, c.Of, growth)
		out.Columns("  ", append([][]string{head}, rows...))
	}
	return out.Err()
}

func curveRows(c curve.Curve) (head []string, rows [][]string) {
	unit := map[string]string{"deltas": "delta", "turns": "turn", "sessions": "session", "events": "event", "cases": "run"}[c.Name]
	wall := "time"
	if c.Name == "sessions" {
		wall = "delay p99"
	}
	head = []string{unit + "s", "CPU a " + unit, wall, "memory, " + c.Memory, "a " + unit}
	log := c.Name == "events"
	if log {
		head = append(head, "on disk a "+unit, "newest 100 read", "all read")
	}
	for _, p := range c.Points {
		n := float64(p.N)
		row := []string{
			fmt.Sprint(p.N), report.Figure(p.CPU/n, bench.Seconds), report.Figure(p.Wall, bench.Seconds),
			report.Figure(p.Memory, bench.Bytes), report.Figure(p.Memory/n, bench.Bytes),
		}
		if log {
			row = append(row, report.Figure(p.Stored/n, bench.Bytes), report.Figure(p.Open, bench.Seconds), report.Figure(p.Read, bench.Seconds))
		}
		rows = append(rows, row)
	}
	return head, rows
}
