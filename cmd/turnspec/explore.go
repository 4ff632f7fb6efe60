package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/explore"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

type exploreFlags struct {
	run    subjectFlags
	checks []string
	seed   uint64
	count  int
	limit  time.Duration
	dir    string
	show   int
	json   bool
}

func exploreCmd() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore --runtime RUNTIME",
		Short: "Look for scenarios that make an adapter fail, on the real runtime",
		Long: `Explore composes scenarios that are not in the corpus: turns with tools, questions,
stops, messages during a turn, sub-agents, failures of the model, resumed sessions.
The real runtime performs each offline, against the scripted model. The recording is
replayed to the adapter, with faults too, and then the adapter drives the runtime
itself. The checks judge by what the model sent and received, so they hold for any
scenario.

The same seed gives the same scenarios. --dir keeps what was tried: a later run goes
on where the last one ended, and tries no scenario twice. Scenarios with wire shapes
that are new are kept, and changed to get more of them.

A failure is tried again and made smaller. One that does not repeat is reported as
seen once of two tries, and does not change the exit code. Then DIR/findings holds a corpus with one
scenario and one case that show it, a description, and the command that runs it
again. A scenario that the runtime did not perform as composed is no failure; it is
counted as not performed.

It needs Linux and ` + "`turnspec runtimes install`" + `, and no key. --subject, --dialect and
a command after -- choose the adapter as in ` + "`turnspec run`" + `.

Exit codes: 0 no failure found, 1 failures found, 2 it could not run.`,
		Example: `  turnspec explore --runtime codex --for 10m
  turnspec explore --runtime claude --seed 7 --count 50 --dir found
  turnspec explore --runtime codex --for 1h --subject acp -- npx -y @agentclientprotocol/codex-acp
  turnspec explore --runtime claude --seed 7 --print 12`,
		Args: func(cmd *cobra.Command, args []string) error {
			return f.run.parse(cmd, args, cmd.ArgsLenAtDash() == 0)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("print") {
				return f.printScenario(cmd.OutOrStdout())
			}
			return runExplore(cmd, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.run.runtime, "runtime", "", "the runtime: "+strings.Join(explore.Runtimes(), ", ")+", or RUNTIME@VERSION (default version: the newest)")
	f.run.declare(cmd)
	fl.StringArrayVar(&f.checks, "check", nil, "id or topic of a check: text.once, text (again for more; default: all)")
	fl.Uint64Var(&f.seed, "seed", 1, "compose the scenarios of this number")
	fl.IntVar(&f.count, "count", 0, "stop after so many scenarios")
	fl.DurationVar(&f.limit, "for", 0, "stop after this time, such as 10m (default without --count: 5m)")
	fl.StringVar(&f.dir, "dir", "", "folder for what was tried and found (default: explored/RUNTIME)")
	fl.IntVar(&f.show, "print", 0, "print the scenario with this index of the seed, and run nothing")
	fl.BoolVar(&f.json, "json", false, "print the summary as JSON")
	_ = cmd.MarkFlagDirname("dir")
	completeFlag(cmd, "runtime", explore.Runtimes)
	completeFlag(cmd, "check", checkNames)
	return cmd
}

func (f exploreFlags) checkRuntime() error {
	if f.run.runtime == "" {
		return fmt.Errorf("--runtime is missing: name one of %s", strings.Join(explore.Runtimes(), ", "))
	}
	if !slices.Contains(explore.Runtimes(), f.run.name()) {
		return fmt.Errorf("--runtime %s: want one of %s", f.run.name(), strings.Join(explore.Runtimes(), ", "))
	}
	return nil
}

func (f exploreFlags) printScenario(out io.Writer) error {
	if err := f.checkRuntime(); err != nil {
		return err
	}
	if f.show < 0 {
		return errors.New("--print: the index of a scenario is 0 or more")
	}
	ground, err := explore.NewGround(fixtures.Embedded(), f.run.name(), f.run.version())
	if err != nil {
		return err
	}
	_, err = out.Write(explore.Fresh(ground, f.seed, f.show).Compose(ground))
	return err
}

func runExplore(cmd *cobra.Command, f exploreFlags) error {
	collectSeldom()
	cfg, err := f.config()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	if err := enter(ctx, isolate.Enter); err != nil {
		return err
	}
	for _, l := range isolate.Report() {
		fmt.Fprintln(cmd.ErrOrStderr(), l)
	}
	cfg.Progress = exploreProgress(cmd.ErrOrStderr())
	sum, err := explore.Run(ctx, *cfg)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if f.json {
		err = errors.Join(err, printJSON(cmd.OutOrStdout(), sum))
	} else {
		printExplored(cmd.OutOrStdout(), sum, f.dir)
	}
	if err == nil && sum.Failed() {
		return errFailed
	}
	return err
}

func (f *exploreFlags) config() (*explore.Config, error) {
	if err := errNoLive(); err != nil {
		return nil, err
	}
	if err := f.checkRuntime(); err != nil {
		return nil, err
	}
	if f.count < 0 || f.limit < 0 {
		return nil, errors.New("--count and --for must not be negative")
	}
	if f.count == 0 && f.limit == 0 {
		f.limit = 5 * time.Minute
	}
	if f.dir == "" {
		f.dir = filepath.Join("explored", f.run.name())
	}
	rt, err := runtimes.Find("", f.run.name(), f.run.version())
	if err != nil {
		return nil, err
	}
	subject := f.run
	subject.runtime = f.run.name()
	subjects, err := subject.subjects()
	if err != nil {
		return nil, err
	}
	chosen, err := named(backend.Checks(), f.checks)
	if err != nil {
		return nil, err
	}
	return &explore.Config{
		Runtime: rt, Corpus: fixtures.Embedded(), Subject: subjects[0], Checks: chosen,
		Dir: f.dir, Seed: f.seed, Count: f.count, For: f.limit, Command: subject.subjectCommand,
	}, nil
}

// exploreProgress shows a line that changes on a terminal, and a line a scenario in a
// log.
func exploreProgress(w io.Writer) func(explore.Summary, string) {
	if !isTerminal(w) {
		return func(s explore.Summary, line string) {
			fmt.Fprintf(w, "%s %s\n", time.Now().Format(time.TimeOnly), line)
		}
	}
	return func(s explore.Summary, line string) {
		fmt.Fprintf(w, "\r\033[K%d performed, %d not, %d new shapes, %d findings; %.80s", s.Performed, s.NotPerformed, s.Shapes, len(s.Findings), line)
	}
}

func printExplored(w io.Writer, s explore.Summary, dir string) {
	fmt.Fprintf(w, "%s %s, %s: %d scenarios performed in %v, %d not performed, %d showed %d new shapes of the wire (%s)\n",
		s.Runtime, s.Version, s.Subject, s.Performed, time.Duration(s.Seconds)*time.Second, s.NotPerformed, s.Kept, s.Shapes, dir)
	for _, f := range s.Findings {
		label := "FAIL"
		if f.Severity != "" {
			label = "WARNING"
		}
		if f.Flaky {
			label += " (once of two tries)"
		}
		fmt.Fprintf(w, "\n%s %s [%s], in %d scenarios, first in %d of seed %d\n  %s\n  %s\n", label, f.Check, f.Tier, f.Times, f.Index, f.Seed,
			oneLine(f.Problem), f.Rerun)
	}
}
