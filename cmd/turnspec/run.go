package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/recorder/isolate"
)

type runFlags struct {
	subjectFlags
	corpus              string
	startLimit          time.Duration
	cases, checks, tier []string
	faults              []string
	exhaustive          bool
	places              int
	seed                uint64
	out                 output
	known               knownFlags
	shard               string
	runs, isolate       bool
	lastFailed          bool
	watch, list         bool
	stream              string // a file
	failOnFlaky         bool
	caseFile            string // of the only case; "": the corpus holds the cases
	noGolden            bool   // the case is a file without a golden
	budget              time.Duration
	full                bool // no budget
	level               string
	profiles            profiles
}

func runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the checks on the reference adapters, or on yours",
		Long: `Run replays every case to the reference adapter of its runtime, in virtual time.
It prints a screen of failures, grouped by check, with the cause first, and a summary;
for several subjects, such as all reference adapters, also a table of checks by subject.
--table prints the table for one subject too, --table=false never. --verbose prints each
verdict and each failure in full, and why checks gave no verdict.

A command after -- (or --subject 'CMD') tests your adapter instead: a program in any
language that speaks JSON lines over stdio (conformance/plug/jsonl/PROTOCOL.md) and
finds a stand-in where it looks for the runtime. It runs in real time, in the tier
process; check the connection with ` + "`turnspec smoke`" + ` first; run does that too, and runs
nothing else if the program does not start or does not get through one turn of text.
--subject also takes other kinds of adapters:
  acp:CMD            an agent of the Agent Client Protocol
  runner:CMD         a runner (` + "`turnspec runner --help`" + `)
  http://HOST:PORT   a server of HTTP and server-sent events
                     (conformance/plug/sse/ROUTES.md); ws:// if its events come over
                     a WebSocket
  program:CMD        a program over JSON lines, as a command without a kind
  reference:RUNTIME  a reference adapter
CMD may follow after -- instead: --subject acp -- CMD. A server is started by the
command after -- (if the address has port 0, PORT holds a free port), or it runs already
and was started in a shell after ` + "`eval \"$(turnspec env --runtime RUNTIME)\"`" + `.
--acp, --runner and --http URL are an old spelling of --subject acp, runner and URL.

With --dialect the events of a program or server are read in a vocabulary of their own,
a built-in one or one that a file describes (` + "`turnspec map`" + ` proposes the file). The
dialects usechat and agui-agent are for servers that answer a message with the stream
of its turn.

The tiers witness, golden and timing replay recordings and run anywhere. The tier
live drives the real runtimes offline against the scripted model: it needs Linux
and ` + "`turnspec runtimes install`" + `.

Each fault is tried once in each situation of a version of a runtime, such as while a
tool runs, and faults alike by turns in what follows unusual lines, on cases chosen by
--seed; --exhaustive tries all places of all cases, and --fault NAME@LINE one fault at
one line of the case's file.
A program of yours is tried for two minutes (--budget): first all cases without a fault,
then the faults. Failures are printed as they are found. What does not begin in time is
counted as not tried; --full tries everything, as CI should.
With a program of yours time is real: each fault is tried on a few cases only, those
that need long waits only if the program takes limits, and what needs virtual time
never. All that was not tried is reported as not tried, with the reason; PROTOCOL.md
has a table of what runs when.

In real time a failure is tried a second time: the same check on the same case, with
the same faults. If it does not fail again, the verdict is flaky, which fails the run
only with --fail-on-flaky. In virtual time nothing is flaky.

--isolate runs cases in worker processes: if the adapter panics in a goroutine of
its own, or exits, only the current case fails, and its failure shows the stack.

A failure listed in the --known file does not fail the run; an entry that matches
no failure any more does. The file has entries such as

  check: text.once
  case: claude/*/tool/*
  reason: the result is shown too, until we drop v1

with optional subject: and link: lines, and an empty line between two entries;
--write-known creates such a file. A line "flaky: yes" is for a failure that comes and
goes: the entry may match nothing, and --fail-on-flaky does not concern it.

Exit codes: 0 every check passed, 1 a check failed, 2 the suite could not run, because
the program fails the smoke test for example, 130 and 143 it was ended by a signal. What
--budget leaves out changes no exit code: the summary counts it.`,
		Example: `  turnspec run
  turnspec run --case 'permission/*' --check permission -v
  turnspec run --runtime claude --level core -- python3 my_adapter.py
  turnspec run --runtime codex --check text.once --json
  turnspec run --exhaustive
  turnspec run --case codex/newest/text/plain --check turn.crash-ends --fault kill@23
  turnspec run --runtime claude -- python3 my_adapter.py
  turnspec run --subject 'python3 my_adapter.py' --runtime claude@newest
  turnspec run --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec run --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp
  turnspec run --runtime claude --subject runner -- turnspec runner --runtime claude
  turnspec run --runtime claude --subject http://127.0.0.1:0 -- node server.js
  turnspec run --runtime claude --subject http://127.0.0.1:0 --dialect uistream -- turnspec serve --runtime claude --no-token --recover leave
  turnspec run --runtime claude --subject ws://127.0.0.1:0 --dialect wsmessages -- turnspec serve --runtime claude --no-token --recover leave
  turnspec run --runtime claude --subject http://127.0.0.1:0 --dialect usechat -- node chat.js
  turnspec run --runtime claude --last-failed -- python3 my_adapter.py
  turnspec run --runtime claude --fail-on-flaky -- python3 my_adapter.py
  turnspec run --runtime claude --case 'text/*' --watch -- python3 my_adapter.py
  turnspec run --report junit=junit.xml --report html=report.html
  turnspec run --known known.txt --shard 2/5 --report json=2.json
  turnspec run --tier live --case text/plain`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(cmd, args, cmd.ArgsLenAtDash() == 0); err != nil {
				return err
			}
			if f.isolate && f.external() {
				return errors.New("--isolate is for adapters in Go: your program has processes of its own")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.watch && !f.external() {
				return errors.New("--watch runs your adapter again when its files change: give its command after --, or with --subject")
			}
			if f.list {
				return listRun(cmd, f)
			}
			stop, err := f.profiles.start()
			if err != nil {
				return err
			}
			if f.watch {
				return errors.Join(watchSuite(cmd, f), stop())
			}
			return errors.Join(suite(cmd, f), stop())
		},
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringArrayVar(&f.cases, "case", nil, "glob over case ids or parts of them: permission, codex/*/text/plain (again for more), or the file of one case")
	fl.StringArrayVar(&f.checks, "check", nil, "id or topic of a check: text.once, text (again for more)")
	fl.StringVar(&f.level, "level", checks.LevelFull, "core judges only what every chat adapter must do: text, the ends of turns, tool calls, permissions, failures and the end of the process, on recordings about these; full judges everything")
	cmd.MarkFlagsMutuallyExclusive("level", "check")
	fl.StringArrayVar(&f.tier, "tier", nil, "witness, golden, timing, process or live (again for more; default: all but process and live)")
	fl.StringVar(&f.runtime, "runtime", "", "only this runtime: "+strings.Join(runtimeNames(), ", ")+"; with a version: claude@2.1.197 (live takes the newest without)")
	f.declare(cmd)
	startLimitFlag(cmd, &f.startLimit)
	fl.StringVar(&f.shard, "shard", "", "run a part of the cases: 2/5, or auto in a parallel job of GitLab, Buildkite or CircleCI, or auto/5 where the job knows its index alone")
	fl.BoolVar(&f.lastFailed, "last-failed", false, "only the cases that failed in the last run of this subject from this folder")
	for _, other := range []string{"case", "shard"} {
		cmd.MarkFlagsMutuallyExclusive("last-failed", other)
	}
	fl.BoolVar(&f.watch, "watch", false, "run again when a file below this folder changes, and write the reports again: first what failed, then all; ^C ends")
	fl.BoolVar(&f.list, "list", false, "print the cases in the order in which they begin, and run nothing; with --json the checks too")
	fl.StringVar(&f.stream, "stream", "", "write a line of JSON to this file for each case, as soon as it is judged: first without faults, then again with them")
	fl.BoolVar(&f.runs, "runs", false, "keep wire, events and chat of what did not fail too, for the reports (large)")
	fl.BoolVar(&f.isolate, "isolate", false, "play in worker processes, so that a panic or an exit fails its case alone (slower)")
	fl.BoolVar(&f.failOnFlaky, "fail-on-flaky", false, "a check that fails in one of two tries fails the run")
	fl.DurationVar(&f.budget, "budget", defaultBudget, "how long a program is tried; what does not begin by then is not tried")
	fl.BoolVar(&f.full, "full", false, "try everything, however long it takes; --exhaustive includes it")
	cmd.MarkFlagsMutuallyExclusive("budget", "full")
	f.out.flags(cmd)
	f.known.flags(cmd)
	f.profiles.flags(cmd)
	for _, other := range []string{"last-failed", "shard", "write-known", "list", "stream"} {
		cmd.MarkFlagsMutuallyExclusive("watch", other)
	}
	fl.BoolVar(&f.exhaustive, "exhaustive", false, "try faults at every place")
	fl.IntVar(&f.places, "places", 1, "try each fault so often in each situation of the runtime, such as while a tool runs")
	fl.StringArrayVar(&f.faults, "fault", nil, "try only this fault: kill, or kill@23 at one line of the case's file (again for more)")
	fl.Uint64Var(&f.seed, "seed", 1, "pick the places of the faults by this number; 0 spreads them evenly")
	cmd.MarkFlagsMutuallyExclusive("exhaustive", "places")
	completeFlag(cmd, "case", caseIDs)
	completeFlag(cmd, "check", checkNames)
	completeFlag(cmd, "fault", faultNames)
	completeFlag(cmd, "tier", tierNames)
	completeFlag(cmd, "level", checks.Levels)
	completeSubjectRuntime(cmd)
	return cmd
}

// defaultBudget is how long a program is tried. All cases take minutes.
const defaultBudget = 2 * time.Minute

// A run allocates much and keeps little: with the default GOGC a seventh of its
// time goes into garbage collection. GOGC and GOMEMLIMIT in the environment win.
const (
	gcPercent   = 400
	memoryLimit = 800 << 20 // bytes; the process takes up to a fifth more
)

func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// mostExhaustive is the largest number of failed cases that --last-failed tries with each fault
// at all places, which takes up to a second each.
const mostExhaustive = 100

func suite(cmd *cobra.Command, f runFlags) error {
	ctx, stop := interruptible(cmd)
	defer stop()
	beat := newHeartbeat(cmd.ErrOrStderr(), "loading the recordings")
	endBeat := sync.OnceFunc(beat.stop)
	defer endBeat()
	beat.again = f.external()
	if !f.external() { // else the time goes into waiting, and a program may emit much
		collectSeldom()
	}
	if len(f.cases) == 1 && isCaseFile(f.cases[0]) {
		remove, err := f.chooseFile(cmd)
		if err != nil {
			return err
		}
		defer remove()
	}
	if f.lastFailed {
		ids, err := readLastFailed(rerun(cmd))
		if err != nil {
			return err
		}
		f.cases = ids
		// The place of a fault that failed is among all places, and may not be in a new sample.
		f.exhaustive = f.exhaustive || !f.external() && len(ids) <= mostExhaustive
	}
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if cfg.KnownFailures, err = f.known.read(); err != nil {
		return err
	}
	if _, err := f.out.targets(); err != nil {
		return err
	}
	cfg.KeepRuns = f.runs
	cfg.Progress = beat.step
	if f.external() {
		cfg.Judged = newEarly(beat, terminalWidth(cmd.ErrOrStderr())).add
	}
	var lines *stream
	if f.stream != "" {
		if lines, err = openStream(f.stream, report.About{Selection: report.Selection{Command: rerun(cmd)}}); err != nil {
			return err
		}
		early := cfg.Judged
		cfg.Judged = func(done, total int, results []conformance.Result) {
			if early != nil {
				early(done, total, results)
			}
			lines.add(results)
		}
	}
	beat.set("the smoke test")
	var rep *conformance.Report
	unconnected := ""                        // what the smoke test printed
	if f.external() && !isolate.Isolated() { // in the namespace it has passed, and loopback is not up yet
		unconnected, rep, err = connect(ctx, cfg, cfg.Subjects[0], f.version(), f.startLimit)
	}
	beat.set("the first cases")
	switch {
	case err != nil || unconnected != "":
	case slices.Contains(cfg.Tiers, conformance.TierLive):
		rep, err = runLive(ctx, cmd.ErrOrStderr(), beat, cfg, f.version())
	default:
		if rep, err = runner.Run(ctx, cfg); err == nil && f.everyCheck(cfg) && !cfg.Shard.Partial() {
			rep.Missing = judge.Missing(rep.Results)
		}
	}
	endBeat()
	if lines != nil {
		err = errors.Join(err, lines.close())
	}
	if unconnected != "" {
		return f.showUnconnected(cmd, cfg, unconnected, rep)
	}
	if err == nil && len(rep.Results) == 0 && !cfg.Shard.Partial() {
		err = errors.New("no check ran: none of the chosen checks runs in the chosen tiers; `turnspec explain CHECK` lists its tiers")
	}
	interrupted := err != nil && rep != nil && rep.Interrupted && len(rep.Results) > 0
	if err != nil && !interrupted {
		return err
	}
	if interrupted {
		stop()              // the report is written whole
		cfg.Corpus.FS = nil // its checksum takes seconds
	}
	about, aboutErr := f.about(cmd, cfg)
	if aboutErr != nil {
		return aboutErr
	}
	d := report.New(rep, about)
	if interrupted {
		if shown := f.out.show(cmd, d); shown != nil && !errors.Is(shown, errFailed) {
			return shown
		}
		return err
	}
	if err := f.known.write(d); err != nil {
		return err
	}
	if f.known.to != "" && rep.LeftOut.Any() {
		fmt.Fprintf(cmd.ErrOrStderr(), "--write-known: %s has only failures of what was tried; --full tries everything\n", f.known.to)
	}
	if err := storeLastFailed(about.Selection.Command, d); err != nil && f.lastFailed {
		return err // without a cache, only --last-failed is missing
	}
	return f.out.show(cmd, d)
}

// showUnconnected shows what the smoke test of a subject printed, and writes the reports if there
// is a report of its failure. It returns the exit code of a suite that could not run.
func (f runFlags) showUnconnected(cmd *cobra.Command, cfg conformance.Config, text string, rep *conformance.Report) error {
	errOut := cmd.ErrOrStderr()
	fmt.Fprintf(errOut, "turnspec: the subject %s is not connected: it fails the smoke test, so the suite was not run\n%s`%s` shows each line\n",
		cfg.Subjects[0].Name(), text, f.smokeCommand())
	if f.known.to != "" {
		fmt.Fprintf(errOut, "--write-known: %s was not written, because the suite was not run\n", f.known.to)
	}
	if rep != nil {
		about, err := f.about(cmd, cfg)
		if err == nil {
			err = f.out.show(cmd, report.New(rep, about))
		}
		if err != nil && !errors.Is(err, errFailed) {
			return err
		}
	}
	return exitError(exitUsage)
}

// everyCheck reports whether a check that gives no verdict on any case fails the run. Only
// a run of the whole corpus on all reference adapters can meet that: no case of Claude
// shows what Codex alone can do.
func (f runFlags) everyCheck(cfg conformance.Config) bool {
	return !f.external() && f.runtime == "" && f.corpus == "" && len(cfg.Cases) == 0
}

// about describes the run, for the report. Only a report contains the corpus's checksum, so
// a run without one does not read the whole corpus, nor one that was interrupted.
func (f runFlags) about(cmd *cobra.Command, cfg conformance.Config) (a report.About, err error) {
	a = report.About{Turnspec: buildVersion(), Runs: cfg.KeepRuns, Selection: report.Select(cfg), At: time.Now(), DrawChat: cfg.DrawChat}
	a.Selection.EveryCheck = f.everyCheck(cfg)
	if f.external() {
		a.Declare = report.Declarations(cfg)
	}
	a.Selection.Command = rerun(cmd)
	if f.level != checks.LevelFull {
		a.Selection.Level, a.Selection.ChecksLeftOut = f.level, len(checks.All())-len(cfg.Checks)
	}
	if f.caseFile != "" {
		a.Selection.CaseFile = quoted(f.caseFile)
	}
	if (f.out.json || len(f.out.reports) > 0) && cfg.Corpus.FS != nil {
		a.Corpus, err = cfg.Corpus.Sum()
	}
	return a, err
}
