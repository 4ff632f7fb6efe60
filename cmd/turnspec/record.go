package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

func recordCmd() *cobra.Command {
	var o recorder.Options
	var dir, runtime string
	var check, all, lifecycle bool
	cmd := &cobra.Command{
		Use:   "record [SCENARIO…]",
		Short: "Record scenarios on the real runtimes, offline, against a scripted model",
		Long: `Record performs scenarios on the real runtimes and writes a case of each.

A scenario is a file, or an id such as permission/allow. The runtimes run in a
network namespace with only loopback, where the system allows it, and need no
key. Nothing is written unless a recording is whole: what the strict loader
refuses leaves no file.

With --check nothing is written: every case (or those of the scenarios named) is
recorded anew and compared with the stored one; what differs is recorded once
more, and differs if it does so twice.

Exit codes: 0 all recorded or the same, 1 a recording differs, 2 one failed.`,
		Example: `  turnspec record permission/allow
  turnspec record --runtime codex --out cases my-scenario.txtar
  turnspec record --check
  turnspec record --all`,
		ValidArgsFunction: complete(scenarioIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return errors.New("--all records every scenario: name none beside it")
			case !all && !check && !lifecycle && len(args) == 0:
				return errors.New("name the scenarios to record, or say --all; `turnspec list scenarios` prints them")
			}
			names, err := chosenRuntimes(&o, runtime)
			if err != nil {
				return err
			}
			disk, corpus, err := corpusOnDisk(dir)
			if err != nil {
				return err
			}
			var scenarios []*fixtures.Scenario
			if all || check || len(args) > 0 {
				scenarios, err = chosenScenarios(corpus, args)
			}
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			if err := enter(ctx, isolate.Enter); err != nil {
				return err
			}
			for _, line := range isolate.Report() {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			if o.Out == "" {
				o.Out = disk
			}
			return record(ctx, cmd.OutOrStdout(), job{o, corpus, names, scenarios, check, lifecycle || len(args) == 0})
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	f.StringVar(&o.Out, "out", "", "folder that cases are written to (default: the corpus)")
	f.StringVar(&runtime, "runtime", "", "runtime, or runtime@version (default: all that are pinned)")
	f.BoolVar(&check, "check", false, "record anew and compare with the stored cases; write nothing")
	f.BoolVar(&all, "all", false, "record every scenario")
	f.BoolVar(&lifecycle, "lifecycle", false, "record the answers to reads and configuration too (so without scenarios)")
	f.DurationVar(&o.Deadline, "deadline", time.Minute, "how long one recording may take")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// chosenRuntimes are the runtimes to record on. They must be installed.
func chosenRuntimes(o *recorder.Options, runtime string) ([]string, error) {
	names := runtimes.Names()
	if runtime != "" {
		name, version, _ := strings.Cut(runtime, "@")
		names, o.Version = []string{name}, version
	}
	for _, name := range names {
		if _, err := runtimes.Find("", name, o.Version); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// chosenScenarios loads the scenarios that the arguments name: files or ids.
func chosenScenarios(corpus fixtures.Corpus, args []string) ([]*fixtures.Scenario, error) {
	if len(args) == 0 {
		return corpus.Scenarios()
	}
	var out []*fixtures.Scenario
	for _, a := range args {
		s, err := loadScenario(corpus, a)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func loadScenario(corpus fixtures.Corpus, arg string) (*fixtures.Scenario, error) {
	name, isFile := strings.CutSuffix(arg, ".txtar")
	if !isFile {
		s, err := corpus.LoadScenario(arg)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("no scenario %q%s; `turnspec list scenarios` prints all", arg, near(arg, scenarioIDs()))
		}
		return s, err
	}
	b, err := os.ReadFile(arg)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	return fixtures.ParseScenario(arg, filepath.Base(filepath.Dir(abs))+"/"+filepath.Base(abs), b)
}

// job is what is recorded.
type job struct {
	recorder.Options
	corpus    fixtures.Corpus
	runtimes  []string
	scenarios []*fixtures.Scenario
	check     bool // compare with what is stored, write nothing
	lifecycle bool // the answers to reads too
}

// record records every scenario on every runtime that it is for, and goes on
// after a failure.
func record(ctx context.Context, out io.Writer, j job) error {
	failed, differ := 0, 0
	count := func(same bool, err error) {
		switch {
		case err != nil:
			failed++
			fmt.Fprintf(out, "FAIL  %v\n", err)
		case !same:
			differ++
		}
	}
	for _, name := range j.runtimes {
		o := j.Options
		o.Runtime = name
		if o.Version == "" {
			o.Version = runtimes.Versions(name)[0]
		}
		for _, s := range j.scenarios {
			if err := ctx.Err(); err != nil {
				return err
			}
			if why := s.Excluded(name, o.Version); why != "" {
				fmt.Fprintf(out, "skip  %s on %s %s: %s\n", s.ID, name, o.Version, why)
				continue
			}
			o.Scenario = s
			count(recordOne(ctx, out, o, j.corpus, j.check))
		}
		if j.lifecycle {
			count(recordLifecycle(ctx, out, o, j.corpus, j.check))
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d recordings failed, %d differ", failed, differ)
	case differ > 0:
		fmt.Fprintf(out, "%d recordings differ; `turnspec record SCENARIO` writes the new one\n", differ)
		return errFailed
	}
	return nil
}

// lifecycleScenario makes the session whose reads are recorded.
const lifecycleScenario = "text/plain"

func recordLifecycle(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if o.Scenario, err = corpus.LoadScenario(lifecycleScenario); err != nil {
		return false, err
	}
	if !check {
		_, rep, err := recorder.Lifecycle(ctx, o)
		if err == nil {
			fmt.Fprintf(out, "ok    %s  %d answers, %.1fs\n", rep.File, rep.Lines, rep.Took.Seconds())
		}
		return true, err
	}
	stored, err := corpus.LoadLifecycle(o.Runtime, o.Version)
	if err != nil {
		return false, err
	}
	return again(out, stored.File, func() (string, *recorder.Report, error) { return recorder.CheckLifecycle(ctx, o, stored) })
}

// again compares, and once more when there is a difference: one that does not
// come again is the runtime's chance and not its behaviour. It is told all the
// same.
func again(out io.Writer, file string, check func() (string, *recorder.Report, error)) (same bool, err error) {
	diff, rep, err := check()
	if err == nil && diff != "" {
		fmt.Fprintf(out, "again %s: the first recording differed:\n%s\n", file, strings.TrimRight(diff, "\n"))
		diff, rep, err = check()
	}
	return compared(out, file, diff, rep, err)
}

func recordOne(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if !check {
		_, rep, err := recorder.Record(ctx, o)
		if err == nil {
			fmt.Fprintf(out, "ok    %s  %d lines, %d requests, %.1fs\n", rep.File, rep.Lines, rep.Requests, rep.Took.Seconds())
		}
		return true, err
	}
	stored, err := corpus.LoadCase(o.Runtime + "/" + o.Version + "/" + o.Scenario.ID)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s on %s %s has no case; `turnspec record %s` makes it, or the scenario says `not on %s: why`",
			o.Scenario.ID, o.Runtime, o.Version, o.Scenario.ID, o.Runtime)
	}
	if err != nil {
		return false, err
	}
	return again(out, stored.File, func() (string, *recorder.Report, error) { return recorder.Check(ctx, o, stored) })
}

// compared says how a recording differs from the stored one.
func compared(out io.Writer, file, diff string, rep *recorder.Report, err error) (same bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case diff != "":
		fmt.Fprintf(out, "DIFF  %s: recorded anew, it differs:\n%s\n", file, strings.TrimRight(diff, "\n"))
		return false, nil
	}
	fmt.Fprintf(out, "same  %s  %.1fs\n", file, rep.Took.Seconds())
	return true, nil
}
