// Package live runs subjects with real runtimes against the scripted model. It is not
// part of the stable interface.
//
// Only this tier can prove that a message reached the model or that a file was
// written. It uses the recorder to find a runtime, to isolate it, and to connect it to
// the model.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/worker"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Config configures a live run.
type Config struct {
	Corpus    fixtures.Corpus // holds the recordings to compare with; zero: the embedded one
	Scenarios []*fixtures.Scenario
	Subjects  []conformance.Subject
	Checks    []*conformance.Check
	Version   string // of the runtimes; "": the newest
	Runtimes  string // folder of installed runtimes; "": the default
	Workers   int    // how many scenarios run at a time; 0: one
	Progress  func(done, total int, id string)
}

// Run runs each subject with each scenario that its runtime can perform. Isolate the
// process first (package isolate).
func Run(ctx context.Context, cfg Config) (*conformance.Report, error) {
	type job struct {
		s   conformance.Subject
		rt  runtimes.Runtime
		scn *fixtures.Scenario
	}
	if cfg.Corpus.FS == nil {
		cfg.Corpus = fixtures.Embedded()
	}
	var jobs []job
	for _, s := range cfg.Subjects {
		rt, err := runtimes.Find(cfg.Runtimes, s.Runtime(), cfg.Version)
		if err != nil {
			return nil, err
		}
		scenarios, err := recordedScenarios(cfg, rt)
		if err != nil {
			return nil, err
		}
		for _, scn := range scenarios {
			if scn.Excluded(rt.Name, rt.Version) == "" && scn.Inexpressible(rt.Name) == "" && !hasAside(scn) {
				jobs = append(jobs, job{s, rt, scn})
			}
		}
	}
	rep := &conformance.Report{Cases: len(jobs)}
	results := make([][]conformance.Result, len(jobs))
	timings := make([][]conformance.Timing, len(jobs))
	var progress sync.Mutex
	done := 0
	err := worker.Each(ctx, max(cfg.Workers, 1), len(jobs), func(i int) (err error) {
		j := jobs[i]
		perform := func() (*conformance.Run, error) {
			began := time.Now()
			run, err := Perform(ctx, cfg.Corpus, j.s, j.rt, j.scn)
			if err == nil {
				err = ctx.Err() // a cancelled run proves nothing
			}
			if err != nil {
				return nil, fmt.Errorf("%s on %s %s: %w", j.scn.ID, j.rt.Name, j.rt.Version, err)
			}
			timings[i] = append(timings[i], conformance.Timing{
				Case: path.Join(j.rt.Name, j.rt.Version, j.scn.ID), Subject: j.s.Name(), Took: time.Since(began), Waits: run.Waits,
			})
			return run, nil
		}
		if results[i], err = judgeTwice(cfg.Checks, perform); err != nil {
			return err
		}
		progress.Lock()
		defer progress.Unlock()
		done++
		if cfg.Progress != nil {
			cfg.Progress(done, len(jobs), j.rt.Name+"/"+j.scn.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		rep.Results = append(rep.Results, results[i]...)
		rep.Timings = append(rep.Timings, timings[i]...)
	}
	return rep, nil
}

// recordedScenarios returns the scenarios that the runtime has performed at least once if
// the corpus holds only a part of those that it can perform. Nobody knows whether it
// performs the others.
func recordedScenarios(cfg Config, rt runtimes.Runtime) ([]*fixtures.Scenario, error) {
	if w := wires.Find(rt.Name); w == nil || w.Unrecorded[rt.Version] == "" {
		return cfg.Scenarios, nil
	}
	versions, err := cfg.Corpus.Versions(rt.Name)
	if err != nil {
		return nil, err
	}
	version := rt.Version
	if !slices.Contains(versions, version) {
		version = ""
	}
	return cfg.Corpus.RecordedScenarios(cfg.Scenarios, rt.Name, version)
}

// judgeTwice judges a run, and another one if a check failed. A check that fails in the
// first of the two only is flaky.
func judgeTwice(checks []*conformance.Check, perform func() (*conformance.Run, error)) ([]conformance.Result, error) {
	run, err := perform()
	if err != nil {
		return nil, err
	}
	results := judgeRun(checks, run)
	if !slices.ContainsFunc(results, func(r conformance.Result) bool { return r.Verdict == conformance.Fail }) {
		return results, nil
	}
	if run, err = perform(); err != nil {
		return nil, err
	}
	for i, again := range judgeRun(checks, run) {
		if results[i].Verdict == conformance.Fail {
			results[i] = judge.SecondTry(results[i], again)
		}
	}
	return results, nil
}

// judgeRun applies the checks of the tier to a run. The results have the order of the
// checks.
func judgeRun(checks []*conformance.Check, run *conformance.Run) []conformance.Result {
	var out []conformance.Result
	for _, c := range checks {
		if slices.Contains(c.Tiers, conformance.TierLive) {
			out = append(out, judge.Apply(c, &conformance.Trial{Run: run}, conformance.TierLive))
		}
	}
	return append(out, judgeComplete(run))
}

// performed is the check that a live run is complete. Without it the other checks
// would judge a part of a run.
var performed = &conformance.Check{
	ID: "live.performed", Severity: conformance.Must, Source: "a live run that stops halfway proves nothing", Tiers: []conformance.Tier{conformance.TierLive},
	Mend:     "Look at the first step that failed: the adapter did not write what the runtime needs to continue, or sent the model another request.",
	Sentence: "The subject performs every step of the scenario on the real runtime, and the model gets no other request.",
}

// Checks returns the checks that exist only in this tier.
func Checks() []*conformance.Check { return []*conformance.Check{performed} }

func judgeComplete(r *conformance.Run) conformance.Result {
	c := *performed
	c.Judge = func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.Steps))
		for _, a := range t.Steps {
			switch {
			case a.Step.Refused && a.Err == nil:
				f.Failf("%s:%d: %s succeeded, but the runtime should refuse it", t.Scenario.File, a.Step.Line, a.Step.Verb)
			case a.Err != nil && !a.Step.Refused && !a.Step.Late: // these may be refused
				f.Failf("%s:%d: %s: %v", t.Scenario.File, a.Step.Line, a.Step.Verb, a.Err)
			}
		}
		if t.Hang != "" {
			f.Failf("%s", t.Hang)
		}
	}
	res := judge.Apply(&c, &conformance.Trial{Run: r}, conformance.TierLive)
	res.Check = performed
	return res
}

// Perform prepares the runtime and lets the subject perform one scenario. Isolate the process
// first (package isolate).
func Perform(ctx context.Context, corpus fixtures.Corpus, s conformance.Subject, rt runtimes.Runtime, scn *fixtures.Scenario) (*conformance.Run, error) {
	rooms, err := isolate.NewRooms()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rooms.Remove() }()
	if err := perform.WriteFiles(rooms.Work, scn.Workspace); err != nil {
		return nil, err
	}
	if err := mcp.Install(rooms.Bin, scn.Servers); err != nil {
		return nil, err
	}
	remote, err := mcp.Listen("127.0.0.1:0", scn.Servers)
	if err != nil {
		return nil, err
	}
	defer func() { _ = remote.Close() }()
	driven, err := registry.Get(rt.Name)
	if err != nil {
		return nil, err
	}
	srv, err := model.Start(scn, model.Options{Dir: rooms.Work, Aside: driven.Aside})
	if err != nil {
		return nil, err
	}
	defer func() { _ = srv.Close() }()
	client, err := registry.Get(rt.Name)
	if err != nil {
		return nil, err
	}
	conn, err := registry.Connect(rt.Name, rt.Version, scn.InitialMode(), scn.Needs, srv.URL())
	if err != nil {
		return nil, err
	}
	if err := conn.WriteHome(rooms.Home); err != nil {
		return nil, err
	}
	recording, err := recordingOf(corpus, rt, scn)
	if err != nil {
		return nil, err
	}
	unprompted := 0
	if recording != nil && recording.Version == rt.Version {
		unprompted = perform.UnpromptedTurns(recording.Witness)
	}
	launcher := client.Launcher // a program speaks to the runtime itself, and needs no lines
	if _, external := s.(conformance.External); !external {
		launcher = client.LauncherOfLines(cmp.Or[proc.Launcher](client.Launcher, proc.Exec{EndWithProgram: true}))
	}
	return perform.Live(ctx, s, scn, perform.Runtime{
		Name: rt.Name, Version: rt.Version, Command: []string{rt.Binary}, Launcher: launcher, Args: conn.Args,
		Env: append(rooms.Env(rt.Path...), conn.Env...), ModelEnv: conn.Env, Dir: rooms.Work, Model: srv, Slug: conn.Model,
		Recording: recording, Unprompted: unprompted, ServerAddress: remote.Addr,
	}), nil
}

// recordingOf returns the recording of the scenario on this version of the runtime, else on the
// newest version of the same program that has one; nil if there is none.
func recordingOf(corpus fixtures.Corpus, rt runtimes.Runtime, scn *fixtures.Scenario) (*fixtures.Case, error) {
	versions, err := corpus.Versions(rt.Name)
	if err != nil {
		return nil, err
	}
	program := func(version string) string { return version[:strings.LastIndex(version, "-")+1] } // of an agent of ACP
	for _, version := range append([]string{rt.Version}, versions...) {
		if program(version) != program(rt.Version) {
			continue
		}
		c, err := corpus.LoadCase(path.Join(rt.Name, version, scn.ID))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	return nil, nil
}

// hasAside reports whether the scenario has a turn of another thread of the process.
// A replay has its effects in the recording; a live run has no client for it.
func hasAside(s *fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbAside })
}
