package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
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
	var dir string
	var live bool
	var lf liveFlags
	var chosen []string
	var check, all, newest, lifecycle bool
	var jobs, every int
	var part string
	cmd := &cobra.Command{
		Use:   "record [SCENARIO…]",
		Short: "Record scenarios on the real runtimes, offline, against a scripted model",
		Long: `Record performs scenarios on the real runtimes and writes a case of each.

A scenario is a file, or an id such as permission/allow. The runtimes run in a
network namespace with only loopback, where the system allows it, and need no
key. Nothing is written unless a recording is whole: what the strict loader
refuses leaves no file.

Every pinned version that is installed performs the scenarios that it can; which
versions are missing is said, with the command that installs them. The newest of
each runtime must be there, and any version that --runtime names.

With --check nothing is written: every case (or those of the scenarios named) is
recorded anew and compared with the stored one; what differs or fails is recorded
again, and counts if it does so three times. With --every 3 it is a third of the
scenarios, always the same, with some of each topic.

With --live it stands between any client and a person's own runtime, with their
account and network, and passes every byte on as it is; at the end it shows what
would be written, redacted and without a witness, and asks at the terminal
(--yes agrees beforehand). Nothing reaches the disk before that.

Exit codes: 0 all recorded or the same, 1 a recording differs, 2 one failed;
with --live the runtime's own.`,
		Example: `  turnspec record permission/allow
  turnspec record --runtime codex@0.120.0 --out cases my-scenario.txtar
  turnspec record --check
  turnspec record --all
  turnspec record --live --out session.txtar -- claude -p --output-format stream-json --verbose "Hello"`,
		ValidArgsFunction: complete(scenarioIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if live {
				lf.out, lf.runtime = o.Out, strings.Join(chosen, ",")
				return recordLive(cmd, args, lf)
			}
			switch {
			case all && len(args) > 0:
				return errors.New("--all records every scenario: name none beside it")
			case every < 1:
				return fmt.Errorf("--every %d: want a number from 1, such as 3 for a third of the scenarios", every)
			case every > 1 && len(args) > 0:
				return errors.New("--every takes a part of all scenarios: name none beside it")
			case !all && !check && !lifecycle && len(args) == 0:
				return errors.New("name the scenarios to record, or say --all; `turnspec list scenarios` prints them")
			}
			pins, missing, err := chosenRuntimes(newest, chosen)
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
			todo := job{o, corpus, pins, everyNth(scenarios, every), check, lifecycle || len(args) == 0, shard{0, 1}}
			if part != "" {
				if todo.shard, err = parseShard(part); err != nil {
					return err
				}
			} else if n := min(jobs, todo.size()); n > 1 {
				return recordInWorkers(ctx, cmd, n, todo.size())
			}
			if err := enter(ctx, isolate.Enter); err != nil {
				return err
			}
			for _, line := range append(isolate.Report(), missing...) {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			if o.Out == "" {
				todo.Out = disk
			}
			return record(ctx, cmd.OutOrStdout(), todo)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&live, "live", false, "record a person's own runtime: the command stands behind --")
	f.BoolVar(&lf.yes, "yes", false, "with --live: write without asking")
	f.StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	f.StringVar(&o.Out, "out", "", "folder that cases are written to (default: the corpus); with --live the file")
	f.StringSliceVar(&chosen, "runtime", nil, "runtimes, or runtime@version (default: all pinned versions that are installed)")
	f.BoolVar(&newest, "newest", false, "the newest version of each runtime only")
	f.BoolVar(&check, "check", false, "record anew and compare with the stored cases; write nothing")
	f.BoolVar(&all, "all", false, "record every scenario")
	f.BoolVar(&lifecycle, "lifecycle", false, "record the answers to reads and configuration too (so without scenarios)")
	f.IntVar(&every, "every", 1, "of each topic the first scenario and every nth after it, so that a part stands for all")
	f.IntVar(&jobs, "jobs", goruntime.GOMAXPROCS(0), "how many recordings are made side by side, each in a namespace of its own")
	f.StringVar(&part, "shard", "", "one worker's part: i/n")
	_ = f.MarkHidden("shard")
	f.DurationVar(&o.Deadline, "deadline", time.Minute, "how long one recording may take")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// chosenRuntimes are the versions to record on. The newest of each runtime must
// be installed, and what is named; which others are not is told.
func chosenRuntimes(newest bool, names []string) (pins []runtimes.Pin, missing []string, err error) {
	if len(names) == 0 {
		names = runtimes.Kinds()
	}
	must, err := runtimes.Choose(false, names...)
	if err != nil {
		return nil, nil, err
	}
	all, err := runtimes.Choose(!newest, names...)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		_, err := runtimes.Find("", p.Name, p.Version)
		switch {
		case err == nil:
			pins = append(pins, p)
		case slices.Contains(must, p):
			return nil, nil, err
		default:
			missing = append(missing, fmt.Sprintf("%s is not installed and left out: turnspec runtimes install %s@%s", p, p.Name, p.Version))
		}
	}
	return pins, missing, nil
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

// everyNth keeps of each topic the first scenario and each nth after it: a part of
// the corpus, always the same, in which no topic is missing.
func everyNth(all []*fixtures.Scenario, n int) []*fixtures.Scenario {
	seen := map[string]int{}
	return slices.DeleteFunc(slices.Clone(all), func(s *fixtures.Scenario) bool {
		seen[s.Topic]++
		return (seen[s.Topic]-1)%n != 0
	})
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
	runtimes  []runtimes.Pin
	scenarios []*fixtures.Scenario
	check     bool // compare with what is stored, write nothing
	lifecycle bool // the answers to reads too
	shard     shard
}

// size is how many recordings the job makes, all shards together.
func (j job) size() int {
	n := 0
	for _, pin := range j.runtimes {
		for _, s := range j.scenarios {
			if s.Excluded(pin.Name, pin.Version) == "" {
				n++
			}
		}
		if j.lifecycle {
			n++
		}
	}
	return n
}

// recordInWorkers shares a job out, and shows how far it is.
func recordInWorkers(ctx context.Context, cmd *cobra.Command, n, total int) error {
	step, wipe := progress(cmd.ErrOrStderr())
	defer wipe()
	done := 0
	code, err := workers(ctx, os.Args[1:], n, cmd.OutOrStdout(), cmd.ErrOrStderr(), func() {
		if done++; step != nil {
			step(min(done, total), total, "recording")
		}
	})
	if err != nil {
		return err
	}
	if code != exitOK {
		return exitError(code)
	}
	return nil
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
	next := 0
	ours := func() bool { next++; return (next-1)%j.shard.n == j.shard.i }
	for _, pin := range j.runtimes {
		o := j.Options
		o.Runtime, o.Version = pin.Name, pin.Version
		for _, s := range j.scenarios {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !ours() {
				continue
			}
			if why := s.Excluded(pin.Name, pin.Version); why != "" {
				if why == fixtures.NotNamed {
					continue // as most do not
				}
				fmt.Fprintf(out, "skip  %s on %s: %s\n", s.ID, pin, why)
				continue
			}
			o.Scenario = s
			count(recordOne(ctx, out, o, j.corpus, j.check))
		}
		if j.lifecycle && !slices.Contains(fixtures.ByName, pin.Name) && ours() { // runtimes by name have nothing to ask
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

func recordLifecycle(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if o.Scenario, err = corpus.LoadScenario(recorder.LifecycleScenario); err != nil {
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
	return again(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.CheckLifecycle(ctx, o, stored) })
}

// tries is how often a case is recorded before it counts as different: what does
// not come each time is the runtime's chance and not its behaviour.
const tries = 3

// again compares, and does so again when there is a difference or a recording
// fails. It is told all the same.
func again(ctx context.Context, out io.Writer, file string, check func() (string, *recorder.Report, error)) (same bool, err error) {
	for n := 1; ; n++ {
		diff, rep, err := check()
		if n == tries || err == nil && diff == "" || ctx.Err() != nil {
			return compared(out, file, diff, rep, err)
		}
		if err != nil {
			diff = err.Error()
		}
		fmt.Fprintf(out, "again %s: recording %d of %d differed:\n%s\n", file, n, tries, strings.TrimRight(diff, "\n"))
	}
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
	return again(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.Check(ctx, o, stored) })
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
