package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
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
			ctx, stop := interruptible(cmd)
			defer stop()
			todo := job{o, corpus, pins, everyNth(scenarios, every), check, lifecycle || len(args) == 0, conformance.Shard{Index: 1, Total: 1}, disk}
			if part != "" {
				if todo.shard, err = conformance.ParseShard(part, os.Getenv); err != nil {
					return err
				}
			} else if n := min(jobs, todo.size()); n > 1 {
				return recordInWorkers(ctx, cmd, n, todo.size())
			}
			if err := enter(ctx, isolate.Enter); err != nil {
				return err
			}
			for _, line := range slices.Concat(isolate.Report(), []string{isolate.ReportTmp()}, missing) {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			return record(ctx, cmd.OutOrStdout(), todo)
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
	f.DurationVar(&o.Deadline, "deadline", time.Minute, "how long one recording may take")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// chosenRuntimes returns the versions to record on, and a message for each pinned
// version that is not installed. It fails if the newest version of a runtime, or a
// version that is named, is missing.
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

// everyNth returns the first scenario of each topic and every nth after it: always
// the same part of the corpus, with every topic in it.
func everyNth(all []*fixtures.Scenario, n int) []*fixtures.Scenario {
	seen := map[string]int{}
	return slices.DeleteFunc(slices.Clone(all), func(s *fixtures.Scenario) bool {
		seen[s.Topic]++
		return (seen[s.Topic]-1)%n != 0
	})
}

func loadScenario(corpus fixtures.Corpus, arg string) (*fixtures.Scenario, error) {
	if !isScenarioFile(arg) {
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
	return fixtures.ParseScenario(arg, scenarioFileID(arg, b), b)
}

func isScenarioFile(arg string) bool { return strings.HasSuffix(arg, ".txtar") }

var topicLine = regexp.MustCompile(`(?m)^topic: *(\S+) *$`)

// scenarioFileID returns the id of a scenario file: its topic, which need not be
// the name of its folder, and its name.
func scenarioFileID(file string, b []byte) string {
	topic := "unknown"
	if m := topicLine.FindSubmatch(b); m != nil {
		topic = string(m[1])
	}
	return topic + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
}

// recordCorpus returns the corpus on disk and its folder. Without one, scenarios
// come from the embedded corpus, if the arguments say where the cases go.
func recordCorpus(dir, out string, args []string) (string, fixtures.Corpus, error) {
	disk, corpus, err := corpusOnDisk(dir)
	files := len(args) > 0 && !slices.ContainsFunc(args, func(a string) bool { return !isScenarioFile(a) })
	if err != nil && dir == "" && (files || out != "") {
		return "", fixtures.Embedded(), nil
	}
	return disk, corpus, err
}

// job describes the recordings to make.
type job struct {
	recorder.Options
	corpus    fixtures.Corpus
	runtimes  []runtimes.Pin
	scenarios []*fixtures.Scenario
	check     bool // compare with the stored cases, write nothing
	lifecycle bool // the replies to reads too
	shard     conformance.Shard
	disk      string // the folder of the corpus; "" if there is none
}

// folderOf returns the folder that holds the cases of a scenario: --out, or that of
// the corpus, or the working directory for a scenario that is not in the corpus.
func (j job) folderOf(s *fixtures.Scenario) string {
	if j.Out != "" {
		return j.Out
	}
	if _, err := fs.Stat(j.corpus.FS, "scenarios/"+s.ID+".txtar"); err != nil || j.disk == "" {
		return "."
	}
	file, err1 := filepath.Abs(s.File)
	own, err2 := filepath.Abs(filepath.Join(j.disk, "scenarios", filepath.FromSlash(s.ID)+".txtar"))
	if err1 != nil || err2 != nil || file != own {
		return "."
	}
	return j.disk
}

// size returns the number of recordings of all shards.
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

// scenariosOf returns the scenarios to record on a version. If the corpus has only a part
// of those that its runtime can perform, only that part is compared.
func (j job) scenariosOf(pin runtimes.Pin) ([]*fixtures.Scenario, error) {
	if rt := wires.Find(pin.Name); !j.check || rt == nil || rt.Unrecorded == "" {
		return j.scenarios, nil
	}
	return j.corpus.RecordedScenarios(j.scenarios, pin.Name, pin.Version)
}

// record records every scenario on every runtime that performs it. It continues
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
	ours := func() bool { next++; return (next-1)%j.shard.Total == j.shard.Index-1 }
	for _, pin := range j.runtimes {
		o := j.Options
		o.Runtime, o.Version = pin.Name, pin.Version
		scenarios, err := j.scenariosOf(pin)
		if err != nil {
			return err
		}
		for _, s := range scenarios {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !ours() {
				continue
			}
			if why := s.Excluded(pin.Name, pin.Version); why != "" {
				fmt.Fprintf(out, "skip  %s on %s: %s\n", s.ID, pin, why)
				continue
			}
			o.Scenario, o.Out = s, j.folderOf(s)
			cases := j.corpus
			if j.Out == "" && o.Out != j.disk {
				cases = fixtures.Corpus{FS: os.DirFS(o.Out), Root: o.Out}
			}
			same, err := recordOne(ctx, out, o, cases, j.check)
			if err == nil && !j.check && isScenarioFile(s.File) {
				err = storeScenario(o.Out, s)
			}
			count(same, err)
		}
		if j.lifecycle && answersReads(pin.Name) && ours() {
			o.Out = cmp.Or(j.Out, j.disk)
			count(recordReads(ctx, out, o, j.corpus, j.check))
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

// answersReads reports whether a runtime answers requests at all.
func answersReads(runtime string) bool {
	rt := wires.Find(runtime)
	return rt == nil || rt.Process.Message == nil
}

// storeScenario copies the file of a scenario beside the cases that were recorded, so
// that their folder is a corpus.
func storeScenario(dir string, s *fixtures.Scenario) error {
	b, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is of the embedded corpus, which every command knows
	}
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "scenarios", filepath.FromSlash(s.ID)+".txtar")
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

func recordReads(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if o.Scenario, err = corpus.LoadScenario(recorder.ReadsScenario); err != nil {
		return false, err
	}
	if !check {
		_, rep, err := recorder.RecordReads(ctx, o)
		if err == nil {
			fmt.Fprintf(out, "ok    %s  %d answers, %.1fs\n", rep.File, rep.Lines, rep.Took.Seconds())
		}
		return true, err
	}
	stored, err := corpus.LoadReadReplies(o.Runtime, o.Version)
	if err != nil {
		return false, err
	}
	return checkRepeatedly(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.CheckReads(ctx, o, stored) })
}

// tries is how often a case is recorded before it counts as different: a difference
// that does not occur each time is chance.
const tries = 3

// checkRepeatedly compares a recording with the stored case, and repeats that if it
// differs or fails. It prints each difference.
func checkRepeatedly(ctx context.Context, out io.Writer, file string, check func() (string, *recorder.Report, error)) (same bool, err error) {
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
	return checkRepeatedly(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.Check(ctx, o, stored) })
}

// compared prints how a recording differs from the stored one.
func compared(out io.Writer, file, diff string, rep *recorder.Report, err error) (same bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case diff != "":
		fmt.Fprintf(out, "DIFF  %s: recorded again, it differs:\n%s\n", file, strings.TrimRight(diff, "\n"))
		return false, nil
	}
	fmt.Fprintf(out, "same  %s  %.1fs\n", file, rep.Took.Seconds())
	return true, nil
}
