package main

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/live"
	"github.com/turnspec/turnspec/conformance/report"
)

type runFlags struct {
	corpus, runtime     string
	subject             string
	acp                 bool
	http, standin       string
	command             []string // of acp and http
	cases, checks, tier []string
	exhaustive          bool
	places              int
	seed                uint64
	out                 output
	known               knownFlags
	shard               string
	runs, isolate       bool
	profiles            profiles
}

func runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the checks on the reference adapters, or on yours",
		Long: `Run plays every case to the reference adapter of its runtime, in virtual time,
and prints what failed and a table of checks by runtime.

--subject plays to an adapter of yours instead: a program in any language, which
speaks JSON lines over stdio (conformance/plug/jsonl/PROTOCOL.md) and finds a
stand-in where it looks for the runtime. It runs in real time, in the tier
process. ` + "`turnspec smoke`" + ` checks first whether it is plugged in right. --acp plays to
an ACP agent, --http to a sidecar of HTTP and server-sent events
(conformance/plug/sse/ROUTES.md): one that a command starts, with a free port in
PORT where the address has port 0, or one that runs already and was started in a
shell where ` + "`eval \"$(turnspec env --runtime RUNTIME)\"`" + ` was said.

The tiers witness, golden and timing play recordings and run anywhere. The tier
live drives the real runtimes offline against the scripted model: it needs Linux
and ` + "`turnspec runtimes install`" + `.

Faults are tried at a few places of each case, which a seed picks; --exhaustive
tries all places.

--isolate plays in worker processes: an adapter that panics in a goroutine of its
own, or ends the program, fails the case at hand, with the stack, and no other.

A failure that --known names does not fail the run; an entry that names none any
more does. A file of them holds entries such as

  check: text.once
  case: claude/*/tool/*
  reason: the result is shown too, until we drop v1

with subject: and link: if you like, and an empty line between two; --write-known
starts one.

Exit codes: 0 every check passed, 1 a check failed, 2 it could not be run.`,
		Example: `  turnspec run
  turnspec run --case 'permission/*' --check permission -v
  turnspec run --runtime codex --check text.once --json
  turnspec run --exhaustive
  turnspec run --subject 'python3 my_adapter.py' --runtime claude@2.1.329
  turnspec run --runtime codex --acp -- npx @agentclientprotocol/codex-acp
  turnspec run --runtime claude --http http://127.0.0.1:0 -- node server.js
  turnspec run --report junit=junit.xml --report html=report.html
  turnspec run --known known.txt --shard 2/5 --report json=2.json
  turnspec run --tier live --case text/plain`,
		Args: func(_ *cobra.Command, args []string) error { return f.commandArgs(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			f.command = args
			stop, err := f.profiles.start()
			if err != nil {
				return err
			}
			return errors.Join(suite(cmd, f), stop())
		},
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringArrayVar(&f.cases, "case", nil, "glob over case ids or parts of them: permission, codex/*/text/plain (again for more)")
	fl.StringArrayVar(&f.checks, "check", nil, "id or topic of a check: text.once, text (again for more)")
	fl.StringArrayVar(&f.tier, "tier", nil, "witness, golden, timing, process or live (again for more; default: all but process and live)")
	fl.StringVar(&f.runtime, "runtime", "", "only this runtime: codex or claude; with a version: claude@2.1.197 (live takes the newest without)")
	fl.StringVar(&f.subject, "subject", "", "the command of an adapter to run instead of the reference; with --runtime")
	fl.BoolVar(&f.acp, "acp", false, "run an ACP agent instead of the reference: its command follows, after --; with --runtime")
	fl.StringVar(&f.http, "http", "", "run a sidecar at this address instead of the reference, started by the command after --, if there is one; with --runtime")
	standinFlag(cmd, &f.standin)
	cmd.MarkFlagsMutuallyExclusive("acp", "subject", "http")
	fl.StringVar(&f.shard, "shard", "", "run a part of the cases: 2/5, or auto in a parallel job of GitLab, Buildkite or CircleCI, or auto/5 where the job knows its index alone")
	fl.BoolVar(&f.runs, "runs", false, "keep wire, events and chat of what did not fail too, for the reports (large)")
	fl.BoolVar(&f.isolate, "isolate", false, "play in worker processes, so that a panic or an exit fails its case alone (slower)")
	for _, other := range []string{"subject", "acp", "http"} {
		cmd.MarkFlagsMutuallyExclusive("isolate", other)
	}
	f.out.flags(cmd)
	f.known.flags(cmd)
	f.profiles.flags(cmd)
	fl.BoolVar(&f.exhaustive, "exhaustive", false, "try faults at every place")
	fl.IntVar(&f.places, "places", 1, "try each fault at so many places of a case")
	fl.Uint64Var(&f.seed, "seed", 1, "pick the places of the faults by this number; 0 spreads them evenly")
	cmd.MarkFlagsMutuallyExclusive("exhaustive", "places")
	completeFlag(cmd, "case", caseIDs)
	completeFlag(cmd, "check", checkNames)
	completeFlag(cmd, "tier", tierNames)
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// A run makes much garbage and keeps little: with the usual percentage a seventh
// of its time would go into collecting it. What the environment says holds.
const (
	garbage     = 400     // percent of what is kept, as of GOGC
	memoryLimit = 1 << 30 // bytes, from where on garbage is collected sooner, as of GOMEMLIMIT
)

func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

func suite(cmd *cobra.Command, f runFlags) error {
	collectSeldom()
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
	step, wipe := progress(cmd.ErrOrStderr())
	cfg.Progress = step
	ctx, stop := interruptible(cmd)
	defer stop()
	var rep *conformance.Report
	if slices.Contains(cfg.Tiers, conformance.TierLive) {
		rep, err = runLive(ctx, cmd.ErrOrStderr(), cfg, f.version())
	} else {
		rep, err = runner.Run(ctx, cfg)
	}
	wipe()
	if err == nil && len(rep.Results) == 0 && !cfg.Shard.Partial() {
		err = errors.New("nothing was judged: no check of these runs in these tiers; `turnspec explain CHECK` names its tiers")
	}
	if err != nil {
		return err
	}
	about, err := f.about(cmd, cfg)
	if err != nil {
		return err
	}
	d := report.New(rep, about)
	if err := f.known.write(d); err != nil {
		return err
	}
	return f.out.show(cmd, d)
}

// about says what was run, for the report.
func (f runFlags) about(cmd *cobra.Command, cfg conformance.Config) (report.About, error) {
	sum, err := cfg.Corpus.Sum()
	a := report.About{Turnspec: buildVersion(), Corpus: sum, Runs: cfg.KeepRuns, Selection: report.Select(cfg)}
	a.Selection.Command = rerun(cmd)
	return a, err
}

func (f runFlags) name() string {
	name, _, _ := strings.Cut(f.runtime, "@")
	return name
}

// version is that of --runtime; "" means the newest when live, and all when
// played.
func (f runFlags) version() string {
	_, version, _ := strings.Cut(f.runtime, "@")
	return version
}

// config makes the flags a configuration.
func (f runFlags) config() (conformance.Config, error) {
	var cfg conformance.Config
	var err error
	if f.places < 1 {
		return cfg, fmt.Errorf("--places %d: it is at least 1; --exhaustive tries all places", f.places)
	}
	if cfg.Corpus, err = openCorpus(f.corpus); err != nil {
		return cfg, err
	}
	if cfg.Subjects, err = f.subjects(); err != nil {
		return cfg, err
	}
	for _, t := range f.tier {
		if !slices.Contains(tierNames(), t) {
			return cfg, fmt.Errorf("no tier %q, only %s", t, strings.Join(tierNames(), ", "))
		}
		cfg.Tiers = append(cfg.Tiers, conformance.Tier(t))
	}
	onReal := slices.Contains(cfg.Tiers, conformance.TierLive)
	if onReal && len(cfg.Tiers) > 1 {
		return cfg, errors.New("the tier live runs alone: what it drives is not a recording")
	}
	if cfg.Checks, cfg.Golden, err = named(f.checks); err != nil {
		return cfg, err
	}
	if v := f.version(); v != "" && !onReal {
		if len(f.cases) > 0 {
			return cfg, errors.New("--runtime with a version and --case: name the version in the case, such as " + f.name() + "/" + v + "/text")
		}
		f.cases = []string{f.name() + "/" + v + "/*/*"}
	}
	for _, glob := range f.cases {
		if onReal {
			break // there scenarios are run, not cases
		}
		if _, err := matching(cfg.Corpus, glob); err != nil {
			return cfg, err
		}
	}
	if f.shard != "" {
		if onReal {
			return cfg, errors.New("the tier live has no shards: name the scenarios with --case")
		}
		if cfg.Shard, err = conformance.ParseShard(f.shard, os.Getenv); err != nil {
			return cfg, err
		}
	}
	cfg.Cases, cfg.Workers, cfg.Places, cfg.Seed = f.cases, goruntime.GOMAXPROCS(0), f.places, f.seed
	if f.exhaustive {
		cfg.Places = 0
	}
	if f.isolate {
		if onReal || slices.Contains(cfg.Tiers, conformance.TierProcess) {
			return cfg, errors.New("--isolate is for what is played in this process: leave it out in the tiers process and live")
		}
		cfg.Isolate = "turnspec run"
	}
	if f.external() {
		cfg.Golden = false
	}
	if f.external() || slices.Contains(cfg.Tiers, conformance.TierProcess) {
		cfg.Workers *= waiting
	}
	if alone(cfg.Subjects) {
		cfg.Workers = 1
	}
	return cfg, nil
}

// named returns the checks of these ids and topics, and whether the goldens
// belong to them. The check live.performed always belongs to its tier.
func named(names []string) (out []*conformance.Check, golden bool, err error) {
	if len(names) == 0 {
		return checks.All(), true, nil
	}
	var others []string
	for _, n := range names {
		switch {
		case among(n, judge.GoldenChecks()):
			golden = true
		case among(n, live.Checks()):
		default:
			others = append(others, n)
		}
	}
	if len(others) > 0 {
		out, err = checks.Named(others...)
	}
	return out, golden, err
}

// among reports whether a name is the id or the topic of one of the checks.
func among(name string, all []*conformance.Check) bool {
	return slices.ContainsFunc(all, func(c *conformance.Check) bool {
		topic, _, _ := strings.Cut(c.ID, ".")
		return name == c.ID || strings.TrimSuffix(name, ".*") == topic
	})
}
