package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/isolate"
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
		Long: `Record performs scenarios on the real runtimes and writes a case for each.

A scenario is an id such as permission/allow, or a file anywhere, whose cases are
written below the working directory, with a copy of the file: that folder is then a
corpus, for --corpus of other commands. The runtimes run in a network namespace with
only loopback and with a /tmp of their own, if the system allows it, and need no
key. An incomplete recording, or one that the strict loader rejects, is not
written.

Every installed pinned version performs the scenarios that it can; record prints
which versions are missing and how to install them. The newest version of each
runtime must be installed, and any version that --runtime names.

With --check record writes nothing: it records every case (or those of the scenarios
named) again and compares it with the stored one. A recording that differs or fails
is repeated, and counts if it does so three times. --every 3 takes a third of the
scenarios, always the same, with some of each topic.

With --live record relays between any client and your own runtime, with your account
and network, and passes every byte on unchanged. At the end it shows what it would
write, redacted and without a witness, and asks at the terminal (--yes agrees in
advance). Nothing is written before that.

Exit codes: 0 recorded or equal, 1 a recording differs, 2 a recording failed; with
--live the runtime's own exit code.`,
		Example: `  turnspec record permission/allow
  turnspec record --runtime codex ~/my-scenario.txtar
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
				return errors.New("--all records every scenario: do not name any")
			case every < 1:
				return fmt.Errorf("--every %d: must be at least 1; 3 takes a third of the scenarios", every)
			case every > 1 && len(args) > 0:
				return errors.New("--every selects from all scenarios: do not name any")
			case !all && !check && !lifecycle && len(args) == 0:
				return errors.New("name the scenarios to record, or use --all; `turnspec list scenarios` prints them")
			}
			pins, missing, err := chosenRuntimes(newest, chosen)
			if err != nil {
				return err
			}
			disk, corpus, err := recordCorpus(dir, o.Out, args)
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
			if check {
				var without []string
				if pins, without, err = pinsWithCases(corpus, pins); err != nil {
					return err
				}
				missing = append(missing, without...)
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			todo := job{o, corpus, pins, everyNth(scenarios, every), check, lifecycle || len(args) == 0, conformance.Shard{Index: 1, Total: 1}, disk}
			if part != "" {
				if todo.shard, err = conformance.ParseShard(part, os.Getenv); err != nil {
					return err
				}
			} else if n := min(jobs, todo.size()); n > 1 {
				err := recordInWorkers(ctx, cmd, n, todo.size())
				if !check {
					err = errors.Join(err, packAgain(cmd.OutOrStdout(), disk))
				}
				return err
			}
			if err := enter(ctx, isolate.Enter); err != nil {
				return err
			}
			for _, line := range slices.Concat(isolate.Report(), []string{isolate.ReportTmp()}, missing) {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			err = record(ctx, cmd.OutOrStdout(), todo)
			if part == "" && !check { // a worker's parent packs
				err = errors.Join(err, packAgain(cmd.OutOrStdout(), disk))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&live, "live", false, "record your own runtime, whose command follows --")
	f.BoolVar(&lf.yes, "yes", false, "with --live: write without asking")
	f.StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	f.StringVar(&o.Out, "out", "", "folder to write cases to (default: the corpus, for a file the working directory); with --live the file")
	f.StringSliceVar(&chosen, "runtime", nil, "runtimes, or runtime@version (default: all pinned versions that are installed)")
	f.BoolVar(&newest, "newest", false, "the newest version of each runtime only")
	f.BoolVar(&check, "check", false, "record again and compare with the stored cases; write nothing")
	f.BoolVar(&all, "all", false, "record every scenario")
	f.BoolVar(&lifecycle, "lifecycle", false, "record the replies to reads and configuration too (implied without scenarios)")
	f.IntVar(&every, "every", 1, "take the first scenario of each topic and every nth after it")
	f.IntVar(&jobs, "jobs", goruntime.GOMAXPROCS(0), "how many recordings run in parallel, each in its own namespace")
	f.StringVar(&part, "shard", "", "one worker's part: INDEX/TOTAL")
	_ = f.MarkHidden("shard")
	f.DurationVar(&o.Deadline, "deadline", 0, "how long one recording may take (default: the runtime's limit, a minute for most)")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// recordInWorkers distributes a job over worker processes and shows progress.
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
