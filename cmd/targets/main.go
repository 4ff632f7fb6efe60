// Command targets measures what this repository costs its users: the time and memory of
// the suite, the size and the start of the program, a build without a cache, and the tests.
// It clones the commit, prints a Markdown table of each figure with its target, and judges
// nothing: figures hold for one machine.
//
//	go run ./cmd/targets                           # some minutes
//	go run ./cmd/targets --base v0.1.0             # beside an older commit
//	go run ./cmd/targets --exhaustive --tests      # also what takes a quarter of an hour
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/turnspec/turnspec/conformance/report/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "targets:", err)
		}
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	f := flag.NewFlagSet("targets", flag.ContinueOnError)
	base := f.String("base", "", "also measure this `commit`, and print how many times its figures those of HEAD are")
	exhaustive := f.Bool("exhaustive", false, "also run the suite with each fault at all places")
	tests := f.Bool("tests", false, "also run go test ./... without cached results")
	asJSON := f.Bool("json", false, "print the table as JSON, as a part of conformance/lab/bench/results.json")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	dir, err := os.MkdirTemp("", "turnspec-targets-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := work{ctx: ctx, exhaustive: *exhaustive, tests: *tests, progress: progress}
	var before figures
	if *base != "" {
		if before, err = w.measure(filepath.Join(dir, "base"), *base); err != nil {
			return err
		}
	}
	now, err := w.measure(filepath.Join(dir, "head"), "HEAD")
	if err != nil {
		return err
	}
	figures := newTable(now, before)
	if *asJSON {
		figures.Title, figures.Text = "## The suite and the program", time.Now().UTC().Format(time.DateOnly)+", by `make targets`."
		return table.WriteJSON(out, []table.Section{figures})
	}
	t := table.New(out)
	t.Sections([]table.Section{figures})
	return t.Err()
}
