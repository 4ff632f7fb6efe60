package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/lab/bench/report"
	"github.com/turnspec/turnspec/conformance/lab/bench/serverload"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// benchMain runs one part of a benchmark if a benchmark started this program for it.
func benchMain() {
	serverload.Main(benchLogs)
	steps := map[string]adapters.Transcriber{}
	for _, a := range reference.All() {
		steps[a.Capabilities().Runtime] = a
	}
	bench.Main(steps)
}

type benchFlags struct {
	subject       subjectFlags
	corpus        string
	loads         []string
	caseGlob      string
	sessions      string
	deltas        int
	rate          float64
	share, repeat int
	slow          time.Duration
	step          int
	controls      []string
	gates         []string
	clients       string
	json, verbose bool
	html          string
}

func benchCmd() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure delay, throughput and backlog of an adapter, compared with controls",
		Long: `Bench replays a case, stretched to any length and rate, to the reference adapters
or to yours, and to controls in the same run: raw reads bytes from the pipe, lines
splits them, node is Node's readline and JSON.parse, sdk the official client (of
claude, if it is installed), spawn a child process that does nothing. It prints
ratios to the controls first, as medians of interleaved repeats, and absolute
figures separately. conformance/lab/bench/BENCH.md describes how they are measured and
where they mislead.

The loads:
  stream  one session, deltas at a fixed rate; a delay counts from when the delta
          was due
  flood   one session, deltas as fast as the adapter reads: throughput, CPU
  slow    a listener that is slower than the deltas: backlog
  idle    50 open sessions that wait for a message: memory
  many    sessions at the same time (--sessions 50,200), one stand-in process for
          each, or one for every --share sessions
  step    bytes to events to NDJSON, without a session (reference adapters only)
Without --load: stream, flood, slow, idle and step; with --sessions, many.

A gate fails if the whole confidence interval is past its limit. If the interval
contains the limit, bench makes up to four times the repeats. ` + "`--gate targets`" + `
are the targets of this project:
  ` + strings.Join(report.Targets, "\n  ") + `

--subject, --dialect and a command after -- choose the adapter as in ` + "`turnspec run`" + `.

Exit codes: 0 measured, 1 a gate failed, 2 the measurement failed.`,
		Example: `  turnspec bench
  turnspec bench --runtime claude --load stream --gate 'added-p99<=2x raw'
  turnspec bench --runtime claude -- python3 my_adapter.py
  turnspec bench --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec bench --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp
  turnspec bench --sessions 50,200,400 --rate 50
  turnspec bench --sessions 500,2000 --share 50 --rate 50
  turnspec bench --json > new.json && turnspec bench compare old.json new.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return f.subject.parse(cmd, args, cmd.ArgsLenAtDash() == 0)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(cmd, f) },
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringVar(&f.subject.runtime, "runtime", "", "only this runtime: "+strings.Join(runtimeNames(), ", "))
	f.subject.declare(cmd)
	fl.StringVar(&f.caseGlob, "case", "text/plain", "the case to replay, stretched")
	fl.StringArrayVar(&f.loads, "load", nil, "stream, flood, slow, idle, many or step (again for more)")
	fl.StringVar(&f.sessions, "sessions", "", "many: numbers of concurrent sessions, such as 50,200")
	fl.IntVar(&f.share, "share", 0, "many: sessions for each stand-in process (default 1)")
	fl.IntVar(&f.deltas, "deltas", 0, "deltas of each session (default: 400 for stream, slow and many, 20000 for flood)")
	fl.Float64Var(&f.rate, "rate", 200, "deltas a second of each session")
	fl.DurationVar(&f.slow, "slow", 8*time.Millisecond, "slow: time that the listener spends on each event")
	fl.IntVar(&f.step, "step", 100_000, "step: number of deltas")
	fl.IntVar(&f.repeat, "repeat", 5, "number of repeats")
	fl.StringArrayVar(&f.controls, "control", nil, "raw, lines, node, sdk or spawn (again for more; default: all but sdk)")
	fl.StringVar(&f.clients, "clients", "", "folder of the official clients, for the control sdk (default: the folder of make test-clients)")
	fl.StringArrayVar(&f.gates, "gate", nil, "exit with 1 unless this holds: 'added-p99<=2x raw', 'lost<=0', targets (repeatable)")
	fl.BoolVar(&f.json, "json", false, "print JSON as conformance/lab/bench/report/schema.json describes")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print every figure")
	fl.StringVar(&f.html, "html", "", "write an HTML page with plots to this file")
	completeSubjectRuntime(cmd)
	completeFlag(cmd, "case", scenarioIDs)
	completeFlag(cmd, "load", func() []string { return benchLoads })
	completeFlag(cmd, "control", func() []string { return benchControls })
	completeFlag(cmd, "gate", func() []string { return append([]string{"targets"}, report.Targets...) })
	cmd.AddCommand(benchCompareCmd(), benchShowCmd(), benchPageCmd(), benchServerCmd(), benchCurvesCmd())
	return cmd
}

// maxExtension bounds how many times --repeat is extended while a gate is
// undecided.
const maxExtension = 4

var (
	benchLoads    = []string{"stream", "flood", "slow", "idle", "many", bench.StepLoad}
	benchControls = []string{bench.Raw, bench.Lines, bench.Node, bench.SDK, bench.Spawn}
)

func runBench(cmd *cobra.Command, f benchFlags) error {
	gates, err := f.parseGates()
	if err != nil {
		return err
	}
	cfg, err := f.config()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	step, wipe := progress(cmd.ErrOrStderr())
	cfg.Progress, cfg.More, cfg.Most = step, report.Undecided(gates), maxExtension*f.repeat
	d, err := cfg.Run(ctx)
	wipe()
	if err != nil {
		return err
	}
	r := report.Report{Document: d}
	if r.Verdicts, err = report.Judge(d, gates); err != nil {
		return err
	}
	if f.html != "" {
		if err := writeFile(f.html, func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
			return err
		}
	}
	return printBench(cmd, r, f.json, f.verbose)
}

func writeFile(name string, write func(io.Writer) error) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	return errors.Join(write(w), w.Flush())
}

func (f benchFlags) parseGates() ([]report.Gate, error) {
	var out []report.Gate
	for _, text := range f.gates {
		all := []string{text}
		if text == "targets" {
			all = report.Targets
		}
		for _, t := range all {
			g, err := report.ParseGate(t)
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
	}
	return out, nil
}

// config converts the flags to a configuration.
func (f benchFlags) config() (bench.Config, error) {
	cfg := bench.Config{
		Repeats: f.repeat, Turnspec: buildVersion(), Root: f.corpus, Controls: f.controls, Cases: map[string]string{},
	}
	if slices.Contains(f.controls, bench.SDK) && f.clients == "" {
		dir, err := runtimes.Dir()
		if err != nil {
			return cfg, err
		}
		f.clients = filepath.Join(dir, "clients")
	}
	cfg.Clients = f.clients
	for _, c := range f.controls {
		if !slices.Contains(benchControls, c) {
			return cfg, fmt.Errorf("unknown control %q; want one of %s", c, strings.Join(benchControls, ", "))
		}
	}
	if f.repeat < 1 {
		return cfg, fmt.Errorf("--repeat %d: must be at least 1", f.repeat)
	}
	var err error
	if cfg.Corpus, err = openCorpus(f.corpus); err != nil {
		return cfg, err
	}
	if cfg.Subjects, err = f.subjects(); err != nil {
		return cfg, err
	}
	for _, s := range cfg.Subjects {
		if cfg.Cases[s.Runtime()], err = newestCase(cfg.Corpus, s.Runtime(), f.caseGlob); err != nil {
			return cfg, err
		}
	}
	if f.subject.name() == "" { // of all runtimes, those that have deltas
		cfg.Subjects = slices.DeleteFunc(cfg.Subjects, func(s conformance.Subject) bool { return !streams(cfg.Corpus, cfg.Cases[s.Runtime()]) })
	}
	return cfg, f.setLoads(&cfg, !f.subject.external())
}

// subjects returns the reference adapters, or the subject that the flags name.
func (f benchFlags) subjects() ([]conformance.Subject, error) {
	if f.subject.kind == kindServer && len(f.subject.command) == 0 {
		return nil, errors.New("give the command that starts the sidecar after --: one that runs already would not find the stand-in under load")
	}
	all, err := f.subject.subjects()
	if err == nil && alone(all) {
		err = fmt.Errorf("--subject %s: use port 0, as in http://127.0.0.1:0, because bench starts one sidecar for each session", f.subject.address)
	}
	return all, err
}

func quotedAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(w)
	}
	return out
}

// streams reports whether a case holds deltas of text.
func streams(c fixtures.Corpus, id string) bool {
	one, err := c.LoadCase(id)
	if err != nil {
		return true // the benchmark reports it
	}
	rt := wires.Find(one.Runtime)
	return slices.ContainsFunc(one.Wire, func(l fixtures.WireLine) bool {
		return l.Dir == fixtures.Out && rt != nil && l.Read(rt).Piece.Kind == wire.Text
	})
}

// newestCase returns the newest recording of a scenario on a runtime.
func newestCase(c fixtures.Corpus, runtime, glob string) (string, error) {
	if !strings.HasPrefix(glob, runtime+"/") {
		glob = runtime + "/*/" + glob
	}
	found, err := oneCase(c, glob)
	if err != nil {
		return "", err
	}
	return found.ID, nil
}

func (f benchFlags) setLoads(cfg *bench.Config, reference bool) error {
	names := f.loads
	switch {
	case len(names) == 0 && f.sessions != "":
		names = []string{"many"}
	case len(names) == 0:
		names = []string{"stream", "flood", "slow", "idle", bench.StepLoad}
	}
	deltas := func(usual int) int {
		if f.deltas > 0 {
			return f.deltas
		}
		return usual
	}
	if f.rate <= 0 {
		return fmt.Errorf("--rate %v: must be above 0; --load flood runs without a rate", f.rate)
	}
	for _, n := range names {
		switch n {
		case "stream":
			cfg.Loads = append(cfg.Loads, bench.Load{Name: n, Deltas: deltas(400), Rate: f.rate, Sessions: 1})
		case "flood":
			cfg.Loads = append(cfg.Loads, bench.Load{Name: n, Deltas: deltas(20_000), Sessions: 1})
		case "slow":
			cfg.Loads = append(cfg.Loads, bench.Load{Name: n, Deltas: deltas(400), Rate: f.rate, Sessions: 1, Slow: f.slow.Seconds()})
		case "idle":
			cfg.Loads = append(cfg.Loads, bench.Load{Name: n, Deltas: 1, Rate: f.rate, Sessions: idleSessions, Idle: true})
		case "many":
			if err := f.addMany(cfg, deltas(400)); err != nil {
				return err
			}
		case bench.StepLoad:
			if reference {
				cfg.Step = f.step
			} else if len(f.loads) > 0 {
				return errors.New("--load step: only the reference adapters can read a file; leave --load step out")
			}
		default:
			return fmt.Errorf("unknown load %q; want one of %s", n, strings.Join(benchLoads, ", "))
		}
	}
	return nil
}

// idleSessions is how many sessions the load idle opens.
const idleSessions = 50

// addMany adds a load for each number of sessions.
func (f benchFlags) addMany(cfg *bench.Config, deltas int) error {
	list := f.sessions
	if list == "" {
		list = "50"
	}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("--sessions %q: want numbers from 1, such as 50,200", f.sessions)
		}
		cfg.Loads = append(cfg.Loads, bench.Load{Name: fmt.Sprintf("many-%d", n), Deltas: deltas, Rate: f.rate, Sessions: n, Share: f.share})
	}
	return nil
}
